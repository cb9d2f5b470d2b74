"""Codes that keep the cosine of embeddings: which estimate of the cosine finds what the exact one finds.

MiniLM embeddings of the four test collections of retrieval.py and of their questions. x is a document, q a question, μ
the mean of the documents, W the directions of the bits, s = ±1 the bits of x, so that x ≈ μ + c W s for a number c. The
figures are nDCG at 10, and the share of the exact cosine's ten among the ten found. Ways may be chosen on CHOSEN_ON.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ammi.hashers import ITQ, Hasher
from ammi.hashers.hyperplanes import Hyperplanes
from ammi.search.ranking import best
from retrieval import JUDGED, embedder, figures, load
from timing import save

BITS, SWEEPS = (128, 256, 384), 3
EXACT = "float32 cosine"
Rows = NDArray[np.float32]


def unit(rows: Rows) -> Rows:
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def planes(hasher: Hasher) -> Hyperplanes:
    names = hasher.hyperplanes()
    assert names
    return Hyperplanes.among(hasher._arrays(), names, hasher.n_bits)


def estimates(X: Rows, Q: Rows, bits: int) -> Iterator[tuple[str, int, Rows]]:
    """Each way, the bytes it keeps of a document, and its estimates of all cosines, (questions, documents)."""
    mean = X.mean(axis=0)
    for name, rounds in (("random rotation", 0), ("ITQ", 50)):
        W, thresholds = planes(ITQ(bits, iterations=rounds, random_state=0).fit(X))
        S = np.where(X @ W - thresholds > 0, 1, -1).astype(np.float32)
        logits = Q @ W - thresholds
        yield f"{name}, distance", bits // 8, np.sign(logits) @ S.T
        yield f"{name}, asymmetric", bits // 8, logits @ S.T
        yield f"{name}, asymmetric, q · W s", bits // 8, Q @ W @ S.T
        length = ((X - mean) ** 2).sum(axis=1) / ((X @ W - thresholds) * S).sum(axis=1)
        yield f"{name}, RaBitQ: q · W s · ‖x − μ‖² / ((x − μ) · W s)", bits // 8 + 4, Q @ W @ S.T * length
        decoded = S @ W.T
        scale = ((X - mean) * decoded).sum() / (decoded**2).sum()
        yield f"{name}, cosine of q and μ + c W s", bits // 8, Q @ unit(mean + scale * decoded).T
    D = least_squares(S, X - mean)
    yield "ITQ, least squares D: cosine of q and μ + D s", bits // 8, Q @ unit(mean + S @ D).T
    yield "the same, s by coordinate descent", bits // 8, Q @ unit(mean + descended(S, D, X - mean) @ D).T


def least_squares(S: Rows, X: Rows) -> Rows:
    """The D (m, d) that makes S D as near to X as it can be."""
    return np.linalg.solve(S.T @ S + 0.001 * np.eye(S.shape[1], dtype=np.float32), S.T @ X)


def descended(S: Rows, D: Rows, X: Rows) -> Rows:
    """Better bits: one after the other becomes what brings S D nearer to X."""
    S, gram, products = S.copy(), D @ D.T, X @ D.T
    for bit in [*range(S.shape[1])] * SWEEPS:
        rest = products[:, bit] - S @ gram[:, bit] + S[:, bit] * gram[bit, bit]
        S[:, bit] = np.where(rest > 0, 1, -1)
    return S


def measured(name: str, home: Path) -> Iterator[dict[str, Any]]:
    data = load(name)
    model = embedder(home).fit(data.texts)
    X, Q = unit(model.transform(data.texts)), unit(model.transform(data.questions))
    exact = [best(scores, 10) for scores in Q @ X.T]
    ways = [(EXACT, 0, 1536, Q @ X.T)]
    ways += [(way, bits, n_bytes, found) for bits in BITS for way, n_bytes, found in estimates(X, Q, bits)]
    for way, bits, n_bytes, found in ways:
        orders = [best(scores.astype(np.float64), 100) for scores in found]
        ndcg = np.mean([figures(order.tolist(), right)[0] for order, right in zip(orders, data.answers, strict=True)])
        kept = np.mean([np.isin(order[:10], ten).mean() for order, ten in zip(orders, exact, strict=True)])
        about = {"collection": name, "way": way, "bits": bits, "bytes": n_bytes}
        yield about | {"ndcg": float(ndcg), "ten": float(kept)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="where embeddings are kept for the next run")
    home = parser.parse_args().home
    with TemporaryDirectory() as temporary:
        results = [row for name in JUDGED for row in measured(name, home or Path(temporary))]
    save("fidelity", results)
    table = Table("way", "bits", "bytes", *JUDGED, "mean", "10 in 10")
    for way, bits, n_bytes in dict.fromkeys((row["way"], row["bits"], row["bytes"]) for row in results):
        rows = [row for row in results if (row["way"], row["bits"]) == (way, bits)]
        means = [*(row["ndcg"] for row in rows), *(np.mean([row[key] for row in rows]) for key in ("ndcg", "ten"))]
        table.add_row(way, str(bits), str(n_bytes), *(f"{mean:.3f}" for mean in means))
    Console(width=150).print(table)


if __name__ == "__main__":
    main()
