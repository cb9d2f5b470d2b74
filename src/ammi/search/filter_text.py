"""Filters as a command line spells them: KEY=VALUE, KEY=V1,V2, KEY!=VALUE, KEY<VALUE and the like, KEY, !KEY."""

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from ammi.plain import from_json

_SPELLED = re.compile(r"(?P<key>[^=<>!]+)(?P<name>!=|<=|>=|=|<|>)(?P<value>.*)", re.DOTALL)
_ITEM = re.compile(r'(?P<quoted>"(?:[^"\\]|\\.)*")(?=,|$)|(?P<bare>[^,]*)', re.DOTALL)
_PYTHON = {"True": True, "False": False}


def from_text(conditions: Iterable[str]) -> dict[str, Any]:
    """The `where` that these spell.

    A value that JSON can read stands for that and for the text: year=1987 finds 1987 and "1987". In double quotes it
    is a text and nothing else, commas and all. A key given twice with = may have either value. KEY alone is true of
    documents that have the key, !KEY of those that have not.
    """
    if isinstance(conditions, str):
        raise ValueError(f"the conditions are the string {conditions!r}: pass a list")
    operators: dict[str, dict[str, Any]] = {}
    for spelled in conditions:
        key, name, value = _condition(spelled)
        of_key = operators.setdefault(key, {})
        if name in ("in", "not") and name in of_key:
            of_key[name] += value
        elif of_key.get(name, value) != value:
            raise ValueError(f"the filter {spelled!r} and one before it say two things about {key!r}: pass one of them")
        else:
            of_key[name] = value
    return {key: _shortest(of_key) for key, of_key in operators.items()}


def _condition(spelled: str) -> tuple[str, str, Any]:
    """The key, the operator and what it compares with."""
    if found := _SPELLED.fullmatch(spelled):
        values = _values(found["value"], spelled)
        name = {"=": "in", "!=": "not"}.get(found["name"], found["name"])
        if name in ("in", "not"):
            return found["key"].strip(), name, [reading for readings in values for reading in readings]
        if len(values) == 1 and (bounds := [reading for reading in values[0] if _is_bound(reading)]):
            return found["key"].strip(), name, bounds
    elif not re.search("[=<>]", spelled) and (key := spelled.removeprefix("!").strip()):
        return key, "exists", not spelled.startswith("!")
    raise ValueError(f"the filter {spelled!r} cannot be read: write KEY=VALUE, KEY!=VALUE, KEY<VALUE, KEY or !KEY")


def _values(text: str, spelled: str) -> list[list[Any]]:
    """The readings of each value between commas."""
    found: list[list[Any]] = []
    end = -1
    while end < len(text):
        item = _ITEM.match(text, end + 1)
        assert item is not None  # the empty text matches anywhere
        try:
            found.append([json.loads(item["quoted"])] if item["quoted"] else _readings(item["bare"].strip()))
        except ValueError as error:
            raise ValueError(f"the filter {spelled!r} has no JSON string in its double quotes: {error}") from error
        end = item.end()
    return found


def _readings(text: str) -> list[Any]:
    """The text itself and, before it, what it says in JSON."""
    try:
        value = _PYTHON[text] if text in _PYTHON else from_json(text)
    except ValueError:
        return [text]
    if isinstance(value, list | dict | str) or (isinstance(value, float) and not math.isfinite(value)):
        return [text]
    return [value, text]


def _is_bound(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _shortest(operators: dict[str, Any]) -> Any:
    """As a person would write it: a value or a list where nothing else is said of the key."""
    operators = {
        name: value[0] if isinstance(value, list) and len(value) == 1 and name != "in" else value
        for name, value in operators.items()
    }
    if set(operators) != {"in"}:
        return operators
    return operators["in"][0] if len(operators["in"]) == 1 else operators["in"]
