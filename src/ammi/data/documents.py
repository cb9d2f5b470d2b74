"""Documents from JSONL, CSV, TSV, Parquet, text files, folders of them and pipes, one at a time."""

import csv
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, time
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ammi.data.streams import BROKEN_COMPRESSION, open_bytes, optional

# A document may be large, but an unclosed quote must not swallow a file of any size.
LONGEST_CSV_FIELD = 1 << 28


@dataclass(frozen=True, slots=True)
class Document:
    """One document; `metadata` holds the columns that are neither its id nor its text."""

    id: str | int
    text: str
    metadata: dict[str, Any]
    numbered: bool = field(default=False, compare=False)  # its id is no more than the number of its line


class BadRecordError(ValueError):
    """A line, row or file that holds no document; the message names the place."""


class Row(NamedTuple):
    place: str  # what an error message points at
    number: int  # the id of a document that has none
    columns: dict[str, Any]


# What the readers of the formats below yield: a bad record is a value there, since they go on after it.
Rows = Iterator[Row | BadRecordError]
NumberedLines = Iterable[tuple[int, str]]
OnError = Literal["refuse", "skip"] | Callable[[BadRecordError], None]


def read_documents(
    source: str | Path, *, text: str | None = None, id: str | None = None, on_error: OnError = "refuse"
) -> Iterator[Document]:
    """Read the documents of a file, a folder or standard input one at a time.

    `source` is `-` for standard input (JSONL, or one text a line), a folder (each file in it is a document, and
    its path is the id), or a file: `.jsonl`, `.csv`, `.tsv`, `.parquet`, `.txt` (one text a line), each but
    Parquet plain or compressed with gzip or zstd. Text is UTF-8; blank lines hold nothing.

    `text` and `id` name the columns to use. Without them these are `text`, and `id` where there is one; a
    document without an id gets the number of its line. What cannot be read is refused with `BadRecordError`,
    skipped with a warning, or skipped and handed to `on_error`.
    """
    complain = {"refuse": _refuse, "skip": _warn}.get(on_error) if isinstance(on_error, str) else on_error
    if complain is None:
        raise ValueError(f"on_error is {on_error!r}: expected 'refuse', 'skip' or a function")
    name = "standard input" if source == "-" else str(source)
    return _documents(name, _rows(source, name), text, id, complain)


def _refuse(problem: BadRecordError) -> None:
    raise problem


def _warn(problem: BadRecordError) -> None:
    warnings.warn(f"skipped: {problem}", stacklevel=3)


def _documents(
    name: str, rows: Rows, text: str | None, id: str | None, complain: Callable[[BadRecordError], None]
) -> Iterator[Document]:
    columns: tuple[str, str | None] | None = None
    try:
        for row in rows:
            try:
                if isinstance(row, BadRecordError):
                    raise row
                columns = columns or _choose_columns(name, row, text, id)
                document = _document(row, *columns)
            except BadRecordError as problem:
                complain(problem)
            else:
                yield document
    except BROKEN_COMPRESSION as error:
        complain(BadRecordError(f"{name} is broken and ends early: {error}"))


def _choose_columns(name: str, first: Row, text: str | None, id: str | None) -> tuple[str, str | None]:
    text = text or "text"
    for column in (text, id):
        if column and column not in first.columns:
            there = ", ".join(first.columns) or "none"
            raise ValueError(f"{name} has no column {column!r}: the columns there are {there}")
    return text, id or ("id" if "id" in first.columns else None)


def _document(row: Row, text_column: str, id_column: str | None) -> Document:
    for column in (text_column, id_column):
        if column and column not in row.columns:
            raise BadRecordError(f"{row.place} has no column {column!r}")
    text = row.columns[text_column]
    if not isinstance(text, str):
        raise BadRecordError(f"{row.place} has {_short(text)} for a text: expected a string")
    id = row.columns[id_column] if id_column else row.number
    if not isinstance(id, str | int) or isinstance(id, bool):
        raise BadRecordError(f"{row.place} has {_short(id)} for an id: expected a string or a whole number")
    if not all(_is_unicode(value) for value in row.columns.values() if isinstance(value, str)):
        raise BadRecordError(f"{row.place} is not UTF-8")
    rest = {name: value for name, value in row.columns.items() if name not in (text_column, id_column)}
    return Document(id, text, rest, numbered=id_column is None)


