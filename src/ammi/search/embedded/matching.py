"""The documents of an embedded store that pass a filter: by the values of indexed keys, or by reading all metadata.

SQLite orders numbers before texts and texts before blobs. Blobs stand for other values: None, False, True, the rest.
"""

import json
from collections.abc import Iterator
from functools import reduce
from itertools import islice

import numpy as np

from ammi.search.documents import parsed
from ammi.search.embedded.blocks import Positions
from ammi.search.embedded.database import SqliteDatabase
from ammi.search.embedded.json_filters import to_sql
from ammi.search.filters import AnyOf, Between, Condition, Exists, Filter, Scalar, matches
from ammi.search.sql.sql_tables import Stored
from ammi.search.sql.translation import Lookup, SqlValue, lookups

AT_POSITIONS = "IN (SELECT value FROM json_each(:positions))"
_NONE, _FALSE, _TRUE, _OTHER = b"", b"\0", b"\1", b"\2"
_VALUES_AT_ONCE = 500
_ROWS_AT_ONCE = 10_000
_FEW = (20_000, 200_000)  # up to so many documents, looking them up one by one is faster than reading all


def stored(scalar: Scalar) -> Stored:
    """Return a value as the table key_values holds it."""
    if scalar.kind == "bool":
        return _TRUE if scalar.value else _FALSE
    if scalar.value is None:
        return _NONE if scalar.kind == "null" else _OTHER
    return scalar.value


def matching(database: SqliteDatabase, filter: Filter, indexed: dict[str, int]) -> Positions:
    """Return the sorted positions of the documents that pass a filter."""
    for most in (None,) if len(filter) == 1 else _FEW:
        found = [_looked_up(database, condition, indexed, most) for condition in filter]
        known = [positions for positions in found if positions is not None]
        if known:
            narrow = reduce(np.intersect1d, known)
            rest = tuple(condition for condition, positions in zip(filter, found, strict=True) if positions is None)
            return _scanned(database, rest, narrow) if rest else narrow
    return _scanned(database, filter, None)


def _looked_up(
    database: SqliteDatabase, condition: Condition, indexed: dict[str, int], most: int | None
) -> Positions | None:
    """Return the documents that meet a condition; None if key_values cannot say, or if they are more than `most`."""
    key, tests = indexed.get(condition.key), lookups(condition.test)
    if key is None or tests is None:
        return None
    found = (
        position
        for test in tests
        for query, values in _queries(test)
        for (position,) in database.execute(
            f"SELECT position FROM key_values WHERE key = ? AND {query}", [key, *values]
        )
    )
    positions = np.fromiter(found if most is None else islice(found, most + 1), np.int64)
    return None if most is not None and len(positions) > most else np.unique(positions)


def _queries(test: Lookup) -> Iterator[tuple[str, list[Stored]]]:
    """Conditions on values which together find the documents that pass a test, with their parameters."""
    match test:
        case Exists():
            yield "value <> ?", [_NONE]
        case AnyOf(values):
            wanted = [stored(value) for value in values]
            for start in range(0, len(wanted), _VALUES_AT_ONCE):
                chunk = wanted[start : start + _VALUES_AT_ONCE]
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


def _scanned(database: SqliteDatabase, filter: Filter, among: Positions | None) -> Positions:
    """Return the documents that pass a filter, among these positions or all, by their metadata."""
    sql = to_sql(filter)
    values: dict[str, SqlValue] = {} if sql is None else dict(sql.values)
    conditions = [] if sql is None else [f"(for_python OR {sql.text})"]
    if among is not None:
        conditions.append(f"position {AT_POSITIONS}")
        values["positions"] = json.dumps(among.tolist())
    uncertain = "metadata" if sql is None else "CASE WHEN for_python THEN metadata END"
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = iter(database.execute(f"SELECT position, {uncertain} FROM documents {where} ORDER BY position", values))
    found = [np.empty(0, np.int64)]
    while chunk := list(islice(rows, _ROWS_AT_ONCE)):
        distinct = list({metadata for _, metadata in chunk if metadata is not None})  # documents often share theirs
        read = zip(distinct, parsed(distinct), strict=True)
        good = {None, *(spelled for spelled, metadata in read if matches(filter, metadata))}
        found.append(np.array([position for position, metadata in chunk if metadata in good], np.int64))
    return np.concatenate(found)
