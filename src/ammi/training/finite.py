"""Training that leaves the finite: seen in the epoch in which it happens."""

import math
from collections.abc import Mapping

from torch import Tensor

_WHAT_TO_DO = "lower the learning rate, or divide the rows by their largest number"


class NotFiniteError(ValueError):
    """A gradient, a weight or a figure became NaN or infinite, and nothing good was learned before."""

    def __init__(self, what: str, when: str):
        super().__init__(f"training left the finite numbers {when}, where {what}: {_WHAT_TO_DO}")
        self.what = what


def check_figures(figures: Mapping[str, float], when: str) -> None:
    """Refuse figures of an epoch that are not finite."""
    for name, value in figures.items():
        if not math.isfinite(value):
            raise NotFiniteError(f"the {name.replace('_', ' ')} is {value}", when)


def check_weights(weights: Mapping[str, Tensor], when: str) -> None:
    """Refuse what was learned if a number of it is not finite."""
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise NotFiniteError(f"{name} has numbers that are not finite", when)
