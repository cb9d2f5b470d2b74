"""Filters in SQL, for metadata that SQLite reads just as Python does.

SQLite cuts a string at an escaped NUL, looks for keys in their escaped form, and may miss the nearest float by a bit in
the last place. So documents whose JSON has an escape, an exponent or a number of 16 characters or more are marked, for
`filters.matches` to judge, and so is every document when the filter itself has such a part. Shorter numbers are so
far apart that a bit does not bring two of them together, and a number of the filter is read as those in the JSON are.
"""

import json
import math
import re
from collections.abc import Iterable

from ammi.search.filters import Bound, Filter, Kind, Scalar
from ammi.search.sql.translation import Item, Metadatum, SqlCondition, Translation, is_simple

_KEY = re.compile(r'[^"\\\x00-\x1f]+')
_MOST_VALUES = 5_000  # of one statement; SQLite itself may stop at 32,766


def to_sql(filter: Filter) -> SqlCondition | None:
    """Return the filter for documents that are not marked for Python; None if Python must judge all of them."""
    if not all(_KEY.fullmatch(key) for key, _ in filter):
        return None
    translation = _JsonTranslation()
    text = " AND ".join(translation.condition(test, translation.metadatum(key)) for key, test in filter)
    exact = not translation.inexact and len(translation.values) <= _MOST_VALUES
    return SqlCondition(text, translation.values) if exact else None


class _JsonTranslation(Translation):
    parameter = ":{}"
    functions = "json_type", "json_array_length", "json_each"
    types = {"number": "('integer', 'real')", "text": "('text')"}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.inexact = False

    def metadatum(self, key: str) -> Metadatum:
        path = self.bind(f'$."{key}"')
        alone = Item(f"IFNULL(json_type(metadata, {path}), 'null')", f"json_extract(metadata, {path})")
        return Metadatum(f"metadata, {path}", alone, Item("item.type", "item.value"))

    def equals_any(self, item: Item, values: Iterable[Scalar]) -> str:
        parts = [f"{item.type} = '{json.dumps(value)}'" for kind, value in values if kind in ("null", "bool")]
        for kind, types in self.types.items():
            if bounds := ", ".join(self._bound(kind, value) for its_kind, value in values if its_kind == kind):
                parts.append(f"({item.type} IN {types} AND {item.value} IN ({bounds}))")
        return f"({' OR '.join(parts) or 'FALSE'})"

    def compare(self, kind: Kind, value: str, operator: str, bound: Bound) -> str:
        return f"{value} {operator} {self._bound(kind, bound)}"

    def _bound(self, kind: Kind, value: Bound) -> str:
        if kind == "text":
            return self.bind(value)
        spelled = json.dumps(value)
        self.inexact |= not is_simple(spelled) or not math.isfinite(float(value))
        return f"json_extract({self.bind(spelled)}, '$')"
