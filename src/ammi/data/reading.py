"""Documents from files, folders, pipes and Python objects, one at a time: all documents come in through this module."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from ammi.data.column_types import ColumnTypes
from ammi.data.documents import Document, Vector, checked_vector, is_numbers
from ammi.data.encodings import logger
from ammi.data.exports import exported, is_exported
from ammi.data.files import File, file_documents, find_files, is_document, sources_of
from ammi.data.formats import MATRIX_FORMATS, read_rows
from ammi.data.rows import ID, TEXT, VECTOR, BadRecordError, OnError, Row, RowStream, UnreadFileError, complaint, listed
from ammi.data.streams import BROKEN_COMPRESSION, LONGEST, TOO_LONG
from ammi.data.tables import table_rows
from ammi.plain import Id, NotUnicodeError, checked_id, checked_metadata, checked_optional_text

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Item: TypeAlias = "str | Mapping[str, Any] | NDArray[np.floating] | list[float] | Document"
Incoming: TypeAlias = "Iterable[Item] | pd.DataFrame | pa.Table | pa.RecordBatch | pa.RecordBatchReader | PathLike[str]"
T = TypeVar("T")

_ROWS_TRIED = 1000  # rows without a required column before the name of the column is taken for wrong

# Kinds of bad records, in words that follow their number.
_NO_COLUMN, _BAD_ID, _BAD_TEXT, _BAD_VECTOR, _BAD_METADATA, _NOT_UTF8 = (
    "without a column", "with a bad id", "with a bad text", "with a bad vector", "with bad metadata", "not UTF-8"
)  # fmt: skip


class Needed(NamedTuple):
    """The part of a document that a model reads, "text" or "vector", the dimension of its vectors if known, and the
    types of columns that come without."""

    part: str | None = None
    width: int | None = None
    types: ColumnTypes | None = None


class Columns(NamedTuple):
    """The names of a document's columns; those that a user `chose` must be there."""

    text: str = TEXT
    id: str = ID
    vector: str = VECTOR
    chosen: tuple[str, ...] = ()
    needed: Needed = Needed()

    @classmethod
    def named(cls, text: str | None, id: str | None, vector: str | None, needed: Needed | None = None) -> Self:
        """Return the columns of these names, or of the usual ones where a user chose none."""
        chosen = tuple(name for name in (text, id, vector) if name)
        return cls(text or TEXT, id or ID, vector or VECTOR, chosen, needed or Needed())


class ColumnNames(TypedDict):
    """The arguments of readers that name columns; None stands for the usual name."""

    text: str | None
    id: str | None
    vector: str | None


def chosen_names(text: str, id: str, vector: str) -> ColumnNames:
    """Return the names of columns that differ from the usual ones."""
    return {
        "text": None if text == TEXT else text,
        "id": None if id == ID else id,
        "vector": None if vector == VECTOR else vector,
    }


