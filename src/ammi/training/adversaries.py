"""The adversary of AMMI: given the mean statistics of a batch, a prior q(z) that makes H⁺(Z) small.

Of a chain of order r the statistics are the mean windows μ (m, 2**(r+1)) and the prior is a table (m, 2**r).
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from ammi.chain import Distributions, Structure
from ammi.nets.encoder import initialise
from ammi.nets.prior import Prior


class Adversary(nn.Module, ABC):
    """A prior of a structure that follows the batches."""

    def __init__(self, structure: Structure):
        super().__init__()
        self.structure = structure

    def arranged(self, p: Distributions) -> Distributions:
        """The codes of a batch as the prior sees them."""
        return p

    @abstractmethod
    def respond(self, statistics: Tensor) -> Tensor:
        """The prior's table after a batch with these mean statistics."""

    @abstractmethod
    def prior(self) -> Tensor:
        """The prior's table as it is now."""


class ExactAdversary(Adversary):
    """The minimiser in closed form (`best_prior`) of statistics averaged over batches with a decay.

    Args:
        decay: how much of the average a batch leaves.
        reorder: after so many batches the bits of the prior come into another random order, and what was averaged in
            the old one is forgotten; 0 keeps the order. A chain sees only what near bits have in common: in one order
            for all time, bits that are far apart may come to say the same. The encoder's bits have to be independent.
    """

    windows: Tensor
    order: Tensor  # (m,), which bit of the encoder each bit of the prior is
    since: Tensor  # how many batches have seen this order

    def __init__(self, structure: Structure, decay: float = 0.9, reorder: int = 0):
        super().__init__(structure)
        self.decay, self.reorder = decay, reorder
        self.register_buffer("windows", torch.zeros(structure.statistics_shape))
        self.register_buffer("order", torch.arange(structure.shape[0]))
        self.register_buffer("since", torch.zeros((), dtype=torch.long))

    def begin(self) -> int | None:
        """Take another order if it is time to; return how many batches may see this one, None for any number."""
        if not self.reorder:
            return None
        if self.since >= self.reorder:
            self.order = torch.randperm(len(self.order)).to(self.order.device)
            self.windows = torch.zeros_like(self.windows)
            self.since = torch.zeros_like(self.since)
        return self.reorder - int(self.since)

    def took(self, n_batches: int) -> None:
        """So many batches have been answered."""
        self.since = self.since + n_batches

    def arranged(self, p: Distributions) -> Distributions:
        if self.training:
            self.begin()
        return p.structure.read(p.logits[..., self.order, :]) if self.reorder else p

    def respond(self, statistics: Tensor) -> Tensor:
        self.windows = self.decay * self.windows + (1 - self.decay) * statistics
        self.took(1)
        return self.prior()

    def prior(self) -> Tensor:
        return self.structure.best_prior(self.windows)


class GradientAdversary(Adversary):
    """The paper's: G steps of Adam on each batch, the network carried over from batch to batch."""

    def __init__(self, network: Prior, steps: int, learning_rate: float, clip: float, init_range: float):
        super().__init__(network.structure)
        initialise(network, init_range)
        self.network = network
        self.steps = steps
        self.clip = clip
        self.learning_rate = learning_rate

    def respond(self, statistics: Tensor) -> Tensor:
        optimiser = torch.optim.Adam(self.network.parameters(), lr=self.learning_rate)
        for _ in range(self.steps):
            optimiser.zero_grad()
            self.structure.cross_entropy_of(statistics, self.network()).backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), self.clip)
            optimiser.step()
        return self.prior()

    def prior(self) -> Tensor:
        with torch.no_grad():
            return self.network()
