"""Rows of JSONL, CSV, TSV, Parquet, Arrow, lines of text, folders of files and pipes, one at a time."""

import csv
import json
import os
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path
from typing import Self

from ammi.data.rows import TEXT, BadRecordError, Row, RowStream, refuse_repeated
from ammi.data.streams import BROKEN_COMPRESSION, LONGEST, TOO_LONG, lines_of, open_bytes
from ammi.data.tables import arrow_rows, parquet_rows
from ammi.plain import from_json, short

TABLE_FORMATS = ("parquet", "arrow")
MATRIX_FORMATS = ("npy", "npz")  # read by matrix_files.py, not as rows
FORMATS = ("jsonl", "csv", "tsv", "txt", *TABLE_FORMATS, *MATRIX_FORMATS)
ENDINGS = {f".{format}": format for format in FORMATS} | {".ndjson": "jsonl", ".json": "jsonl", ".feather": "arrow"}

Lines = Iterator[str | None]  # None in place of a line that is too long
NumberedLines = Iterable[tuple[int, str | None]]


def read_rows(source: str | Path, name: str, format: str | None, text: str | None) -> RowStream:
    """Return the rows of a file, a folder or a pipe, which messages call `name`.

    Without a `format`, the ending of the file or the first line of the pipe decides; `text` is a column that a user
    named.
    """
    if format is not None and format not in FORMATS:
        raise ValueError(f"format is {format!r}: expected one of {', '.join(FORMATS)}")
    path = Path(source)
    if source == "-" or path.is_fifo():
        if format in TABLE_FORMATS:
            raise ValueError(
                f"{name} is a pipe, and {format.capitalize()} cannot be read from one: write it to a file first"
            )
        return _rows_of_format(name, source, format) if format else _piped_rows(name, source, text)
    if path.is_dir():
        if format:
            raise ValueError(f"{name} is a folder, each file of which is a text: leave out the format {format!r}")
        return _folder_rows(path)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {name}")
    if not path.is_file():
        raise ValueError(f"{name} is a device or a socket: name a file, a folder or a pipe")
    format = format or _format_of(path)
    if path.stat().st_size == 0 and format not in TABLE_FORMATS:
        return iter(())
    return _rows_of_format(name, path, format)


def source_name(path: Path) -> str:
    """Return the name of a file without the endings that tell how to read it."""
    name = path
    while name.suffix.lower() in (".gz", ".zst"):
        name = name.with_suffix("")
    return name.stem if name.suffix.lower() in ENDINGS else name.name


def _format_of(path: Path) -> str:
    endings = [ending for ending in path.suffixes if ending not in (".gz", ".zst")]
    format = ENDINGS.get(endings[-1].lower() if endings else "")
    if format is None:
        raise ValueError(
            f"the format of {path} is unknown: expected a folder, or a file ending in .jsonl, .csv, .tsv or "
            f".txt (and then .gz or .zst where compressed) or in .parquet, .arrow, .feather, .npy or .npz; else name "
            f"the format, {', '.join(FORMATS)}"
        )
    return format


def _rows_of_format(name: str, source: str | Path, format: str) -> RowStream:
    match format:
        case "jsonl":
            return _json_rows(name, _numbered(read_lines(source)))
        case "csv":
            return _csv_rows(name, read_lines(source), ",")
        case "tsv":
            return _csv_rows(name, read_lines(source), "\t")
        case "txt":
            return _text_rows(name, _numbered(read_lines(source)))
        case "arrow":
            return arrow_rows(name, source)
        case _:
            return parquet_rows(name, source)


def read_lines(source: str | Path) -> Lines:
    """Return the lines of a file or a pipe; bytes that are not UTF-8 become lone surrogates."""
    with open_bytes(source) as stream:
        encoding = "utf-8-sig"  # the first line may begin with a byte order mark
        for line in lines_of(stream):
            if encoding == "utf-8-sig" and line and line.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
                raise ValueError(f"{source} is UTF-16: write it as UTF-8 first, as by iconv -f UTF-16 -t UTF-8")
            yield None if line is None else line.decode(encoding, "surrogateescape")
            encoding = "utf-8"


def _numbered(lines: Iterable[str | None]) -> NumberedLines:
    return ((number, line) for number, line in enumerate(lines, 1) if line is None or not line.isspace())


def _too_long(place: str) -> BadRecordError:
    return BadRecordError(f"{place} {TOO_LONG}", "too long")


