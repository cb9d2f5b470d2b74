"""Rows of JSONL, CSV, TSV, Parquet, Arrow, lines of text, folders of files and pipes, one at a time."""

import csv
import json
import os
from collections.abc import Iterable, Iterator
from itertools import chain, repeat
from pathlib import Path

from ammi.data.rows import TEXT, BadRecordError, Row, RowStream, refuse_repeated, short
from ammi.data.streams import BROKEN_COMPRESSION, open_bytes
from ammi.data.tables import arrow_rows, parquet_rows

TABLE_FORMATS = ("parquet", "arrow")
MATRIX_FORMATS = ("npy", "npz")  # which are no rows: see matrices.py
FORMATS = ("jsonl", "csv", "tsv", "txt", *TABLE_FORMATS, *MATRIX_FORMATS)
ENDINGS = {f".{format}": format for format in FORMATS} | {".ndjson": "jsonl", ".json": "jsonl", ".feather": "arrow"}

# A document may be large, but an unclosed quote must not swallow a file of any size.
LONGEST_CSV_FIELD = 1 << 28

NumberedLines = Iterable[tuple[int, str]]


def read_rows(source: str | Path, name: str, format: str | None, text: str | None) -> RowStream:
    """The rows of a file, a folder or a pipe, which messages call `name`.

    Without a `format` it is that of the ending, or of the first line of a pipe; `text` is the column that a user named.
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
    if path.stat().st_size == 0:
        return iter(())
    return _rows_of_format(name, path, format or _format_of(path))


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
            return _json_rows(name, _numbered(_lines(source)))
        case "csv":
            return _csv_rows(name, _lines(source), ",")
        case "tsv":
            return _csv_rows(name, _lines(source), "\t")
        case "txt":
            return _text_rows(name, _numbered(_lines(source)))
        case "arrow":
            return arrow_rows(name, source)
        case _:
            return parquet_rows(name, source)


def _lines(source: str | Path) -> Iterator[str]:
    with open_bytes(source) as stream:
        encoding = "utf-8-sig"  # the first line may begin with a byte order mark
        for line in stream:
            yield line.decode(encoding, "surrogateescape")
            encoding = "utf-8"


def _numbered(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(lines, 1) if not line.isspace())


def _piped_rows(name: str, source: str | Path, text: str | None) -> RowStream:
    """JSON lines, a table whose header has the wanted column, or texts: the first line that is not blank tells."""
    lines = _lines(source)
    blank = 0
    for first in lines:
        if first.isspace():
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
    """What parts the names in the header of a table of two columns or more, one of them `column`; else None."""
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
        try:
            columns = json.loads(line)
        except json.JSONDecodeError as error:
            yield BadRecordError(f"{place} is not JSON: {error.msg} at character {error.pos + 1}")
            continue
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, or deep brackets
            yield BadRecordError(f"{place} cannot be read: {error}")
            continue
        if isinstance(columns, dict):
            yield Row(place, number, columns, own_columns=True)
        else:
            yield BadRecordError(f"{place} is {short(columns)}: expected a JSON object")


def _text_rows(name: str, lines: NumberedLines) -> RowStream:
    for number, line in lines:
        yield Row(f"{name} line {number}", number, {TEXT: line.rstrip("\r\n")})


def _csv_rows(name: str, lines: Iterable[str], delimiter: str) -> RowStream:
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
            refuse_repeated(name, header)
        elif len(fields) != len(header):
            yield BadRecordError(f"{place} has {len(fields)} fields: expected {len(header)}, as in the header")
        else:
            yield Row(place, number, dict(zip(header, fields, strict=True)))


def _folder_rows(folder: Path) -> RowStream:
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
                yield Row(str(path), number, {"id": path.relative_to(folder).as_posix(), TEXT: text})
