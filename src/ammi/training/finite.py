"""Checks for infinite numbers and NaN, in the epoch in which they appear."""

import math
from collections.abc import Mapping

from torch import Tensor

_WHAT_TO_DO = "lower the learning rate, or divide the rows by their largest number"


class NotFiniteError(ValueError):
    """A gradient, a weight or a figure became NaN or infinite."""

    def __init__(self, what: str, when: str):
        super().__init__(f"training left the finite numbers {when}, where {what}: {_WHAT_TO_DO}")
        self.what = what


def check_figures(figures: Mapping[str, float], when: str) -> None:
    """Raise NotFiniteError if a figure of an epoch is not finite."""
    for name, value in figures.items():
        if not math.isfinite(value):
            raise NotFiniteError(f"the {name.replace('_', ' ')} is {value}", when)


def check_weights(weights: Mapping[str, Tensor], when: str) -> None:
    """Raise NotFiniteError if a weight is not finite."""
    for name, tensor in weights.items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise NotFiniteError(f"{name} has numbers that are not finite", when)
