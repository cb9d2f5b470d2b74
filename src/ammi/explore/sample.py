"""A sample of a collection: the documents on the map, with their texts and metadata."""

from collections import Counter
from typing import Any, Protocol
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ammi.any_collection import AnyCollection
from ammi.explore.once import once
from ammi.search import Store
from ammi.search.documents import Entry, Id, id_key
from ammi.search.hamming import Codes

MOST_POINTS = 100_000
MOST_TEXTS = 20_000  # to count words in
_LONGEST = 2000  # characters kept of a text
_AT_ONCE = 1000
_MOST_KEYS = 50


class Explored(AnyCollection, Protocol):
    """A collection that opens its store itself, as `Collection` does."""

    store: Store

    def codes(self) -> tuple[list[Id], Codes]:
        """Return the ids and the codes of all documents, in insertion order."""

    def word_weights(self) -> tuple[list[str], NDArray[np.floating]] | None:
        """Return the model's words and how much each pushes each bit; None if it has none."""


class Sample:
    """Documents drawn from a collection, all if there are at most `most`.

    A digest of its id decides whether a document is drawn, so that most stay when others are added or deleted.

    Args:
        ids, codes: those of all documents, in insertion order.
        most: the size of the sample.
    """

    def __init__(self, collection: Explored, ids: list[Id], codes: Codes, most: int = MOST_POINTS):
        self._collection = collection
        rows = _drawn(ids, most)
        self.ids = [ids[row] for row in rows.tolist()]
        self.codes: Codes = np.ascontiguousarray(codes[rows])
        self.read = _drawn(self.ids, MOST_TEXTS)  # the points whose texts are kept

    def __len__(self) -> int:
        return len(self.ids)

    @once
    def point_of(self) -> dict[Id, int]:
        """Return the point of each document, by `id_key`."""
        return {id_key(id): point for point, id in enumerate(self.ids)}

    @once
    def _contents(self) -> tuple[list[str | None], dict[str, list[Any]]]:
        kept = set(self.read.tolist())
        texts: list[str | None] = []
        columns: dict[str, list[Any]] = {}
        counts: Counter[str] = Counter()
        for start in range(0, len(self.ids), _AT_ONCE):
            entries = self._entries(self.ids[start : start + _AT_ONCE])
            for point, entry in enumerate(entries, start):
                if point in kept:
                    texts.append(None if entry is None or entry.text is None else entry.text[:_LONGEST])
                for key, value in entry.metadata.items() if entry else ():
                    if key not in columns and len(columns) < _MOST_KEYS:
                        columns[key] = [None] * len(self.ids)
                    if key in columns:
                        columns[key][point] = value[:80] if isinstance(value, str) else value
                        counts[key] += 1
        return texts, {key: columns[key] for key, _ in counts.most_common()}

    def _entries(self, ids: list[Id]) -> list[Entry | None]:
        """Return documents, with None for one that was deleted since the sample was drawn."""
        try:
            return list(self._collection.get(ids))
        except ValueError:
            return [self._collection.get(id) if id in self._collection else None for id in ids]

    @property
    def texts(self) -> list[str | None]:
        """The texts of the points in `read`, long ones cut."""
        return self._contents[0]

    @property
    def columns(self) -> dict[str, list[Any]]:
        """For each metadata key a value a point, the most frequent keys first."""
        return self._contents[1]

    def codes_read(self) -> Codes:
        """Return the codes of the points in `read`."""
        return self.codes[self.read]

    def ids_of(self, points: NDArray[np.int64]) -> list[Id]:
        """Return the ids of points."""
        return [self.ids[point] for point in points.tolist()]


def _drawn(ids: list[Id], most: int) -> NDArray[np.int64]:
    """Return the rows of the ids with the smallest digests, in order."""
    if len(ids) <= most:
        return np.arange(len(ids))
    digests = np.array([crc32(str(id).encode("utf-8", "surrogatepass")) for id in ids], np.uint32)
    return np.sort(np.argsort(digests, kind="stable")[:most])
