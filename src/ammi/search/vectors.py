"""Vectors that an index keeps beside its codes: rounded, as rows of bytes that any store can store.

A vector x is kept as a scale s and whole or half precision numbers v, so that x_i is about s v_i:

    "float16"   s is the power of two for which 2^14 < max |v_i| <= 2^15; x_i keeps 11 binary digits; 2 bytes a number
    "int8"      s = max |x_i| / 127, v_i = x_i / s rounded; x_i is off by max |x_i| / 254 at most; 1 byte a number

and 8 bytes of s, whereby vectors of any length keep their digits. What is kept is s v, as float32: to keep it a second
time changes nothing. The score of a query q is cos(q, s v) = <q, s v> / (|q| |s v|), and 0 where one of them is zero.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.floating]  # (n, d)
Packed = NDArray[np.uint8]  # (n, KeptVectors.n_bytes): a vector is a row
VECTOR_KINDS = ("float16", "int8")

_SCALE = np.dtype("<f8")
_NUMBERS: dict[str, np.dtype[Any]] = {"float16": np.dtype("<f2"), "int8": np.dtype("i1")}
_GREATEST_POWER = 15  # float16 ends at 65504
_GREATEST_WHOLE = 127
_GREATEST = float(np.finfo(np.float32).max)


class KeptVectors(NamedTuple):
    """How an index keeps the vectors of its documents: the kind of their numbers, and how many a vector has."""

    kind: str
    width: int

    @property
    def n_bytes(self) -> int:
        """Of one vector."""
        return _SCALE.itemsize + self.width * _NUMBERS[self.kind].itemsize


def checked_kind(kind: object) -> str:
    """A kind of kept vectors; anything else is refused."""
    for known in VECTOR_KINDS:
        if kind == known:
            return known
    raise ValueError(f"vectors is {kind!r}, but they are kept as {' or '.join(map(repr, VECTOR_KINDS))}: name one")


def packed(vectors: Rows, kept: KeptVectors, names: list[str]) -> Packed:
    """Vectors as they are kept; those of another width, or that are not finite, are refused by the document's name."""
    vectors = np.asarray(vectors)
    if vectors.dtype.kind not in "fiu" or vectors.shape != (len(names), kept.width):
        raise ValueError(
            f"{len(names)} documents came with vectors of {vectors.dtype} and shape {vectors.shape}, but this "
            f"collection keeps {kept.width} numbers of each: pass an array of shape ({len(names)}, {kept.width})"
        )
    with np.errstate(over="ignore"):
        rows = vectors.astype(np.float32)
    if len(wrong := np.argwhere(~np.isfinite(rows))):
        row, column = wrong[0]
        raise ValueError(
            f"the vector of {names[row]} holds {vectors[row, column]}, expected numbers that float32 can write: fill "
            "it in or leave the document out"
        )
    greatest = np.abs(rows).max(axis=1, initial=0).astype(np.float64)  # (n,)
    if kept.kind == "float16":
        halves, powers = np.frexp(greatest)
        scales = np.ldexp(1.0, powers - (halves == 0.5) - _GREATEST_POWER)  # of a power of two the same a second time
    else:
        scales = np.where(greatest > 0, greatest / _GREATEST_WHOLE, 1)
    numbers = rows / scales[:, None]  # (n, d)
    numbers = np.rint(numbers) if kept.kind == "int8" else numbers
    parts = scales.astype(_SCALE)[:, None], np.ascontiguousarray(numbers.astype(_NUMBERS[kept.kind]))
    return np.concatenate([part.view(np.uint8) for part in parts], axis=1)


def unpacked(rows: Packed, kept: KeptVectors) -> NDArray[np.float32]:
    """The vectors that are kept, (n, d)."""
    scales = np.ascontiguousarray(rows[:, : _SCALE.itemsize]).view(_SCALE)  # (n, 1)
    numbers = np.ascontiguousarray(rows[:, _SCALE.itemsize :]).view(_NUMBERS[kept.kind])
    return np.clip(numbers * scales, -_GREATEST, _GREATEST).astype(np.float32)  # the greatest were rounded up


def vector_checksum(position: int, vector: bytes) -> int:
    """Of a vector and of which document it is."""
    return crc32(vector, position & 0xFFFFFFFF)


def vector_rows(positions: Iterable[int], vectors: Packed) -> Iterator[tuple[int, bytes, int]]:
    """What stores store of vectors: the position, the vector, the checksum of both."""
    for position, vector in zip(positions, map(bytes, vectors), strict=True):
        yield position, vector, vector_checksum(position, vector)


def cosines(query: NDArray[np.floating], rows: Rows) -> NDArray[np.float64]:
    """The cosine of a query (d,) and each row, in float64."""
    # einsum adds up every row in the same order, so that equal rows have equal cosines; a product of BLAS does not.
    q, X = query.astype(np.float64), rows.astype(np.float64)
    lengths = np.sqrt(np.einsum("nd,nd->n", X, X) * np.einsum("d,d->", q, q))
    found = np.divide(np.einsum("nd,d->n", X, q), lengths, out=np.zeros(len(X)), where=lengths > 0)
    return np.clip(found, -1, 1)
