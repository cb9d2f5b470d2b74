"""Duplicates among vectors: those whose cosine to a vector that is kept is at least the threshold.

In insertion order each vector that is no duplicate yet is kept, and takes all later ones that are similar enough. Up to
ALL_COMPARED vectors, every pair is compared. Among more, k-means finds 2 √n centres, FAISS puts each vector into the
cell of its nearest centre, and a vector is compared with those in the CELLS cells nearest to it, so that the time grows
with n √n. FAISS finds candidates in half precision; the cosine of the vectors themselves decides.

In memory are 2 bytes a number, or 4 where all are compared, and what a few vectors at a time find, whatever the
threshold.
"""

from collections.abc import Callable
from itertools import pairwise
from math import isqrt
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from ammi.search.vectors import cosines

ALL_COMPARED = 5000
CELLS = 16

_FREE = -1
_AT_ONCE = 32  # vectors that are searched at once, each of which may find all others
_BLOCK = 4096  # rows in memory at once
_TRAINED_WITH, _ROUNDS = 64, 8  # vectors for a centre, and rounds of k-means: good cells need no perfect centres
_HALF_PRECISION = 1e-3  # by which a product of vectors of length 1 in half precision may be too low
_ROUNDING = 1e-9  # of a cosine: a vector and its double are equal

Matrix = NDArray[np.float32]
Duplicates = list[tuple[int, float]]  # the row of each duplicate and its similarity, the most similar first


def vector_groups(X: Matrix, threshold: float, advance: Callable[[int], None]) -> dict[int, Duplicates]:
    """Return the rows that are kept and have duplicates, in their order, and the duplicates of each."""
    index = _index_of(X)
    kept_by = np.full(len(X), _FREE)
    groups: dict[int, Duplicates] = {}
    for start in range(0, len(X), _AT_ONCE):
        rows = start + np.flatnonzero(kept_by[start : start + _AT_ONCE] == _FREE)
        if len(rows):
            limits, _, found = index.range_search(_unit(X[rows]), threshold - _HALF_PRECISION)
            for row, (begin, end) in zip(rows.tolist(), pairwise(limits.tolist()), strict=True):
                if kept_by[row] == _FREE and (others := _take(row, found[begin:end], X, threshold, kept_by)):
                    groups[row] = others
        advance(min(_AT_ONCE, len(X) - start))
    return groups


def _take(
    row: int, candidates: NDArray[np.int64], X: Matrix, threshold: float, kept_by: NDArray[np.int64]
) -> Duplicates:
    """Keep a row, and take the candidates that are free and similar enough as its duplicates."""
    kept_by[row] = row
    candidates = np.sort(candidates[kept_by[candidates] == _FREE])
    others: Duplicates = []
    for start in range(0, len(candidates), _BLOCK):
        block = candidates[start : start + _BLOCK]
        similarities = cosines(X[row], X[block])
        similar = similarities >= threshold - _ROUNDING
        kept_by[block[similar]] = row
        others += zip(block[similar].tolist(), similarities[similar].tolist(), strict=True)
    return sorted(others, key=lambda other: -other[1])


def _index_of(X: Matrix) -> Any:
    """Return a FAISS index of the rows at length 1, by inner product."""
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
    """Return rows of length 1; zeros stay zeros, which are similar to nothing."""
    lengths = np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64))[:, None]  # (n, 1)
    return np.divide(rows, lengths, out=np.zeros(rows.shape), where=lengths > 0).astype(np.float32)
