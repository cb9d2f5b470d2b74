"""The validation task T: what tells how good the codes are after an epoch."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ammi.evaluate import matching_at_k, precision_at_k

Encode = Callable[[Any], NDArray[np.uint8]]


def label_precision(encode: Encode, X: Any, labels: Any, base: Any = None, base_labels: Any = None) -> float:
    """Top-100 precision of held-out documents among the training documents.

    Where these have no labels, the odd rows of the held-out documents are looked for among the even ones.
    """
    if base is None:
        codes = encode(X)
        return precision_at_k(codes[1::2], labels[1::2], codes[::2], labels[::2])
    return precision_at_k(encode(X), labels, encode(base), base_labels)


def pair_matching(encode: Encode, X: Any, related: Any) -> float:
    """Top-100 matching of held-out pairs, both sides encoded by the same encoder, as the paper does."""
    return matching_at_k(encode(X), encode(related))
