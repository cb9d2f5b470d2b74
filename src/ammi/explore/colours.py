"""A colour for each document of the map, by the value of a metadata key or by a bit.

Numbers and dates get a place on a scale from low to high: in proportion to their value, or, where most of them are at
one end (their median is in the lowest or highest fifth), in proportion to how many are lower.
"""

import math
import re
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

NONE = 255  # no value, or one without a colour of its own
_MOST_NAMES, _MOST_NUMBER = 12, 254
_LEAST_SHARE = 0.1  # of the documents with a key, that have one of the names; else their colours would say nothing
_SKEWED = 0.2  # or less, or 1 less it: the place of the median on a scale of numbers
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the scale
_ENDS = (0.01, 0.99)  # quantiles: beyond them are the colours of the ends
_DATE = re.compile(r"\d{4}-\d\d(-\d\d([T ]\d\d:.*)?)?", re.DOTALL)
_WORDY_DATE = re.compile(r" ?(?:[A-Za-z]{3}, )?(\d{1,2})[- ]([A-Za-z]{3})[- ](\d{4})\b")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

Bound = float | str | None
Kind = Literal["category", "number", "date", "bit"]


class Coloured(NamedTuple):
    """For categories the position of each value in names; for numbers and dates 0 to 254, from low to high."""

    kind: Kind
    values: NDArray[np.uint8]  # (n,)
    names: list[str]
    counts: list[int]
    low: Bound = None
    high: Bound = None
    ticks: list[float] | list[str] = []  # the numbers, or dates, at 0, 25, 50, 75 and 100% of the scale  # noqa: RUF012

    def tells(self) -> bool:
        """Return whether the colours tell something: not if nearly every document has a value of its own."""
        if self.kind != "category":
            return True
        n_values = int((self.values != NONE).sum())
        return len(self.names) > 1 and n_values >= max(2 * len(self.names), _LEAST_SHARE * len(self.values))


def coloured(values: Sequence[Any]) -> Coloured:
    """Return the colours of metadata values; the first item of a list counts."""
    firsts = _firsts(values)
    n_values = sum(value is not None and value != [] for value in firsts)
    numbers = np.array([float(value) if _is_number(value) else math.nan for value in firsts], np.float64)
    if _is_scale(numbers, n_values):
        return _by_scale("number", numbers)
    seconds = np.array([_seconds(value) for value in firsts], np.float64)
    if _is_scale(seconds, n_values):
        return _by_scale("date", seconds)
    return _by_name(firsts)


def names_of(values: Sequence[Any]) -> list[str | None]:
    """Return the names of metadata values, None for no value; the first item of a list counts."""
    return [_name(value) for value in _firsts(values)]


def by_bit(bits: NDArray[np.uint8]) -> Coloured:
    """Return the colours of the values of a bit."""
    ones = int(bits.sum())
    return Coloured("bit", bits, ["0", "1"], [len(bits) - ones, ones])


def _firsts(values: Sequence[Any]) -> list[Any]:
    return [value[0] if isinstance(value, list) and value else value for value in values]


def _is_scale(numbers: NDArray[np.float64], n_values: int) -> bool:
    finite = numbers[np.isfinite(numbers)]
    return len(finite) > n_values / 2 and len(np.unique(finite)) > _MOST_NAMES


def _by_scale(kind: Literal["number", "date"], numbers: NDArray[np.float64]) -> Coloured:
    finite = np.isfinite(numbers)
    known = np.sort(numbers[finite])
    low, middle, high = (float(number) for number in np.quantile(known, [_ENDS[0], 0.5, _ENDS[1]]))
    width = max(high - low, 1e-300)
    if _SKEWED < (middle - low) / width < 1 - _SKEWED:
        share = np.clip((numbers[finite] - low) / width, 0, 1)
        ticks = [low + tick * width for tick in _TICKS]
    else:  # ties in the middle of their ranks
        ranks = np.searchsorted(known, numbers[finite]) + np.searchsorted(known, numbers[finite], "right")
        share = ranks / (2 * len(known))
        ticks = np.quantile(known, np.clip(_TICKS, *_ENDS)).tolist()
    values = np.full(len(numbers), NONE, np.uint8)
    values[finite] = np.round(share * _MOST_NUMBER).astype(np.uint8)
    if kind == "number":
        return Coloured(kind, values, [], [], low, high, ticks)
    dates = [datetime.fromtimestamp(tick, UTC).date().isoformat() for tick in ticks]
    return Coloured(kind, values, [], [], dates[0], dates[-1], dates)


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


def _seconds(value: Any) -> float:
    """Return the seconds of a date since 1970, such as 1993-04-05, 5 Apr 1993 or 5-APR-1993; NaN if a value is none."""
    if not isinstance(value, str):
        return math.nan
    try:
        if _DATE.fullmatch(value):
            date = datetime.fromisoformat(value if len(value) > 7 else f"{value}-01")
        elif found := _WORDY_DATE.match(value):
            date = datetime(int(found[3]), _MONTHS.index(found[2].lower()) + 1, int(found[1]))
        else:
            return math.nan
    except ValueError:
        return math.nan
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
