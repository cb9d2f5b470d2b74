"""A prior that is no table: a mixture of K products of Bernoullis, q(z) = Σ_k π_k Π_i γ_ki^z_i (1 - γ_ki)^(1 - z_i).

Its cross entropy has no closed form, but a bound from above that is tight where documents belong to one component:

    H(p, q) <= -log Σ_k π_k exp(-H(p, γ_k)),      H⁺(Z) its mean over a batch; π and γ follow by five steps of EM.
"""

import torch
from torch import Tensor

from ammi.chain import Distributions
from ammi.parts import register_part
from ammi.training.adversaries import Adversary


@register_part
class MixtureAdversary(Adversary):
    """AMMI(16, adversary=MixtureAdversary(16))."""

    counts: Tensor  # (K,), how much of the documents belongs to each component, averaged over batches
    sums: Tensor  # (K, m), how often each of their bits is 1

    def __init__(self, n_bits: int, components: int = 20, decay: float = 0.9):
        super().__init__()
        self.n_bits, self.components, self.decay = n_bits, components, decay
        self.register_buffer("counts", torch.full((components,), 1 / components))
        self.register_buffer("sums", torch.rand(components, n_bits) / components)

    def joint(self, bits: Tensor) -> Tensor:
        """Return log π_k - H(p, γ_k) (B, K) from the probability (B, m) of each bit."""
        gamma = (self.sums / self.counts.unsqueeze(1)).clamp(0.01, 0.99)
        return self.counts.log() + bits @ gamma.log().T + (1 - bits) @ (1 - gamma).log().T

    def cross_entropy(self, p: Distributions) -> Tensor:
        bits = p.marginals()
        for _ in range(5 if self.training else 0):
            share = self.joint(bits.detach()).softmax(1) / len(bits)  # (B, K)
            self.counts = self.decay * self.counts + (1 - self.decay) * share.sum(0).clamp_min(1e-6)
            self.sums = self.decay * self.sums + (1 - self.decay) * share.T @ bits.detach()
        return -self.joint(bits).logsumexp(1).mean()
