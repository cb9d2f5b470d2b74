"""A structure of one's own: each bit depends on the bit before it and on the one `skip` bits before it."""

from dataclasses import dataclass

import torch
from torch import Tensor

from ammi.chain import Chain, Distributions, Structure, best_prior, windows_cross_entropy
from ammi.parts import register_part


@register_part  # so that models with it can be saved
@dataclass(frozen=True)
class SkipChain(Structure):
    """AMMI(16, prior=SkipChain(16, 4)), or AMMI(16, structure=...). Entry [i, 2 z_{i-skip} + z_{i-1}] is bit i's."""

    n_bits: int
    skip: int  # 2 or more
    shape = property(lambda self: (self.n_bits, 4))
    statistics_shape = property(lambda self: (self.n_bits, 8))

    def read(self, table: Tensor) -> Distributions:
        context = torch.arange(2**self.skip)
        return Chain(self.n_bits, self.skip).read(table[..., 2 * (context >> (self.skip - 1)) + context % 2])

    def statistics(self, p: Distributions) -> Tensor:
        return p.windows(self.skip + 1).unflatten(-1, (2, -1, 2, 2)).sum(-3).flatten(-3)  # without the bits between

    def mean_statistics(self, p: Distributions) -> Tensor:
        return p.mean_windows(self.skip + 1).unflatten(-1, (2, -1, 2, 2)).sum(-3).flatten(-3)

    def cross_entropy_of(self, statistics: Tensor, table: Tensor) -> Tensor:
        return windows_cross_entropy(statistics, table)

    def best_prior(self, statistics: Tensor) -> Tensor:
        return best_prior(statistics)

    def check_prior(self, encoder: Structure) -> None:
        if encoder.shape[1] > 4:
            raise ValueError(f"{self} is too poor a prior of {encoder}: take a chain")
