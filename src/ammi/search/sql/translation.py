"""Filters as SQL conditions on JSON metadata; a subclass adds how one database spells values and comparisons."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from ammi.search.filters import (
    AllOf,
    AnyOf,
    Between,
    Bound,
    Either,
    Exists,
    Kind,
    Lookup,
    Not,
    Scalar,
    Test,
    holds,
    scalar,
)

SqlValue = bool | int | float | str | bytes | list[str] | list[bytes] | None
_NOT_SIMPLE = re.compile(r"\\|[0-9.]{16}|[0-9]e[+-]?[0-9]")


class SqlCondition(NamedTuple):
    """A condition on the documents, and the values of its parameters."""

    text: str
    values: dict[str, SqlValue]


class Item(NamedTuple):
    """One metadata value as SQL: the expressions of its JSON type and of the value itself."""

    type: str
    value: str


class Metadatum(NamedTuple):
    """The metadata of one key as SQL: arguments for JSON functions; the value, or JSON null; an item of a list."""

    arguments: str
    alone: Item
    item: Item


class Translation(ABC):
    """One translation of a filter, which collects the values of its parameters."""

    parameter: ClassVar[str]
    functions: ClassVar[tuple[str, str, str]]  # the type of a value, the length of an array, the items of an array
    types: ClassVar[dict[Kind, str]]  # the JSON types of the kinds that ranges compare

    def __init__(self) -> None:
        self.values: dict[str, SqlValue] = {}

    def bind(self, value: SqlValue) -> str:
        """Add a parameter, and return its placeholder."""
        name = f"v{len(self.values)}"
        self.values[name] = value
        return self.parameter.format(name)

    def condition(self, test: Test, metadatum: Metadatum) -> str:
        """A test of the metadata of one key. It is never NULL, so that NOT and OR mean what they do in Python."""
        match test:
            case Not(inner):
                return f"(NOT {self.condition(inner, metadatum)})"
            case AllOf(tests):
                return f"({' AND '.join(self.condition(inner, metadatum) for inner in tests) or 'TRUE'})"
            case Either(tests):
                return f"({' OR '.join(self.condition(inner, metadatum) for inner in tests)})"
        typeof, length, items = (f"{function}({metadatum.arguments})" for function in self.functions)
        of_none = "TRUE" if holds(test, [scalar(None)]) else "FALSE"  # an empty list is the value None
        return (
            f"(CASE {typeof} WHEN 'array' THEN CASE {length} WHEN 0 THEN {of_none} "
            f"ELSE EXISTS (SELECT 1 FROM {items} AS item WHERE {self._of_item(test, metadatum.item)}) END "
            f"ELSE {self._of_item(test, metadatum.alone)} END)"
        )

    def _of_item(self, test: Lookup, item: Item) -> str:
        match test:
            case Exists():
                return f"{item.type} <> 'null'"
            case AnyOf(values):
                return self.equals_any(item, values)
            case Between(kind, bounds):
                compared = " AND ".join(self.compare(kind, item.value, *bound) for bound in bounds)
                return f"({item.type} IN {self.types[kind]} AND {compared})"

    @abstractmethod
    def equals_any(self, item: Item, values: Iterable[Scalar]) -> str:
        """The condition that an item is one of these values."""

    @abstractmethod
    def compare(self, kind: Kind, value: str, operator: str, bound: Bound) -> str:
        """The condition that a value of a kind meets a bound."""


def is_simple(spelled: str) -> bool:
    """Whether every reader of JSON reads this text alike: it has no escape, exponent or number of 16 characters."""
    return _NOT_SIMPLE.search(spelled) is None
