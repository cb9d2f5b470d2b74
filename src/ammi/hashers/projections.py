"""Methods in closed form: LSH, SpH, STH and ITQ find a direction for each bit without training in epochs."""

from abc import abstractmethod
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from ammi.hashers.base import Arrays, Bits, Facts, SizedHasher
from ammi.hashers.hyperplanes import HyperplaneNames, Hyperplanes
from ammi.hashers.linear import linear_bits
from ammi.hashers.parameters import estimator
from ammi.nets.matrix import Matrix, MatrixLike

_FEW_FEATURES = 1000


@estimator
class ProjectionHasher(SizedHasher):
    """Bit j of x is decided by x · w_j - t_j. A method defines `learn`, which finds these hyperplanes."""

    @abstractmethod
    def learn(self, X: Matrix, rng: np.random.RandomState) -> Hyperplanes:
        """Return directions w_j as the columns of weights (V, m), and thresholds (m,), for checked rows X."""

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Learn from rows X (n, V), sparse or dense."""
        self._check_parameters()
        X = self._check_rows(X, reset=True)
        with threadpool_limits(1, user_api="blas"):  # how BLAS splits a product among threads changes its rounding
            self.weights_, self.thresholds_ = self.learn(X, check_random_state(self.random_state))
        return self

    def hyperplanes(self) -> HyperplaneNames | None:
        return HyperplaneNames("weights", "thresholds", are_biases=False)

    def _bits(self, X: Matrix) -> Bits:
        return linear_bits(X, Hyperplanes(self.weights_, self.thresholds_))

    def _arrays(self) -> Arrays:
        return {"weights": self.weights_, "thresholds": self.thresholds_}

    def _restore(self, arrays: Arrays, facts: Facts) -> None:
        weights, thresholds = arrays["weights"], arrays["thresholds"]
        if (weights.shape, thresholds.shape) != ((self.n_features_in_, self.n_bits), (self.n_bits,)):
            raise ValueError(f"weights of shape {weights.shape}, expected {(self.n_features_in_, self.n_bits)}")
        self.weights_, self.thresholds_ = weights, thresholds


def principal_axes(X: Matrix, n_axes: int, rng: np.random.RandomState) -> tuple[NDArray, NDArray]:
    """Return the mean (V,) of the rows and up to n_axes orthonormal directions (V, d) of largest variance around it.

    There are fewer if the rows vary in fewer directions, and none if all rows are equal.
    """
    if not _vary(X):
        return np.asarray(X.mean(axis=0)).reshape(-1), np.zeros((X.shape[1], 0), dtype=X.dtype)
    solver = "covariance_eigh" if X.shape[1] <= _FEW_FEATURES else "arpack"  # both exact, neither makes X dense
    most = min(X.shape) - (solver == "arpack")  # which never gives them all; n rows vary in n - 1 directions
    pca = PCA(min(n_axes, most), svd_solver=solver, random_state=rng).fit(X)
    variance = pca.explained_variance_
    above_rounding = variance > variance[0] * max(X.shape) * np.finfo(X.dtype).eps
    return pca.mean_, pca.components_[above_rounding].T


def _vary(X: Matrix) -> bool:
    """Return whether any row differs from the first."""
    highest, lowest = X.max(axis=0), X.min(axis=0)
    return (highest != lowest).nnz > 0 if issparse(X) else bool((highest != lowest).any())
