"""The rows of documents as every part gets them once they are checked."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

Matrix: TypeAlias = csr_matrix | NDArray[np.floating]  # (n, V)
