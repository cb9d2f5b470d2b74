"""The validation task T: what tells how good the codes are after an epoch."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ammi.evaluate import matching_at_k, precision_at_k
from ammi.nets.matrix import Matrix

Encode = Callable[[Matrix], NDArray[np.uint8]]
Labels: TypeAlias = csr_matrix | NDArray[np.generic]  # one for each document, or several: an indicator matrix

_LARGEST_HELD_OUT = 2000


def label_precision(encode: Encode, X: Matrix, labels: Labels, base: Matrix, base_labels: Labels) -> float:
    """Top-100 precision of held-out documents among the training documents."""
    return precision_at_k(encode(X), labels, encode(base), base_labels)


def pair_matching(encode: Encode, X: Matrix, related: Matrix) -> float:
    """Top-100 matching of held-out pairs, both sides encoded by the same encoder, as the paper does."""
    return matching_at_k(encode(X), encode(related))


def hold_out(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray | None]:
    """The rows to train on and a tenth of them, 2,000 at most, to validate on; None where there are too few."""
    size = min(n // 10, _LARGEST_HELD_OUT)
    if size < 2:
        return np.arange(n), None
    order = rng.permutation(n)
    return np.sort(order[size:]), np.sort(order[:size])
