"""`ammi.quantize` beside `quantize_embeddings` of sentence-transformers: what codes keep of the cosine.

MiniLM embeddings of a fixed sample of reuters and newsgroups (`embedded.py`); with --home they are kept for the next
run. Every fifth is a query to the others. Given are the shares of the ten nearest by exact cosine that are among the
first ten, and the first hundred, by Hamming distance and with the query's numbers.
"""

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import faiss
import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from sentence_transformers.util.quantization import quantize_embeddings

import ammi
from ammi.hashers.logits import bit_logits
from embedded import CORPORA, DOCUMENTS, embedded
from timing import save

BITS = (128, 256, 384)
Matrix = NDArray[np.float32]


def shares(scores: Matrix, exact: NDArray[np.int64]) -> list[float]:
    """The shares among the first ten and the first hundred by scores, (queries, documents)."""
    order = np.argsort(-scores, axis=1, kind="stable")[:, :100]
    return [
        float(np.mean([np.isin(ten, row[:k]).mean() for ten, row in zip(exact, order, strict=True)])) for k in (10, 100)
    ]


def signs(codes: NDArray[np.uint8], bits: int) -> Matrix:
    return 2 * np.unpackbits(codes, axis=1, count=bits).astype(np.float32) - 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="where embeddings are kept for the next run")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="of each corpus")
    arguments = parser.parse_args()
    table = Table("corpus", "codes", "bytes", "10 in 10", "10 in 100", "asymmetric: 10 in 10", "10 in 100")
    results = []
    with TemporaryDirectory() as temporary:
        for name in CORPORA:
            data = embedded(name, arguments.home or Path(temporary), arguments.documents)
            X, Q = data.vectors[~data.asked], data.vectors[data.asked]
            _, exact = faiss.knn(Q, X, 10, metric=faiss.METRIC_INNER_PRODUCT)
            ubinary = signs(quantize_embeddings(X, precision="ubinary"), X.shape[1])
            ways = [("sentence-transformers, ubinary", X.shape[1], ubinary, Q)]
            for bits in BITS:
                made = ammi.quantize(X, bits)
                print(f"{name}: {made}")
                ways.append(
                    (f"ammi.quantize, {bits} bits", bits, signs(made.codes, bits), bit_logits(made.quantiser, Q))
                )
            for way, bits, S, numbers in ways:
                row = [*shares(np.sign(numbers) @ S.T, exact), *shares(numbers @ S.T, exact)]
                results.append({"corpus": name, "documents": len(X), "way": way, "bits": bits, "recalls": row})
                table.add_row(name, way, str(bits // 8), *(f"{share:.3f}" for share in row))
    save("quantised", results)
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
