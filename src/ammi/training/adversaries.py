"""The adversary of AMMI: it bounds H(Z) of a batch by its cross entropy H⁺(Z) with a prior q(z) that it fits.

Most fit a prior of some structure to the mean statistics of a batch. For a chain of order r these are the mean windows
μ (m, 2**(r+1)), and the prior is a table (m, 2**r).
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from ammi.chain import Distributions, Structure
from ammi.nets.encoder import initialise
from ammi.nets.prior import Prior
from ammi.parts import part_in_words


class Adversary(nn.Module, ABC):
    """A prior that is fitted to the codes of each batch."""

    @abstractmethod
    def cross_entropy(self, p: Distributions) -> Tensor:
        """Return H⁺(Z) of a batch in nats, differentiable in p; if `self.training`, fit the prior to the batch before.

        The gradient does not reach the adversary's own parameters: it trains them itself.
        """

    def __repr__(self) -> str:
        return part_in_words(self)


class StructuredAdversary(Adversary):
    """An adversary whose prior is a table of a structure. It knows only the mean statistics of a batch."""

    def __init__(self, structure: Structure):
        super().__init__()
        self.structure = structure

    def cross_entropy(self, p: Distributions) -> Tensor:
        statistics = self.structure.mean_statistics(self.arranged(p))
        table = self.respond(statistics.detach()) if self.training else self.prior()
        return self.structure.cross_entropy_of(statistics, table)

    def arranged(self, p: Distributions) -> Distributions:
        """Return the distributions of a batch in the order of bits that the prior uses."""
        return p

    @abstractmethod
    def respond(self, statistics: Tensor) -> Tensor:
        """Update the prior for a batch with these mean statistics, and return its table."""

    @abstractmethod
    def prior(self) -> Tensor:
        """Return the prior's table."""


class ExactAdversary(StructuredAdversary):
    """The closed-form minimiser (`best_prior`) for statistics averaged over batches with a decay.

    Args:
        decay: the weight of the old average when a batch is added.
        reorder: after this many batches, put the bits of the prior into another random order and start the average
            anew; 0 keeps the order. A chain sees only dependencies between near bits: in a fixed order, bits far apart
            may become equal. The encoder's structure has to allow it: independent bits and trees do.
    """

    windows: Tensor
    order: Tensor  # (m,), the encoder's bit at each position of the prior
    since: Tensor  # batches since the order changed

    def __init__(self, structure: Structure, decay: float = 0.9, reorder: int = 0):
        super().__init__(structure)
        self.decay, self.reorder = decay, reorder
        self.register_buffer("windows", torch.zeros(structure.statistics_shape))
        self.register_buffer("order", torch.arange(structure.shape[0]))
        self.register_buffer("since", torch.zeros((), dtype=torch.long))

    def begin(self) -> int | None:
        """Change the order if it is due; return how many batches may use the current one, None for any number."""
        if not self.reorder:
            return None
        if self.since >= self.reorder:
            self.order = torch.randperm(len(self.order)).to(self.order.device)
            self.windows = torch.zeros_like(self.windows)
            self.since = torch.zeros_like(self.since)
        return self.reorder - int(self.since)

    def took(self, n_batches: int) -> None:
        """Count batches that were responded to."""
        self.since = self.since + n_batches

    def arranged(self, p: Distributions) -> Distributions:
        if not self.reorder:
            return p
        if self.training:
            self.begin()
        structure = p.structure.reordered(self.order.tolist())
        if structure is None:
            raise ValueError(f"the bits of {p.structure} cannot be put into another order: use reorder=0")
        return structure.read(p.logits[..., self.order, :])

    def respond(self, statistics: Tensor) -> Tensor:
        self.windows = self.decay * self.windows + (1 - self.decay) * statistics
        self.took(1)
        return self.prior()

    def prior(self) -> Tensor:
        return self.structure.best_prior(self.windows)


class GradientAdversary(StructuredAdversary):
    """The paper's adversary: G steps of Adam on each batch, with a network that is kept from batch to batch."""

    def __init__(self, network: Prior, steps: int, learning_rate: float, clip: float, init_range: float):
        super().__init__(network.structure)
        initialise(network, init_range)
        self.network = network
        self.steps, self.learning_rate, self.clip, self.init_range = steps, learning_rate, clip, init_range

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
