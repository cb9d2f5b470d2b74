"""NASH: neural architecture for semantic hashing, a Bernoulli autoencoder of words.

max E[log p(y | z + ε s(y))] - β KL(Bern(q(y)) ‖ Bern(1/2)), z drawn from Bern(q(y)) with a straight-through gradient,
ε standard normal and s(y) the noise that the encoder predicts for the document.
"""

import torch
from torch import Tensor

from ammi.hashers.autoencoder import AutoencoderHasher, BernoulliAutoencoder
from ammi.hashers.parameters import estimator, parameter
from ammi.nets.divergences import bernoulli_divergence, straight_through
from ammi.nets.rows import Rows


class NASHObjective(BernoulliAutoencoder):
    def draw(self, rows: Rows) -> tuple[Tensor, Tensor]:
        logits, noise = self.encoder(rows).chunk(2, dim=1)
        z = straight_through(logits, drawn=self.training)
        if self.training:
            z = z + torch.randn_like(z) * torch.sigmoid(noise)
        return z, bernoulli_divergence(logits, torch.zeros_like(logits[:1])).squeeze(1)


@estimator
class NASH(AutoencoderHasher):
    """A Bernoulli autoencoder with a fair prior."""

    divergence_weight: float = parameter(
        "β, the weight of the divergence from the prior. Useful: 0.1 to 1.", default=1.0, least=0
    )
    hidden_layers: int = 1
    hidden_size: int = 300
    dropout: float = 0.5
    init_range: float = 0.3

    def objective(self, n_features: int, predictive: bool) -> NASHObjective:
        parts = self._parts(n_features, 2 * self.n_bits, self.n_bits)
        return self._initialised(NASHObjective(*parts, self.n_bits, self.divergence_weight))
