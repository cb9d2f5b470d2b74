"""Callbacks for fit(..., callbacks=[...]): each is called with the figures of every epoch."""

import os
import struct
import time
from collections.abc import Mapping
from pathlib import Path

_CASTAGNOLI = 0x82F63B78  # the polynomial of CRC-32C, reversed


class TensorBoard:
    """Write the figures of each epoch to a file that TensorBoard shows: `tensorboard --logdir FOLDER`.

    The file has a record with checksums for each event, a protocol buffer with a few fields. It is written here, so
    that nothing needs to be installed for it.

    Args:
        folder: where to write; use one folder for each run to compare runs.
    """

    def __init__(self, folder: str | os.PathLike[str]):
        self.folder = Path(folder)
        self._path: Path | None = None

    def __call__(self, row: Mapping[str, float]) -> None:
        if self._path is None or row["epoch"] == 1:
            self._path = self._start()
        values = [(name, value) for name, value in row.items() if name != "epoch"]
        summary = b"".join(_field(1, _field(1, name.encode()) + b"\x15" + struct.pack("<f", v)) for name, v in values)
        self._write(self._path, b"\x10" + _varint(int(row["epoch"])) + _field(5, summary))

    def _start(self) -> Path:
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"events.out.tfevents.{time.time_ns()}.ammi"
        self._write(path, _field(3, b"brain.Event:2"))
        return path

    def _write(self, path: Path, event: bytes) -> None:
        event = b"\x09" + struct.pack("<d", time.time()) + event
        length = struct.pack("<Q", len(event))
        with path.open("ab") as file:
            file.write(length + _checksum(length) + event + _checksum(event))


def _field(number: int, content: bytes) -> bytes:
    """Encode a bytes field of a protocol buffer."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    """Encode a number in groups of seven bits, the lowest first."""
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*groups, value])


def _checksum(content: bytes) -> bytes:
    """Return the CRC-32C, rotated and shifted as TensorFlow's records have it."""
    crc = 0xFFFFFFFF
    for byte in content:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (_CASTAGNOLI if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
