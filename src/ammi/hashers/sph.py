"""SpH: spectral hashing. Bits are eigenfunctions of the Laplacian of a box around the documents, cut at 0.

In a box with sides R_i along the principal axes, the eigenfunctions that vary along one axis only are
cos(ω (x_i - min_i)) with ω = kπ / R_i, k = 1, 2, …; the smaller ω, the fewer near documents the cut at 0 separates. The
m smallest make the bits: long sides are cut at several places, short ones never.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ammi.hashers.projections import ProjectionHasher, principal_axes


class SpH(ProjectionHasher):
    """Spectral hashing.

    Args:
        n_bits: length m of the codes. Where documents have fewer dimensions than m, these are cut at more places.
        random_state: start of the solver that finds the principal axes.
    """

    def __init__(self, n_bits: int = 64, *, random_state: Any = None):
        self.n_bits = n_bits
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "SpH":
        """Learn the box from rows X (n, V), sparse or dense."""
        self._check_n_bits()
        X = self._check_rows(X, reset=True)
        _, axes = principal_axes(X, self.n_bits, check_random_state(self.random_state))
        if axes.shape[1] == 0:  # all documents are equal, and so are their codes
            self.weights_, self.thresholds_ = np.zeros((X.shape[1], self.n_bits)), np.zeros(self.n_bits)
            return self
        projected = X @ axes
        lowest, sides = projected.min(axis=0), np.ptp(projected, axis=0)
        axis, frequency = slowest_modes(sides, self.n_bits)
        self.weights_ = (axes[:, axis] * frequency).astype(X.dtype)
        self.thresholds_ = (lowest[axis] * frequency).astype(X.dtype)
        return self

    def _decide(self, projections: NDArray) -> NDArray[np.bool_]:
        return np.cos(projections) > 0


def slowest_modes(sides: NDArray, n: int) -> tuple[NDArray[np.intp], NDArray]:
    """The axes and the frequencies kπ / R of the n slowest modes of a box, without the constant one, slowest first."""
    frequencies = np.pi * np.arange(1, n + 1)[:, None] / sides  # (k, axis)
    chosen = np.argsort(frequencies, axis=None, kind="stable")[:n]
    return chosen % len(sides), frequencies.ravel()[chosen]