def read_documents(
    source: str | PathLike[str] | Sequence[str | PathLike[str]],
    *,
    text: str | None = None,
    id: str | None = None,
    vector: str | None = None,
    format: str | None = None,
    needed: Needed | None = None,
    on_error: OnError = "refuse",
) -> Iterator[Document]:
    """Read the documents of files, folders, or standard input one at a time.

    `source` is `-` for standard input, a file, a folder, a pattern such as `notes/*.jsonl`, or a list of these. Tables
    are `.jsonl`, `.json` (also an array), `.csv`, `.tsv` and `.txt` (one text a line), plain or compressed with gzip or
    zstd, `.parquet`, `.arrow`, `.feather`, and matrices of vectors in `.npy` or `.npz` (see `read_matrix`). Encodings
    and the separators of `.csv` are detected; blank lines are skipped. `format` (`jsonl`, `csv`, …) is for pipes and
    for files with other endings. Without it, the first line of a pipe decides: JSON, the header of a table of two
    columns or more with that of the text, or else one text a line.

    Any other file is a document: plain text, source code and Markdown, and with the extra `ammi[files]` also PDF,
    Word, PowerPoint, Excel, OpenDocument, RTF, HTML, EPUB and e-mail; of a PDF each page, of a presentation each slide,
    of an mbox each message. So is each file of a folder, but for tables with the column of the texts, whose rows are
    documents. Metadata tell where a document is (`path`, `page`, `message`) and, where the file says so, its `title`,
    `author`, `date` and `language`. A file of a folder or a list that cannot be read is always skipped.

    `text`, `id` and `vector` name the columns to use, by default the columns called `text`, `id` and `vector`. A
    document without an id gets the number of its line, or FILE:LINE of one of several files; a document with a vector
    needs no text. Files that `Collection.export` wrote need no names of columns. The values of other columns of CSV and
    TSV get types (`ColumnTypes`): inferred from the whole file, or from the first rows of a pipe, unless `needed` names
    them.

    A bad record is refused with `BadRecordError`, skipped with a warning, or skipped and handed to `on_error`. Bad
    records are those that cannot be read or are longer than 32 MB, those without the part of a document that is
    `needed`, and vectors of another dimension.
    """
    complain = complaint(on_error)
    sources = sources_of(source)
    names: ColumnNames = {"text": text, "id": id, "vector": vector}
    only = Path(sources[0]) if len(sources) == 1 else None
    if only is None or only.is_dir() or (format is None and is_document(only)):
        if format is not None:
            what = f"{only} is a folder" if only else f"{len(sources)} sources"
            raise ValueError(f"{what}, each file of which tells its format: leave out the format {format!r}")
        files = find_files(sources)
        whole = only is None or only.is_dir()
        return documents_of_files(
            files, names, needed or Needed(), complain if whole else partial(_refuse_file, complain)
        )
    if format in MATRIX_FORMATS or (format is None and only.suffix.lower().lstrip(".") in MATRIX_FORMATS):
        from ammi.data.matrix_files import read_matrix

        return iter(read_matrix(only, **names, format=format, on_error=on_error))
    name = "standard input" if sources[0] == "-" else str(only)
    columns = Columns.named(**names, needed=needed)

    def rows() -> RowStream:
        return read_rows(sources[0], name, format, text)

    again = None if sources[0] == "-" or only.is_fifo() else rows
    return _documents(name, _typed(rows(), again, columns), DocumentMaker(name, columns), complain)


def _typed(rows: RowStream, again: Callable[[], RowStream] | None, columns: Columns) -> RowStream:
    """Give types to the values of a table that comes without."""
    types = columns.needed.types or ColumnTypes()
    return types.of_rows(rows, again, {columns.text, columns.id, columns.vector})


def documents_of_files(
    files: Iterable[File | BadRecordError],
    names: ColumnNames,
    needed: Needed,
    complain: Callable[[BadRecordError], None],
) -> Iterator[Document]:
    """Yield the documents of files, and hand bad records and files to a function."""
    for one in file_documents(files, partial(_table, names, needed, complain)):
        if isinstance(one, BadRecordError):
            complain(one)
        elif needed.part == "vector" and one.vector is None:
            complain(
                BadRecordError(f"{one.metadata.get('path', one.id)} is a text, and the model reads vectors", "texts")
            )
        else:
            yield one


def _table(
    names: ColumnNames, needed: Needed, complain: Callable[[BadRecordError], None], file: File
) -> Iterator[Document] | None:
    """Return the documents of a table; None if it was only found in a folder and has no column of texts."""
    name = str(file.path)
    if needed.types:
        needed = needed._replace(types=needed.types.of_table(name))
    if file.is_named:
        return read_documents(file.path if str(file.path) != "-" else "-", **names, needed=needed, on_error=complain)
    if file.format in MATRIX_FORMATS:
        return _left_out(file, "it is a matrix, which has to be read by itself", "matrices", complain)
    columns = Columns.named(**names, needed=needed)
    column = columns.vector if needed.part == "vector" else columns.text
    try:
        rows = read_rows(file.path, name, None, names["text"])
        first = next(rows, None)
    except (ValueError, OSError, *BROKEN_COMPRESSION) as error:
        return _left_out(file, f"it cannot be read ({error})", "not readable", complain)
    if not isinstance(first, Row) or not (column in first.columns or is_exported(first.columns)):
        if file.format in ("parquet", "arrow"):
            return _left_out(
                file, f"it has no column {column!r}; name the column with --text", "without texts", complain
            )
        logger.info(f"{file.path} has no column {column!r}, and is one document; name the column with --text")
        return None
    typed = _typed(chain([first], rows), lambda: read_rows(file.path, name, None, names["text"]), columns)
    return _documents(name, typed, DocumentMaker(name, columns), complain)


