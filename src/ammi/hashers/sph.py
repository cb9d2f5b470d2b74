"""SpH: spectral hashing. Bits are eigenfunctions of the Laplacian of a box around the documents, cut at 0.

In a box with sides R_i along the principal axes, the eigenfunctions that vary along one axis only are
cos(ω (x_i - min_i)) with ω = kπ / R_i, k = 1, 2, …; the smaller ω, the fewer near documents the cut at 0 separates. The
m smallest make the bits: long sides are cut at several places, short ones never.
"""

import numpy as np
from numpy.typing import NDArray

from ammi.hashers.base import Bits
from ammi.hashers.hyperplanes import Hyperplanes
from ammi.hashers.parameters import estimator
from ammi.hashers.projections import ProjectionHasher, principal_axes
from ammi.nets.matrix import Matrix

_ROWS_AT_ONCE = 4096


@estimator
class SpH(ProjectionHasher):
    """Spectral hashing. If documents have fewer dimensions than bits, each is cut at more places."""

    def learn(self, X: Matrix, rng: np.random.RandomState) -> Hyperplanes:
        _, axes = principal_axes(X, self.n_bits, rng)
        if axes.shape[1] == 0:  # all documents are equal, and so are their codes
            return Hyperplanes(np.zeros((X.shape[1], self.n_bits)), np.zeros(self.n_bits))
        projected = X @ axes
        lowest, sides = projected.min(axis=0), np.ptp(projected, axis=0)
        axis, frequency = slowest_modes(sides, self.n_bits)
        return Hyperplanes((axes[:, axis] * frequency).astype(X.dtype), (lowest[axis] * frequency).astype(X.dtype))

    def hyperplanes(self) -> None:
        """Return None: a bit is not a side of one hyperplane here, since the cosine cuts an axis at several places."""

    def _bits(self, X: Matrix) -> Bits:
        bits = np.empty((X.shape[0], self.n_bits), dtype=np.uint8)
        for start in range(0, X.shape[0], _ROWS_AT_ONCE):
            block = slice(start, start + _ROWS_AT_ONCE)
            bits[block] = np.cos(X[block] @ self.weights_ - self.thresholds_) > 0
        return bits


def slowest_modes(sides: NDArray, n: int) -> tuple[NDArray[np.intp], NDArray]:
    """Return the axes and the frequencies kπ / R of the n slowest modes of a box after the constant one."""
    frequencies = np.pi * np.arange(1, n + 1)[:, None] / sides  # (k, axis)
    chosen = np.argsort(frequencies, axis=None, kind="stable")[:n]
    return chosen % len(sides), frequencies.ravel()[chosen]
