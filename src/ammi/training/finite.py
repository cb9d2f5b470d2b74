"""Checks for infinite numbers and NaN, in the epoch in which they appear."""

import math
from collections.abc import Mapping

from torch import Tensor

_WHAT_TO_DO = "lower the learning rate, or divide the rows by their largest number"


_LARGEST_START = 1e10  # what memory held before may be finite


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


def check_start(parameters: Mapping[str, Tensor]) -> None:
    """Refuse parameters that nobody gave a value, before the first epoch."""
    for name, tensor in parameters.items():
        if not bool((tensor.detach().abs() <= _LARGEST_START).all()):
            raise ValueError(
                f"{name} has no finite numbers before the first epoch: draw its numbers where the network is made, as "
                "ammi.nets.encoder.initialise(network, 0.1) does, or lower the learning rate of a pretraining"
            )
