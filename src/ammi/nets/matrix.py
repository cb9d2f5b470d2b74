"""The rows of documents as every part gets them once they are checked."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Matrix: TypeAlias = csr_matrix | NDArray[np.floating]  # (n, V)


def is_dense(X: Matrix) -> bool:
    """Whether it is an array most of whose values are not 0."""
    return isinstance(X, np.ndarray) and bool(2 * np.count_nonzero(X) > X.size)
