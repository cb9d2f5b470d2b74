"""Filters as SQL over jsonb, with just the meaning of `filters.matches`.

Where a key has its values in the table key_values, that is asked first: for all documents that may pass, and perhaps
some more, since it holds the beginning of a text and a number as a float.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

from ammi.search.filters import AllOf, AnyOf, Between, Either, Exists, Filter, Not, Scalar, Test, holds, scalar
from ammi.search.postgres.values import (
    AFTER_NULL,
    FIRST_NUMBER,
    FIRST_TEXT,
    OTHER,
    escaped,
    sortable,
    spelled_scalar,
)

_TYPES = {"number": "number", "text": "string"}


class Sql(NamedTuple):
    """A condition on the columns position and metadata of documents, and the values of its parameters."""

    text: str
    values: dict[str, Any]


def to_sql(filter: Filter, indexed: dict[str, int]) -> Sql:
    """The documents that a filter keeps; `indexed` has the number of each key that is in key_values."""
    translation = _Translation()
    parts = []
    for key, test in filter:
        if key in indexed and (ranges := _ranges(test)) is not None:
            parts.append(translation.looked_up(indexed[key], ranges))
        parts.append(translation.of(test, f"metadata -> {translation.bind(escaped(key))}::text"))
    return Sql(" AND ".join(parts) or "TRUE", translation.values)


class _Translation:
    def __init__(self) -> None:
        self.values: dict[str, Any] = {}

    def bind(self, value: Any) -> str:
        name = f"v{len(self.values)}"
        self.values[name] = value
        return f"%({name})s"

    def looked_up(self, key: int, ranges: Iterable[tuple[bytes, bytes]]) -> str:
        exact = [low for low, high in ranges if low == high]
        wide = [(low, high) for low, high in ranges if low != high]
        tests = [f"value = ANY({self.bind(exact)}::bytea[])"] if exact or not wide else []
        tests += [f"value BETWEEN {self.bind(low)} AND {self.bind(high)}" for low, high in wide]
        return f"position IN (SELECT position FROM key_values WHERE key = {key} AND ({' OR '.join(tests)}))"

    def of(self, test: Test, value: str) -> str:
        """A test of a value of the metadata, which is never NULL."""
        match test:
            case Not(inner):
                return f"(NOT {self.of(inner, value)})"
            case AllOf(tests):
                return f"({' AND '.join(self.of(inner, value) for inner in tests) or 'TRUE'})"
            case Either(tests):
                return f"({' OR '.join(self.of(inner, value) for inner in tests)})"
        of_none = "TRUE" if holds(test, [scalar(None)]) else "FALSE"
        return (
            f"(CASE WHEN {value} IS NULL OR {value} = '[]' THEN {of_none} WHEN jsonb_typeof({value}) = 'array' "
            f"THEN EXISTS (SELECT FROM jsonb_array_elements({value}) AS item WHERE {self._of_item(test, 'item')}) "
            f"ELSE {self._of_item(test, f'({value})')} END)"
        )

    def _of_item(self, test: AnyOf | Between | Exists, item: str) -> str:
        match test:
            case Exists():
                return f"jsonb_typeof({item}) <> 'null'"
            case AnyOf(values):
                return f"{item} = ANY({self.bind([spelled_scalar(one) for one in values])}::jsonb[])"
            case Between(kind, bounds):
                compared = " AND ".join(self._compared(kind, item, *bound) for bound in bounds)
                return f"(jsonb_typeof({item}) = '{_TYPES[kind]}' AND {compared})"

    def _compared(self, kind: str, item: str, name: str, bound: Any) -> str:
        if kind == "number":  # jsonb compares two numbers as numbers, but two texts in the order of some language
            return f"{item} {name} {self.bind(spelled_scalar(scalar(bound)))}::jsonb"
        return f"({item} #>> '{{}}') COLLATE \"C\" {name} {self.bind(escaped(bound))}::text"


def _ranges(test: Test) -> list[tuple[bytes, bytes]] | None:
    """The ranges of key_values in which a document that passes has a value; None where it may pass by having none."""
    match test:
        case Exists():
            return [(AFTER_NULL, OTHER)]
        case Between(kind, bounds):
            return [_range(kind, bounds)]
        case Either(tests):
            found = [_ranges(inner) for inner in tests]
            return [one for ranges in found for one in ranges or []] if None not in found else None
        case AnyOf(values) if not any(kind == "null" for kind, _ in values):
            return [(position, position) for position in map(sortable, values)]
    return None


def _range(kind: Any, bounds: tuple[tuple[str, Any], ...]) -> tuple[bytes, bytes]:
    low, high = (FIRST_NUMBER, FIRST_TEXT) if kind == "number" else (FIRST_TEXT, OTHER)
    places = [(name, sortable(Scalar(kind, bound))) for name, bound in bounds]
    return (
        max([low, *(position for name, position in places if name[0] == ">")]),
        min([high, *(position for name, position in places if name[0] == "<")]),
    )
