"""LSH: locality-sensitive hashing with random hyperplanes. Nothing is learned from the documents.

Bit j is 1 if x · w_j > 0, w_j ~ N(0, I): two rows at an angle θ differ in each bit with probability θ / π.
"""

import numpy as np

from ammi.hashers.hyperplanes import Hyperplanes
from ammi.hashers.parameters import estimator
from ammi.hashers.projections import ProjectionHasher
from ammi.nets.matrix import Matrix


@estimator
class LSH(ProjectionHasher):
    """Signs of random projections, of any number of bits, also above the number of words."""

    def learn(self, X: Matrix, rng: np.random.RandomState) -> Hyperplanes:
        weights = rng.standard_normal((X.shape[1], self.n_bits)).astype(X.dtype)
        return Hyperplanes(weights, np.zeros(self.n_bits, dtype=X.dtype))
