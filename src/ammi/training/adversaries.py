"""The adversary of AMMI: given the mean statistics of a batch, a prior q(z) that makes H⁺(Z) small.

Of a chain of order r the statistics are the mean windows μ (m, 2**(r+1)) and the prior is a table (m, 2**r).
"""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn

from ammi.chain import Structure
from ammi.nets.encoder import initialise
from ammi.nets.prior import Prior


class Adversary(nn.Module, ABC):
    """A prior of a structure that follows the batches."""

    def __init__(self, structure: Structure):
        super().__init__()
        self.structure = structure

    @abstractmethod
    def respond(self, statistics: Tensor) -> Tensor:
        """The prior's table after a batch with these mean statistics."""

    @abstractmethod
    def prior(self) -> Tensor:
        """The prior's table as it is now."""


class ExactAdversary(Adversary):
    """The minimiser in closed form (`best_prior`) of statistics averaged over batches with a decay."""

    windows: Tensor
    weight: Tensor

    def __init__(self, structure: Structure, decay: float = 0.9):
        super().__init__(structure)
        self.decay = decay
        self.register_buffer("windows", torch.zeros(structure.statistics_shape))
        self.register_buffer("weight", torch.zeros(()))

    def respond(self, statistics: Tensor) -> Tensor:
        self.windows = self.decay * self.windows + (1 - self.decay) * statistics
        self.weight = self.decay * self.weight + (1 - self.decay)
        return self.prior()

    def prior(self) -> Tensor:
        return self.structure.best_prior(self.windows / self.weight)


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
