"""Bytes from plain or compressed files and pipes; JSON lines written as a whole or not at all."""

import gzip
import io
import json
import sys
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from tokenize import TokenError
from types import ModuleType
from typing import Any, BinaryIO, cast

from ammi.files import replacing_file

# Most bytes of a line, of a record of a table, and of a file that is one document: processing it takes up to fifty
# times as much memory.
LONGEST = 1 << 25
TOO_LONG = f"is longer than {LONGEST >> 20} MB: cut it into several documents"
_ARCHIVE = 1 << 30  # bytes of arrays in an archive that are always read
_ARCHIVE_TIMES = 100  # times the size of the file: larger archives may be made to fill the memory

# Raised on reading a compressed file whose bytes are broken or end too early.
BROKEN_COMPRESSION = (EOFError, zlib.error, gzip.BadGzipFile)
# Raised by zipfile and numpy on a broken archive of arrays.
BROKEN_ARCHIVE = (*BROKEN_COMPRESSION, zipfile.BadZipFile, NotImplementedError, RuntimeError, MemoryError, TokenError)


def import_extra(module: str) -> ModuleType:
    """Import a module of the extra `formats`."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise ModuleNotFoundError(f"{package} is not installed: run pip install 'ammi[formats]'") from error


@contextmanager
def open_bytes(source: str | Path) -> Iterator[io.BufferedIOBase]:
    """Open a file, or standard input for `-`; gzip and zstd, known by their first bytes, are unpacked."""
    if source == "-" and sys.stdin is None:
        raise ValueError("standard input is closed: name a file, or pipe documents in")
    if source == "-" and sys.stdin.closed:
        raise ValueError("standard input was read already: name it (-) once")
    raw = cast(io.RawIOBase, sys.stdin.buffer) if source == "-" else io.FileIO(source)
    with io.BufferedReader(raw) as plain:
        start = plain.peek(4)
        if start.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=plain) as file:
                yield file
        elif start.startswith(b"\x28\xb5\x2f\xfd"):
            with io.BufferedReader(_ZstdReader(plain)) as file:
                yield file
        else:
            yield plain


class _ZstdReader(io.RawIOBase):
    """Decompresses frame after frame. Zstandard's own reader takes a file that was cut off for a whole one."""

    def __init__(self, compressed: BinaryIO):
        self._zstandard = import_extra("zstandard")
        self._decompressor = self._zstandard.ZstdDecompressor()
        self._compressed = compressed
        self._frame: Any = None
        self._ready = memoryview(b"")
        self._broken: Exception | None = None

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if self._broken:
                raise EOFError(str(self._broken)) from self._broken
            chunk = self._compressed.read(1 << 11)  # which can expand to 64 MB
            if not chunk:
                if self._frame:
                    raise EOFError("Compressed file ended before the end of a zstd frame")
                return 0
            self._ready = memoryview(self._decompress(chunk))
        n = min(len(buffer), len(self._ready))
        buffer[:n], self._ready = self._ready[:n], self._ready[n:]
        return n

    def _decompress(self, chunk: bytes) -> bytes:
        parts = []
        while chunk:
            self._frame = self._frame or self._decompressor.decompressobj()
            try:
                parts.append(self._frame.decompress(chunk))
            except self._zstandard.ZstdError as error:
                if parts:  # return the bytes before it, and raise in the next call
                    self._broken = error
                    break
                raise EOFError(str(error)) from error
            chunk = self._frame.unused_data
            if self._frame.eof:
                self._frame = None
        return b"".join(parts)


def lines_of(stream: io.BufferedIOBase) -> Iterator[bytes | None]:
    """Yield the lines of a stream; None in place of a line that is too long."""
    while line := stream.readline(LONGEST + 1):
        if len(line) <= LONGEST:
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(1 << 20)
        yield None


def check_archive(path: str | Path) -> None:
    """Refuse a zip archive of arrays that is far larger unpacked than its size suggests."""
    with zipfile.ZipFile(path) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > max(_ARCHIVE, _ARCHIVE_TIMES * Path(path).stat().st_size):
        raise ValueError(
            f"it would unpack to {unpacked / 1e9:,.1f} GB, more than {_ARCHIVE_TIMES} times its size: save the arrays "
            "uncompressed, with numpy.savez"
        )


def write_jsonl(path: str | Path, records: Iterable[Mapping[str, object]]) -> int:
    """Write one JSON object a line, compressed as the ending `.gz` or `.zst` asks, and return how many.

    The file appears, or replaces the one before it, only when all of it is written.
    """
    n = 0
    with replacing_compressed(Path(path)) as out:
        for line in jsonl(records):
            out.write(line)
            n += 1
    return n


def jsonl(records: Iterable[Mapping[str, object]]) -> Iterator[bytes]:
    """Yield each record as a line of JSON."""
    for number, record in enumerate(records, 1):
        try:
            yield json.dumps(record, ensure_ascii=False).encode() + b"\n"
        except UnicodeEncodeError:
            raise ValueError(
                f"record {number} holds half a character (a lone surrogate): decode its texts anew"
            ) from None


@contextmanager
def replacing_compressed(path: Path) -> Iterator[BinaryIO]:
    """Yield a file to write, which replaces the one at `path` at the end; `.gz` and `.zst` are compressed."""
    with replacing_file(path) as file, _compressing(file, path.suffix) as out:
        yield out


def _compressing(file: BinaryIO, ending: str) -> AbstractContextManager[BinaryIO]:
    if ending == ".gz":
        # No name and no time inside, so that the same records make the same bytes.
        return cast(BinaryIO, gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0))
    if ending == ".zst":
        return import_extra("zstandard").ZstdCompressor().stream_writer(file, closefd=False)
    return nullcontext(file)