def _is_unicode(text: str) -> bool:
    """False where `surrogateescape` let through bytes that are not UTF-8, or JSON half a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _short(value: Any) -> str:
    shown = json.dumps(value, default=str)
    return shown if len(shown) <= 40 else f"{shown[:37]}..."


def _rows(source: str | Path, name: str) -> Rows:
    path = Path(source)
    if source == "-" or path.is_fifo():
        return _piped_rows(name, source)
    if path.is_dir():
        return _folder_rows(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {name}")
    if path.stat().st_size == 0:
        return iter(())
    endings = [ending for ending in path.suffixes if ending not in (".gz", ".zst")]
    match endings[-1].lower() if endings else "":
        case ".jsonl" | ".ndjson" | ".json":
            return _json_rows(name, _numbered(_lines(path)))
        case ".csv":
            return _csv_rows(name, _lines(path), ",")
        case ".tsv":
            return _csv_rows(name, _lines(path), "\t")
        case ".txt":
            return _text_rows(name, _numbered(_lines(path)))
        case ".parquet":
            return _parquet_rows(name, path)
        case _:
            raise ValueError(
                f"the format of {name} is unknown: expected a folder, or a file ending in .jsonl, .csv, .tsv or "
                ".txt (and then .gz or .zst where compressed) or in .parquet"
            )


def _lines(source: str | Path) -> Iterator[str]:
    with open_bytes(source) as stream:
        encoding = "utf-8-sig"  # the first line may begin with a byte order mark
        for line in stream:
            yield line.decode(encoding, "surrogateescape")
            encoding = "utf-8"


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(lines, 1) if not line.isspace())


def _json_rows(name: str, lines: NumberedLines) -> Rows:
    for number, line in lines:
        place = f"{name} line {number}"
        try:
            columns = json.loads(line)
        except json.JSONDecodeError as error:
            yield BadRecordError(f"{place} is not JSON: {error.msg} at character {error.pos + 1}")
            continue
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, or deep brackets
            yield BadRecordError(f"{place} cannot be read: {error}")
            continue
        if not isinstance(columns, dict):
            yield BadRecordError(f"{place} is {_short(columns)}: expected a JSON object")
        elif not _is_unicode(line):
            yield BadRecordError(f"{place} is not UTF-8")
        else:
            yield Row(place, number, columns)


def _text_rows(name: str, lines: NumberedLines) -> Rows:
    for number, line in lines:
        yield Row(f"{name} line {number}", number, {"text": line.rstrip("\r\n")})


def _piped_rows(name: str, source: str | Path) -> Rows:
    lines = _numbered(_lines(source))
    for first in lines:
        rows = _json_rows if first[1].lstrip().startswith("{") else _text_rows
        yield from rows(name, chain([first], lines))


def _csv_rows(name: str, lines: Iterable[str], delimiter: str) -> Rows:
    csv.field_size_limit(LONGEST_CSV_FIELD)
    # Strict, because the lenient reader takes the rest of the file into a quote that is never closed.
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        number = reader.line_num + 1
        place = f"{name} line {number}"
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = BadRecordError(f"{place} is not CSV: {error}")
            if not header:
                raise ValueError(str(problem)) from error
            yield problem
            continue
        if not fields:
            continue
        if not header:
            header = fields
            if twice := {column for column in header if header.count(column) > 1}:
                raise ValueError(f"{name} has more than one column called {', '.join(sorted(twice))}: rename them")
        elif len(fields) != len(header):
            yield BadRecordError(f"{place} has {len(fields)} fields: expected {len(header)}, as in the header")
        else:
            yield Row(place, number, dict(zip(header, fields, strict=True)))


def _parquet_rows(name: str, path: Path) -> Rows:
    parquet, arrow = optional("pyarrow.parquet"), optional("pyarrow")
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(batch_size=1000):
                for columns in batch.to_pylist():
                    number += 1
                    yield Row(f"{name} row {number}", number, {k: _plain(v) for k, v in columns.items()})
    except (arrow.ArrowException, OSError) as error:
        yield BadRecordError(f"{name} cannot be read as Parquet after row {number}: {error}")


def _plain(value: Any) -> Any:
    """What JSON can hold, as the other formats give it."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return value.decode("utf-8", "surrogateescape")
        case date() | time():
            return value.isoformat()
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
    return str(value)


def _folder_rows(folder: Path) -> Rows:
    number = 0
    for root, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(root, name) for name in sorted(files) if not name.startswith(".")):
            number += 1
            try:
                with open_bytes(path) as stream:
                    text = stream.read().decode("utf-8-sig", "surrogateescape")
            except (*BROKEN_COMPRESSION, OSError) as error:
                yield BadRecordError(f"{path} cannot be read: {error}")
            else:
                yield Row(str(path), number, {"id": path.relative_to(folder).as_posix(), "text": text})
