"""Values as PostgreSQL can hold them: its texts have no NUL, and its JSON has decimals in place of floats.

In every text, NUL becomes the characters 1 1, and the character 1 becomes 1 2: reversible, and the order stays.
Metadata is kept twice: as its text, and as jsonb, in which numbers are written so that PostgreSQL's decimals compare
as the floats of `filters` do.
"""

import json
import struct
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from ammi.plain import as_json
from ammi.search.documents import Id, Metadata
from ammi.search.filters import Scalar, scalar
from ammi.search.sql.translation import is_simple

_NULL, _FALSE, _TRUE, _NUMBER, _TEXT, OTHER = (bytes([kind]) for kind in range(6))
AFTER_NULL, FIRST_NUMBER, FIRST_TEXT = _FALSE, _NUMBER, _TEXT
_PREFIX = 200  # bytes of a text that the index of a key compares
_BEYOND = "1e999"  # greater than all floats
_LONGEST_CACHED = 64  # characters of a word whose number is cached


def escaped(text: str) -> str:
    """Return a text without NUL."""
    if "\0" in text or "\1" in text:
        return text.replace("\1", "\1\2").replace("\0", "\1\1")
    return text


def unescaped(text: str) -> str:
    """Return the text that was escaped."""
    return text.replace("\1\1", "\0").replace("\1\2", "\1") if "\1" in text else text


def stored_id(id: Id) -> str:
    """Return the id as a text: 17 and "17" are the same."""
    return escaped(str(id))


def read_id(stored: str, is_text: bool) -> Id:
    return unescaped(stored) if is_text else int(stored)


def as_jsonb(metadata: Metadata, spelled: str) -> str:
    """Return the JSON for filters of metadata that is spelled so."""
    if is_simple(spelled):
        return spelled
    parts = (f"{json.dumps(escaped(key))}:{_value(value)}" for key, value in metadata.items())
    return "{" + ",".join(parts) + "}"


def spelled_scalar(scalar: Scalar) -> str:
    """Return a value to compare with those in the jsonb."""
    if scalar.kind != "number":
        return json.dumps(escaped(scalar.value) if scalar.kind == "text" else scalar.value)
    number = scalar.value
    if isinstance(number, float):
        if abs(number) == float("inf"):
            return _BEYOND if number > 0 else f"-{_BEYOND}"
        if number.is_integer() and -(2**63) <= number < 2**63:
            number = int(number)
    return repr(number)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{','.join(map(_item, value))}]"
    return _item(value)


def _item(value: Any) -> str:
    compared = scalar(value)
    return as_json(_without_nul(value)) if compared.kind == "other" else spelled_scalar(compared)


def _without_nul(value: Any) -> Any:
    if isinstance(value, dict):
        return {escaped(key): _without_nul(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_without_nul(inner) for inner in value]
    return escaped(value) if isinstance(value, str) else value


def sortable(scalar: Scalar) -> bytes:
    """Return bytes that sort like the values; different large numbers or long texts may share theirs."""
    match scalar.kind:
        case "number":
            (bits,) = struct.unpack(">Q", struct.pack(">d", float(scalar.value) + 0.0))  # -0.0 becomes 0.0
            return _NUMBER + struct.pack(">Q", bits ^ (2**64 - 1 if bits >> 63 else 1 << 63))
        case "text":
            return _TEXT + scalar.value.encode()[:_PREFIX]
        case "bool":
            return _TRUE if scalar.value else _FALSE
        case "null":
            return _NULL
    return OTHER


def word_number(word: str) -> int:
    """Return a 64-bit number for a word, because words may be longer than an index takes."""
    return _number(word) if len(word) <= _LONGEST_CACHED else _number.__wrapped__(word)


@lru_cache(1 << 16)
def _number(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), signed=True)
