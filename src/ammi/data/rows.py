"""A row of named columns: what every reader makes of a line, a file or a row of a table, before it is a document."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

TEXT, ID, VECTOR = "text", "id", "vector"  # the columns of a document, where a user names no others

_SHOWN, _NAMES_SHOWN = 40, 20  # characters of a value in a message, and names in one


class BadRecordError(ValueError):
    """A line, row or file that holds no document; the message names the place, `kind` says in a word or two why."""

    def __init__(self, message: str, kind: str = "not readable"):
        super().__init__(message)
        self.kind = kind


class Row(NamedTuple):
    place: str  # what an error message points at
    number: int  # the id of a document that has none
    columns: dict[str, Any]
    own_columns: bool = False  # its columns say nothing of those of other rows, as in JSON


# A bad record is a value among the rows, since the readers of formats go on after it.
RowStream = Iterator[Row | BadRecordError]


def refuse_repeated(name: str, header: Sequence[str]) -> None:
    """Refuse two columns of one name, of which one would be left out."""
    if twice := sorted(column for column, n in Counter(header).items() if n > 1):
        raise ValueError(f"{name} has more than one column called {listed(twice)}: rename them")


def listed(names: Iterable[object]) -> str:
    """Names for a message: not all, where there are many."""
    every = [str(name) for name in names]
    shown = ", ".join(name if len(name) <= _SHOWN else f"{name[: _SHOWN - 3]}..." for name in every[:_NAMES_SHOWN])
    more = f" and {len(every) - _NAMES_SHOWN:,} more" if len(every) > _NAMES_SHOWN else ""
    return f"{shown}{more}" or "none"


def short(value: Any) -> str:
    """A value for a message."""
    try:
        shown = json.dumps(value, default=str)
    except (ValueError, TypeError, RecursionError):  # a number of thousands of digits, odd keys, deep brackets
        return f"a {type(value).__name__}"
    return shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 3]}..."
