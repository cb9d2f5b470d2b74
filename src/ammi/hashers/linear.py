"""Codes of many rows at once, each bit the side of a hyperplane.

The products with sparse rows are summed in the order of the columns, in the weights' precision, here and in
`Hyperplanes.logits_of`, which encodes one query: the bits are the same.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ammi.hashers.hyperplanes import Hyperplanes
from ammi.nets.matrix import Matrix

_ROWS_AT_ONCE = 4096


def linear_bits(X: Matrix, planes: Hyperplanes) -> NDArray[np.uint8]:
    """Return the bits (n, m) of rows X (n, V), a CSR matrix or an array."""
    weights, thresholds = np.ascontiguousarray(planes.weights), np.ascontiguousarray(planes.thresholds)
    bits = np.empty((X.shape[0], weights.shape[1]), dtype=np.uint8)
    if not isinstance(X, np.ndarray):
        X = X if X.has_canonical_format else X.sorted_indices()
        _sparse_bits(X.data.astype(weights.dtype, copy=False), X.indices, X.indptr, weights, thresholds, bits)
        return bits
    for start in range(0, X.shape[0], _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        bits[block] = X[block].astype(weights.dtype, copy=False) @ weights - thresholds > 0
    return bits


@njit(nogil=True, cache=True)
def _sparse_bits(data, indices, indptr, weights, thresholds, bits):
    sums = np.empty_like(thresholds)
    for row in range(len(indptr) - 1):
        sums[:] = 0
        for entry in range(indptr[row], indptr[row + 1]):
            value, direction = data[entry], weights[indices[entry]]
            for bit in range(len(sums)):
                sums[bit] += value * direction[bit]
        for bit in range(len(sums)):
            bits[row, bit] = sums[bit] - thresholds[bit] > 0
