"""GMSH: a Gaussian autoencoder of words whose prior is a mixture of Gaussians.

max E[log p(y|z)] - β (KL(q(c|y) ‖ π) + Σ_c q(c|y) KL(N(μ(y), σ²(y)) ‖ N(μ_c, σ²_c))); a bit is 1 where μ is above its
median.
"""

import torch
from torch import Tensor, nn

from ammi.hashers.autoencoder import AutoencoderHasher, GaussianAutoencoder
from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.trained import MOST_SIZE
from ammi.nets.decoder import WordDecoder
from ammi.nets.divergences import gaussian_divergence, mixture_divergence
from ammi.nets.rows import Rows


class GMSHObjective(GaussianAutoencoder):
    def __init__(
        self, components: int, encoder: nn.Module, decoder: WordDecoder, n_bits: int, divergence_weight: float
    ):
        super().__init__(encoder, decoder, n_bits, divergence_weight)
        self.weights = nn.Parameter(torch.empty(components))  # log odds of π
        self.means = nn.Parameter(torch.empty(components, self.n_bits))
        self.log_variances = nn.Parameter(torch.empty(components, self.n_bits))

    def draw(self, rows: Rows) -> tuple[Tensor, Tensor]:
        mean, log_variance, component = self.encoder(rows).split([self.n_bits, self.n_bits, len(self.weights)], dim=1)
        each = gaussian_divergence(
            mean.unsqueeze(1), log_variance.unsqueeze(1), self.means, self.log_variances
        )  # (B, K)
        return self.sample(mean, log_variance), mixture_divergence(component, self.weights, each)


@estimator
class GMSH(AutoencoderHasher):
    """A Gaussian autoencoder with a mixture prior."""

    components: int = parameter(
        "Gaussians of the prior. Useful: 10 to 80.", default=20, whole=True, least=1, most=MOST_SIZE
    )
    divergence_weight: float = parameter(
        "β, the weight of the divergence from the prior. Useful: 0.1 to 1.", default=1.0, least=0
    )
    hidden_layers: int = 1
    hidden_size: int = 500
    dropout: float = 0.1
    learning_rate: float | None = 0.003

    def objective(self, n_features: int, predictive: bool) -> GMSHObjective:
        parts = self._parts(n_features, 2 * self.n_bits + self.components, self.n_bits)
        return self._initialised(GMSHObjective(self.components, *parts, self.n_bits, self.divergence_weight))
