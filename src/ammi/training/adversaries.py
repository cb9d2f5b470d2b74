"""The adversary of AMMI: given the batch's mean windows μ (m, 2**(r+1)), a prior q(z) that makes H⁺(Z) small."""

import torch
from torch import Tensor, nn

from ammi.chain import best_prior, windows_cross_entropy
from ammi.nets.encoder import initialise
from ammi.nets.prior import Prior


class ExactAdversary(nn.Module):
    """The minimiser in closed form, q(z_i | c) = μ(c, z_i) / μ(c), of windows averaged over batches with a decay."""

    windows: Tensor
    weight: Tensor

    def __init__(self, n_bits: int, order: int, decay: float = 0.9):
        super().__init__()
        self.decay = decay
        self.register_buffer("windows", torch.zeros(n_bits, 2 ** (order + 1)))
        self.register_buffer("weight", torch.zeros(()))

    def respond(self, windows: Tensor) -> Tensor:
        self.windows = self.decay * self.windows + (1 - self.decay) * windows
        self.weight = self.decay * self.weight + (1 - self.decay)
        return self.prior()

    def prior(self) -> Tensor:
        """The logits (m, 2**r) as they are now."""
        return best_prior(self.windows / self.weight)


class GradientAdversary(nn.Module):
    """The paper's: G steps of Adam on each batch, the network carried over from batch to batch."""

    def __init__(self, network: Prior, steps: int, learning_rate: float, clip: float, init_range: float):
        super().__init__()
        initialise(network, init_range)
        self.network = network
        self.steps = steps
        self.clip = clip
        self.learning_rate = learning_rate

    def respond(self, windows: Tensor) -> Tensor:
        optimiser = torch.optim.Adam(self.network.parameters(), lr=self.learning_rate)
        for _ in range(self.steps):
            optimiser.zero_grad()
            windows_cross_entropy(windows, self.network()).backward()
            nn.utils.clip_grad_norm_(self.network.parameters(), self.clip)
            optimiser.step()
        return self.prior()

    def prior(self) -> Tensor:
        """The logits (m, 2**r) as they are now."""
        with torch.no_grad():
            return self.network()


Adversary = ExactAdversary | GradientAdversary
