"""The sampled adversary: q(z) is an autoregressive network, and H⁺(Z) is estimated from codes drawn from p(z|y).

    q(z) = Π_i q(z_i | z_1 … z_{i-1}),      q(z_i = 1 | …) = σ(b_i + Σ_{j<i} W_ij z_j)

Each bit sees all bits before it, so H⁺(Z) is no sum over small windows, and has no closed form. With f(z) = -log q(z)
and codes z drawn from p, the mean of f estimates H⁺(Z), and its gradient is estimated without bias by

    independent bits         Σ_i (f(z with z_i = 1) - f(z with z_i = 0)) ∂p(z_i = 1),        one code a document
    bits of any structure    1/K Σ_k (f(z_k) - mean of f(z_l) over l ≠ k) ∂log p(z_k),       K codes a document.

The first sums out each bit while the others are drawn (Titsias and Lázaro-Gredilla 2015); the second is the score
function with the other codes as its baseline. docs/extending.md has the variance of both.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ammi.chain import Chain, Distributions
from ammi.nets.encoder import initialise
from ammi.training.adversaries import Adversary

DRAWS = 8  # K, also for a value without a gradient
_CERTAIN = 50.0  # a logit with a probability of 1, in double precision too


class Autoregressive(nn.Module):
    """The prior: the logit of each bit is linear in all bits before it."""

    before: Tensor  # (m, m), 1 if the bit of the row sees that of the column

    def __init__(self, n_bits: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_bits, n_bits))
        self.bias = nn.Parameter(torch.empty(n_bits))
        self.register_buffer("before", torch.ones(n_bits, n_bits).tril(-1), persistent=False)

    def forward(self, z: Tensor) -> Tensor:
        """Return -log q(z) (...,) of codes (..., m)."""
        return _cost(z, self._logits(z))

    def flipped(self, z: Tensor) -> Tensor:
        """Return -log q (..., m) of codes (..., m) with one bit changed, for each of the bits."""
        change = (1 - 2 * z).unsqueeze(-1)  # (..., m, 1)
        logits = self._logits(z).unsqueeze(-2) + change * (self.weight * self.before).T  # (..., changed bit, m)
        return _cost(z.unsqueeze(-2) + change * torch.eye(z.shape[-1], dtype=z.dtype, device=z.device), logits)

    def _logits(self, z: Tensor) -> Tensor:
        return F.linear(z, self.weight * self.before, self.bias)


def _cost(z: Tensor, logits: Tensor) -> Tensor:
    return F.softplus((1 - 2 * z) * logits).sum(-1)


class SampledAdversary(Adversary):
    """An autoregressive prior, fitted to each batch by G steps of Adam, each on codes drawn anew.

    Args:
        n_bits: m.
        steps: G.
        learning_rate: of these steps; beyond 32 bits it is divided by m / 32, since a logit is a sum of up to m
            weights, all of which move.
    """

    def __init__(self, n_bits: int, steps: int = 4, learning_rate: float = 0.01, init_range: float = 0.1):
        super().__init__()
        self.n_bits, self.steps, self.learning_rate, self.init_range = n_bits, steps, learning_rate, init_range
        self.prior = Autoregressive(n_bits)
        initialise(self.prior, init_range)

    def cross_entropy(self, p: Distributions) -> Tensor:
        if p.n_bits != self.n_bits:
            raise ValueError(f"the adversary has {self.n_bits} bits and the codes {p.n_bits}: make it of as many")
        if self.training:
            self._respond(p)
            return sampled_cross_entropy(p, self.prior)
        with torch.random.fork_rng(devices=[p.logits.device] if p.logits.is_cuda else []):
            torch.manual_seed(0)  # so that a score is the same each time
            return sampled_cross_entropy(p, self.prior, DRAWS)

    def _respond(self, p: Distributions) -> None:
        rate = self.learning_rate * min(1, 32 / self.n_bits)
        optimiser = torch.optim.Adam(self.prior.parameters(), lr=rate)
        for _ in range(self.steps):
            optimiser.zero_grad()
            self.prior(p.sample(torch.Size())).mean().backward()
            optimiser.step()


def sampled_cross_entropy(p: Distributions, prior: Autoregressive, draws: int = 1) -> Tensor:
    """Return an estimate of H⁺(Z) of a batch, with an estimate of the gradient in p; both without bias."""
    if p.structure == Chain(p.n_bits):
        surrogate, costs = by_bits(p, prior, draws)
    else:
        surrogate, costs = by_codes(p, prior, max(draws, DRAWS))
    return costs.mean() + surrogate - surrogate.detach()


def by_bits(p: Distributions, prior: Autoregressive, draws: int) -> tuple[Tensor, Tensor]:
    """Return a number with the gradient of H⁺(Z), for independent bits, and -log q (K, B) of the codes drawn."""
    with torch.no_grad():
        z = p.sample(torch.Size([draws]))  # (K, B, m)
        costs = prior(z)
        gains = (2 * z - 1) * (costs.unsqueeze(-1) - prior.flipped(z))  # f(z with z_i = 1) - f(z with z_i = 0)
    return (gains * p.marginals()).sum(-1).mean(), costs


def by_codes(p: Distributions, prior: Autoregressive, draws: int, baseline: bool = True) -> tuple[Tensor, Tensor]:
    """Return the same for any structure, with or without the baseline."""
    with torch.no_grad():
        z = p.sample(torch.Size([draws]))  # (K, B, m)
        costs = prior(z)
        gains = costs - (costs.sum(0) - costs) / (draws - 1) if baseline else costs
    # Every structure can be asked for a cross entropy; that of a code that is certain is -log p(z).
    certain = Chain(p.n_bits).read(_CERTAIN * (2 * z - 1).unsqueeze(-1))
    log_prob = -p.structure.cross_entropy_of(p.structure.statistics(certain), p.logits.expand(*z.shape, -1))
    return (gains * log_prob).mean(), costs
