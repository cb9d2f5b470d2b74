"""Values as JSON holds them: what pandas, numpy, Arrow and datetime call a number, a date or nothing at all."""

import json
import math
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

DEEPEST = 100  # brackets inside brackets, well below what Python's JSON can read back
ID_NUMBERS = range(-(2**63), 2**63 - 1)  # whole numbers that can be ids: 64 bits, and one more, the next, must fit
_AS_THEY_ARE = {str, bool, type(None)}
_MOST_BITS = 1 << 13  # of a whole number: some 2,500 digits, and Python writes no more than 4,300


def from_json(text: str | bytes) -> Any:
    """What a JSON text says; a ValueError tells why it cannot be read, also where brackets are nested too deep."""
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
    """A value as JSON holds it: NaN is None, a date its ISO form, an array a list; what has no such form is refused."""
    if type(value) in _AS_THEY_ARE:  # first, since it is nearly all of what is asked
        return value
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
        if _depth == DEEPEST:
            raise ValueError(f"the value is nested more than {DEEPEST} deep")
        if isinstance(value, Mapping):
            return _plain_mapping(value, _depth)
        return [plain(item, _depth + 1) for item in value]
    if hasattr(value, "as_py"):  # Arrow's scalars
        return plain(value.as_py(), _depth)
    if hasattr(value, "tolist"):  # numpy's scalars and arrays, pandas' columns
        return _plain_array(value, _depth)
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    raise ValueError(f"{value!r:.60} of type {type(value).__name__} has no form in JSON")


def _plain_array(value: Any, depth: int) -> Any:
    if type(value).__module__ == "numpy" and value.dtype.kind in "mM":
        value = value.astype(f"{value.dtype.kind}8[us]")  # finer ones would become whole numbers
    values = value.tolist()
    if type(values) is type(value):  # a long double stays one
        raise ValueError(f"{value!r:.60} of type {type(value).__name__} has no form in JSON")
    return plain(values, depth)


def _plain_mapping(value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
    """A dict with strings for keys; two keys that become one, such as 1 and "1", are refused."""
    found: dict[str, Any] = {}
    for key, item in value.items():
        name = str(plain(key, depth + 1))
        if name in found:
            raise ValueError(f"two keys are written {name!r} in JSON, as {key!r} is: rename one of them")
        found[name] = plain(item, depth + 1)
    return found
