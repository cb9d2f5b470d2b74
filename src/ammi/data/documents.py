"""Documents from JSONL, CSV, TSV, Parquet, Arrow and text files, folders of them, matrices and pipes, one at a time."""

import json
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.data.codes import Id, KnownCode
from ammi.data.exports import exported, is_exported
from ammi.data.formats import MATRIX_FORMATS, read_rows
from ammi.data.rows import ID, TEXT, VECTOR, BadRecordError, Row, RowStream, listed, short
from ammi.data.streams import BROKEN_COMPRESSION, LONGEST, TOO_LONG
from ammi.plain import ID_NUMBERS, plain

_ENCODER = json.JSONEncoder(ensure_ascii=False)  # made once, since it looks at every document

_ROWS_TRIED = 1000  # without a column that is needed, before it is taken for one that none has

# Kinds of bad records, in words that follow their number.
_NO_COLUMN, _BAD_ID, _BAD_TEXT, _BAD_VECTOR, _BAD_METADATA, _NOT_UTF8 = (
    "without a column", "with a bad id", "with a bad text", "with a bad vector", "with bad metadata", "not UTF-8"
)  # fmt: skip

OnError = Literal["refuse", "skip"] | Callable[[BadRecordError], None]


@dataclass(frozen=True, slots=True)
class Document:
    """One document: a text, a vector, or both; `metadata` holds the columns that are neither these nor its id."""

    id: Id
    text: str | None
    metadata: dict[str, Any]
    numbered: bool = field(default=False, compare=False)  # its id is no more than the number of its line
    # Arrays are not compared, since a comparison of theirs is an array again.
    vector: NDArray[np.floating] | None = field(default=None, compare=False)  # (d,)
    code: KnownCode | None = field(default=None, compare=False)  # of a document that a collection exported


class Wanted(NamedTuple):
    """The names of a document's columns, and which of them a user chose, so that they have to be there.

    `reads` is what a document must have, its "text" or its "vector"; `width` how many numbers that has.
    """

    text: str = TEXT
    id: str = ID
    vector: str = VECTOR
    chosen: tuple[str, ...] = ()
    reads: str | None = None
    width: int | None = None


def read_documents(
    source: str | Path,
    *,
    text: str | None = None,
    id: str | None = None,
    vector: str | None = None,
    format: str | None = None,
    reads: str | None = None,
    width: int | None = None,
    on_error: OnError = "refuse",
) -> Iterator[Document]:
    """Read the documents of a file, a folder or standard input one at a time.

    `source` is `-` for standard input, a folder (each file in it is a document, and its path is the id), or a file:
    `.jsonl`, `.csv`, `.tsv`, `.txt` (one text a line), plain or compressed with gzip or zstd, `.parquet`, `.arrow`,
    `.feather`, or a matrix of vectors in `.npy` or `.npz`, of which `read_matrix` tells more. Text is UTF-8; blank
    lines hold nothing. `format` (`jsonl`, `csv`, …) is for pipes and for files with other endings. Without it, the
    first line of a pipe tells: a JSON object, the header of a table of two columns or more with that of the text, or
    else one text a line.

    `text`, `id` and `vector` name the columns to use. Without them these are `text`, and `id` and `vector` where there
    are such; a document without an id gets the number of its line, and one with a vector needs no text. What
    `Collection.export` wrote is known by itself. What cannot be read is refused with `BadRecordError`, skipped with a
    warning, or skipped and handed to `on_error`; so is a document without what a model `reads`, its "text" or its
    "vector", or with a vector that has not `width` numbers, and a line or a file of more than 32 MB.
    """
    complain = complaint(on_error)
    if format in MATRIX_FORMATS or (format is None and Path(source).suffix.lower().lstrip(".") in MATRIX_FORMATS):
        from ammi.data.matrix_files import read_matrix

        return iter(read_matrix(source, text=text, id=id, vector=vector, format=format, on_error=on_error))
    name = "standard input" if source == "-" else str(source)
    chosen = tuple(column for column in (text, id, vector) if column)
    wanted = Wanted(text or TEXT, id or ID, vector or VECTOR, chosen, reads, width)
    return _documents(name, read_rows(source, name, format, text), DocumentMaker(name, wanted), complain)


