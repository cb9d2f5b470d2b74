"""ITQ: iterative quantisation. Principal components, rotated so that their signs lose as little as possible.

    min over codes B ∈ {-1, 1}^(n×m) and orthogonal R of ‖B - P R‖²

P (n, d) are the first principal components of the documents. For fixed R the best B is sign(P R); for fixed B the best
R is U Vᵀ, from the singular value decomposition U Σ Vᵀ of Pᵀ B. The two steps take turns.
"""

import numpy as np
from numpy.typing import NDArray

from ammi.hashers.hyperplanes import Hyperplanes
from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.projections import ProjectionHasher, principal_axes
from ammi.nets.matrix import Matrix


@estimator
class ITQ(ProjectionHasher):
    """Iterative quantisation.

    If documents vary in d < m directions only, R is d × m with orthonormal rows and spreads them over all bits.
    """

    keeps_cosines = True
    iterations: int = parameter("rounds of the two steps. The published setting: 50.", default=50, whole=True, least=0)

    def learn(self, X: Matrix, rng: np.random.RandomState) -> Hyperplanes:
        mean, axes = principal_axes(X, self.n_bits, rng)
        start = np.linalg.qr(rng.standard_normal((self.n_bits, axes.shape[1])).astype(X.dtype))[0].T
        weights = axes @ best_rotation(X @ axes - mean @ axes, start, self.iterations)
        return Hyperplanes(weights, mean @ weights)


def best_rotation(P: NDArray, R: NDArray, iterations: int) -> NDArray:
    """Improve a first R (d, m) with orthonormal rows so that P R (n, m) becomes nearly binary."""
    for _ in range(iterations):
        B = np.where(P @ R > 0, P.dtype.type(1), P.dtype.type(-1))
        U, _, Vt = np.linalg.svd(P.T @ B, full_matrices=False)
        R = U @ Vt
    return R
