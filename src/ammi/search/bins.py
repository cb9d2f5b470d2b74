"""Histograms of numbers and of dates, whose bins are filters: low <= value < high, as `filters` compares them.

Dates are texts in ISO form and are compared as texts, so that a bin has just the documents that its filter finds.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_MOST_BINS, _WANTED_BINS = 40, 25
_FEW = 0.005  # of the documents, at each end of the dates
_SKEWED = 0.04  # of the range below the median: then the bins grow by factors
_is_date = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}.*)?").fullmatch
_STEPS = ("minute", 1), ("minute", 10), ("hour", 1), ("hour", 6), ("day", 1), ("day", 7), ("month", 1), ("month", 3)
_AFTER_ALL = "9999-12-31T23:59:60"
_YEARS = (1, 2, 5, 10, 20, 50, 100, 500)
_LENGTHS = {"minute": 60.0, "hour": 3600.0, "day": 86400.0, "month": 86400 * 30.4, "year": 86400 * 365.25}


class Bin(NamedTuple):
    """A range of values, low <= value < high, with the number of selected documents in it, and of all."""

    low: int | float | str
    high: int | float | str
    selected: int
    all: int


def is_date(text: str) -> bool:
    """Return whether a text is a date in ISO form, perhaps with a time."""
    return _is_date(text) is not None and _parsed(text) is not None


def edges_of(kind: str, values: Sequence[Any], counts: NDArray[np.int64]) -> list[Any]:
    """Return the edges of a histogram of a "number" or a "date", from the distinct values and their frequencies."""
    fitting = [(value, n) for value, n in zip(values, counts.tolist(), strict=True) if _fits(kind, value)]
    if not fitting:
        return []
    fitting.sort()
    return _edges_of_numbers(fitting) if kind == "number" else _edges_of_dates(fitting)


def bin_number(kind: str, edges: list[Any], value: Any) -> int:
    """Return the bin of a value; -1 for one in none, such as a text among numbers."""
    number = bisect_right(edges, value) - 1 if _fits(kind, value) else -1
    return number if number < len(edges) - 1 else -1


def _fits(kind: str, value: Any) -> bool:
    if kind == "date":
        return isinstance(value, str) and is_date(value)
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300


def _edges_of_numbers(values: list[tuple[Any, int]]) -> list[int | float]:
    low, high = float(values[0][0]), float(values[-1][0])
    whole = all(float(value).is_integer() for value, _ in values)
    if low == high:
        return [_plain(low), _plain(low + 1)]
    weights = np.cumsum([n for _, n in values])
    median = float(values[int(np.searchsorted(weights, weights[-1] / 2))][0])
    if low > 0 and median - low < _SKEWED * (high - low):
        return _growing(low, high)
    if low == 0 and median < _SKEWED * high:
        return [0, *_growing(float(values[1][0]), high)]
    rough = (high - low) / _WANTED_BINS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    step = max(step, 1.0) if whole else step
    first, last = math.floor(low / step), math.floor(high / step) + 1
    return [_plain(round(number * step, 12)) for number in range(first, last + 1)]


def _growing(low: float, high: float) -> list[int | float]:
    """Return edges 1, 2, 5, 10, … around positive numbers; powers of ten if these would be too many."""
    least, most = math.floor(math.log10(low)), math.floor(math.log10(high)) + 1
    factors = (1, 2, 5) if 3 * (most - least) <= _MOST_BINS else (1,)
    edges = [float(f"{factor}e{power}") for power in range(least, most + 1) for factor in factors]
    first = max(number for number, edge in enumerate(edges) if edge <= low)
    last = min(number for number, edge in enumerate(edges) if edge > high)
    return [_plain(edge) for edge in edges[first : last + 1]]


def _plain(number: float) -> int | float:
    return int(number) if float(number).is_integer() and abs(number) < 2**53 else float(number)


def _parsed(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text[:16])
    except ValueError:
        return None


def _edges_of_dates(values: list[tuple[Any, int]]) -> list[str]:
    """Return the beginnings of years, months, days, hours or minutes, the finest of which there are not too many.

    The few earliest and latest dates do not count for that, and are in the first and the last bin.
    """
    weights = np.cumsum([n for _, n in values])
    ends = np.searchsorted(weights, weights[-1] * np.array([_FEW, 1 - _FEW])).tolist()
    first, low, high, last = (_parsed(values[place][0]) for place in (0, *ends, -1))
    assert first is not None
    assert low is not None
    assert high is not None
    assert last is not None
    seconds = (high - low).total_seconds()
    for unit, n in (*_STEPS, *(("year", years) for years in _YEARS)):
        if seconds / (_LENGTHS[unit] * n) <= _MOST_BINS - 2:
            break
    form = "%Y-%m-%dT%H:%M" if unit in ("minute", "hour") else "%Y-%m-%d"
    edge, edges = _beginning(low, unit, n), list[str]()
    try:
        if first < edge:
            edges.append(_written(_beginning(first, unit, n), form))
        while edge <= high:
            edges.append(_written(edge, form))
            edge = _next(edge, unit, n)
        edges.append(_written(edge, form))
        if edge <= last:
            edges.append(_written(_next(_beginning(last, unit, n), unit, n), form))
        return edges
    except (ValueError, OverflowError):  # after the year 9999
        return [*edges, _AFTER_ALL]


def _written(time: datetime, form: str) -> str:
    return time.strftime(form).rjust(16 if form.endswith("M") else 10, "0")


def _beginning(time: datetime, unit: str, n: int) -> datetime:
    day = time.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit:
        case "minute":
            return time.replace(minute=time.minute - time.minute % n, second=0, microsecond=0)
        case "hour":
            return day + timedelta(hours=time.hour - time.hour % n)
        case "day":
            return day - timedelta(days=min(day.weekday(), day.toordinal() - 1)) if n == 7 else day
        case "month":
            return day.replace(month=time.month - (time.month - 1) % n, day=1)
    return day.replace(year=max(1, time.year - time.year % n), month=1, day=1)


def _next(time: datetime, unit: str, n: int) -> datetime:
    match unit:
        case "year":
            return time.replace(year=time.year + n)
        case "month":
            months = time.year * 12 + time.month - 1 + n
            return time.replace(year=months // 12, month=months % 12 + 1)
    return time + timedelta(seconds=_LENGTHS[unit] * n)