def complaint(on_error: OnError) -> Callable[[BadRecordError], None]:
    """What is done with a bad record."""
    complain = {"refuse": _refuse, "skip": _warn}.get(on_error) if isinstance(on_error, str) else on_error
    if complain is None:
        raise ValueError(f"on_error is {on_error!r}: expected 'refuse', 'skip' or a function")
    return complain


def _refuse(problem: BadRecordError) -> None:
    raise problem


def _warn(problem: BadRecordError) -> None:
    warnings.warn(f"skipped: {problem}", stacklevel=3)


def _documents(
    name: str, rows: RowStream, document_of: "DocumentMaker", complain: Callable[[BadRecordError], None]
) -> Iterator[Document]:
    early: list[BadRecordError] = []  # those before the first document that began with the lack of a column
    nothing = True
    try:
        for row in rows:
            try:
                if isinstance(row, BadRecordError):
                    raise row
                document = document_of(row)
            except BadRecordError as problem:
                if early or (nothing and problem.kind == _NO_COLUMN):
                    early.append(problem)
                    if len(early) == _ROWS_TRIED:
                        break
                else:
                    complain(problem)
                continue
            for held_back in early:
                complain(held_back)
            early, nothing = [], False
            yield document
        if early:
            raise ValueError(str(early[0]))  # it is the name of the column that is wrong
    except BROKEN_COMPRESSION as error:
        complain(BadRecordError(f"{name} is broken and ends early: {error}"))


