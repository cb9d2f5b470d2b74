"""A sample of a collection: the documents on the map, with their texts and metadata."""

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ammi.collection import Collection
from ammi.explore.once import once
from ammi.search.documents import Entry, Id, id_key
from ammi.search.hamming import Codes

MOST_POINTS = 100_000
MOST_TEXTS = 20_000  # to count words in
_LONGEST = 2000  # characters kept of a text
_AT_ONCE = 1000
_MOST_KEYS = 50
_SEED = 0


class Sample:
    """Documents drawn at random, the same ones every time, from a collection; all if there are at most `most`.

    Args:
        ids, codes: those of all documents, in insertion order.
        most: the size of the sample.
    """

    def __init__(self, collection: Collection, ids: list[Id], codes: Codes, most: int = MOST_POINTS):
        self._collection = collection
        rng = np.random.default_rng(_SEED)
        rows = np.arange(len(ids)) if len(ids) <= most else np.sort(rng.choice(len(ids), most, replace=False))
        self.ids = [ids[row] for row in rows.tolist()]
        self.codes: Codes = np.ascontiguousarray(codes[rows])
        read = np.arange(len(rows)) if len(rows) <= MOST_TEXTS else rng.choice(len(rows), MOST_TEXTS, replace=False)
        self.read = np.sort(read)  # the points whose texts are kept

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
