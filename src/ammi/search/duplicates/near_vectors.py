"""Copies among vectors: those whose cosine to one that is kept is at least the threshold.

In insertion order each vector that is no copy yet is kept, and takes all later ones that are similar enough. Up to
ALL_COMPARED of them every pair is looked at. Among more FAISS puts each vector into the cell of the nearest of some
centres, 2 √n of them that k-means finds, and a vector is compared with those in the CELLS cells nearest to it: the time
grows with n √n. Its half precision finds candidates; what decides is the cosine of the vectors themselves.

Vectors are read once, into a temporary file. In memory are 2 bytes a number, or 4 where all are compared, and what a
few vectors at a time find, whatever the threshold.
"""

from collections.abc import Callable
from itertools import pairwise
from math import isqrt
from tempfile import TemporaryFile
from typing import Any, Self

import faiss
import numpy as np
from numpy.typing import NDArray

from ammi.search.vectors import cosines

ALL_COMPARED = 5000
CELLS = 16

_FREE = -1
_AT_ONCE = 32  # vectors that look for copies, each of which may find all others
_BLOCK = 4096  # rows in memory at once
_TRAINED_WITH, _ROUNDS = 64, 8  # vectors for a centre, and rounds of k-means: good cells need no perfect centres
_HALF_PRECISION = 1e-3  # by which a product of vectors of length 1 in half precision may be too low
_ROUNDING = 1e-9  # of a cosine: a vector and its double are equal

Matrix = NDArray[np.float32]
Copies = list[tuple[int, float]]  # the number of each copy and its similarity, the most similar first


class VectorFile:
    """Vectors in a temporary file, which is gone when it is closed."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 (closed by `__exit__`)
        self._n, self._width = 0, 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def add(self, rows: list[Matrix]) -> None:
        """Add vectors, all of which have one width."""
        if rows:
            self._n, self._width = self._n + len(rows), len(rows[0])
            self._file.write(np.stack(rows).astype(np.float32).tobytes())

    def read(self) -> Matrix:
        """All of them (n, d), on the disk as long as nobody reads them."""
        self._file.flush()
        if not self._n:
            return np.empty((0, 1), np.float32)
        return np.memmap(self._file, np.float32, "r", shape=(self._n, self._width))


def vector_groups(X: Matrix, threshold: float, advance: Callable[[int], None]) -> dict[int, Copies]:
    """The rows that are kept and have copies, in their order, and the copies of each."""
    index = _index_of(X)
    kept_by = np.full(len(X), _FREE)
    groups: dict[int, Copies] = {}
    for start in range(0, len(X), _AT_ONCE):
        rows = start + np.flatnonzero(kept_by[start : start + _AT_ONCE] == _FREE)
        if len(rows):
            limits, _, found = index.range_search(_unit(X[rows]), threshold - _HALF_PRECISION)
            for row, (begin, end) in zip(rows.tolist(), pairwise(limits.tolist()), strict=True):
                if kept_by[row] == _FREE and (copies := _take(row, found[begin:end], X, threshold, kept_by)):
                    groups[row] = copies
        advance(min(_AT_ONCE, len(X) - start))
    return groups


def _take(row: int, candidates: NDArray[np.int64], X: Matrix, threshold: float, kept_by: NDArray[np.int64]) -> Copies:
    """Keep a row, and those of the candidates that are free and similar enough as its copies."""
    kept_by[row] = row
    candidates = np.sort(candidates[kept_by[candidates] == _FREE])
    copies: Copies = []
    for start in range(0, len(candidates), _BLOCK):
        block = candidates[start : start + _BLOCK]
        similarities = cosines(X[row], X[block])
        similar = similarities >= threshold - _ROUNDING
        kept_by[block[similar]] = row
        copies += zip(block[similar].tolist(), similarities[similar].tolist(), strict=True)
    return sorted(copies, key=lambda copy: -copy[1])


def _index_of(X: Matrix) -> Any:
    """What finds the rows near to others, by their products at length 1."""
    n, width = X.shape
    index: Any = faiss.IndexFlatIP(width)
    if n > ALL_COMPARED:
        centres, half = faiss.IndexFlatIP(width), faiss.ScalarQuantizer.QT_fp16
        n_cells = 2 * isqrt(n)
        index = faiss.IndexIVFScalarQuantizer(centres, width, n_cells, half, faiss.METRIC_INNER_PRODUCT, False)
        index.cp.niter, index.nprobe = _ROUNDS, CELLS
        chosen = np.random.default_rng(0).choice(n, min(n, _TRAINED_WITH * n_cells), replace=False)
        index.train(_unit(X[np.sort(chosen)]))
    for start in range(0, n, _BLOCK):
        index.add(_unit(X[start : start + _BLOCK]))
    return index


def _unit(rows: Matrix) -> Matrix:
    """Rows of length 1; zeros stay zeros, which are similar to nothing."""
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))[:, None]  # (n, 1)
    return np.divide(rows, lengths, out=np.zeros(rows.shape), where=lengths > 0).astype(np.float32)
