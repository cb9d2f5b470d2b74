"""Damage as disks and networks do it."""


def flipped(content: bytes, place: int) -> bytes:
    """The content with one bit changed: the one at this place, counted over all bytes."""
    damaged = bytearray(content)
    damaged[place // 8] ^= 1 << place % 8
    return bytes(damaged)
