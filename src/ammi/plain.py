"""Checks of values from outside: ids, texts and metadata, which are returned in JSON's types.

Values of pandas, numpy, Arrow and datetime become JSON's numbers, strings and null. A `checked_` function takes the
name that a message gives to the document, such as "news.jsonl line 7". What it returned needs no further check.
"""

import json
import math
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

Id = str | int
Metadata = dict[str, Any]

DEEPEST = 100  # brackets inside brackets, well below what Python's JSON can read back
ID_NUMBERS = range(-(2**63), 2**63 - 1)  # whole numbers that can be ids: 64 bits, and one more, the next, must fit
_AS_THEY_ARE = {str, bool, type(None)}
_MOST_BITS = 1 << 13  # of a whole number: some 2,500 digits; Python prints at most 4,300
_SHOWN = 40  # characters of a value in a message
_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))  # made once: half of the time of json.dumps


class NotUnicodeError(ValueError):
    """A string that UTF-8 cannot write: bytes that were no UTF-8, or half of a surrogate pair."""


def checked_id(value: object, name: str) -> Id:
    """Return an id as documents have it: a string, or a whole number of at most 64 bits."""
    id = _converted(value, name, "an id")
    if isinstance(id, str):
        _check_unicode(id, name)
        return id
    if isinstance(id, int) and not isinstance(id, bool) and id in ID_NUMBERS:
        return id
    raise ValueError(
        f"{name} has {short(id)} for an id: expected a string or a whole number, the number of at most 64 bits"
    )


def is_id(value: object) -> bool:
    """Return whether a value could be the id of a document."""
    try:
        checked_id(value, "this call")
    except ValueError:
        return False
    return True


def checked_text(value: object, name: str) -> str | None:
    """Return a text, or None of a document without one."""
    if value is None:
        return None
    text = _converted(value, name, "a text")
    if not isinstance(text, str):
        raise ValueError(f"{name} has {short(text)} for a text: expected a string")
    _check_unicode(text, name)
    return text


def checked_optional_text(value: object, name: str) -> str | None:
    """Return a text, or None also for the missing values of tables, such as NaN."""
    return checked_text(value if isinstance(value, str) else _converted(value, name, "a text"), name)


def checked_metadata(value: object, name: str) -> tuple[Metadata, str]:
    """Return a copy of metadata as JSON holds them, and their JSON."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} has {short(value)} for metadata: expected a dict")
    if not value:
        return {}, "{}"
    metadata: Metadata = _converted(value, name, "metadata")
    spelled = as_json(metadata)
    _check_unicode(spelled, name)
    return metadata, spelled


def _converted(value: object, name: str, what: str) -> Any:
    try:
        return plain(value)
    except ValueError as error:
        raise ValueError(f"{name} has {what} that cannot be kept: {error}") from error


def _check_unicode(text: str, name: str) -> None:
    if not is_unicode(text):
        raise NotUnicodeError(f"{name} is not UTF-8: it holds half a character (a lone surrogate), so decode it anew")


def is_unicode(text: str) -> bool:
    """Return whether UTF-8 can write the text, which it cannot when half of a surrogate pair stands alone."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def short(value: object) -> str:
    """Return a value for a message."""
    try:
        shown = json.dumps(value, default=str)
    except (ValueError, TypeError, RecursionError):  # a number of thousands of digits, odd keys, deep brackets
        return f"a {type(value).__name__}"
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."


def as_json(metadata: Metadata) -> str:
    """Return the one spelling of metadata as JSON, of which checksums are made."""
    return _JSON.encode(metadata)


def from_json(text: str | bytes) -> Any:
    """Return the value of a JSON text; a ValueError says why it cannot be read, also if brackets nest too deep."""
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("its brackets are nested too deep") from None
    except json.JSONDecodeError:
        raise
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except ValueError:
        raise ValueError("it holds a number of thousands of digits") from None


def plain(value: Any, _depth: int = 0) -> Any:
    """Return a value in JSON's types: NaN as None, a date in ISO form, an array as a list; refuse any other."""
    if type(value) in _AS_THEY_ARE:  # first, because nearly all values are such
        return value
    if type(value) in (dict, list):
        return _plain_items(value, _depth)
    if isinstance(value, str):  # without what a subclass adds, such as an enumeration's name
        return str.__str__(value)
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise ValueError(f"a whole number of {value.bit_length():,} bits is too long")
        return int(value)
    if isinstance(value, float):
        if math.isinf(value):
            raise ValueError(f"{value} has no form in JSON")
        return None if math.isnan(value) else float(value)
    if isinstance(value, date | time):
        return None if str(value) == "NaT" else value.isoformat()
    if isinstance(value, timedelta | Decimal | UUID):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if isinstance(value, Mapping | list | tuple | set | frozenset):
        return _plain_items(value, _depth)
    if hasattr(value, "as_py"):  # Arrow's scalars
        return plain(value.as_py(), _depth)
    if hasattr(value, "tolist"):  # numpy's scalars and arrays, pandas' columns
        return _plain_array(value, _depth)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise ValueError(f"{value!r:.60} of type {type(value).__name__} has no form in JSON")


def _plain_items(value: Any, depth: int) -> Any:
    if depth == DEEPEST:
        raise ValueError(f"the value is nested more than {DEEPEST} deep")
    if isinstance(value, Mapping):
        return _plain_mapping(value, depth)
    return [plain(item, depth + 1) for item in value]


def _plain_array(value: Any, depth: int) -> Any:
    if type(value).__module__ == "numpy" and value.dtype.kind in "mM":
        value = value.astype(f"{value.dtype.kind}8[us]")  # finer ones would become whole numbers
    values = value.tolist()
    if type(values) is type(value):  # a long double stays one
        raise ValueError(f"{value!r:.60} of type {type(value).__name__} has no form in JSON")
    return plain(values, depth)


def _plain_mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    """Return a dict with strings for keys; two keys that become one, such as 1 and "1", are refused."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = str(plain(key, depth + 1))
        if name in found:
            raise ValueError(f"two keys are written {name!r} in JSON, as {key!r} is: rename one of them")
        found[name] = plain(item, depth + 1)
    return found
