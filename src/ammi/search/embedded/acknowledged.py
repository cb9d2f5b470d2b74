"""The little file beside an embedded index that says which index it is and how many changes it has acknowledged.

SQLite tells neither a database nor a journal from those of another index, takes an old file for the newest, and leaves
out the damaged end of a journal. So each index has a name drawn at random, and every change a number. Both stand in the
database, and here once a change is on the disk. What stands here may lag behind the database, after a loss of power or
where two processes write at once, and never leads: a database of another name, or with fewer changes, is not the one
that was acknowledged.
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
_SIZE = _CONTENT.size + _CHECKSUM.size
_TRIES = 100  # to read what another process may be writing


class Acknowledged(NamedTuple):
    """The name of an index, and the number of the last change that it acknowledged."""

    uid: bytes
    change: int


class AcknowledgedFile:
    """The file, which is written in place, since a name and a number that are old do no harm."""

    def __init__(self, folder: Path):
        self.path = folder / FILE
        self._name = str(self.path)

    def make(self, acknowledged: Acknowledged) -> None:
        """Write the file where there is none, or a damaged one."""
        with replacing_file(self.path) as file:
            file.write(_packed(acknowledged))

    def read(self) -> Acknowledged | None:
        """What it says; None where there is no such file, and ValueError where it is damaged."""
        for _ in range(_TRIES):
            try:
                file = os.open(self._name, os.O_RDONLY)
            except FileNotFoundError:
                return None
            try:
                content = os.read(file, _SIZE + 1)
            finally:
                os.close(file)
            if len(content) == _SIZE and content[-_CHECKSUM.size :] == _checksum(content[: -_CHECKSUM.size]):
                return Acknowledged(*_CONTENT.unpack_from(content))
        raise ValueError(f"{self.path} is damaged")

    def raise_to(self, acknowledged: Acknowledged) -> None:
        """Write a later change; one that another process wrote meanwhile stays."""
        before = self.read()
        if before is None:
            self.make(acknowledged)
        elif before.change < acknowledged.change:
            with open(self.path, "r+b", buffering=0) as file:
                file.write(_packed(acknowledged))


def new_uid() -> bytes:
    return os.urandom(UID_BYTES)


def _packed(acknowledged: Acknowledged) -> bytes:
    content = _CONTENT.pack(*acknowledged)
    return content + _checksum(content)


def _checksum(content: bytes) -> bytes:
    return _CHECKSUM.pack(crc32(content))
