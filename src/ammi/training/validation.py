"""The validation task T: how good the codes are after an epoch."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ammi.evaluate import matching_at_k, precision_at_k
from ammi.nets.matrix import Matrix
from ammi.nets.rows import ROWS_AT_ONCE
from ammi.training.batches import Batches
from ammi.training.objective import Objective

Encode = Callable[[Matrix], NDArray[np.uint8]]
Labels: TypeAlias = csr_matrix | NDArray[np.generic]  # one for each document, or several: an indicator matrix

_LARGEST_HELD_OUT = 2000


def label_precision(encode: Encode, X: Matrix, labels: Labels, base: Matrix, base_labels: Labels) -> float:
    """Return the top-100 precision of held-out documents among the training documents."""
    return precision_at_k(encode(X), labels, encode(base), base_labels)


def pair_matching(encode: Encode, X: Matrix, related: Matrix) -> float:
    """Return the top-100 matching of held-out pairs, both sides encoded by the same encoder, as the paper does."""
    return matching_at_k(encode(X), encode(related))


@torch.no_grad()
def mean_figures(objective: Objective, Y: Matrix, X: Matrix | None, device: torch.device) -> dict[str, float]:
    """Return the `loss` and the figures of documents Y, with related ones X, as a mean over blocks of them."""
    batches = Batches(Y, X, batch_size=ROWS_AT_ONCE, device=device, rng=np.random.default_rng(0))
    totals: dict[str, float] = {}
    for batch in batches:
        loss, figures = objective.loss(batch)
        for name, value in {"loss": loss, **figures}.items():
            totals[name] = totals.get(name, 0.0) + value.item() * batch.size
    return {name: total / batches.n_documents for name, total in totals.items()}


def hold_out(n: int, rng: np.random.Generator) -> tuple[NDArray, NDArray | None]:
    """Return the rows to train on, and a tenth of all, 2,000 at most, to validate on; None if there are too few."""
    size = min(n // 10, _LARGEST_HELD_OUT)
    if size < 2:
        return np.arange(n), None
    order = rng.permutation(n)
    return np.sort(order[size:]), np.sort(order[:size])
