"""The file `index.changes` beside an embedded store: its random name, and the number of acknowledged changes.

SQLite does not notice that a database or a journal belongs to another collection or is an old copy, and ignores the
damaged end of a journal. So each store has a random name, and every change a number. Both are in the database, and in
this file once the change is on disk. After a loss of power, or while two processes write, this file may lag behind the
database, but it is never ahead: a database with another name, or with fewer changes, is not the acknowledged one.
"""

import os
import struct
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

from ammi.files import replacing_file

FILE = "index.changes"
UID_BYTES = 16
_CONTENT = struct.Struct(f"<{UID_BYTES}sQ")
_CHECKSUM = struct.Struct("<I")
_TRIES = 100  # tries to read a file that another process may be writing


class Acknowledged(NamedTuple):
    """The name of a store, and the number of its last acknowledged change."""

    uid: bytes
    change: int

    def packed(self) -> bytes:
        """Return the content of the file."""
        content = _CONTENT.pack(*self)
        return content + _CHECKSUM.pack(crc32(content))


class AcknowledgedFile:
    """The file, written in place, because an old name and number do no harm."""

    def __init__(self, folder: Path):
        self.path = folder / FILE
        self._name = str(self.path)

    def make(self, acknowledged: Acknowledged) -> None:
        """Write the file if there is none, or a damaged one."""
        with replacing_file(self.path) as file:
            file.write(acknowledged.packed())

    def read(self) -> Acknowledged | None:
        """Return its content; None if there is no such file, ValueError if it is damaged."""
        for _ in range(_TRIES):
            try:
                file = os.open(self._name, os.O_RDONLY)
            except FileNotFoundError:
                return None
            try:
                content = os.read(file, _CONTENT.size + _CHECKSUM.size + 1)
            finally:
                os.close(file)
            if len(content) == _CONTENT.size + _CHECKSUM.size:
                found = Acknowledged(*_CONTENT.unpack_from(content))
                if found.packed() == content:
                    return found
        raise ValueError(f"{self.path} is damaged")

    def raise_to(self, acknowledged: Acknowledged) -> None:
        """Write a later change, unless another process has written one that is later still."""
        before = self.read()
        if before is None:
            self.make(acknowledged)
        elif before.change < acknowledged.change:
            with open(self.path, "r+b", buffering=0) as file:
                file.write(acknowledged.packed())


def new_uid() -> bytes:
    return os.urandom(UID_BYTES)
