"""Codes of embeddings for two jobs: to find the same subject, and to find what the exact cosine finds.

MiniLM embeddings of texts of reuters and newsgroups, 32 to 256 bits a document, every fifth document a query. Subject
is the share of the 100 (or 10) documents found that have a label in common with the query. Fidelity is the share of the
10 nearest by the exact cosine that are among the 10, or the 100, found; with the 100 in the order of the exact cosine,
those that are among them come first. Figures are means of two seeds, of one where ONE_SEED says so. A cell that is in
results/embeddings.json is not computed again.
"""

import argparse
import itertools
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import faiss
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from rich.console import Console
from scipy.sparse import csr_matrix

from ammi import AMMI
from ammi.features import WordFeatures
from ammi.hashers import ITQ, LSH, Hasher
from ammi.hashers.logits import bit_logits
from ammi.search.hamming import nearest
from embedded import CORPORA, Embedded, embedded
from timing import save

BITS, SEEDS = (64, 128, 32, 256), (0, 1)
RESULTS = Path(__file__).parent / "results" / "embeddings.json"
EXACT = "float32 cosine"
FIGURES = {
    "precision_at_100": "P@100",
    "precision_at_10_reranked": "P@10 re-ranked",
    "recall_of_10_in_10": "10 in 10",
    "recall_of_10_in_100": "10 in 100",
}
Positions = NDArray[np.integer]  # (queries, 100), the best first
Rows: TypeAlias = csr_matrix | NDArray[np.floating]


class Found(NamedTuple):
    """What a method found, by each way to rank, and the bytes that it keeps of a document."""

    bytes: int
    by: dict[str, Positions]


Find = Callable[[Embedded, int, int], Found]  # with so many bits and this seed


def best(scores: NDArray[np.floating], k: int = 100) -> Positions:
    """The k highest scores of each row, ties in the order of the documents."""
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


def learned(hasher: Hasher, rows: Rows, data: Embedded, **more: Any) -> Found:
    """Codes of a method, by Hamming distance and with the query's own numbers in place of its bits."""
    base, queries = rows[~data.asked], rows[data.asked]
    hasher.fit(base, **more)
    codes = hasher.encode(base)
    signs = 2.0 * np.unpackbits(codes, axis=1, count=hasher.n_bits) - 1
    by = {
        "distance": nearest(codes, hasher.encode(queries), 100)[1],
        "asymmetric": best(bit_logits(hasher, queries) @ signs.T),
    }
    return Found(codes.shape[1], by)


def ammi_of(rows: Callable[[Embedded], Rows], **parameters: Any) -> Find:
    """AMMI with some parameters, on rows of the documents."""
    return lambda data, bits, seed: learned(
        AMMI(bits, random_state=seed, verbose=False, **parameters), rows(data), data
    )


def tfidf(data: Embedded) -> csr_matrix:
    """The tf-idf rows of the same texts, of words that the documents have which are not asked."""
    known = [text for text, asked in zip(data.texts, data.asked, strict=True) if not asked]
    return WordFeatures().fit(known).transform(data.texts)


def tfidf_with_view(data: Embedded, bits: int, seed: int) -> Found:
    """AMMI on words, with the embeddings where neighbours are looked for."""
    view = data.vectors[~data.asked]
    return learned(AMMI(bits, random_state=seed, verbose=False), tfidf(data), data, views=view)