def _piped_rows(name: str, source: str | Path, text: str | None) -> RowStream:
    """JSON lines, a table whose header has the wanted column, or texts: the first line that is not blank decides."""
    lines = read_lines(source)
    blank = 0
    for first in lines:
        if first is None:
            yield _too_long(f"{name} line {blank + 1}")
        if first is None or first.isspace():
            blank += 1
            continue
        whole = chain(repeat("\n", blank), [first], lines)
        if first.lstrip().startswith("{"):
            yield from _json_rows(name, _numbered(whole))
        elif delimiter := _delimiter_of_header(first, text or TEXT):
            yield from _csv_rows(name, whole, delimiter)
        elif text is None:
            yield from _text_rows(name, _numbered(whole))
        else:
            raise ValueError(
                f"{name} has no column {text!r}: its first line {short(first.rstrip())} is neither JSON nor the "
                f"header of a table with that column; name the column that holds the texts, or the format"
            )


def _delimiter_of_header(line: str, column: str) -> str | None:
    """Return the delimiter in the header of a table of two columns or more, one of them `column`; else None."""
    for delimiter in "\t,":
        try:
            header = next(csv.reader([line], delimiter=delimiter, strict=True))
        except csv.Error:
            continue
        if len(header) > 1 and column in header:
            return delimiter
    return None


def _json_rows(name: str, lines: NumberedLines) -> RowStream:
    for number, line in lines:
        place = f"{name} line {number}"
        if line is None:
            yield _too_long(place)
            continue
        try:
            columns = from_json(line)
        except json.JSONDecodeError as error:
            yield BadRecordError(
                f"{place} is not JSON: {error.msg.removesuffix(' at')} at character {error.pos + 1}", "not JSON"
            )
            continue
        except ValueError as error:
            yield BadRecordError(f"{place} cannot be read: {error}", "not JSON")
            continue
        if isinstance(columns, dict):
            yield Row(place, number, columns, own_columns=True)
        else:
            yield BadRecordError(f"{place} is {short(columns)}: expected a JSON object", "no object")


def _text_rows(name: str, lines: NumberedLines) -> RowStream:
    for number, line in lines:
        place = f"{name} line {number}"
        yield _too_long(place) if line is None else Row(place, number, {TEXT: line.rstrip("\r\n")})


class _RecordLines:
    """Counts the lines that a reader of CSV takes, and limits the size of a record."""

    def __init__(self, lines: Iterable[str | None]):
        self._lines = iter(lines)
        self.number = self._size = 0

    def begin_record(self) -> None:
        self._size = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        self.number += 1
        self._size += 0 if line is None else len(line)
        if line is None or self._size > LONGEST:
            raise csv.Error(f"a record {TOO_LONG}")
        return line


def _csv_rows(name: str, lines: Iterable[str | None], delimiter: str) -> RowStream:
    csv.field_size_limit(LONGEST)
    coming = _RecordLines(lines)
    # Strict, because the lenient reader reads the rest of the file as part of a quote that is never closed.
    reader = csv.reader(coming, delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        number = coming.number + 1
        coming.begin_record()
        place = f"{name} line {number}"
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problem = BadRecordError(f"{place} is not CSV: {error}", "not CSV")
            if not header:
                raise ValueError(str(problem)) from error
            yield problem
            continue
        if not fields:
            continue
        if not header:
            header = fields
            refuse_repeated(name, header)
        elif len(fields) != len(header):
            yield BadRecordError(
                f"{place} has {len(fields)} fields: expected {len(header)}, as in the header",
                "with another number of fields",
            )
        else:
            yield Row(place, number, dict(zip(header, fields, strict=True)))


def _folder_rows(folder: Path) -> RowStream:
    number = 0
    unread: list[OSError] = []
    for root, folders, files in os.walk(folder, onerror=unread.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(root, name) for name in sorted(files) if not name.startswith(".")):
            number += 1
            if path.exists() and not path.is_file():
                yield BadRecordError(f"{path} cannot be read: it is a device, a pipe or a socket")
                continue
            try:
                with open_bytes(path) as stream:
                    content = stream.read(LONGEST + 1)
            except (*BROKEN_COMPRESSION, OSError) as error:
                reason = error.strerror if isinstance(error, OSError) and error.strerror else error
                yield BadRecordError(f"{path} cannot be read: {reason}")
                continue
            if len(content) > LONGEST:
                yield _too_long(str(path))
            else:
                text = content.decode("utf-8-sig", "surrogateescape")
                yield Row(str(path), number, {"id": path.relative_to(folder).as_posix(), TEXT: text})
    for left_out in unread:
        yield BadRecordError(f"{left_out.filename} cannot be read: {left_out.strerror}")
