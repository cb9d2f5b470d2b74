"""Filters on metadata, as data: what `where` may say, its parsed form that stores translate, and what it means.

    {"lang": "en"}                         equal
    {"year": [1987, 1988]}                 any of these
    {"year": {">=": 1987, "<": 1990}}      operators: = != < <= > >= in not exists
    {"lang": {"not": ["en", "de"]}, "draft": {"exists": False}}

All keys and all operators are required. A list in the metadata stands for any of its values, one of which must lie
between all bounds of a range. A missing key, None and an empty list are the same: the value None. True is not 1. Ranges
compare numbers with numbers and texts with texts; a list of both, {">=": [1987, "1987"]}, serves whichever there is.
"""

import json
import operator
import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, Union

from ammi.plain import plain

Where = Mapping[str, object]
Kind = Literal["null", "bool", "number", "text", "other"]  # other: what no filter compares, such as a dict
Bound = int | float | str

COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
OPERATORS = ("=", "!=", *COMPARE, "in", "not", "exists")
_KINDS: dict[type, Kind] = {type(None): "null", bool: "bool", int: "number", float: "number", str: "text"}
MOST_CONDITIONS = 500  # SQLite takes 1,000, some of which are ours
_KEYS_SHOWN = 20


class Scalar(NamedTuple):
    """A value to compare: equal to another if kind and value are."""

    kind: Kind
    value: Any  # of that kind; None of another kind


class AnyOf(NamedTuple):
    """A value is one of these."""

    values: frozenset[Scalar]


class Between(NamedTuple):
    """A value of this kind meets every bound, such as (">=", 1987)."""

    kind: Kind
    bounds: tuple[tuple[str, Bound], ...]


class Exists(NamedTuple):
    """A value is not None."""


class Not(NamedTuple):
    test: "Test"


class AllOf(NamedTuple):
    tests: tuple["Test", ...]


class Either(NamedTuple):
    tests: tuple["Test", ...]


Lookup = AnyOf | Between | Exists  # a test that a document passes only by having a value
Test = Union[AnyOf, Between, Exists, Not, AllOf, Either]  # noqa: UP007  # quoted names inside need it


class Condition(NamedTuple):
    """What the values of a key must be."""

    key: str
    test: Test


Filter = tuple[Condition, ...]  # all are required; none keep everything


def parse(where: Where | None) -> Filter:
    """Return the filter that `where` describes; refuse a `where` without a meaning."""
    if where is None:
        return ()
    if not isinstance(where, Mapping):
        raise ValueError(f"the filter is {where!r:.60}: pass a dict of metadata keys and what their values must be")
    try:
        wanted = plain(where)
        json.dumps(wanted, ensure_ascii=False).encode()
    except ValueError as error:
        raise ValueError(f"the filter {reprlib.repr(where)} compares with what no metadata holds: {error}") from error
    filter = tuple(Condition(key, test) for key, value in wanted.items() for test in _tests(key, value))
    if (n := sum(_size(condition.test) for condition in filter)) > MOST_CONDITIONS:
        raise ValueError(
            f"the filter has {n:,} conditions, and {MOST_CONDITIONS} at most are answered: ask for several values of a "
            "key by a list, which counts as one"
        )
    return filter


def _size(test: "Test") -> int:
    """The number of conditions that a test is made of."""
    match test:
        case Not(inner):
            return _size(inner)
        case AllOf(tests) | Either(tests):
            return sum(map(_size, tests))
        case Between(_, bounds):
            return len(bounds)
    return 1


def _tests(key: str, wanted: object) -> list[Test]:
    return _operators(key, wanted) if isinstance(wanted, dict) else [_any_of(key, wanted)]


def _any_of(key: str, wanted: object) -> AnyOf:
    values = frozenset(map(scalar, wanted if isinstance(wanted, list) else [wanted]))
    if any(kind == "other" for kind, _ in values):
        raise ValueError(
            f"the filter on {key!r} compares with {wanted!r:.60}: compare with texts, numbers, bools, None"
        )
    return AnyOf(values)


def _operators(key: str, wanted: dict[str, object]) -> list[Test]:
    for name in wanted or [""]:
        if name not in OPERATORS:
            raise ValueError(f"the filter on {key!r} has the operator {name!r}: there are {' '.join(OPERATORS)}")
    tests: list[Test] = []
    for name, value in wanted.items():
        if name in ("=", "!=") and isinstance(value, list):
            raise ValueError(f"the filter on {key!r} has {name!r} with a list: write 'in' or 'not'")
        if name == "in" and not isinstance(value, list):
            raise ValueError(f"the filter on {key!r} has 'in' with {value!r:.60}: pass a list")
        if name == "exists" and not isinstance(value, bool):
            raise ValueError(f"the filter on {key!r} has 'exists' with {value!r:.60}: pass True or False")
        if name in ("=", "in"):
            tests.append(_any_of(key, value))
        elif name in ("!=", "not"):
            tests.append(Not(AllOf(tuple(_tests(key, value)))))
        elif name == "exists":
            tests.append(Exists() if value else Not(Exists()))
    if bounds := {name: value for name, value in wanted.items() if name in COMPARE}:
        tests.append(_range(key, bounds))
    return tests


