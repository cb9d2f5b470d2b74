"""What an embedded index knows of metadata keys: how many documents have each, and the values of those that are named.

The values of the keys that a user names stand in a table of their own, in order, a row for each item of a list. SQLite
orders numbers before texts and texts before blobs, which serve for what is neither: None, False, True, all else.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from ammi.search.documents import Metadata
from ammi.search.embedded.blocks import Positions
from ammi.search.embedded.database import SqliteDatabase
from ammi.search.filters import AnyOf, Between, Condition, Exists, Scalar, kinds_by_key, values_of
from ammi.search.sql.translation import Lookup, lookups

Placed = tuple[int, Metadata]  # a document's position and metadata
Stored = int | float | str | bytes  # a value of key_values

_NONE, _FALSE, _TRUE, _OTHER = b"", b"\0", b"\1", b"\2"
_VALUES_AT_ONCE = 500


class KeyTables:
    """The tables of keys. Its methods are called while reading or writing."""

    def __init__(self, database: SqliteDatabase):
        self._database = database

    def indexed(self) -> dict[str, int]:
        """The keys that have their values in the table, and the number that stands for each."""
        return dict(self._database.execute("SELECT name, key FROM indexed_keys ORDER BY key").fetchall())

    def kinds(self) -> dict[str, dict[str, int]]:
        """For each key, how many documents have values of which kinds."""
        found: dict[str, dict[str, int]] = {}
        for name, kinds, documents in self._database.execute("SELECT * FROM key_kinds"):
            found.setdefault(name, {})[kinds] = documents
        return found

    def index(self, names: Iterable[str], documents: Iterable[Placed]) -> None:
        """Put the values of keys in the table, for these documents."""
        if new := [name for name in names if name not in self.indexed()]:
            self._database.execute_each("INSERT INTO indexed_keys (name) VALUES (?)", [(name,) for name in new])
            keys = {name: key for name, key in self.indexed().items() if name in new}
            self._database.execute_each("INSERT INTO key_values VALUES (?, ?, ?)", rows_of_keys(keys, documents))

    def add(self, documents: Sequence[Placed]) -> None:
        """Take up new documents."""
        self._count(documents, 1)
        if keys := self.indexed():
            self._database.execute_each("INSERT INTO key_values VALUES (?, ?, ?)", rows_of_keys(keys, documents))

    def remove(self, documents: Sequence[Placed]) -> None:
        """Forget documents."""
        self._count(documents, -1)
        if keys := self.indexed():
            distinct = {id(metadata): metadata for _, metadata in documents}  # many may share one
            values = {number: list(_values(keys, metadata)) for number, metadata in distinct.items()}
            self._database.execute_each(
                "DELETE FROM key_values WHERE key = ? AND value = ? AND position = ?",
                ((key, value, position) for position, metadata in documents for key, value in values[id(metadata)]),
            )

    def positions(self, condition: Condition, most: int | None) -> Positions | None:
        """The documents that meet a condition; None if the table cannot say, or if they are more than `most`."""
        key, tests = self.indexed().get(condition.key), lookups(condition.test)
        if key is None or tests is None:
            return None
        found = (
            position
            for test in tests
            for query, values in _query(test)
            for (position,) in self._database.execute(
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
        self._database.execute_each(
            "INSERT INTO key_kinds VALUES (?, ?, ?) "
            "ON CONFLICT (name, kinds) DO UPDATE SET documents = documents + excluded.documents",
            [(name, kinds, sign * n) for (name, kinds), n in counts.items()],
        )
        if sign < 0:
            self._database.execute("DELETE FROM key_kinds WHERE documents = 0")


def rows_of_keys(keys: dict[str, int], documents: Iterable[Placed]) -> Iterator[tuple[int, Stored, int]]:
    """The rows of the table: key, value, position. A document without a value has none."""
    return ((key, value, position) for position, metadata in documents for key, value in _values(keys, metadata))


def _values(keys: dict[str, int], metadata: Metadata) -> Iterator[tuple[int, Stored]]:
    for name, key in keys.items():
        if metadata.get(name) not in (None, []):
            yield from ((key, value) for value in set(map(_stored, values_of(metadata[name]))))


def _stored(scalar: Scalar) -> Stored:
    if scalar.kind == "bool":
        return _TRUE if scalar.value else _FALSE
    if scalar.value is None:
        return _NONE if scalar.kind == "null" else _OTHER
    return scalar.value


def _query(test: Lookup) -> Iterator[tuple[str, list[Stored]]]:
    """Conditions on values which together find the documents that pass a test, with their parameters."""
    match test:
        case Exists():
            yield "value <> ?", [_NONE]
        case AnyOf(values):
            stored = [_stored(value) for value in values]
            for start in range(0, len(stored), _VALUES_AT_ONCE):
                chunk = stored[start : start + _VALUES_AT_ONCE]
                yield f"value IN ({', '.join('?' * len(chunk))})", chunk
        case Between(kind, bounds):
            # A bound at each end, so that numbers end where texts begin, and texts where blobs do.
            limits: list[tuple[str, Stored]] = [*bounds]
            sides = {operator[0] for operator, _ in bounds}
            if ">" not in sides and kind == "text":
                limits.append((">=", ""))
            if "<" not in sides:
                limits.append(("<", "" if kind == "number" else b""))
            yield " AND ".join(f"value {operator} ?" for operator, _ in limits), [bound for _, bound in limits]
