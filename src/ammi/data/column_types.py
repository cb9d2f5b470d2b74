"""Types of the columns of CSV and TSV, where all values are texts: numbers, dates, booleans.

A type is inferred where every value of a column has it and no text is lost, so that a filter compares 9 and 10 as
numbers. Leading zeros, more than 15 digits, and texts of one number with and without a zero at the end (versions 1.1
and 1.10) keep a column text. Dates are written in ISO form, whose order is that of time.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from datetime import date, datetime
from itertools import chain

from ammi.data.rows import BadRecordError, Row, RowStream, listed
from ammi.data.streams import BROKEN_COMPRESSION
from ammi.plain import short

TYPES = ("number", "date", "boolean", "text")

_is_number = re.compile(r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]+)?(?:e[+-][0-9]{2,3})?").fullmatch
_TIME = r"[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,6})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?"
_is_iso = re.compile(rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?:{_TIME})?").fullmatch
_is_year_first = re.compile(r"([0-9]{4})/([0-9]{1,2})/([0-9]{1,2})").fullmatch
_is_day_first = re.compile(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})").fullmatch
_BOOLEANS = {"true": True, "false": False}
_CHOSEN_BOOLEANS = _BOOLEANS | {"yes": True, "no": False, "y": True, "n": False, "1": True, "0": False}
_MISSING = {"", "na", "n/a", "nan", "null", "none", "-"}  # in a column whose type a user named
_EXPECTED = {
    "number": "a number such as 1987 or -2.5",
    "date": "a date such as 1987-03-31, 1987/3/31, 31.3.1987 or 1987-03-31 17:05",
    "boolean": "true or false, yes or no, 1 or 0",
}
_PIPED_ROWS, _PIPED_CHARACTERS = 1000, 1 << 23  # of a pipe, to infer types from

Value = int | float | bool | str | None


class ColumnTypes:
    """The types of a table's columns, inferred from its first reading.

    Args:
        chosen: types that a user named, by column. Any other value there makes a bad record.
        texts: columns that hold no numbers and booleans, since the documents before have texts there.
        of_several: whether other tables are read, too, so that this one may lack a chosen column.
    """

    def __init__(
        self, chosen: Mapping[str, str] | None = None, texts: Collection[str] = (), *, of_several: bool = False
    ):
        self.chosen, self._texts, self._of_several = dict(chosen or {}), frozenset(texts), of_several
        for column, type in self.chosen.items():
            if type not in TYPES:
                raise ValueError(f"the type of column {column!r} is {type!r}: expected one of {', '.join(TYPES)}")
        self.found: dict[str, str] | None = None  # of all columns but those of a document's text, id and vector
        self.misfits: Counter[str] = Counter()  # values that are not of the inferred type, and stay texts
        self.tables: dict[str, ColumnTypes] = {}  # by name, if there are several

    def of_table(self, name: str) -> "ColumnTypes":
        """Return the types of one of several tables."""
        return self.tables.setdefault(name, ColumnTypes(self.chosen, self._texts, of_several=True))

    def of_rows(self, rows: RowStream, again: Callable[[], RowStream] | None, untyped: Collection[str]) -> RowStream:
        """Yield rows with typed values, if they come without types; the `untyped` columns stay texts.

        `again` reads the rows from the start. Without it, as for a pipe, the types are those of the first thousand.
        """
        for row in rows:
            if isinstance(row, BadRecordError):
                yield row
                continue
            if not row.only_texts:
                if self.chosen and not self._of_several:
                    raise ValueError(f"{row.place} comes with types: name types for CSV and TSV only")
                yield row
                yield from rows
                return
            head = [row] if again else _head(row, rows)
            if self.found is None:
                self.found = self._inferred(row, again() if again else head, untyped)
            for one in chain(head, rows):
                yield one if isinstance(one, BadRecordError) else self._typed(one)
            return

    def _inferred(self, first: Row, rows: Iterable[Row | BadRecordError], untyped: Collection[str]) -> dict[str, str]:
        header = [column for column in first.columns if column not in untyped]
        unknown = self.chosen.keys() - set(header)
        if unknown and not self._of_several:
            raise ValueError(
                f"{first.place} has no column {min(unknown)!r} to give a type: the columns are {listed(header)}"
            )
        columns = {column: _Column(column not in self._texts) for column in header if column not in self.chosen}
        left = dict(columns)
        with suppress(*BROKEN_COMPRESSION):  # the reading that follows reports it
            for row in rows:
                if isinstance(row, BadRecordError):
                    continue
                for name, column in [*left.items()]:
                    value = row.columns[name]
                    assert isinstance(value, str)
                    if not column.may_have(value.strip()):
                        del left[name]
                if not left:
                    break
        return {name: self.chosen.get(name) or columns[name].type() for name in header}

    def _typed(self, row: Row) -> Row | BadRecordError:
        columns = dict(row.columns)
        assert self.found is not None
        for name, type in self.found.items():
            if type != "text":
                text = str(columns[name])
                try:
                    columns[name] = value_of(text, type, strict=name not in self.chosen)
                except ValueError:
                    if name in self.chosen:
                        problem = f"{row.place} has {short(text)} in the column {name!r}: expected {_EXPECTED[type]}"
                        return BadRecordError(problem, f"without a {type}")
                    self.misfits[name] += 1
        return row._replace(columns=columns)


def value_of(text: str, type: str, *, strict: bool = False) -> Value:
    """Return the value that a text of a type stands for, None for a missing one; ValueError if it is none.

    With `strict`, as for inferred types, only an empty text is missing, and only true and false are booleans.
    """
    text = text.strip()
    if not text or (not strict and text.lower() in _MISSING):
        return None
    if type == "number":
        return int(text) if text.lstrip("+-").isdecimal() else _finite(text)
    if type == "date":
        return _iso_date(text)
    if type == "boolean":
        try:
            return (_BOOLEANS if strict else _CHOSEN_BOOLEANS)[text.lower()]
        except KeyError:
            raise ValueError(text) from None
    return text


class _Column:
    """The types that all values of a column may have."""

    def __init__(self, may_be_number: bool):
        self._types = ["number", "boolean", "date"] if may_be_number else ["date"]
        self._is_empty = self._is_exact = True
        self._decimals: set[int] = set()

    def may_have(self, text: str) -> bool:
        """Look at one more value, and return whether any type but text is left."""
        if text:
            self._is_empty = False
            self._types = [type for type in self._types if self._fits(text, type)]
        return bool(self._types)

    def type(self) -> str:
        """Return the type of the column."""
        return "text" if self._is_empty or not self._types else self._types[0]

    def _fits(self, text: str, type: str) -> bool:
        if type != "number":
            try:
                return value_of(text, type, strict=True) is not None
            except ValueError:
                return False
        if not _is_number(text):
            return False
        mantissa = text.partition("e")[0]
        if "." in text:
            self._decimals.add(len(mantissa) - mantissa.index(".") - 1)
        is_short = len(mantissa.replace(".", "").strip("-0")) <= 15
        has_zero = "." in text and mantissa.endswith("0")
        self._is_exact &= repr(value_of(text, "number")) == text or (is_short and not has_zero and text != "-0")
        # 1.50 loses a zero, which says nothing only if all values have as many decimals.
        return self._is_exact or (len(self._decimals) == 1 and is_short and text != "-0")


def _finite(text: str) -> float:
    number = float(text)
    if "_" in text or number - number != 0:
        raise ValueError(text)
    return number


def _iso_date(text: str) -> str:
    if _is_iso(text):
        return date.fromisoformat(text).isoformat() if len(text) == 10 else datetime.fromisoformat(text).isoformat()
    if found := _is_year_first(text):
        year, month, day = map(int, found.groups())
    elif found := _is_day_first(text):
        day, month, year = map(int, found.groups())
    else:
        raise ValueError(text)
    return date(year, month, day).isoformat()


def _head(first: Row, rows: RowStream) -> list[Row | BadRecordError]:
    """Take the first rows of a pipe."""
    head: list[Row | BadRecordError] = [first]
    size = 0
    while len(head) < _PIPED_ROWS and size < _PIPED_CHARACTERS and (row := next(rows, None)) is not None:
        head.append(row)
        size += 0 if isinstance(row, BadRecordError) else sum(len(str(value)) for value in row.columns.values())
    return head
