"""Filters as SQL over jsonb, with just the meaning of `filters.matches`.

A filter on an indexed key first asks the table key_values for all documents that may pass. These can be a few too many,
since the table holds only the beginning of a text, and numbers as floats.
"""

from collections.abc import Iterable

from ammi.search.filters import AnyOf, Between, Bound, Exists, Filter, Kind, Scalar, scalar
from ammi.search.postgres.values import (
    AFTER_NULL,
    FIRST_NUMBER,
    FIRST_TEXT,
    OTHER,
    escaped,
    sortable,
    spelled_scalar,
)
from ammi.search.sql.translation import Item, Lookup, Metadatum, SqlCondition, Translation, lookups


def to_sql(filter: Filter, indexed: dict[str, int]) -> SqlCondition:
    """Return the condition of a filter; `indexed` has the number of each key that is in key_values."""
    translation = _JsonbTranslation()
    parts = []
    for key, test in filter:
        if key in indexed and (tests := lookups(test)) is not None:
            parts.append(translation.look_up(indexed[key], tests))
        parts.append(translation.condition(test, translation.metadatum(key)))
    return SqlCondition(" AND ".join(parts) or "TRUE", translation.values)


class _JsonbTranslation(Translation):
    parameter = "%({})s"
    functions = "jsonb_typeof", "jsonb_array_length", "jsonb_array_elements"
    types = {"number": "('number')", "text": "('string')"}  # noqa: RUF012

    def metadatum(self, key: str) -> Metadatum:
        value = f"(metadata -> {self.bind(escaped(key))}::text)"
        alone = f"COALESCE({value}, 'null')"
        return Metadatum(value, Item(f"jsonb_typeof({alone})", alone), Item("jsonb_typeof(item)", "item"))

    def equals_any(self, item: Item, values: Iterable[Scalar]) -> str:
        return f"{item.value} = ANY({self.bind(list(map(spelled_scalar, values)))}::jsonb[])"

    def compare(self, kind: Kind, value: str, operator: str, bound: Bound) -> str:
        if kind == "number":  # jsonb compares two numbers as numbers, but two texts in the order of some language
            return f"{value} {operator} {self.bind(spelled_scalar(scalar(bound)))}::jsonb"
        return f"({value} #>> '{{}}') COLLATE \"C\" {operator} {self.bind(escaped(str(bound)))}::text"

    def look_up(self, key: int, tests: Iterable[Lookup]) -> str:
        """Return the documents for which key_values has a value that may pass one of the tests."""
        ranges = [interval for test in tests for interval in _ranges(test)]
        exact = [low for low, high in ranges if low == high]
        wide = [(low, high) for low, high in ranges if low != high]
        found = [f"value = ANY({self.bind(exact)}::bytea[])"] if exact or not wide else []
        found += [f"value BETWEEN {self.bind(low)} AND {self.bind(high)}" for low, high in wide]
        return f"position IN (SELECT position FROM key_values WHERE key = {key} AND ({' OR '.join(found)}))"


def _ranges(test: Lookup) -> list[tuple[bytes, bytes]]:
    """Return the ranges of key_values in which a document that passes has a value."""
    match test:
        case Exists():
            return [(AFTER_NULL, OTHER)]
        case AnyOf(values):
            return [(stored, stored) for stored in map(sortable, values)]
        case Between(kind, bounds):
            low, high = (FIRST_NUMBER, FIRST_TEXT) if kind == "number" else (FIRST_TEXT, OTHER)
            stored = [(operator[0], sortable(Scalar(kind, bound))) for operator, bound in bounds]
            lowest = max([low, *(value for side, value in stored if side == ">")])
            return [(lowest, min([high, *(value for side, value in stored if side == "<")]))]
