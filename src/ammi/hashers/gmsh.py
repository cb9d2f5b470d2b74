"""GMSH: a Gaussian autoencoder of words whose prior is a mixture of Gaussians.

max E[log p(y|z)] - β (KL(q(c|y) ‖ π) + Σ_c q(c|y) KL(N(μ(y), σ²(y)) ‖ N(μ_c, σ²_c))); a bit is 1 where μ is above its
median.
"""

from typing import Any

import torch
from torch import Tensor, nn

from ammi.hashers.autoencoder import GaussianAutoencoder, GaussianHasher, gaussian_divergence, mixture_divergence
from ammi.nets.rows import Rows


class GMSHModel(GaussianAutoencoder):
    def __init__(self, components: int, *args: Any):
        super().__init__(*args)
        self.weights = nn.Parameter(torch.empty(components))  # log odds of π
        self.means = nn.Parameter(torch.empty(components, self.n_bits))
        self.log_variances = nn.Parameter(torch.empty(components, self.n_bits))

    def draw(self, rows: Rows) -> tuple[Tensor, Tensor]:
        mean, log_variance, component = self.encoder(rows).split([self.n_bits, self.n_bits, len(self.weights)], dim=1)
        each = gaussian_divergence(
            mean.unsqueeze(1), log_variance.unsqueeze(1), self.means, self.log_variances
        )  # (B, K)
        z = mean + torch.randn_like(mean) * (log_variance / 2).exp() if self.training else mean
        return z, mixture_divergence(component, self.weights, each)


class GMSH(GaussianHasher):
    """A Gaussian autoencoder with a mixture prior.

    Args:
        n_bits: length m of the codes.
        components: Gaussians of the prior. Useful: 10 to 80.
        divergence_weight: β, the weight of the divergence from the prior. Useful: 0.1 to 1.
        hidden_layers, hidden_size, dropout: ReLU layers of the encoder, their width, and the share of their units that
            is left out at random in training. Useful: 0 to 2 layers of 300 to 700.
        batch_size, learning_rate, init_range, clip, epochs, patience, checkpoint, device, n_jobs, random_state,
        verbose: as of AMMI.
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        components: int = 20,
        divergence_weight: float = 1.0,
        hidden_layers: int = 1,
        hidden_size: int = 500,
        dropout: float = 0.1,
        batch_size: int = 128,
        learning_rate: float = 0.003,
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
        self.components = components
        self.divergence_weight = divergence_weight
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
        parts = self._parts(n_features, 2 * self.n_bits + self.components, self.n_bits)
        return self._initialised(GMSHModel(self.components, *parts, self.n_bits, self.divergence_weight))