class DocumentMaker:
    """Makes documents of the rows of one source, of which the first tells whether they have ids.

    Where a user chose the column of the vectors, the first also tells how many numbers they have.
    """

    def __init__(self, name: str, wanted: Wanted):
        self._name, self._wanted = name, wanted
        self._first: str | None = None
        self._has_ids = False
        self._width = wanted.width

    def __call__(self, row: Row) -> Document:
        """The document of a row; one that holds none is refused with its place."""
        document = self._exported(row) if is_exported(row.columns) else self._of_columns(row)
        if not _is_unicode(document):
            raise BadRecordError(f"{row.place} is not UTF-8", _NOT_UTF8)
        return document

    def _of_columns(self, row: Row) -> Document:
        if self._first is None:
            self._check_first(row)
        id = self._id(row)
        vector = self._vector(row)
        self._check_width(row, vector)
        text = self._text(row, needed=vector is None or self._wanted.reads == "text")
        taken = {self._wanted.text} | ({self._wanted.id} if self._has_ids else set())
        taken |= set() if vector is None else {self._wanted.vector}
        others = {name: value for name, value in row.columns.items() if name not in taken}
        metadata = _plain_value(row, others, _BAD_METADATA)
        return Document(id, text, metadata, not self._has_ids, vector)

    def _check_first(self, row: Row) -> None:
        text, id, _, chosen, reads, _ = self._wanted
        needed = set(chosen) | ({text} if reads == "text" or self._vector(row) is None else set())
        if row.own_columns:
            needed.discard(id)  # only this one may lack it
        if missing := needed - set(row.columns):
            if row.own_columns:
                raise BadRecordError(f"{row.place} {_lack(row, min(missing))}", _NO_COLUMN)
            raise ValueError(f"{self._name} {_lack(row, min(missing))}")
        self._first, self._has_ids = row.place, id in chosen or id in row.columns

    def _id(self, row: Row) -> Id:
        column = self._wanted.id
        if not self._has_ids and column in row.columns:
            raise ValueError(
                f"{row.place} has a column {column!r} and {self._first} has none: give every document one, or name the "
                f"column of the file's ids with id={column!r} (--id {column}), so that lines without it are bad records"
            )
        if not self._has_ids:
            return row.number
        if column not in row.columns:
            raise BadRecordError(f"{row.place} {_lack(row, column)}", _NO_COLUMN)
        id = _plain_value(row, row.columns[column], _BAD_ID)
        if not isinstance(id, str | int) or isinstance(id, bool):
            raise BadRecordError(f"{row.place} has {short(id)} for an id: expected a string or a whole number", _BAD_ID)
        if isinstance(id, int) and id not in ID_NUMBERS:
            raise BadRecordError(f"{row.place} has {short(id)} for an id: expected at most 64 bits", _BAD_ID)
        return id

    def _text(self, row: Row, needed: bool) -> str | None:
        column = self._wanted.text
        if needed and column not in row.columns:
            raise BadRecordError(f"{row.place} {_lack(row, column)}", _NO_COLUMN)
        text = _plain_value(row, row.columns.get(column), _BAD_TEXT)
        if not isinstance(text, str) and (needed or text is not None):
            raise BadRecordError(f"{row.place} has {short(text)} for a text: expected a string", _BAD_TEXT)
        if text is not None and len(text) > LONGEST:
            raise BadRecordError(f"{row.place} {TOO_LONG}", "too long")
        return text

    def _vector(self, row: Row) -> NDArray[np.floating] | None:
        """The numbers of the vector's column; anything else in it is metadata, unless a user chose that column."""
        value = row.columns.get(self._wanted.vector)
        if not is_numbers(value):
            if self._wanted.vector in self._wanted.chosen and self._wanted.vector in row.columns:
                raise _bad_vector(row, value, "a list of numbers")
            return None
        try:
            # A copy, since a row of a table's column would keep the whole batch in memory.
            vector = np.array(value, None if getattr(value, "dtype", np.dtype(int)).kind == "f" else np.float64)
        except (ValueError, TypeError, OverflowError) as error:
            raise _bad_vector(row, value, "a list of numbers") from error
        if vector.ndim != 1 or not np.isfinite(vector).all():
            raise _bad_vector(row, value, "one row of finite numbers")
        return vector

    def _check_width(self, row: Row, vector: NDArray[np.floating] | None) -> None:
        if vector is None or self._wanted.vector not in self._wanted.chosen:
            return
        self._width = self._width or len(vector)
        if len(vector) != self._width:
            known = "as before" if self._wanted.width is None else "which the model reads"
            problem = f"{row.place} has a vector of {len(vector)} numbers: expected {self._width}, {known}"
            raise BadRecordError(problem, _BAD_VECTOR)

    def _exported(self, row: Row) -> Document:
        if (self._wanted.text, self._wanted.id) != (TEXT, ID):
            raise ValueError(
                f"{row.place} was exported from a collection, so that its id and text are known: name no columns"
            )
        try:
            id, text, metadata, code, vector = exported(row.columns)
        except ValueError as error:
            raise BadRecordError(f"{row.place} is no document of an export, for {error}", "no export") from error
        return Document(id, text, metadata, vector=vector, code=code)


def is_numbers(value: Any) -> bool:
    """Whether a value can be a vector: an array of numbers, or a list that begins with one."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fiu"
    if not isinstance(value, list | tuple) or not value:
        return False
    return isinstance(value[0], int | float | np.number) and not isinstance(value[0], bool)


def _lack(row: Row, column: str) -> str:
    return f"has no column {column!r}: the columns there are {listed(row.columns)}"


def _bad_vector(row: Row, value: Any, expected: str) -> BadRecordError:
    return BadRecordError(f"{row.place} has {short(value)} for a vector: expected {expected}", _BAD_VECTOR)


def _plain_value(row: Row, value: Any, kind: str) -> Any:
    try:
        return plain(value)
    except ValueError as error:
        raise BadRecordError(f"{row.place} cannot be kept: {error}", kind) from error


def _is_unicode(document: Document) -> bool:
    """False where `surrogateescape` let through bytes that are not UTF-8, or JSON half a surrogate pair."""
    try:
        for text in (str(document.id), document.text or "", _ENCODER.encode(document.metadata)):
            text.encode()
    except UnicodeEncodeError:
        return False
    return True