def both(data: Embedded, bits: int, seed: int) -> Found:
    """Half of the bits for the subject, by AMMI, and half for fidelity, by ITQ."""
    hashers = AMMI(bits // 2, random_state=seed, verbose=False), ITQ(bits // 2, random_state=seed)
    codes = np.hstack([hasher.fit(data.vectors[~data.asked]).encode(data.vectors) for hasher in hashers])
    return Found(codes.shape[1], {"distance": nearest(codes[~data.asked], codes[data.asked], 100)[1]})


def signs(data: Embedded, bits: int, rotation: NDArray[np.floating] | None = None) -> Found:
    """Signs of the first numbers of the centred vectors, as they are or rotated at random."""
    centred = data.vectors - data.vectors[~data.asked].mean(axis=0)
    numbers = (centred if rotation is None else centred @ rotation)[:, :bits]
    codes = np.packbits(numbers > 0, axis=1)
    return Found(codes.shape[1], {"distance": nearest(codes[~data.asked], codes[data.asked], 100)[1]})


def rotated_signs(data: Embedded, bits: int, seed: int) -> Found:
    width = data.vectors.shape[1]
    rotation = np.linalg.qr(np.random.default_rng(seed).normal(size=(width, width)))[0]
    return signs(data, bits, rotation)


def of_faiss(make: Callable[[int, int, int], faiss.Index]) -> Find:
    """An index of FAISS, asked with the vectors themselves; all of them are asymmetric."""

    def find(data: Embedded, bits: int, seed: int) -> Found:
        index, base = make(data.vectors.shape[1], bits, seed), data.vectors[~data.asked]
        index.train(base)
        index.add(base)
        return Found(index.sa_code_size(), {"asymmetric": index.search(data.vectors[data.asked], 100)[1]})

    return find


def product_quantiser(width: int, bits: int, seed: int) -> faiss.Index:
    index = faiss.IndexPQ(width, bits // 8, 8)
    index.pq.cp.seed = seed
    index.pq.cp.min_points_per_centroid = 1  # no warning of few documents for so many centroids
    return index


def rotated_quantiser(width: int, bits: int, seed: int) -> faiss.Index:
    rotation = faiss.OPQMatrix(width, bits // 8)
    rotation.niter, rotation.niter_pq = 10, 2  # 50 and 4 are FAISS's, and take minutes
    inner = faiss.ProductQuantizer(width, bits // 8, 8)
    inner.cp.min_points_per_centroid = 1
    rotation.pq = inner
    rotation.referenced_objects = [inner]  # type: ignore[attr-defined]  # FAISS keeps a bare pointer to it
    return faiss.IndexPreTransform(rotation, product_quantiser(width, bits, seed))


def rabitq(width: int, bits: int, seed: int) -> faiss.Index:
    """A bit for each of the first principal components, rotated, and two float32 for each document."""
    return faiss.IndexPreTransform(faiss.PCAMatrix(width, bits, 0, True), faiss.IndexRaBitQ(bits, faiss.METRIC_L2))


METHODS: dict[str, Find] = {
    "AMMI": ammi_of(lambda data: data.vectors),
    "AMMI, 20 neighbours": ammi_of(lambda data: data.vectors, neighbours=20),
    "ITQ": lambda data, bits, seed: learned(ITQ(bits, random_state=seed), data.vectors, data),
    "LSH": lambda data, bits, seed: learned(LSH(bits, random_state=seed), data.vectors, data),
    "signs, centred": lambda data, bits, seed: signs(data, bits),
    "signs, centred and rotated": rotated_signs,
    "FAISS RaBitQ": of_faiss(rabitq),
    "FAISS PQ": of_faiss(product_quantiser),
    "AMMI on tf-idf": ammi_of(tfidf),
    "AMMI on tf-idf, MiniLM as a view": tfidf_with_view,
    "AMMI and ITQ, half each": both,
    "AMMI, 2 neighbours": ammi_of(lambda data: data.vectors, neighbours=2),
    "AMMI, documents alone": ammi_of(lambda data: data.vectors, neighbours=0, entropy_weight=3.0),
    "FAISS OPQ": of_faiss(rotated_quantiser),
}
# The first two have no chance in them, OPQ takes long, and the rest are side glances.
ONE_SEED = {"signs, centred", "FAISS RaBitQ", "FAISS OPQ", "AMMI and ITQ, half each"}
ONE_SEED |= {"AMMI, 2 neighbours", "AMMI, documents alone"}


def measured(data: Embedded, positions: Positions, exact: Positions) -> dict[str, float]:
    """Subject and fidelity of what was found, in percent, with and without the exact cosine's order of the 100."""
    labels = data.labels.toarray() > 0
    relevant = (labels[data.asked][:, None] & labels[~data.asked][positions]).any(-1)  # (queries, 100)
    vectors, queries = data.vectors[~data.asked], data.vectors[data.asked]
    order = best(np.einsum("qd,qkd->qk", queries, vectors[positions]))
    among = np.array([np.isin(found, right) for found, right in zip(positions, exact[:, :10], strict=True)])
    return {
        "precision_at_100": 100 * relevant.mean(),
        "precision_at_10": 100 * relevant[:, :10].mean(),
        "precision_at_10_reranked": 100 * np.take_along_axis(relevant, order, 1)[:, :10].mean(),
        "recall_of_10_in_10": 10 * among[:, :10].sum(1).mean(),
        "recall_of_10_in_100": 10 * among.sum(1).mean(),
    }


def kept() -> list[dict[str, Any]]:
    """The cells that are there."""
    return json.loads(RESULTS.read_text())["results"] if RESULTS.exists() else []


def compute(home: Path, console: Console) -> list[dict[str, Any]]:
    """Every cell that is not there yet, each written when it is done."""
    cells = kept()
    done = {(cell["corpus"], cell["method"], cell["bits"], cell["seed"]) for cell in cells}
    sets = {name: embedded(name, home) for name in CORPORA}
    exact = {name: best(data.vectors[data.asked] @ data.vectors[~data.asked].T) for name, data in sets.items()}

    def note(name: str, method: str, bits: int, seed: int, found: Found, seconds: float) -> None:
        figures = {way: measured(sets[name], positions, exact[name]) for way, positions in found.by.items()}
        about = {"corpus": name, "method": method, "bits": bits, "seed": seed, "bytes": found.bytes}
        cell = {**about, "seconds": seconds, **figures}
        cells.append(cell)
        save("embeddings", cells)
        console.print(cell)

    for name in CORPORA:
        if (name, EXACT, 12288, 0) not in done:
            note(name, EXACT, 12288, 0, Found(1536, {"distance": exact[name]}), 0.0)
    for seed, bits, method, name in itertools.product(SEEDS, BITS, METHODS, CORPORA):
        if (name, method, bits, seed) not in done and (seed == 0 or method not in ONE_SEED):
            start = time.process_time()
            found = METHODS[method](sets[name], bits, seed)
            note(name, method, bits, seed, found, time.process_time() - start)
    return cells


def means(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The cells with the figures of all their seeds averaged."""
    same: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for cell in cells:
        same.setdefault((cell["corpus"], cell["method"], cell["bits"]), []).append(cell)

    def averaged(group: list[dict[str, Any]], way: str) -> dict[str, float]:
        return {name: float(np.mean([cell[way][name] for cell in group])) for name in group[0][way]}

    return [
        group[0] | {way: averaged(group, way) for way in ("distance", "asymmetric") if way in group[0]}
        for group in same.values()
    ]


def shown(cells: list[dict[str, Any]], figure_name: str, title: str) -> Iterator[str]:
    """A table of docs/embeddings.md: of each method and width the better way to rank, on one corpus / the other."""
    figures = {(cell["method"], cell["bits"], cell["corpus"]): _better(cell, figure_name) for cell in cells}
    yield f"| {title} | " + " | ".join(f"{bits} bits" for bits in sorted(BITS)) + " |"
    yield "|---" * (1 + len(BITS)) + "|"
    exact = " / ".join(f"{figures[EXACT, 12288, corpus]:.1f}" for corpus in CORPORA)
    yield f"| {EXACT}, 12,288 bits | {exact} |" + " |" * (len(BITS) - 1)
    for method in METHODS:
        row = [" / ".join(f"{figures[method, bits, corpus]:.1f}" for corpus in CORPORA) for bits in sorted(BITS)]
        yield f"| {method} | " + " | ".join(row) + " |"


def plot(cells: list[dict[str, Any]]) -> Figure:
    """Subject above, fidelity below, by the number of bits; of each method the better way to rank."""
    figure = Figure(figsize=(12, 9), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey="row")
    rows = {"precision_at_100": "P@100: a label in common", "recall_of_10_in_100": "the exact 10 nearest in 100 found"}
    styles = {method: (f"C{number % 10}", "--" if number >= 7 else "-") for number, method in enumerate(METHODS)}
    for row, (figure_name, title) in enumerate(rows.items()):
        for column, corpus in enumerate(CORPORA):
            axis = axes[row, column]
            for method in [EXACT, *METHODS]:
                mine = [cell for cell in cells if (cell["corpus"], cell["method"]) == (corpus, method)]
                points = sorted((cell["bits"], _better(cell, figure_name)) for cell in mine)
                if method == EXACT and points:
                    axis.axhline(points[0][1], color="0.6", linestyle=":", label=EXACT)
                elif points:
                    colour, line = styles[method]
                    axis.plot(*zip(*points, strict=True), line, color=colour, marker="o", markersize=4, label=method)
            axis.set(xscale="log", xticks=sorted(BITS), title=f"{corpus}, {title}")
            axis.set_xticks(sorted(BITS), map(str, sorted(BITS)))
            axis.minorticks_off()
            axis.spines[["top", "right"]].set_visible(False)
    for axis in axes[1]:
        axis.set_xlabel("bits")
    axes[0, 0].set_ylabel("%")
    axes[1, 0].set_ylabel("%")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside right upper", frameon=False)
    return figure


def _better(cell: dict[str, Any], figure_name: str) -> float:
    return max(cell[way][figure_name] for way in ("distance", "asymmetric") if way in cell)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--home", type=Path, help="where embeddings are kept for the next run; none: report what is there"
    )
    console, home = Console(width=160), parser.parse_args().home
    cells = compute(home, console) if home else kept()
    for name, title in FIGURES.items():
        print(*shown(means(cells), name, title), sep="\n", end="\n\n")
    plot(means(cells)).savefig(RESULTS.with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
