"""Filters as SQL over JSON metadata, as far as SQLite reads JSON just as Python does.

SQLite cuts a string at an escaped NUL, looks for keys in their escaped form, and may miss the nearest float by a bit in
the last place. So documents whose JSON has an escape, an exponent or a number of 16 characters or more are marked, for
`filters.matches` to judge, and so is every document when the filter itself has such a part. Shorter numbers are so
far apart that a bit does not bring two of them together, and a number of the filter is read as those in the JSON are.
"""

import json
import math
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

from ammi.search.filters import AllOf, AnyOf, Between, Either, Exists, Filter, Not, Scalar, Test, holds, scalar

_READ_OTHERWISE = re.compile(r"\\|[0-9.]{16}|[0-9]e[+-]?[0-9]")
_KEY = re.compile(r'[^"\\\x00-\x1f]+')
_MOST_VALUES = 5_000  # of one statement; SQLite itself may stop at 32,766
_TYPES = {"number": "('integer', 'real')", "text": "('text')"}


class Sql(NamedTuple):
    """A condition on the column `metadata`, and the values of its parameters."""

    text: str
    values: dict[str, Any]


def for_python(metadata: str) -> bool:
    """Whether SQLite may read this JSON otherwise than Python does."""
    return _READ_OTHERWISE.search(metadata) is not None


def to_sql(filter: Filter) -> Sql | None:
    """The filter for documents that are not marked for Python; None if it must be Python for all of them."""
    translation = _Translation()
    if not all(_KEY.fullmatch(key) for key, _ in filter):
        return None
    parts = [translation.of(test, translation.bind(f'$."{key}"')) for key, test in filter]
    exact = not translation.inexact and len(translation.values) <= _MOST_VALUES
    return Sql(" AND ".join(parts), translation.values) if exact else None


class _Translation:
    def __init__(self) -> None:
        self.values: dict[str, Any] = {}
        self.inexact = False

    def bind(self, value: Any) -> str:
        name = f"v{len(self.values)}"
        self.values[name] = value
        return f":{name}"

    def of(self, test: Test, path: str) -> str:
        """A test of the value at a path."""
        match test:
            case Not(inner):
                return f"(NOT {self.of(inner, path)})"
            case AllOf(tests):
                return f"({' AND '.join(self.of(inner, path) for inner in tests)})"
            case Either(tests):
                return f"({' OR '.join(self.of(inner, path) for inner in tests)})"
        of_none = int(holds(test, [scalar(None)]))
        of_item = self._of_value(test, "item.type", "item.value")
        alone = self._of_value(test, f"IFNULL(json_type(metadata, {path}), 'null')", f"json_extract(metadata, {path})")
        return (
            f"(CASE json_type(metadata, {path}) WHEN 'array' THEN CASE json_array_length(metadata, {path}) "
            f"WHEN 0 THEN {of_none} "
            f"ELSE EXISTS (SELECT 1 FROM json_each(metadata, {path}) AS item WHERE {of_item}) END ELSE {alone} END)"
        )

    def _of_value(self, test: AnyOf | Between | Exists, type: str, value: str) -> str:
        """A test of one value, which is never NULL: not even where the value is."""
        match test:
            case Exists():
                return f"{type} <> 'null'"
            case Between(kind, bounds):
                compared = " AND ".join(f"{value} {name} {self._bound(kind, bound)}" for name, bound in bounds)
                return f"({type} IN {_TYPES[kind]} AND {compared})"
            case AnyOf(values):
                return f"({' OR '.join(self._is_one_of(values, type, value)) or '0'})"

    def _is_one_of(self, values: Iterable[Scalar], type: str, value: str) -> Iterable[str]:
        for kind, types in _TYPES.items():
            if of_kind := ", ".join(self._bound(kind, one.value) for one in values if one.kind == kind):
                yield f"({type} IN {types} AND {value} IN ({of_kind}))"
        for one in values:
            if one.kind in ("null", "bool"):
                yield f"{type} = '{json.dumps(one.value)}'"

    def _bound(self, kind: str, value: Any) -> str:
        if kind == "text":
            return self.bind(value)
        spelled = json.dumps(value)
        self.inexact |= for_python(spelled) or not math.isfinite(value)
        return f"json_extract({self.bind(spelled)}, '$')"
