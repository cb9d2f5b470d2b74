"""Rows of JSONL, JSON, CSV, TSV, Parquet, Arrow, lines of text and pipes, one at a time."""

import csv
import json
import re
from codecs import BOM_UTF8
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain, islice, repeat
from pathlib import Path
from typing import Self

from ammi.data.encodings import Lines, decoded, logger, text_lines
from ammi.data.rows import TEXT, BadRecordError, Row, RowStream, refuse_repeated
from ammi.data.streams import LONGEST, TOO_LONG, open_bytes
from ammi.data.tables import arrow_rows, parquet_rows
from ammi.plain import from_json, short

TABLE_FORMATS = ("parquet", "arrow")
MATRIX_FORMATS = ("npy", "npz")  # read by matrix_files.py, not as rows
FORMATS = ("jsonl", "csv", "tsv", "txt", *TABLE_FORMATS, *MATRIX_FORMATS)
ENDINGS = {f".{format}": format for format in FORMATS} | {".ndjson": "jsonl", ".json": "jsonl", ".feather": "arrow"}

SEPARATORS = {",": "a comma", ";": "a semicolon", "\t": "a tabulator", "|": "a bar"}  # the usual one first

_HEAD = 20  # lines that show how the fields of a table are separated
_PIECE = 1 << 16  # characters of an array of JSON that are read at once
_is_array = re.compile(r"\s*\[\s*([{\]]|\Z)").match  # and no text that begins in brackets
_between_elements = re.compile(r"[\s,]*").match

NumberedLines = Iterable[tuple[int, str | None]]


