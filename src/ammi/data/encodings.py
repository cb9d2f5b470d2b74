"""Texts of bytes: UTF-8, UTF-16 and, where they are neither, cp1252 as Windows writes it; what was found is logged."""

import io
import logging
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from itertools import chain, islice
from typing import BinaryIO, cast

from ammi.data.streams import LONGEST, lines_of

Lines = Iterator[str | None]  # None in place of a line that is too long

logger = logging.getLogger("ammi.data")  # of what was detected; the command prints it

_AHEAD = 1000  # lines that are looked at before bytes that are no UTF-8 are taken for cp1252
_CONTROLS = bytes({*range(32)} - {*b"\t\n\r\f\x1b"})


def text_lines(stream: io.BufferedIOBase, name: str, detect: bool) -> Lines:
    """Yield the lines of a stream; bytes that are in no encoding become lone surrogates.

    Without `detect` the lines are UTF-8 or UTF-16, as JSON is.
    """
    start = stream.peek(4)[:4] if hasattr(stream, "peek") else b""
    if encoding := _utf_16(start):
        logger.info(f"{name} is read as UTF-16")
        with decoded(stream, encoding) as text:
            yield from _wide_lines(text)
        return
    lines = lines_of(stream)
    for first in islice(lines, 1):
        lines = chain([first and first.removeprefix(BOM_UTF8)], lines)
    for line in lines:
        if line is None or line.isascii():
            yield None if line is None else line.decode()
            continue
        ahead = [line, *islice(lines, _AHEAD)] if detect and not _is_utf_8(line) else [line]
        encoding = "cp1252" if detect and not any(map(_is_utf_8, ahead)) else "utf-8"
        if encoding == "cp1252":
            logger.info(f"{name} is no UTF-8, and is read as cp1252, the encoding of Windows in Western Europe")
        for other in chain(ahead, lines):
            yield None if other is None else other.decode(encoding, "surrogateescape")


def decoded(stream: io.BufferedIOBase, encoding: str) -> io.TextIOWrapper:
    """Return the text of a stream; lines end at a line feed only."""
    return io.TextIOWrapper(cast(BinaryIO, stream), encoding, "surrogateescape", newline="\n")


def text_of(content: bytes, name: str) -> str | None:
    """Return the text of a whole file; None if it is none."""
    if encoding := _utf_16(content):
        return content.decode(encoding, "replace")
    if b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        pass
    if len(content.translate(None, _CONTROLS)) < len(content):
        return None
    try:
        text = content.decode("cp1252")
    except UnicodeDecodeError:
        return None
    logger.info(f"{name} is no UTF-8, and is read as cp1252, the encoding of Windows in Western Europe")
    return text


def _utf_16(start: bytes) -> str:
    """Return how to decode UTF-16, or "": by its mark, or by zeros in place of every other byte of ASCII."""
    if start.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return "utf-16"
    zeros = "".join("0" if byte == 0 else "x" for byte in start[:4])
    return {"x0x0": "utf-16-le", "0x0x": "utf-16-be"}.get(zeros, "")


def _wide_lines(stream: io.TextIOWrapper) -> Lines:
    while line := stream.readline(LONGEST + 1):
        if len(line) <= LONGEST:
            yield line
            continue
        while line and not line.endswith("\n"):
            line = stream.readline(1 << 20)
        yield None


def _is_utf_8(line: bytes | None) -> bool:
    """Return whether a line has letters beyond ASCII, in UTF-8."""
    if line is None or line.isascii():
        return False
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
