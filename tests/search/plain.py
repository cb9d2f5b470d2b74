"""The search written plainly, in numpy and a dict, to compare the real one with."""

from typing import Any

import numpy as np

from ammi.search import Document, Hit


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
    """What a HammingIndex does, in a dict from id to document that keeps insertion order."""

    def __init__(self) -> None:
        self.documents: dict[str | int, Document] = {}
        self.number = 0

    def add(self, codes, ids, texts, metadata) -> None:
        for id, code, text, meta in zip(ids, codes, texts, metadata, strict=True):
            self.documents.pop(id, None)
            self.documents[id] = Document(id, code, text, meta)
            if isinstance(id, int):
                self.number = max(self.number, id + 1)

    def delete(self, ids) -> None:
        for id in set(ids):
            del self.documents[id]

    def ranked(self, codes: np.ndarray, where: dict[str, Any] | None) -> list[list[Hit]]:
        chosen = [doc for doc in self.documents.values() if meets(doc.metadata, where or {})]
        base = np.array([doc.code for doc in chosen], np.uint8).reshape(len(chosen), codes.shape[1])
        return [
            [Hit(chosen[p].id, d, chosen[p].text, chosen[p].metadata) for d, p in zip(*row, strict=True)]
            for row in zip(*(part.tolist() for part in ranking(base, codes)), strict=True)
        ]


def meets(metadata: dict[str, Any], where: dict[str, Any]) -> bool:
    for key, value in where.items():
        values = value if isinstance(value, list) else [value]
        have = metadata.get(key)
        if not any(one == value for one in values for value in (have if isinstance(have, list) else [have])):
            return False
    return True