def read_rows(source: str | Path, name: str, format: str | None, text: str | None) -> RowStream:
    """Return the rows of a file or a pipe, which messages call `name`.

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
        return _rows_of_format(name, source, format, text) if format else _piped_rows(name, source, text)
    if not path.exists():
        raise FileNotFoundError(f"there is no file or folder {name}")
    if not path.is_file():
        raise ValueError(f"{name} is a device or a socket: name a file, a folder or a pipe")
    format = format or _known_format(path)
    if path.stat().st_size == 0 and format not in TABLE_FORMATS:
        return iter(())
    return _rows_of_format(name, path, format, text)


def source_name(path: Path) -> str:
    """Return the name of a file without the endings that tell how to read it."""
    name = path
    while name.suffix.lower() in (".gz", ".zst"):
        name = name.with_suffix("")
    return name.stem if name.suffix.lower() in ENDINGS else name.name


def format_of(path: Path) -> str | None:
    """Return the format of a file of rows by its ending; None for any other file."""
    endings = [ending.lower() for ending in path.suffixes if ending not in (".gz", ".zst")]
    return ENDINGS.get(endings[-1] if endings else "")


def _known_format(path: Path) -> str:
    format = format_of(path)
    if format is None:
        raise ValueError(
            f"the format of {path} is unknown: expected a folder, or a file ending in .jsonl, .csv, .tsv or "
            f".txt (and then .gz or .zst where compressed) or in .parquet, .arrow, .feather, .npy or .npz; else name "
            f"the format, {', '.join(FORMATS)}"
        )
    return format


def _rows_of_format(name: str, source: str | Path, format: str, text: str | None) -> RowStream:
    match format:
        case "jsonl":
            return _json_rows(name, read_lines(source, name, detect=False, arrays=True))
        case "csv":
            return _separated_rows(name, read_lines(source, name), text)
        case "tsv":
            return _csv_rows(name, read_lines(source, name), "\t")
        case "txt":
            return _text_rows(name, _numbered(read_lines(source, name)))
        case "arrow":
            return arrow_rows(name, source)
        case _:
            return parquet_rows(name, source)


def read_lines(source: str | Path, name: str, *, detect: bool = True, arrays: bool = False) -> Lines:
    """Return the lines of a file or a pipe; with `arrays`, an array of JSON comes in pieces of any length.

    With `detect`, bytes that are no UTF-8 may be cp1252; bytes that are in no encoding become lone surrogates.
    """
    with open_bytes(source) as stream:
        start = stream.peek(1 << 10) if arrays and hasattr(stream, "peek") else b""
        if _is_array(start.removeprefix(BOM_UTF8).decode(errors="replace")):
            with decoded(stream, "utf-8-sig") as text:
                while piece := text.read(_PIECE):
                    yield piece
        else:
            yield from text_lines(stream, name, detect)


def _numbered(lines: Iterable[str | None]) -> NumberedLines:
    return ((number, line) for number, line in enumerate(lines, 1) if line is None or not line.isspace())


def _too_long(place: str) -> BadRecordError:
    return BadRecordError(f"{place} {TOO_LONG}", "too long")


def _piped_rows(name: str, source: str | Path, text: str | None) -> RowStream:
    """JSON lines, a table whose header has the wanted column, or texts: the first line that is not blank decides."""
    lines = read_lines(source, name, arrays=True)
    blank = 0
    for first in lines:
        if first is None:
            yield _too_long(f"{name} line {blank + 1}")
        if first is None or first.isspace():
            blank += 1
            continue
        whole = chain(repeat("\n", blank), [first], lines)
        if first.lstrip().startswith("{") or _is_array(first):
            yield from _json_rows(name, whole)
        elif _separator_of_header(first, text or TEXT):
            yield from _separated_rows(name, whole, text)
        elif text is None:
            yield from _text_rows(name, _numbered(whole))
        else:
            raise ValueError(
                f"{name} has no column {text!r}: its first line {short(first.rstrip())} is neither JSON nor the "
                f"header of a table with that column; name the column that holds the texts, or the format"
            )


def _separator_of_header(line: str, column: str) -> str | None:
    """Return the separator in the header of a table of two columns or more, one of them `column`; else None."""
    for separator in SEPARATORS:
        header = _fields([line], separator)
        if header and len(header[0]) > 1 and column in header[0]:
            return separator
    return None


def _separated_rows(name: str, lines: Iterable[str | None], text: str | None) -> RowStream:
    """Yield the rows of a table, the separator of whose fields its first lines tell, or a line `sep=` as of Excel."""
    coming = iter(lines)
    head = [*islice(coming, _HEAD)]
    whole = chain(head, coming)
    first = (head[0] or "").strip().strip('"') if head else ""
    if first[:4].lower() == "sep=" and len(first) <= 5:
        next(whole)
        separator, skipped = first[4:] or "\t", 1
    else:
        separator, skipped = _separator([line for line in head if line is not None], text or TEXT), 0
    if separator != ",":
        what = SEPARATORS.get(separator, repr(separator))
        logger.info(f"the fields of {name} are separated by {what}")
    yield from _csv_rows(name, whole, separator, skipped)


def _separator(head: list[str], column: str) -> str:
    """Return the separator whose header has a column, else the one that gives most lines the fields of the header."""
    lines = [line for line in head if not line.isspace()]
    if found := _separator_of_header(lines[0] if lines else "", column):
        return found

    def fitting(separator: str) -> tuple[int, int]:
        rows = _fields(lines, separator)
        n = len(rows[0]) if rows else 0
        return (sum(len(row) == n for row in rows), n) if n > 1 else (0, 0)

    return max(SEPARATORS, key=fitting)


def _fields(lines: list[str], separator: str) -> list[list[str]]:
    """Return the fields of the first lines of a table, as far as they can be told."""
    rows: list[list[str]] = []
    with suppress(csv.Error):  # a quote may go on after the last of the lines
        rows.extend(csv.reader(lines, delimiter=separator, strict=True))
    return rows


def _json_rows(name: str, lines: Iterable[str | None]) -> RowStream:
    """Yield the objects of lines of JSON, or of one array of JSON over any number of lines."""
    coming = iter(lines)
    blank = []
    for first in coming:
        blank.append(first)
        if first is None or not first.isspace():
            is_array = first is not None and _is_array(first)
            whole = chain(blank, coming)
            yield from _array_rows(name, whole) if is_array else _json_line_rows(name, _numbered(whole))


def _array_rows(name: str, pieces: Iterable[str | None]) -> RowStream:
    """Yield the objects of an array, holding no more of it than one of them and a piece."""
    decoder = json.JSONDecoder()
    held, number, begun = "", 0, False
    wanted = 1  # characters to have before a long object is tried again, so that it is not tried piece by piece
    for piece in chain(pieces, [""]):
        held, at = held + (piece or ""), 0
        if piece and len(held) < wanted:
            continue
        if not begun:
            begun, at = True, held.index("[") + 1
        while True:
            at = _between_elements(held, at).end()  # type: ignore[union-attr]  # it matches nothing, too
            if held.startswith("]", at):
                return
            if at == len(held):
                wanted = 1
                break
            try:
                value, at = decoder.raw_decode(held, at)
            except (ValueError, RecursionError) as error:
                wanted = 2 * (len(held) - at)
                if piece and len(held) - at <= LONGEST:
                    break
                yield BadRecordError(f"{name} element {number + 1} is not JSON: {error}", "not JSON")
                return
            number += 1
            yield _json_row(f"{name} element {number}", number, value)
        held = held[at:]
    yield BadRecordError(f"{name} is broken and ends early: its array has no end")


def _json_line_rows(name: str, lines: NumberedLines) -> RowStream:
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
        yield _json_row(place, number, columns)


def _json_row(place: str, number: int, value: object) -> Row | BadRecordError:
    if isinstance(value, dict):
        return Row(place, number, value, own_columns=True)
    return BadRecordError(f"{place} is {short(value)}: expected a JSON object", "no object")


def _text_rows(name: str, lines: NumberedLines) -> RowStream:
    for number, line in lines:
        place = f"{name} line {number}"
        yield _too_long(place) if line is None else Row(place, number, {TEXT: line.rstrip("\r\n")})


class _RecordLines:
    """Counts the lines that a reader of CSV takes, and limits the size of a record."""

    def __init__(self, lines: Iterable[str | None], skipped: int):
        self._lines = iter(lines)
        self.number, self._size = skipped, 0

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


def _csv_rows(name: str, lines: Iterable[str | None], delimiter: str, skipped: int = 0) -> RowStream:
    csv.field_size_limit(LONGEST)
    coming = _RecordLines(lines, skipped)
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
            yield Row(place, number, dict(zip(header, fields, strict=True)), only_texts=True)