def _range(key: str, bounds: dict[str, object]) -> Test:
    """Return the range of numbers or of texts; both where every bound is a list of a number and a text."""
    by_kind: dict[Kind, list[tuple[str, Bound]]] = {"number": [], "text": []}
    for name, wanted in bounds.items():
        values = _any_of(key, wanted).values
        kinds = [kind for kind, _ in values]
        if not values or len(set(kinds)) < len(kinds) or not by_kind.keys() >= set(kinds):
            raise ValueError(f"the filter on {key!r} has {name!r} with {wanted!r:.60}: pass a number or a text")
        for kind, value in values:
            assert value is not None
            by_kind[kind].append((name, value))
    ranges = tuple(Between(kind, tuple(found)) for kind, found in by_kind.items() if len(found) == len(bounds))
    if not ranges:
        raise ValueError(f"the filter on {key!r} has a range from a number to a text: pass bounds of one kind")
    return ranges[0] if len(ranges) == 1 else Either(ranges)


def kind_of(value: object) -> Kind:
    """Return the kind of a value of JSON."""
    return _KINDS.get(type(value), "other")


def scalar(value: object) -> Scalar:
    """Return a value of JSON as filters compare it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return Scalar("number", _number(value))
    if value is None or isinstance(value, bool | float | str):
        return Scalar(kind_of(value), value)
    return Scalar("other", None)


def _number(value: int) -> int | float:
    """Return a number as databases compare it: a whole number beyond 64 bits as a float."""
    if -(2**63) <= value < 2**63:
        return value
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def values_of(value: object) -> list[Scalar]:
    """Return the values that a metadata value stands for: itself, or the items of a list; None for an empty list."""
    items = [scalar(item) for item in value] if isinstance(value, list) else [scalar(value)]
    return items or [scalar(None)]


def matches(filter: Filter, metadata: Mapping[str, object]) -> bool:
    """Return whether a document passes a filter: the reference for the queries of all stores."""
    return all(holds(condition.test, values_of(metadata.get(condition.key))) for condition in filter)


def holds(test: Test, values: list[Scalar]) -> bool:
    """Return whether the values of a key pass a test."""
    match test:
        case AnyOf(wanted):
            return not wanted.isdisjoint(values)
        case Between(kind, bounds):
            of_kind = [value for its_kind, value in values if its_kind == kind]
            return any(all(COMPARE[name](value, bound) for name, bound in bounds) for value in of_kind)
        case Exists():
            return any(kind != "null" for kind, _ in values)
        case Not(inner):
            return not holds(inner, values)
        case AllOf(tests):
            return all(holds(inner, values) for inner in tests)
        case Either(tests):
            return any(holds(inner, values) for inner in tests)


def lookups(test: Test) -> list[Lookup] | None:
    """Tests which together find the documents that pass a test; None where a document may pass by having no value."""
    match test:
        case Either(tests):
            parts = [lookups(inner) for inner in tests]
            return None if None in parts else [lookup for part in parts for lookup in part or []]
        case AnyOf(values):
            return None if any(kind == "null" for kind, _ in values) else [test]
        case Between() | Exists():
            return [test]
    return None


def kinds_by_key(metadata: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Yield each key that has a value, with the kinds of its values in a row of words, such as "number text"."""
    for key, value in metadata.items():
        if isinstance(value, list):
            if kinds := set(map(kind_of, value)) - {"null"}:
                yield key, " ".join(sorted(kinds))
        elif value is not None:
            yield key, kind_of(value)


def count_kinds(metadata: Iterable[Mapping[str, object]]) -> dict[str, dict[str, int]]:
    """For each key, how many of the documents with such metadata have values of which kinds."""
    found: dict[str, Counter[str]] = {}
    for keys in metadata:
        for key, kinds in kinds_by_key(keys):
            found.setdefault(key, Counter())[kinds] += 1
    return {key: dict(counts) for key, counts in found.items()}


def complaint(filter: Filter, kinds: Mapping[str, Iterable[str]]) -> str | None:
    """Return why a filter without hits can have none, from the kinds of each key as `kinds_by_key` names them."""
    for key, test in filter:
        for wanted in _wanted_kinds(test):
            if key not in kinds:
                shown = ", ".join(sorted(kinds)[:_KEYS_SHOWN]) or "none"
                more = f" and {len(kinds) - _KEYS_SHOWN} more" if len(kinds) > _KEYS_SHOWN else ""
                spelled = ""
                if isinstance(test, Exists):  # how a filter in text says that a key is there, and much that is misspelt
                    spelled = "; write KEY=VALUE, KEY!=VALUE, KEY>=VALUE (also <, <=, >), KEY or !KEY"
                return f"no document has the metadata key {key!r} of the filter: the keys are {shown}{more}{spelled}"
            present = {kind for row in kinds[key] for kind in row.split()}
            if wanted.isdisjoint(present):
                return (
                    f"the filter compares {key!r} with a {' or '.join(sorted(wanted))}, but its values are of the kind "
                    f"{' and '.join(sorted(present))}: compare it with one of those"
                )
    return None


def _wanted_kinds(test: Test) -> Iterator[set[Kind]]:
    """Yield the kinds of value that could pass a test, if a document passes it only by having a value."""
    match test:
        case AnyOf(values) if values and not any(kind == "null" for kind, _ in values):
            yield {kind for kind, _ in values}
        case Between(kind, _):
            yield {kind}
        case Exists():
            yield {"bool", "number", "text", "other"}
        case Either(tests):
            yield {kind for inner in tests for kinds in _wanted_kinds(inner) for kind in kinds}