def _left_out(file: File, reason: str, kind: str, complain: Callable[[BadRecordError], None]) -> Iterator[Document]:
    complain(file.unread(reason, kind))
    return iter(())


def _refuse_file(complain: Callable[[BadRecordError], None], problem: BadRecordError) -> None:
    """Complain about the only file of a source as about a record, which is refused unless bad ones are skipped."""
    complain(BadRecordError(str(problem), problem.kind) if isinstance(problem, UnreadFileError) else problem)


def documents_from(documents: Incoming, *, text: str = TEXT, id: str = ID, vector: str = VECTOR) -> Iterator[Document]:
    """Yield the documents that a program passes, one at a time.

    `documents` holds texts, dicts, vectors or `Document`s; or it is a pandas DataFrame, a table, a batch or a reader
    of batches of Arrow, or the path of a file that `read_documents` reads, such as one that `Collection.export` wrote.

    `text`, `id` and `vector` name the columns of tables and the keys of dicts. A document has a text, a vector or both.
    Either all have an id, or none has, and then their numbers are the ids. All other columns are metadata. The index of
    a DataFrame is not used, unless it has the name of the column of the ids and there is no such column.
    """
    if isinstance(documents, str | bytes | Mapping):
        raise ValueError(f"documents is the single value {documents!r:.40}: pass a list, [document] for one")
    chosen = chosen_names(text, id, vector)
    if isinstance(documents, PathLike):
        return read_documents(Path(documents), **chosen)
    columns = Columns.named(**chosen)
    if (table := table_rows(documents, id)) is not None:
        return map(DocumentMaker(table.name, columns), table.rows)
    if not isinstance(documents, Iterable) or getattr(documents, "ndim", 1) == 0:
        raise ValueError(f"documents is {documents!r:.40} of type {type(documents).__name__}: pass a list of documents")
    return _from_items(documents, columns)


def _from_items(items: Iterable[Item], columns: Columns) -> Iterator[Document]:
    document_of = DocumentMaker("document 1", columns)
    for number, item in enumerate(items, 1):
        yield item if isinstance(item, Document) else document_of(_row(number, item, columns))


def _row(number: int, item: object, columns: Columns) -> Row:
    place = f"document {number}"
    value = item.as_py() if hasattr(item, "as_py") else item  # Arrow's scalars
    if isinstance(value, str):
        return Row(place, number, {columns.text: value})
    if isinstance(value, Mapping):
        return Row(place, number, dict(value), own_columns=True)
    if is_numbers(value):
        return Row(place, number, {columns.vector: value})
    raise BadRecordError(
        f"{place} is {value!r:.40} of type {type(value).__name__}: expected a text, a dict, a vector or a Document, "
        "so fill or drop missing ones first"
    )


def _documents(
    name: str, rows: RowStream, document_of: "DocumentMaker", complain: Callable[[BadRecordError], None]
) -> Iterator[Document]:
    early: list[BadRecordError] = []  # bad records before the first document, beginning with a missing column
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
            raise ValueError(str(early[0]))  # no row has the column: its name is wrong
    except BROKEN_COMPRESSION as error:
        complain(BadRecordError(f"{name} is broken and ends early: {error}"))


