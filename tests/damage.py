"""Damage as disks and networks do it."""


def flipped(content: bytes, location: int) -> bytes:
    """The content with one bit changed: the one at this location, counted over all bytes."""
    damaged = bytearray(content)
    damaged[location // 8] ^= 1 << location % 8
    return bytes(damaged)
