"""A colour for each document of the map, by the value of a metadata key."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

NONE = 255  # no value, or one without a colour of its own
_MOST_NAMES, _MOST_NUMBER = 12, 254


class Coloured(NamedTuple):
    """For categories the position of each value in names; for numbers 0 to 254, from low to high."""

    kind: str  # "category" or "number"
    values: NDArray[np.uint8]  # (n,)
    names: list[str]
    counts: list[int]
    low: float | None = None
    high: float | None = None


def coloured(values: Sequence[Any]) -> Coloured:
    """Return the colours of metadata values; the first item of a list counts."""
    firsts = [value[0] if isinstance(value, list) and value else value for value in values]
    numbers = np.array([float(value) if _is_number(value) else math.nan for value in firsts], np.float64)
    n_values = sum(value is not None and value != [] for value in firsts)
    finite = np.isfinite(numbers)
    if finite.sum() > n_values / 2 and len(np.unique(numbers[finite])) > _MOST_NAMES:
        return _by_number(numbers, finite)
    return _by_name(firsts)


def _by_number(numbers: NDArray[np.float64], finite: NDArray[np.bool_]) -> Coloured:
    low, high = (float(end) for end in np.quantile(numbers[finite], [0.01, 0.99]))
    share = np.clip((numbers - low) / max(high - low, 1e-300), 0, 1)
    values = np.full(len(numbers), NONE, np.uint8)
    values[finite] = np.round(share[finite] * _MOST_NUMBER).astype(np.uint8)
    return Coloured("number", values, [], [], low, high)


def _by_name(values: list[Any]) -> Coloured:
    names = [_name(value) for value in values]
    frequent = Counter(name for name in names if name is not None).most_common(_MOST_NAMES)
    position: dict[str | None, int] = {name: n for n, (name, _) in enumerate(frequent)}
    found = np.array([position.get(name, NONE) for name in names], np.uint8)
    return Coloured("category", found, [name for name, _ in frequent], [count for _, count in frequent])


def _name(value: Any) -> str | None:
    if value is None or isinstance(value, list | dict):
        return None
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)[:80]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
