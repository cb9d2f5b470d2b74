"""What an embedded index knows of metadata keys: how many documents have each, and the values of those that are named.

The values of the keys that a user names stand in a table of their own, in order, a row for each item of a list. SQLite
orders numbers before texts and texts before blobs, which serve for what is neither: None, False, True, all else.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ammi.search.documents import Metadata
from ammi.search.embedded.blocks import Positions
from ammi.search.embedded.database import Database
from ammi.search.filters import AnyOf, Between, Condition, Either, Exists, Scalar, Test, kinds_by_key, values_of

Placed = tuple[int, Metadata]  # a document's position and metadata

_NONE, _FALSE, _TRUE, _OTHER = b"", b"\0", b"\1", b"\2"
_VALUES_AT_ONCE = 500


class Keys:
    """The tables of keys. Its methods are called while reading or writing."""

    def __init__(self, store: Database):
        self._store = store

    def indexed(self) -> dict[str, int]:
        """The keys that have their values in the table, and the number that stands for each."""
        return dict(self._store.execute("SELECT name, key FROM indexed_keys ORDER BY key").fetchall())

    def kinds(self) -> dict[str, dict[str, int]]:
        """For each key, how many documents have values of which kinds."""
        found: dict[str, dict[str, int]] = {}
        for name, kinds, documents in self._store.execute("SELECT * FROM key_kinds"):
            found.setdefault(name, {})[kinds] = documents
        return found

    def index(self, names: Iterable[str], documents: Iterable[Placed]) -> None:
        """Put the values of keys in the table, for these documents."""
        if new := [name for name in names if name not in self.indexed()]:
            self._store.execute_each("INSERT INTO indexed_keys (name) VALUES (?)", [(name,) for name in new])
            keys = {name: key for name, key in self.indexed().items() if name in new}
            self._store.execute_each("INSERT INTO key_values VALUES (?, ?, ?)", rows_of_keys(keys, documents))

    def add(self, documents: Sequence[Placed]) -> None:
        """Take up new documents."""
        self._count(documents, 1)
        if keys := self.indexed():
            self._store.execute_each("INSERT INTO key_values VALUES (?, ?, ?)", rows_of_keys(keys, documents))

    def remove(self, documents: Sequence[Placed]) -> None:
        """Forget documents."""
        self._count(documents, -1)
        if keys := self.indexed():
            distinct = {id(metadata): metadata for _, metadata in documents}  # many may share one
            values = {number: list(_values(keys, metadata)) for number, metadata in distinct.items()}
            self._store.execute_each(
                "DELETE FROM key_values WHERE key = ? AND value = ? AND position = ?",
                ((key, value, position) for position, metadata in documents for key, value in values[id(metadata)]),
            )

    def positions(self, condition: Condition, most: int | None) -> Positions | None:
        """The documents that meet a condition; None if the table cannot say, or if they are more than `most`."""
        key = self.indexed().get(condition.key)
        queries = None if key is None else _queries(condition.test)
        if queries is None:
            return None
        found = (
            position
            for query, values in queries
            for (position,) in self._store.execute(
                f"SELECT position FROM key_values WHERE key = ? AND {query}", [key, *values]
            )
        )
        limited = found if most is None else islice(found, most + 1)
        positions = np.fromiter(limited, np.int64)
        return None if most is not None and len(positions) > most else np.unique(positions)

    def _count(self, documents: Sequence[Placed], sign: int) -> None:
        distinct = {id(metadata): metadata for _, metadata in documents}  # many may share one
        counts: Counter[tuple[str, str]] = Counter()
        for number, n in Counter(id(metadata) for _, metadata in documents).items():
            for pair in kinds_by_key(distinct[number]):
                counts[pair] += n
        self._store.execute_each(
            "INSERT INTO key_kinds VALUES (?, ?, ?) "
            "ON CONFLICT (name, kinds) DO UPDATE SET documents = documents + excluded.documents",
            [(name, kinds, sign * n) for (name, kinds), n in counts.items()],
        )
        if sign < 0:
            self._store.execute("DELETE FROM key_kinds WHERE documents = 0")


def rows_of_keys(
    keys: dict[str, int], documents: Iterable[Placed]
) -> Iterator[tuple[int, int | float | str | bytes, int]]:
    """The rows of the table: key, value, position. A document without a value has none."""
    return ((key, value, position) for position, metadata in documents for key, value in _values(keys, metadata))


def _values(keys: dict[str, int], metadata: Metadata) -> Iterator[tuple[int, int | float | str | bytes]]:
    for name, key in keys.items():
        if metadata.get(name) not in (None, []):
            yield from ((key, value) for value in set(map(_stored, values_of(metadata[name]))))


def _stored(one: Scalar) -> int | float | str | bytes:
    if one.kind == "bool":
        return _TRUE if one.value else _FALSE
    if one.kind == "null":
        return _NONE
    return _OTHER if one.kind == "other" else one.value


def _queries(test: Test) -> list[tuple[str, list[Any]]] | None:
    """Queries which together find the documents that pass a test; None where a document passes by having no value."""
    match test:
        case Exists():
            return [("value <> ?", [_NONE])]
        case Between(kind, bounds):
            return [_range(kind, bounds)]
        case Either(tests):
            found = [_queries(inner) for inner in tests]
            return [query for queries in found for query in queries or []] if None not in found else None
        case AnyOf(values) if not any(kind == "null" for kind, _ in values):
            stored = [_stored(one) for one in values]
            chunks = [stored[start : start + _VALUES_AT_ONCE] for start in range(0, len(stored), _VALUES_AT_ONCE)]
            return [(f"value IN ({', '.join('?' * len(chunk))})", list(chunk)) for chunk in chunks]
    return None


def _range(kind: str, bounds: tuple[tuple[str, Any], ...]) -> tuple[str, list[Any]]:
    """A bound at each end, so that numbers end where texts begin, and texts where blobs do."""
    sides = {name[0] for name, _ in bounds}
    if ">" not in sides and kind == "text":
        bounds = (*bounds, (">=", ""))
    if "<" not in sides:
        bounds = (*bounds, ("<", "" if kind == "number" else b""))
    return " AND ".join(f"value {name} ?" for name, _ in bounds), [bound for _, bound in bounds]
