"""The rows of documents: as users pass them, and as every part gets them once they are checked."""

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_matrix

MatrixLike: TypeAlias = csr_matrix | ArrayLike  # any sparse matrix, array, list of lists or DataFrame
Matrix: TypeAlias = csr_matrix | NDArray[np.floating]  # (n, V)


def is_dense(X: Matrix) -> bool:
    """Return whether X is an array with more than half of its values not 0."""
    return isinstance(X, np.ndarray) and bool(2 * np.count_nonzero(X) > X.size)


def held_by_float32(X: Matrix, name: str = "X") -> Matrix:
    """Return X, or refuse it if a number is too large for float32, in which all methods compute."""
    values, most = (X if isinstance(X, np.ndarray) else X.data), np.finfo(np.float32).max
    if X.dtype == np.float32 or not values.size or max(values.max(), -values.min()) <= most:
        return X
    entry = int(np.flatnonzero(np.abs(values) > most)[0])
    if isinstance(X, np.ndarray):
        row, column = divmod(entry, X.shape[1])
    else:
        row, column = int(np.searchsorted(X.indptr, entry, side="right")) - 1, int(X.indices[entry])
    raise ValueError(
        f"row {row} of {name} has {values.flat[entry]:g} in column {column}, more than float32 holds ({most:.2g}): "
        "divide the rows by their largest number"
    )
