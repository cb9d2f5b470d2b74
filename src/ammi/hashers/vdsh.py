"""VDSH: variational deep semantic hashing, a Gaussian autoencoder of words.

max E[log p(y|z)] - β KL(N(μ(y), σ²(y)) ‖ N(0, I)), β growing from 0 to 1; a bit is 1 where μ is above its median.
"""

from typing import Any

import torch
from torch import Tensor, nn

from ammi.hashers.autoencoder import GaussianAutoencoder, GaussianHasher, gaussian_divergence
from ammi.nets.rows import Rows


class VDSHModel(GaussianAutoencoder):
    step: Tensor

    def __init__(self, warm_up: int, *args: Any):
        super().__init__(*args)
        self.warm_up = warm_up
        self.register_buffer("step", torch.zeros(()))

    def draw(self, rows: Rows) -> tuple[Tensor, Tensor]:
        mean, log_variance = self.encoder(rows).chunk(2, dim=1)
        divergence = gaussian_divergence(mean, log_variance, torch.zeros_like(mean), torch.zeros_like(mean))
        if not self.training:
            return mean, divergence
        self.step = self.step + 1
        weight = (self.step / self.warm_up).clamp(max=1)
        return mean + torch.randn_like(mean) * (log_variance / 2).exp(), weight * divergence


class VDSH(GaussianHasher):
    """Variational deep semantic hashing.

    Args:
        n_bits: length m of the codes.
        warm_up: steps in which the weight of the divergence grows from 0 to 1.
        hidden_layers, hidden_size, dropout: ReLU layers of the encoder, their width, and the share of their units that
            is left out at random in training. Useful: 0 to 2 layers of 300 to 700.
        batch_size, learning_rate, init_range, clip, epochs, patience, checkpoint, device, n_jobs, random_state,
        verbose: as of AMMI.
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        warm_up: int = 1000,
        hidden_layers: int = 2,
        hidden_size: int = 500,
        dropout: float = 0.1,
        batch_size: int = 128,
        learning_rate: float = 0.001,
        init_range: float = 0.1,
        clip: float = 10.0,
        epochs: int = 40,
        patience: int = 6,
        checkpoint: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = True,
    ):
        self.n_bits = n_bits
        self.warm_up = warm_up
        self.hidden_layers = hidden_layers
        self.hidden_size = hidden_size
        self.dropout = dropout
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.init_range = init_range
        self.clip = clip
        self.epochs = epochs
        self.patience = patience
        self.checkpoint = checkpoint
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _build(self, n_features: int, predictive: bool) -> nn.Module:
        parts = self._parts(n_features, 2 * self.n_bits, self.n_bits)
        return self._initialised(VDSHModel(self.warm_up, *parts, self.n_bits))
