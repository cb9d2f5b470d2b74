"""The logits of a document's bits: positive where a bit is 1, and the farther from 0 the surer the hasher is."""

import numpy as np
from numpy.typing import NDArray

from ammi.hashers.base import Hasher
from ammi.hashers.hyperplanes import Hyperplanes
from ammi.nets.matrix import Matrix

_LEAST = 1e-7  # probability: what float32 still tells from 0


def has_logits(hasher: Hasher) -> bool:
    """Return whether `bit_logits` works for this hasher."""
    return bool(hasher.hyperplanes()) or hasattr(hasher, "bit_probabilities")


def bit_logits(hasher: Hasher, X: Matrix) -> NDArray[np.floating]:
    """Return the logits of each row's bits, (n, m): its sides of hyperplanes, or those of each bit's probability."""
    if names := hasher.hyperplanes():
        planes = Hyperplanes.among(hasher._arrays(), names, hasher.n_bits)
        return np.asarray(X @ planes.weights) - planes.thresholds
    if hasattr(hasher, "bit_probabilities"):
        p = np.clip(hasher.bit_probabilities(X).astype(np.float64), _LEAST, 1 - _LEAST)
        return np.log(p) - np.log1p(-p)
    raise ValueError(f"{type(hasher).__name__} does not tell how sure it is of a bit: it has no logits")


def query_logits(hasher: Hasher, X: Matrix) -> NDArray[np.floating]:
    """Return the logits of each row's bits, (n, m); -1 and 1, so that all bits count alike, if the hasher has none."""
    if not X.shape[0]:
        return np.empty((0, hasher.n_bits))
    return bit_logits(hasher, X) if has_logits(hasher) else 2.0 * hasher.transform(X) - 1
