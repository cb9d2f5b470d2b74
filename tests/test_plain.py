"""Plain values: what JSON holds stays as it is, what libraries call the same becomes it, and the rest is refused."""

import enum
import json
import math
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from types import MappingProxyType
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ammi.plain import DEEPEST, plain

finite = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | finite | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def same(a: Any, b: Any) -> bool:
    """Equal and of the same types all the way down: True is not 1, and 1 is not 1.0."""
    return json.dumps(a) == json.dumps(b) and type(a) is type(b)


@given(JSON)
def test_what_json_holds_stays_as_it_is(value):
    assert same(plain(value), value)
    assert same(plain(plain(value)), value)


@given(
    arrays.arrays(
        st.sampled_from(["i1", "u8", "i8", "f2", "f4", "f8", "?", "U3"]), arrays.array_shapes(min_dims=0, max_side=3)
    )
)
def test_arrays_are_lists_of_pythons_own(array):
    if array.dtype.kind == "f":
        array = np.nan_to_num(array, nan=0, posinf=1, neginf=-1)
    assert same(plain(array), array.tolist())
    for item in array.flat:
        assert same(plain(item), item.item())


class Colour(str, enum.Enum):  # noqa: UP042  # whose text is its name, unlike that of a StrEnum
    RED = "red"


class Size(enum.IntEnum):
    LARGE = 3


VALUES: list[tuple[Any, Any]] = [
    (float("nan"), None),
    (np.float32("nan"), None),
    (pd.NA, None),
    (pd.NaT, None),
    (np.datetime64("NaT", "ns"), None),
    (date(2020, 1, 2), "2020-01-02"),
    (time(3, 4), "03:04:00"),
    (datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC), "2020-01-02T03:04:05+00:00"),
    (pd.Timestamp("2020-01-02T03:04:05.000000006"), "2020-01-02T03:04:05.000000006"),
    (np.datetime64("2020-01-02"), "2020-01-02T00:00:00"),
    (np.datetime64("2020-01-02T03:04:05.123456789"), "2020-01-02T03:04:05.123456"),
    (np.array(["2020-01-02", "NaT"], "M8[ns]"), ["2020-01-02T00:00:00", None]),
    (pd.Series(pd.to_datetime(["2020-01-02", None])), ["2020-01-02T00:00:00", None]),
    (pd.Series(pd.to_datetime(["2020-01-02"], utc=True)), ["2020-01-02T00:00:00+00:00"]),
    (timedelta(hours=1), "1:00:00"),
    (np.timedelta64(3600, "s"), "1:00:00"),
    (Decimal("1.50"), "1.50"),
    (UUID(int=7), "00000000-0000-0000-0000-000000000007"),
    ("café".encode(), "café"),
    (Colour.RED, "red"),
    (Size.LARGE, 3),
    (np.bool_(True), True),
    ((1, (2,)), [1, [2]]),
    ({7}, [7]),
    (frozenset({7}), [7]),
    (MappingProxyType({"a": np.int64(1)}), {"a": 1}),
    ({1: "a", Colour.RED: "b"}, {"1": "a", "red": "b"}),
    (pd.Series([1, 2]), [1, 2]),
    (pd.Categorical(["a", None]), ["a", None]),
    (pa.scalar(7), 7),
    (pa.array([{"a": [1, None]}])[0], {"a": [1, None]}),
    (np.ma.array([1, 2], mask=[False, True]), [1, None]),
]


@pytest.mark.parametrize(("value", "expected"), VALUES, ids=lambda value: repr(value)[:30])
def test_what_libraries_call_a_number_a_date_or_nothing(value, expected):
    assert same(plain(value), expected)


class Odd:
    def __repr__(self) -> str:
        return "odd" * 100


@pytest.mark.parametrize(
    "value", [math.inf, -np.float32("inf"), 1j, object(), Odd(), np.longdouble(1), np.array([1j]), {"a": [print]}]
)
def test_what_has_no_form_in_json_is_refused(value):
    with pytest.raises(ValueError, match="has no form in JSON") as refused:
        plain(value)
    assert len(str(refused.value)) < 150


@pytest.mark.parametrize("value", [{1: "a", "1": "b"}, {None: 1, "None": 2}, {1.0: 1, "x": [{True: 1, "True": 2}]}])
def test_two_keys_that_become_one_are_refused(value):
    with pytest.raises(ValueError, match=r"two keys are written '\w+' in JSON, as .* is: rename one of them"):
        plain(value)


@pytest.mark.parametrize("wrap", [lambda inner: [inner], lambda inner: {"a": inner}, lambda inner: (inner,)])
def test_deep_values_are_refused_and_those_just_as_deep_are_not(wrap):
    value: Any = 1
    for _ in range(DEEPEST):
        value = wrap(value)
    assert json.loads(json.dumps(plain(value))) == plain(value)
    with pytest.raises(ValueError, match=f"nested more than {DEEPEST} deep"):
        plain(wrap(value))


def test_a_value_inside_itself_is_refused():
    array = np.empty(1, object)
    array[0] = array
    inside: list[Any] = []
    inside.append(inside)
    for value in (array, inside):
        with pytest.raises(ValueError, match="nested more than"):
            plain(value)
