"""Kept vectors: rounded, and packed into rows of bytes for any store.

A vector x is kept as a scale s and numbers v of one or two bytes, so that x_i is about s v_i:

    "float16"   s is the power of two for which 2^14 < max |v_i| <= 2^15; x_i keeps 11 binary digits; 2 bytes a number
    "int8"      s = max |x_i| / 127, v_i = x_i / s rounded; x_i is off by max |x_i| / 254 at most; 1 byte a number

with 8 bytes for s, so that long and short vectors keep as many digits. Reading returns s v as float32; packing that
again gives the same bytes. The score of a query q is cos(q, s v) = <q, s v> / (|q| |s v|), and 0 if one is zero.
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
    """How a store keeps vectors: the kind of their numbers, and their dimension."""

    kind: str
    width: int

    @property
    def n_bytes(self) -> int:
        """The size of one vector."""
        return _SCALE.itemsize + self.width * _NUMBERS[self.kind].itemsize


def checked_kind(kind: object) -> str:
    """Return a kind of kept vectors; refuse anything else."""
    for known in VECTOR_KINDS:
        if kind == known:
            return known
    raise ValueError(f"vectors is {kind!r}, expected {' or '.join(map(repr, VECTOR_KINDS))}")


def packed(vectors: Rows, kept: KeptVectors, names: list[str]) -> Packed:
    """Pack vectors (n, d); an error about a wrong shape or a number that is not finite names the document."""
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
        scales = np.ldexp(1.0, powers - (halves == 0.5) - _GREATEST_POWER)  # unchanged by a second packing
    else:
        scales = np.where(greatest > 0, greatest / _GREATEST_WHOLE, 1)
    numbers = rows / scales[:, None]  # (n, d)
    numbers = np.rint(numbers) if kept.kind == "int8" else numbers
    parts = scales.astype(_SCALE)[:, None], np.ascontiguousarray(numbers.astype(_NUMBERS[kept.kind]))
    return np.concatenate([part.view(np.uint8) for part in parts], axis=1)


def unpacked(rows: Packed, kept: KeptVectors) -> NDArray[np.float32]:
    """Return the vectors of packed rows, (n, d)."""
    scales = np.ascontiguousarray(rows[:, : _SCALE.itemsize]).view(_SCALE)  # (n, 1)
    numbers = np.ascontiguousarray(rows[:, _SCALE.itemsize :]).view(_NUMBERS[kept.kind])
    return np.clip(numbers * scales, -_GREATEST, _GREATEST).astype(np.float32)  # rounding may pass the largest float32


def vector_checksum(position: int, vector: bytes) -> int:
    """Return a checksum of a vector and the position of its document."""
    return crc32(vector, position & 0xFFFFFFFF)


def vector_rows(positions: Iterable[int], vectors: Packed) -> Iterator[tuple[int, bytes, int]]:
    """Yield the rows of a table of vectors: position, vector, checksum of both."""
    for position, vector in zip(positions, map(bytes, vectors), strict=True):
        yield position, vector, vector_checksum(position, vector)


def cosines(query: NDArray[np.floating], rows: Rows) -> NDArray[np.float64]:
    """Return the cosine of a query (d,) and each row, in float64."""
    # einsum adds up every row in the same order, so that equal rows get equal cosines; BLAS does not.
    q, X = query.astype(np.float64), rows.astype(np.float64)
    lengths = np.sqrt(np.einsum("nd,nd->n", X, X) * np.einsum("d,d->", q, q))
    found = np.divide(np.einsum("nd,d->n", X, q), lengths, out=np.zeros(len(X)), where=lengths > 0)
    return np.clip(found, -1, 1)
