"""LSH: locality-sensitive hashing with random hyperplanes. Nothing is learned from the documents.

Bit j is 1 if x · w_j > 0, w_j ~ N(0, I): two rows at an angle θ differ in each bit with probability θ / π.
"""

from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from ammi.hashers.parameters import estimator
from ammi.hashers.projections import ProjectionHasher


@estimator
class LSH(ProjectionHasher):
    """Signs of random projections, of any number of bits, also above the number of words."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Draw the hyperplanes for rows X (n, V), sparse or dense, of which only V matters."""
        self._check_parameters()
        X = self._check_rows(X, reset=True)
        rng = check_random_state(self.random_state)
        weights = rng.standard_normal((X.shape[1], self.n_bits)).astype(X.dtype)
        self._set(weights, np.zeros(self.n_bits, dtype=X.dtype))
        return self
