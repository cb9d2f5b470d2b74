"""A row of named columns, which readers make of a line, a file or a row of a table, before it is a document."""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

TEXT, ID, VECTOR = "text", "id", "vector"  # the columns of a document, where a user names no others

_SHOWN, _NAMES_SHOWN = 40, 20  # characters of a value in a message, and names in one


class BadRecordError(ValueError):
    """A line, row or file without a document; the message says where, `kind` why, in a word or two."""

    def __init__(self, message: str, kind: str = "not readable"):
        super().__init__(message)
        self.kind = kind


class UnreadFileError(BadRecordError):
    """A file that cannot be read, which leaves out none of the other files: it is always skipped and reported."""


OnError = Literal["refuse", "skip"] | Callable[[BadRecordError], None]


def complaint(on_error: OnError) -> Callable[[BadRecordError], None]:
    """Return the function to call with each bad record."""
    complain = {"refuse": _refuse, "skip": _warn}.get(on_error) if isinstance(on_error, str) else on_error
    if complain is None:
        raise ValueError(f"on_error is {on_error!r}: expected 'refuse', 'skip' or a function")
    return complain


def _refuse(problem: BadRecordError) -> None:
    if not isinstance(problem, UnreadFileError):
        raise problem
    _warn(problem)


def _warn(problem: BadRecordError) -> None:
    warnings.warn(f"skipped: {problem}", stacklevel=3)


class Row(NamedTuple):
    """Named columns, and where they stand."""

    place: str  # what an error message points at
    number: int  # the id of a document that has none
    columns: dict[str, object]
    own_columns: bool = False  # other rows may have other columns, as in JSON
    only_texts: bool = False  # its values have no types, as in CSV


# A bad record is a value among the rows, since readers continue after it.
RowStream = Iterator[Row | BadRecordError]


def refuse_repeated(name: str, header: Sequence[str]) -> None:
    """Refuse two columns of one name, since one of them would be lost."""
    if twice := sorted(column for column, n in Counter(header).items() if n > 1):
        raise ValueError(f"{name} has more than one column called {listed(twice)}: rename them")


def listed(names: Iterable[object]) -> str:
    """Return names for a message: the first twenty, and how many more there are."""
    every = [str(name) for name in names]
    shown = ", ".join(name if len(name) <= _SHOWN else f"{name[: _SHOWN - 3]}..." for name in every[:_NAMES_SHOWN])
    more = f" and {len(every) - _NAMES_SHOWN:,} more" if len(every) > _NAMES_SHOWN else ""
    return f"{shown}{more}" or "none"
