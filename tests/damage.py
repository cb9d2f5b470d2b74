"""Damage as disks and networks do it, and as people do who write the checksums again."""

from pathlib import Path

from ammi.files import CHECKSUMS, with_checksums


def flipped(content: bytes, location: int) -> bytes:
    """The content with one bit changed: the one at this location, counted over all bytes."""
    damaged = bytearray(content)
    damaged[location // 8] ^= 1 << location % 8
    return bytes(damaged)


def write_checksums(folder: Path) -> None:
    """Let the checksums of a folder fit the files that are in it now."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / CHECKSUMS).write_bytes(with_checksums(files)[CHECKSUMS])
