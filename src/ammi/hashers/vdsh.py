"""VDSH: variational deep semantic hashing, a Gaussian autoencoder of words.

max E[log p(y|z)] - β KL(N(μ(y), σ²(y)) ‖ N(0, I)), β growing from 0 to 1; a bit is 1 where μ is above its median.
"""

import torch
from torch import Tensor, nn

from ammi.hashers.autoencoder import AutoencoderHasher, GaussianAutoencoder
from ammi.hashers.parameters import estimator, parameter
from ammi.nets.decoder import WordDecoder
from ammi.nets.divergences import gaussian_divergence
from ammi.nets.rows import Rows


class VDSHObjective(GaussianAutoencoder):
    step: Tensor

    def __init__(self, warm_up: int, encoder: nn.Module, decoder: WordDecoder, n_bits: int):
        super().__init__(encoder, decoder, n_bits)
        self.warm_up = warm_up
        self.register_buffer("step", torch.zeros(()))

    def draw(self, rows: Rows) -> tuple[Tensor, Tensor]:
        mean, log_variance = self.encoder(rows).chunk(2, dim=1)
        divergence = gaussian_divergence(mean, log_variance, torch.zeros_like(mean), torch.zeros_like(mean))
        if self.training:
            self.step = self.step + 1
            divergence = (self.step / self.warm_up).clamp(max=1) * divergence
        return self.sample(mean, log_variance), divergence


@estimator
class VDSH(AutoencoderHasher):
    """Variational deep semantic hashing."""

    warm_up: int = parameter(
        "steps in which the weight of the divergence grows from 0 to 1.", default=1000, whole=True, least=1
    )
    hidden_layers: int = 2
    hidden_size: int = 500
    dropout: float = 0.1
    learning_rate: float | None = 0.001

    def objective(self, n_features: int, predictive: bool) -> VDSHObjective:
        parts = self._parts(n_features, 2 * self.n_bits, self.n_bits)
        return self._initialised(VDSHObjective(self.warm_up, *parts, self.n_bits))
