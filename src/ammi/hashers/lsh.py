"""LSH: locality-sensitive hashing with random hyperplanes. Nothing is learned from the documents.

Bit j is 1 if x · w_j > 0, w_j ~ N(0, I): two rows at an angle θ differ in each bit with probability θ / π.
"""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ammi.hashers.projections import ProjectionHasher


class LSH(ProjectionHasher):
    """Signs of random projections.

    Args:
        n_bits: length m of the codes; any number, also above the number of words.
        random_state: the same number gives the same codes.
    """

    def __init__(self, n_bits: int = 64, *, random_state: Any = None):
        self.n_bits = n_bits
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "LSH":
        """Draw the hyperplanes for rows X (n, V), sparse or dense, of which only V matters."""
        self._check_n_bits()
        X = self._check_rows(X, reset=True)
        rng = check_random_state(self.random_state)
        self.weights_ = rng.standard_normal((X.shape[1], self.n_bits)).astype(X.dtype)
        self.thresholds_ = np.zeros(self.n_bits, dtype=X.dtype)
        return self
