"""A row of named columns: what every reader makes of a line, a file or a row of a table, before it is a document."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

TEXT, ID, VECTOR = "text", "id", "vector"  # the columns of a document, where a user names no others


class BadRecordError(ValueError):
    """A line, row or file that holds no document; the message names the place."""


class Row(NamedTuple):
    place: str  # what an error message points at
    number: int  # the id of a document that has none
    columns: dict[str, Any]
    own_columns: bool = False  # its columns say nothing of those of other rows, as in JSON


# A bad record is a value among the rows, since the readers of formats go on after it.
RowStream = Iterator[Row | BadRecordError]


def refuse_repeated(name: str, header: Sequence[str]) -> None:
    """Refuse two columns of one name, of which one would be left out."""
    if twice := {column for column in header if header.count(column) > 1}:
        raise ValueError(f"{name} has more than one column called {', '.join(sorted(twice))}: rename them")


def short(value: Any) -> str:
    """A value for a message."""
    shown = json.dumps(value, default=str)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."
