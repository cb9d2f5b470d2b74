"""Filters as Milvus expressions: what every document that a filter keeps has, for the server to look for.

milvus-lite knows neither NOT nor a test for a missing key, and JSON numbers and escapes are read differently from
version to version. So a document has a JSON field `tags` of our own making, in plain ASCII: numbers that stand for its
keys and values, and for each key the least and the greatest of its numbers and texts. An expression over it keeps all
that the filter keeps, and perhaps more; `filters.matches` judges what it kept.
"""

import json
import math
from hashlib import blake2b
from typing import Any

from ammi.search.documents import Metadata
from ammi.search.filters import AllOf, AnyOf, Between, Either, Exists, Filter, Not, Scalar, Test, values_of

NOTHING = "row < 0"
_UNSURE = 0  # the tag of a document that has more than its tags can say
_MOST_BYTES = 60_000  # of a JSON field Milvus takes 65,536
_PREFIX = 24  # bytes of a text that are compared
_GREATEST = 1.7976931348623157e308


def number_of(*parts: str) -> int:
    """A number that stands for these strings, and for no others in practice: of 48 bits, exact in every JSON reader."""
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=6).digest()) or 1


def tags_of(metadata: Metadata) -> dict[str, Any]:
    """What the server can know of metadata."""
    tags: set[int] = set()
    ranges: dict[str, Any] = {}
    for key, value in metadata.items():
        values = [one for one in values_of(value) if one.kind != "null"]
        if values:
            tags |= {number_of("has", key), *(_tag(key, one) for one in values if one.kind != "other")}
        if numbers := [one.value for one in values if one.kind == "number"]:
            ranges[_path(key, "number")] = [_below(min(numbers)), _above(max(numbers))]
        if texts := [one.value for one in values if one.kind == "text"]:
            ranges[_path(key, "text")] = [_spelled(min(texts)), _spelled(max(texts))]
    found = {"is": sorted(tags), **ranges}
    return found if len(json.dumps(found)) <= _MOST_BYTES else {"is": [_UNSURE]}


def to_expression(filter: Filter) -> str | None:
    """What the tags of every document have that a filter keeps; None where that may be anything."""
    parts = [part for key, test in filter if (part := _of(key, test)) is not None]
    if NOTHING in parts:
        return NOTHING
    return f'({" and ".join(parts)} or json_contains(tags["is"], {_UNSURE}))' if parts else None


def _of(key: str, test: Test) -> str | None:
    match test:
        case Exists():
            return _has_one(number_of("has", key))
        case AnyOf(values):
            if any(one.kind == "null" for one in values):
                return None
            return _has_one(*(_tag(key, one) for one in values)) if values else NOTHING
        case Between(kind, bounds):
            return f"({' and '.join(_bound(key, kind, *bound) for bound in bounds)})"
        case AllOf(tests):
            return _joined(" and ", [part for inner in tests if (part := _of(key, inner)) is not None])
        case Either(tests):
            parts = [_of(key, inner) for inner in tests]
            return None if None in parts else _joined(" or ", [part for part in parts if part is not None])
        case Not(Not(inner)):
            return _of(key, inner)
        case Not(AllOf(tests)):
            return _of(key, Either(tuple(Not(inner) for inner in tests)))
        case Not(Either(tests)):
            return _of(key, AllOf(tuple(Not(inner) for inner in tests)))
    return None


def _joined(word: str, parts: list[str]) -> str | None:
    return f"({word.join(parts)})" if parts else None


def _has_one(*tags: int) -> str:
    return f'json_contains_any(tags["is"], {sorted(tags)})'


def _bound(key: str, kind: str, name: str, bound: Any) -> str:
    """A bound that may let its neighbours pass: floats are rounded to the outside, texts are cut."""
    path = f'tags["{_path(key, kind)}"]'
    if kind == "text":
        return f'{path}[1] >= "{_spelled(bound)}"' if name[0] == ">" else f'{path}[0] <= "{_spelled(bound)}"'
    return f"{path}[1] >= {_below(bound)!r}" if name[0] == ">" else f"{path}[0] <= {_above(bound)!r}"


def _tag(key: str, one: Scalar) -> int:
    value = one.value
    if one.kind == "number" and value == value // 1 and abs(value) < 2**63:  # 1.0 is 1
        value = int(value)
    return number_of("is", key, one.kind, str(value) if one.kind == "text" else repr(value))


def _path(key: str, kind: str) -> str:
    return f"{kind}{number_of('key', key):x}"


def _spelled(text: str) -> str:
    """The beginning of a text, in letters that are in the same order."""
    return f"t{text.encode()[:_PREFIX].hex()}"


def _below(value: int | float) -> float:
    near = max(-_GREATEST, min(float(value), _GREATEST))
    return near if near <= value or near == -_GREATEST else math.nextafter(near, -math.inf)


def _above(value: int | float) -> float:
    near = max(-_GREATEST, min(float(value), _GREATEST))
    return near if near >= value or near == _GREATEST else math.nextafter(near, math.inf)
