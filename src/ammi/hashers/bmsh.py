"""BMSH: a Bernoulli autoencoder of words whose prior is a mixture of Bernoullis.

max E[log p(x|z)] - β (KL(q(c|y) ‖ π) + Σ_c q(c|y) KL(Bern(q(y)) ‖ Bern(γ_c))), z drawn from Bern(q(y)) with a
straight-through gradient. In predictive hashing x is the related document, and π and γ are functions of y.
"""

import math
from typing import Any

import torch
from torch import Tensor, nn

from ammi.hashers.autoencoder import (
    Autoencoder,
    AutoencoderHasher,
    bernoulli_divergence,
    mixture_divergence,
    straight_through,
)
from ammi.nets.encoder import Encoder
from ammi.nets.rows import Rows

LARGEST_LOGIT = 10.0  # of γ as a function of y, which would otherwise run away


class BMSHModel(Autoencoder):
    def __init__(self, components: int, conditional_prior: Encoder | None, *args: Any):
        super().__init__(*args)
        self.components = components
        self.conditional_prior = conditional_prior
        if conditional_prior is None:
            self.weights = nn.Parameter(torch.empty(components))  # log odds of π
            self.gamma = nn.Parameter(torch.empty(components, self.n_bits))  # log odds of γ

    def draw(self, rows: Rows) -> tuple[Tensor, Tensor]:
        logits, component = self.encoder(rows).split([self.n_bits, self.components], dim=1)
        if self.conditional_prior is None:
            weights, gamma = self.weights, self.gamma
        else:
            prior = self.conditional_prior(rows)
            weights = prior[:, : self.components]
            gamma = prior[:, self.components :].unflatten(1, (self.components, -1)).clamp(-LARGEST_LOGIT, LARGEST_LOGIT)
        each = bernoulli_divergence(logits, gamma)  # (B, K)
        return straight_through(logits, drawn=self.training), mixture_divergence(component, weights, each)

    def bits(self, rows: Rows) -> Tensor:
        return self.encoder(rows)[:, : self.n_bits] > 0


class BMSH(AutoencoderHasher):
    """A Bernoulli autoencoder with a mixture prior; takes `related` documents.

    Args:
        n_bits: length m of the codes.
        components: Bernoullis of the prior. Useful: 10 to 80.
        divergence_weight: β, the weight of the divergence from the prior. Useful: 0.5 to 3.
        hidden_layers, hidden_size, dropout: ReLU layers of the encoder, their width, and the share of their units that
            is left out at random in training. Useful: 0 to 2 layers of 300 to 700.
        learning_rate: η; None is 0.04 / √n_bits, since long codes overshoot at what short ones need to arrive in time.
        batch_size, init_range, clip, epochs, patience, checkpoint, device, n_jobs, random_state, verbose: as of AMMI.
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        components: int = 50,
        divergence_weight: float = 1.0,
        hidden_layers: int = 1,
        hidden_size: int = 300,
        dropout: float = 0.5,
        batch_size: int = 128,
        learning_rate: float | None = None,
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

    def _step(self) -> float:
        return 0.04 / math.sqrt(self.n_bits) if self.learning_rate is None else self.learning_rate

    def _build(self, n_features: int, predictive: bool) -> nn.Module:
        parts = self._parts(n_features, self.n_bits + self.components, self.n_bits)
        prior = None
        if predictive:
            n_outputs = self.components * (1 + self.n_bits)
            prior = Encoder(n_features, n_outputs, max(1, self.hidden_layers), self.hidden_size)
        return self._initialised(BMSHModel(self.components, prior, *parts, self.n_bits, self.divergence_weight))
