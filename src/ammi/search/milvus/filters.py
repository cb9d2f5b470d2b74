"""Filters as Milvus expressions: a condition that every document that passes the filter meets.

milvus-lite has neither NOT nor a test for a missing key, and JSON numbers and escapes differ between versions. So each
document has numbers for its keys and values in a JSON field `tags`. The server narrows by them, ranges by the key
alone; `filters.matches` decides.
"""

from hashlib import blake2b

from ammi.search.documents import Metadata
from ammi.search.filters import AnyOf, Between, Either, Exists, Filter, Scalar, values_of

NOTHING = "position < 0"  # met by no document
_UNSURE = 0  # the tag of a document that has more values than its tags can hold
_MOST = 2000  # tags, of 16 bytes; Milvus takes 65,536 in a JSON field


def number_of(*parts: str) -> int:
    """Return a number for these strings, in practice a different one for others: 48 bits, exact in any JSON reader."""
    return int.from_bytes(blake2b("\0".join(parts).encode(), digest_size=6).digest()) or 1


def tags_of(metadata: Metadata) -> dict[str, list[int]]:
    """Return the tags of a document: a number for each of its keys, and for each value."""
    tags: set[int] = set()
    for key, value in metadata.items():
        if values := [one for one in values_of(value) if one.kind != "null"]:
            tags |= {number_of("has", key), *(_tag(key, one) for one in values)}
    return {"is": sorted(tags) if len(tags) <= _MOST else [_UNSURE]}


def to_expression(filter: Filter) -> str:
    """Return a condition on the tags that every document that passes a filter meets; "" if there is none."""
    parts = []
    for key, test in filter:
        match test:
            case AnyOf(values) if not values:
                return NOTHING
            case AnyOf(values) if not any(one.kind == "null" for one in values):
                tags = {_UNSURE, *(_tag(key, one) for one in values)}
            case Exists() | Between() | Either():  # an Either is of ranges
                tags = {_UNSURE, number_of("has", key)}
            case _:
                continue
        parts.append(f'json_contains_any(tags["is"], {sorted(tags)})')
    return " and ".join(parts)


def _tag(key: str, one: Scalar) -> int:
    value = one.value
    if one.kind == "number" and value == value // 1 and abs(value) < 2**63:  # 1.0 equals 1
        value = int(value)
    return number_of("is", key, one.kind, str(value) if one.kind == "text" else repr(value))
