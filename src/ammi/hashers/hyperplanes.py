"""Hyperplanes: for each bit j a direction w_j and a threshold t_j, bit j of a row x being 1 where x · w_j - t_j > 0.

It needs numpy alone, so that one query can be encoded without what learned the codes.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class HyperplaneNames(NamedTuple):
    """Which of a model's arrays are its hyperplanes; columns after the first m are something else."""

    weights: str
    offsets: str
    are_biases: bool  # the offsets are added to x · w, not taken from it
    centre: str | None = None  # where a row x is read as (x - centre) / spread
    spread: str | None = None


class Hyperplanes(NamedTuple):
    """All m of them."""

    weights: NDArray[np.floating]  # (V, m)
    thresholds: NDArray[np.floating]  # (m,)

    @classmethod
    def among(cls, arrays: Mapping[str, NDArray], names: HyperplaneNames, n_bits: int) -> Self:
        """Those that a model's arrays hold, for rows as they are."""
        weights, offsets = arrays[names.weights][:, :n_bits], arrays[names.offsets][:n_bits]
        thresholds = -offsets if names.are_biases else offsets
        if names.centre is None or names.spread is None:
            return cls(weights, thresholds)
        scaled = weights.astype(np.float64) / arrays[names.spread]
        return cls(scaled.astype(weights.dtype), (thresholds + arrays[names.centre] @ scaled).astype(weights.dtype))

    def logits_of(self, columns: NDArray[np.integer], values: NDArray[np.floating]) -> NDArray[np.floating]:
        """x · w_j - t_j for each bit j, (m,), of one sparse row with its columns in order: positive where it is 1, and
        that is where it is 1 by `linear_bits`."""
        sums = np.zeros_like(self.thresholds)
        for column, value in zip(columns, values.astype(self.weights.dtype, copy=False), strict=True):
            sums += value * self.weights[column]
        return sums - self.thresholds
