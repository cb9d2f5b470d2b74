"""NASH: neural architecture for semantic hashing, a Bernoulli autoencoder of words.

max E[log p(y | z + ε s(y))] - β KL(Bern(q(y)) ‖ Bern(1/2)), z drawn from Bern(q(y)) with a straight-through gradient,
ε standard normal and s(y) the noise that the document asks for.
"""

from typing import Any

import torch
from torch import Tensor, nn

from ammi.hashers.autoencoder import Autoencoder, AutoencoderHasher, bernoulli_divergence, straight_through
from ammi.nets.rows import Rows


class NASHModel(Autoencoder):
    def draw(self, rows: Rows) -> tuple[Tensor, Tensor]:
        logits, noise = self.encoder(rows).chunk(2, dim=1)
        z = straight_through(logits, drawn=self.training)
        if self.training:
            z = z + torch.randn_like(z) * torch.sigmoid(noise)
        return z, bernoulli_divergence(logits, torch.zeros_like(logits[:1])).squeeze(1)

    def bits(self, rows: Rows) -> Tensor:
        return self.encoder(rows)[:, : self.n_bits] > 0


class NASH(AutoencoderHasher):
    """A Bernoulli autoencoder with a fair prior.

    Args:
        n_bits: length m of the codes.
        divergence_weight: β, the weight of the divergence from the prior. Useful: 0.1 to 1.
        hidden_layers, hidden_size, dropout: ReLU layers of the encoder, their width, and the share of their units that
            is left out at random in training. Useful: 0 to 2 layers of 300 to 700.
        batch_size, learning_rate, init_range, clip, epochs, patience, checkpoint, device, n_jobs, random_state,
        verbose: as of AMMI.
    """

    _has_predictive_form = False

    def __init__(
        self,
        n_bits: int = 64,
        *,
        divergence_weight: float = 1.0,
        hidden_layers: int = 1,
        hidden_size: int = 300,
        dropout: float = 0.5,
        batch_size: int = 128,
        learning_rate: float = 0.01,
        init_range: float = 0.3,
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
        parts = self._parts(n_features, 2 * self.n_bits, self.n_bits)
        return self._initialised(NASHModel(*parts, self.n_bits, self.divergence_weight))
