"""The validation task T: what tells how good the codes are after an epoch."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ammi.evaluate import matching_at_k, precision_at_k

Encode = Callable[[Any], NDArray[np.uint8]]

_LARGEST_HELD_OUT = 2000


def label_precision(encode: Encode, X: Any, labels: Any, base: Any, base_labels: Any) -> float:
    """Top-100 precision of held-out documents among the training documents."""
    return precision_at_k(encode(X), labels, encode(base), base_labels)


def pair_matching(encode: Encode, X: Any, related: Any) -> float:
    """Top-100 matching of held-out pairs, both sides encoded by the same encoder, as the paper does."""
    return matching_at_k(encode(X), encode(related))


def hold_out(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray | None]:
    """The rows to train on and a tenth of them, 2,000 at most, to validate on; None where there are too few."""
    size = min(n // 10, _LARGEST_HELD_OUT)
    if size < 2:
        return np.arange(n), None
    order = rng.permutation(n)
    return np.sort(order[size:]), np.sort(order[:size])
