"""Hyperplanes: for each bit j a direction w_j and a threshold t_j; bit j of a row x is 1 where x · w_j - t_j > 0.

This module needs numpy alone, so that a query can be encoded without torch.
"""

from collections.abc import Mapping
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class HyperplaneNames(NamedTuple):
    """The names of a model's arrays that hold its hyperplanes; their columns after the first m are not used."""

    weights: str
    offsets: str
    are_biases: bool  # whether offsets are added to x · w, or subtracted
    centre: str | None = None  # with spread: a row x is read as (x - centre) / spread
    spread: str | None = None


class Hyperplanes(NamedTuple):
    """The m hyperplanes of a model."""

    weights: NDArray[np.floating]  # (V, m)
    thresholds: NDArray[np.floating]  # (m,)

    @classmethod
    def among(cls, arrays: Mapping[str, NDArray], names: HyperplaneNames, n_bits: int) -> Self:
        """Return the hyperplanes in a model's arrays, for rows that are not centred or scaled."""
        weights, offsets = arrays[names.weights][:, :n_bits], arrays[names.offsets][:n_bits]
        thresholds = -offsets if names.are_biases else offsets
        if names.centre is None or names.spread is None:
            return cls(weights, thresholds)
        scaled = weights.astype(np.float64) / arrays[names.spread]
        return cls(scaled.astype(weights.dtype), (thresholds + arrays[names.centre] @ scaled).astype(weights.dtype))

    def logits_of(self, columns: NDArray[np.integer], values: NDArray[np.floating]) -> NDArray[np.floating]:
        """Return x · w_j - t_j for each bit j, (m,), of one sparse row with its columns in order.

        The sums are made in the order of `linear_bits`, so that the bits are the same.
        """
        sums = np.zeros_like(self.thresholds)
        for column, value in zip(columns, values.astype(self.weights.dtype, copy=False), strict=True):
            sums += value * self.weights[column]
        return sums - self.thresholds
