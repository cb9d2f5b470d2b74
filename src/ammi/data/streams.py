"""Bytes in from plain or compressed files and pipes, JSON lines out in one piece or not at all."""

import gzip
import io
import json
import os
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, BinaryIO

# What reading a compressed file raises where its bytes are broken or end too early.
BROKEN_COMPRESSION = (EOFError, zlib.error, gzip.BadGzipFile)


def optional(module: str) -> ModuleType:
    """Import a module of the extra `formats`."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise ModuleNotFoundError(f"{package} is not installed: run pip install 'ammi[formats]'") from error


@contextmanager
def open_bytes(source: str | Path) -> Iterator[io.BufferedIOBase]:
    """The bytes of a file, or of standard input for `-`; gzip and zstd are known by their first bytes."""
    raw: Any = sys.stdin.buffer if source == "-" else io.FileIO(source)
    with io.BufferedReader(raw) as plain:
        start = plain.peek(4)
        if start.startswith(b"\x1f\x8b"):
            yield gzip.GzipFile(fileobj=plain)
        elif start.startswith(b"\x28\xb5\x2f\xfd"):
            yield io.BufferedReader(_ZstdReader(plain))
        else:
            yield plain


class _ZstdReader(io.RawIOBase):
    """Decompresses frame after frame. Zstandard's own reader takes a file that was cut off for a whole one."""

    def __init__(self, compressed: BinaryIO):
        self._zstandard = optional("zstandard")
        self._decompressor = self._zstandard.ZstdDecompressor()
        self._compressed = compressed
        self._frame: Any = None
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            chunk = self._compressed.read(1 << 14)
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
                raise EOFError(str(error)) from error
            chunk = self._frame.unused_data
            if self._frame.eof:
                self._frame = None
        return b"".join(parts)


def write_jsonl(path: str | Path, records: Iterable[dict[str, Any]]) -> int:
    """Write one JSON object a line, compressed as the ending `.gz` or `.zst` asks, and return how many.

    The file appears, or replaces the one before it, only when all of it is written.
    """
    n = 0
    with replacing(Path(path)) as out:
        for record in records:
            out.write(json.dumps(record, ensure_ascii=False).encode() + b"\n")
            n += 1
    return n


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write, which takes its place, or that of the one before it, when the block ends without an error."""
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for {path.name}: make it first")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        with open(unfinished, "wb") as file:
            with _compressing(file, path.suffix) as out:
                yield out
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
    finally:
        unfinished.unlink(missing_ok=True)


def _compressing(file: BinaryIO, ending: str) -> Any:
    if ending == ".gz":
        # No name and no time inside, so that the same records make the same bytes.
        return gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0)
    if ending == ".zst":
        return optional("zstandard").ZstdCompressor().stream_writer(file, closefd=False)
    return nullcontext(file)
