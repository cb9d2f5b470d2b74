"""Filters as text, for commands and URLs: KEY=VALUE, KEY=V1,V2, KEY!=VALUE, KEY<VALUE and the like, KEY, !KEY."""

import json
import math
import re
from collections.abc import Iterable

from ammi.plain import from_json

_COMPARISON = re.compile(r"(?P<key>[^=<>!]+)(?P<operator>!=|<=|>=|=|<|>)(?P<value>.*)", re.DOTALL)
_ITEM = re.compile(r'(?P<quoted>"(?:[^"\\]|\\.)*")(?=,|$)|(?P<bare>[^,]*)', re.DOTALL)
_PYTHON = {"True": True, "False": False}

Readings = list[object]  # what a value may mean: what it says in JSON, and the text itself


def from_text(conditions: Iterable[str]) -> dict[str, object]:
    """Return the `where` that the conditions spell.

    A value that JSON can read stands for that and for the text: year=1987 finds 1987 and "1987". In double quotes it
    is a text and nothing else, commas and all. A key given twice with = may have either value. KEY alone is true of
    documents that have the key, !KEY of those that have not.
    """
    if isinstance(conditions, str):
        raise ValueError(f"the conditions are the string {conditions!r}: pass a list")
    by_key: dict[str, dict[str, Readings]] = {}
    for condition in conditions:
        key, operator, readings = _parsed(condition)
        operators = by_key.setdefault(key, {})
        if operator in ("in", "not"):
            operators.setdefault(operator, []).extend(readings)
        elif operators.setdefault(operator, readings) != readings:
            raise ValueError(
                f"the filter {condition!r} and one before it say two things about {key!r}: pass one of them"
            )
    return {key: _shortest(operators) for key, operators in by_key.items()}


def _parsed(condition: str) -> tuple[str, str, Readings]:
    """Return the key, the operator and what it compares with."""
    if (found := _COMPARISON.fullmatch(condition)) and not found["value"].startswith("="):
        values = _values(found["value"], condition)
        key, operator = found["key"].strip(), {"=": "in", "!=": "not"}.get(found["operator"], found["operator"])
        if operator in ("in", "not"):
            return key, operator, [reading for readings in values for reading in readings]
        if len(values) == 1 and (bounds := [reading for reading in values[0] if _is_bound(reading)]):
            return key, operator, bounds
    elif not re.search("[=<>]", condition) and (key := condition.removeprefix("!").strip()):
        return key, "exists", [not condition.startswith("!")]
    raise ValueError(
        f"the filter {condition!r} cannot be read: write KEY=VALUE, KEY!=VALUE, KEY>=VALUE (also <, <=, >), KEY or "
        "!KEY, and a value that begins with = in double quotes"
    )


def _values(text: str, condition: str) -> list[Readings]:
    """Return the readings of each value between commas."""
    found: list[Readings] = []
    end = -1
    while end < len(text):
        item = _ITEM.match(text, end + 1)
        assert item is not None  # the empty text matches anywhere
        try:
            found.append([json.loads(item["quoted"])] if item["quoted"] else _readings(item["bare"].strip()))
        except ValueError as error:
            raise ValueError(f"the filter {condition!r} has no JSON string in its double quotes: {error}") from error
        end = item.end()
    return found


def _readings(text: str) -> Readings:
    try:
        value = _PYTHON[text] if text in _PYTHON else from_json(text)
    except ValueError:
        return [text]
    if isinstance(value, list | dict | str) or (isinstance(value, float) and not math.isfinite(value)):
        return [text]
    return [value, text]


def _is_bound(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _shortest(operators: dict[str, Readings]) -> object:
    """As a person would write it: a value or a list where nothing else is said of the key."""
    if set(operators) == {"in"}:
        return operators["in"][0] if len(operators["in"]) == 1 else operators["in"]
    return {name: value[0] if len(value) == 1 and name != "in" else value for name, value in operators.items()}
