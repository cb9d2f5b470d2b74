"""The search written plainly, in numpy and a dict, to compare the real one with."""

from typing import Any

import numpy as np

from ammi.search import Entry, Hit
from ammi.search.filters import matches, parse


def distances(base: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """(q, n): the number of bits in which each query and each code differ."""
    return np.unpackbits(queries[:, None] ^ base[None], axis=2).sum(axis=2, dtype=np.int32)


def ranking(base: np.ndarray, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distances and positions of all codes of base, for each query, ties in insertion order."""
    unsorted = distances(base, queries)
    positions = np.argsort(unsorted, axis=1, kind="stable")
    return np.take_along_axis(unsorted, positions, axis=1), positions


def random_codes(rng: np.random.Generator, n: int, m: int, distinct: int) -> np.ndarray:
    """n packed codes of m bits, drawn from so few distinct ones that many are equally far from a query."""
    bits = rng.integers(0, 2, (distinct, m), dtype=np.uint8)
    return np.packbits(bits[rng.integers(0, distinct, n)], axis=1)


class PlainIndex:
    """What a Store does, in a dict that keeps insertion order; the ids are compared as they are written."""

    def __init__(self, m: int) -> None:
        self.m = m
        self.documents: dict[str, Entry] = {}
        self.number = 0

    def add(self, codes, ids, texts, metadata, vectors=None) -> None:
        rows = [None] * len(ids) if vectors is None else vectors
        for id, code, text, meta, vector in zip(ids, codes, texts, metadata, rows, strict=True):
            self.documents.pop(str(id), None)
            self.documents[str(id)] = Entry(id, code, text, meta, vector)
            if isinstance(id, int) or str(id) == "1":
                self.number = max(self.number, int(id) + 1)

    def delete(self, ids) -> None:
        for id in {str(id) for id in ids}:
            del self.documents[id]

    def set_metadata(self, ids, metadata) -> None:
        for id in map(str, ids):
            self.documents[id] = self.documents[id]._replace(metadata=self.documents[id].metadata | metadata)

    def ids(self) -> list[str | int]:
        return [entry.id for entry in self.documents.values()]

    def kept(self, where: dict[str, Any] | None) -> list[Entry]:
        filter = parse(where)
        return [entry for entry in self.documents.values() if matches(filter, entry.metadata)]

    def ranked(self, codes: np.ndarray, where: dict[str, Any] | None) -> list[list[Hit]]:
        chosen = self.kept(where)
        base = np.array([entry.code for entry in chosen], np.uint8).reshape(len(chosen), codes.shape[1])
        return [
            [
                Hit(chosen[p].id, d, 1 - d / self.m, chosen[p].text, chosen[p].metadata)
                for d, p in zip(*row, strict=True)
            ]
            for row in zip(*(part.tolist() for part in ranking(base, codes)), strict=True)
        ]
