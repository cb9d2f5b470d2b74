"""Filters as Milvus expressions: a condition that every document that passes the filter meets.

milvus-lite has neither NOT nor a test for a missing key, and JSON numbers and escapes differ between versions. So each
document has a JSON field `tags` in plain ASCII: numbers that stand for its keys and values, and for each key the least
and the greatest of its numbers and texts. The server narrows by it; `filters.matches` decides.
"""

import json
import math
from hashlib import blake2b
from typing import Any

from ammi.search.documents import Metadata
from ammi.search.filters import AnyOf, Between, Either, Exists, Filter, Scalar, Test, values_of

NOTHING = "position < 0"  # met by no document
_UNSURE = 0  # the tag of a document that has more values than its tags can hold
_MOST_BYTES = 30_000  # Milvus takes 65,536 in a JSON field, and 64 MB in a call
_PREFIX = 24  # bytes of a text that are compared
_GREATEST = 1.7976931348623157e308

Tags = dict[str, list[int] | list[float] | list[str]]


def number_of(*parts: str) -> int:
    """Return a number for these strings, in practice a different one for others: 48 bits, exact in any JSON reader."""
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=6).digest()) or 1


def tags_of(metadata: Metadata) -> Tags:
    """Return the tags of a document."""
    tags: set[int] = set()
    ranges: Tags = {}
    for key, value in metadata.items():
        values = [one for one in values_of(value) if one.kind != "null"]
        if values:
            tags |= {number_of("has", key), *(_tag(key, one) for one in values if one.kind != "other")}
        if numbers := [one.value for one in values if one.kind == "number"]:
            ranges[_path(key, "number")] = [_outside(min(numbers), -math.inf), _outside(max(numbers), math.inf)]
        if texts := [one.value for one in values if one.kind == "text"]:
            ranges[_path(key, "text")] = [_prefix(min(texts)), _prefix(max(texts))]
    found: Tags = {"is": sorted(tags), **ranges}
    return found if len(json.dumps(found)) <= _MOST_BYTES else {"is": [_UNSURE]}


def to_expression(filter: Filter) -> str:
    """Return a condition on the tags that every document that passes a filter meets; "" if there is none."""
    parts = [part for key, test in filter if (part := _of(key, test)) is not None]
    if NOTHING in parts:
        return NOTHING
    return f'({" and ".join(parts)} or json_contains(tags["is"], {_UNSURE}))' if parts else ""


def _of(key: str, test: Test) -> str | None:
    match test:
        case Exists():
            return _has_any(number_of("has", key))
        case AnyOf(values):
            if any(one.kind == "null" for one in values):
                return None
            return _has_any(*(_tag(key, one) for one in values)) if values else NOTHING
        case Between(kind, bounds):
            return f"({' and '.join(_bound(key, kind, *bound) for bound in bounds)})"
        case Either(tests) if all(parts := [_of(key, inner) for inner in tests]):
            return f"({' or '.join(map(str, parts))})"
    return None  # milvus-lite has no NOT, and AllOf stands only inside of Not


def _has_any(*tags: int) -> str:
    return f'json_contains_any(tags["is"], {sorted(tags)})'


def _bound(key: str, kind: str, name: str, bound: Any) -> str:
    """Return a bound that values close to it may pass, too: numbers are rounded outwards, texts are cut."""
    side, sign, towards = (1, ">=", -math.inf) if name[0] == ">" else (0, "<=", math.inf)
    value = f'"{_prefix(bound)}"' if kind == "text" else repr(_outside(bound, towards))
    return f'tags["{_path(key, kind)}"][{side}] {sign} {value}'


def _tag(key: str, one: Scalar) -> int:
    value = one.value
    if one.kind == "number" and value == value // 1 and abs(value) < 2**63:  # 1.0 equals 1
        value = int(value)
    return number_of("is", key, one.kind, str(value) if one.kind == "text" else repr(value))


def _path(key: str, kind: str) -> str:
    return f"{kind}{number_of('key', key):x}"


def _prefix(text: str) -> str:
    """Return the beginning of a text in hexadecimal, which sorts in the same order."""
    return f"t{text.encode()[:_PREFIX].hex()}"


def _outside(value: int | float, towards: float) -> float:
    """Return the nearest finite float that is not on the other side of a value."""
    near = max(-_GREATEST, min(float(value), _GREATEST))
    is_beyond = near <= value if towards < 0 else near >= value
    return near if is_beyond or abs(near) == _GREATEST else math.nextafter(near, towards)