class DocumentMaker:
    """Makes documents of the rows of one source; the first row decides whether the documents have ids.

    With a column of vectors that a user chose, the first row also decides their dimension.
    """

    def __init__(self, name: str, columns: Columns):
        self._name, self._columns = name, columns
        self._first: str | None = None
        self._has_ids = False
        self._width = columns.needed.width

    def __call__(self, row: Row) -> Document:
        """Return the document of a row, or raise a `BadRecordError` that says where the row is."""
        return self._exported(row) if is_exported(row.columns) else self._of_columns(row)

    def _of_columns(self, row: Row) -> Document:
        if self._first is None:
            self._check_first(row)
        id = self._id(row)
        vector = self._vector(row)
        self._check_width(row, vector)
        text = self._text(row, needed=vector is None or self._columns.needed.part == "text")
        taken = {self._columns.text} | ({self._columns.id} if self._has_ids else set())
        taken |= set() if vector is None else {self._columns.vector}
        others = {name: value for name, value in row.columns.items() if name not in taken}
        metadata, json = _checked(checked_metadata, others, row, _BAD_METADATA)
        return Document(id, text, metadata, not self._has_ids, vector, json=json)

    def _check_first(self, row: Row) -> None:
        text, id, _, chosen, (part, _, _) = self._columns
        needed = set(chosen) | ({text} if part == "text" or self._vector(row) is None else set())
        if row.own_columns:
            needed.discard(id)  # only this row may lack it
        if missing := needed - set(row.columns):
            if row.own_columns:
                raise _lack(row, min(missing))
            raise ValueError(f"{self._name} {_no_column(row, min(missing))}")
        self._first, self._has_ids = row.place, id in chosen or id in row.columns

    def _id(self, row: Row) -> Id:
        column = self._columns.id
        if not self._has_ids and column in row.columns:
            raise ValueError(
                f"{row.place} has a column {column!r} and {self._first} has none: give every document one, or name the "
                f"column of the file's ids with id={column!r} (--id {column}), so that lines without it are bad records"
            )
        if not self._has_ids:
            return row.number
        if column not in row.columns:
            raise _lack(row, column)
        return _checked(checked_id, row.columns[column], row, _BAD_ID)

    def _text(self, row: Row, needed: bool) -> str | None:
        column = self._columns.text
        if needed and column not in row.columns:
            raise _lack(row, column)
        text = _checked(checked_optional_text, row.columns.get(column), row, _BAD_TEXT)
        if text is None and needed:
            raise BadRecordError(f"{row.place} has null for a text: expected a string", _BAD_TEXT)
        if text is not None and len(text) > LONGEST:
            raise BadRecordError(f"{row.place} {TOO_LONG}", "too long")
        return text

    def _vector(self, row: Row) -> Vector | None:
        """Return the numbers of the vector column; any other value is metadata, or an error if a user chose it."""
        value, chosen = row.columns.get(self._columns.vector), self._columns.vector in self._columns.chosen
        if is_numbers(value) or (chosen and self._columns.vector in row.columns):
            return _checked(checked_vector, value, row, _BAD_VECTOR)
        return None

    def _check_width(self, row: Row, vector: Vector | None) -> None:
        if vector is None or self._columns.vector not in self._columns.chosen:
            return
        self._width = self._width or len(vector)
        if len(vector) != self._width:
            known = "as before" if self._columns.needed.width is None else "which the model reads"
            problem = f"{row.place} has a vector of {len(vector)} numbers: expected {self._width}, {known}"
            raise BadRecordError(problem, _BAD_VECTOR)

    def _exported(self, row: Row) -> Document:
        if (self._columns.text, self._columns.id) != (TEXT, ID):
            raise ValueError(
                f"{row.place} was exported from a collection, so that its id and text are known: name no columns"
            )
        try:
            return exported(row.columns)
        except NotUnicodeError as error:
            raise BadRecordError(f"{row.place} {str(error).removeprefix('it ')}", _NOT_UTF8) from error
        except ValueError as error:
            raise BadRecordError(f"{row.place} is no document of an export, for {error}", "no export") from error


def _checked(check: Callable[[object, str], T], value: object, row: Row, kind: str) -> T:
    """Return a checked value; a bad one is a bad record of this kind."""
    try:
        return check(value, row.place)
    except NotUnicodeError as error:
        raise BadRecordError(str(error), _NOT_UTF8) from error
    except ValueError as error:
        raise BadRecordError(str(error), kind) from error


def _no_column(row: Row, column: str) -> str:
    return f"has no column {column!r}: the columns there are {listed(row.columns)}"


def _lack(row: Row, column: str) -> BadRecordError:
    return BadRecordError(f"{row.place} {_no_column(row, column)}", _NO_COLUMN)
