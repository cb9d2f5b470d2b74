"""The Markov chain as a structure, with tables (m, 2**o) and windows (m, 2**(o+1)) as statistics."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor

from ammi.chain.decode import sample, viterbi
from ammi.chain.entropy import best_prior, mixture_entropy, windows_cross_entropy
from ammi.chain.layout import check_size, order_of
from ammi.chain.marginals import forward, mean_windows, window_marginals
from ammi.chain.pairs import mean_pairs_of_independent_bits, pair_marginals
from ammi.chain.structure import Distributions, Structure


@dataclass(frozen=True)
class Chain(Structure):
    """Markov chains of an order o over m bits: each bit depends on the o bits before it.

    Args:
        n_bits: m.
        order: o; 0 makes the bits independent.
    """

    n_bits: int
    order: int = 0

    def __post_init__(self) -> None:
        check_size(self.n_bits, self.order)
        for name in ("n_bits", "order"):  # numpy's whole numbers become Python's, whose powers do not overflow
            object.__setattr__(self, name, int(getattr(self, name)))

    @property
    def shape(self) -> tuple[int, int]:
        return self.n_bits, 2**self.order

    @property
    def statistics_shape(self) -> tuple[int, int]:
        return self.n_bits, 2 ** (self.order + 1)

    def read(self, table: Tensor) -> "ChainDistributions":
        if order_of(table) != self.order or table.shape[-2] != self.n_bits:
            raise ValueError(
                f"{self} has tables of shape (..., {self.n_bits}, {2**self.order}), got {tuple(table.shape)}"
            )
        return ChainDistributions(self, table)

    def statistics(self, p: Distributions) -> Tensor:
        return p.windows(self.order + 1)

    def mean_statistics(self, p: Distributions) -> Tensor:
        return p.mean_windows(self.order + 1)

    def cross_entropy_of(self, statistics: Tensor, table: Tensor) -> Tensor:
        return windows_cross_entropy(statistics, table)

    def best_prior(self, statistics: Tensor) -> Tensor:
        return best_prior(statistics)

    def check_prior(self, encoder: Structure) -> None:
        order = encoder.shape[1].bit_length() - 1  # how many bits each bit depends on, in a chain or not
        if self.order < order:
            raise ValueError(f"prior_order must be at least the order {order}, better above it, got {self.order}")

    def reordered(self, order: Sequence[int]) -> "Chain | None":
        return None if self.order else self  # only independent bits have no order


@dataclass(frozen=True, eq=False)
class ChainDistributions(Distributions):
    """A batch of chains; the forward pass and the windows of each width are computed once and kept."""

    _windows: dict[int, Tensor] = field(default_factory=dict, repr=False)

    @cached_property
    def pi(self) -> Tensor:
        """π(c | i), the probability of each context before each bit, (..., m, 2**o)."""
        return forward(self.logits)

    def windows(self, width: int) -> Tensor:
        if width not in self._windows:
            self._windows[width] = window_marginals(self.logits, width, self.pi)
        return self._windows[width]

    def mean_windows(self, width: int) -> Tensor:
        return mean_windows(self.logits, width, self.pi)

    def pairs(self, first: Sequence[int], second: Sequence[int]) -> Tensor:
        return pair_marginals(self.logits, first, second, self.pi)

    def mean_all_pairs(self) -> Tensor:
        independent = order_of(self.logits) == 0
        return mean_pairs_of_independent_bits(self.logits) if independent else super().mean_all_pairs()

    def mixture_entropy(self) -> Tensor:
        return mixture_entropy(self.logits)

    def mode(self) -> Tensor:
        return viterbi(self.logits)[0]

    def sample(self, shape: torch.Size) -> Tensor:
        return sample(self.logits, shape)
