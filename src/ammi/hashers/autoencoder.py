"""What the variational autoencoders share: an encoder, bits or numbers drawn from what it says, and a word decoder.

max E[log p(x|z)] - β KL(q(z|y) ‖ p(z)),   x = y, or in predictive hashing the document related to y
"""

import math
from abc import abstractmethod
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ammi.hashers.neural import NeuralHasher
from ammi.nets.decoder import WordDecoder
from ammi.nets.encoder import Encoder
from ammi.nets.rows import Rows
from ammi.training.batches import Batch

BITS = 1 / math.log(2)


class Autoencoder(nn.Module):
    """An encoder and a word decoder. A method says what is drawn, at what divergence from its prior."""

    def __init__(self, encoder: Encoder, decoder: WordDecoder, n_bits: int, divergence_weight: float = 1.0):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.n_bits, self.divergence_weight = n_bits, divergence_weight

    @abstractmethod
    def draw(self, rows: Rows) -> tuple[Tensor, Tensor]:
        """What the decoder reads (B, ·), and the divergence of each row (B,)."""

    @abstractmethod
    def bits(self, rows: Rows) -> Tensor:
        """The codes (B, m)."""

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        z, divergence = self.draw(batch.y)
        target = batch.y if batch.x is None else batch.x
        reconstruction, penalty = -self.decoder(z, target).mean(), divergence.mean()
        measured = {"reconstruction": reconstruction * BITS, "divergence": penalty * BITS}
        return reconstruction + self.divergence_weight * penalty, measured


class GaussianAutoencoder(Autoencoder):
    """z is Gaussian given the document; a bit is 1 where its mean is above its median over the training documents."""

    medians: Tensor

    def __init__(self, *args: Any):
        super().__init__(*args)
        self.register_buffer("medians", torch.zeros(self.n_bits))

    def mean(self, rows: Rows) -> Tensor:
        return self.encoder(rows)[:, : self.n_bits]

    def bits(self, rows: Rows) -> Tensor:
        return self.mean(rows) > self.medians


class AutoencoderHasher(NeuralHasher):
    """An estimator around an Autoencoder, which gives back the columns of a row whose value is above 0: its words."""

    hidden_layers: int
    hidden_size: int
    dropout: float
    model_: Autoencoder

    def _parts(self, n_features: int, n_outputs: int, n_read: int) -> tuple[Encoder, WordDecoder]:
        """An encoder with so many outputs, and a decoder that reads so many numbers."""
        return self._encoder(n_features, n_outputs), WordDecoder(n_read, n_features)

    def _encoder(self, n_features: int, n_outputs: int) -> Encoder:
        return Encoder(n_features, n_outputs, self.hidden_layers, self.hidden_size, self.dropout)

    def _module_bits(self, rows: Rows) -> Tensor:
        return self.model_.bits(rows)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        whole = all(isinstance(size, (int, np.integer)) for size in (self.hidden_layers, self.hidden_size))
        if not whole or self.hidden_layers < 0 or self.hidden_size < 1:
            raise ValueError(
                "hidden_layers must be a whole number from 0 up and hidden_size from 1 up, "
                f"got {self.hidden_layers!r} and {self.hidden_size!r}"
            )
        for name in ("components", "dimension", "warm_up"):
            value = getattr(self, name, 1)
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name} must be a whole number from 1 up, got {value!r}")
        for name in ("divergence_weight", "commitment"):
            if not getattr(self, name, 0) >= 0:
                raise ValueError(f"{name} must be from 0 up, got {getattr(self, name)!r}")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout must be from 0 to below 1, got {self.dropout!r}")


class GaussianHasher(AutoencoderHasher):
    """An estimator around a GaussianAutoencoder, whose thresholds are set after every epoch."""

    model_: GaussianAutoencoder
    _has_predictive_form = False

    def _after_epoch(self, X: Any) -> None:
        means = np.concatenate(list(self._by_blocks(X, self.model_.mean)))
        self.model_.medians = torch.from_numpy(np.median(means, axis=0)).to(self._device())


def straight_through(logits: Tensor, drawn: bool) -> Tensor:
    """Bits with the given log odds, drawn or the more probable ones, whose gradient is that of their probabilities."""
    q = torch.sigmoid(logits)
    bits = torch.bernoulli(q) if drawn else (q > 0.5).to(q.dtype)
    return q + (bits - q).detach()


def bernoulli_divergence(logits: Tensor, prior_logits: Tensor) -> Tensor:
    """KL(Bern(σ(a)) ‖ Bern(σ(g_c))) for a (B, m) and each of g (K, m) or (B, K, m), summed over bits: (B, K)."""
    q = torch.sigmoid(logits)
    entropy = (F.softplus(logits) - q * logits).sum(-1, keepdim=True)  # (B, 1)
    cross_entropy = F.softplus(prior_logits).sum(-1) - (prior_logits @ q.unsqueeze(-1)).squeeze(-1)  # (B, K)
    return cross_entropy - entropy


def gaussian_divergence(mean: Tensor, log_variance: Tensor, prior_mean: Tensor, prior_log_variance: Tensor) -> Tensor:
    """KL(N(mean, exp(log_variance)) ‖ N(prior...)) summed over the last dimension, shapes broadcast."""
    ratio = (log_variance - prior_log_variance).exp()
    distance = (mean - prior_mean) ** 2 / prior_log_variance.exp()
    return (ratio + distance - 1 - log_variance + prior_log_variance).sum(-1) / 2


def mixture_divergence(component_logits: Tensor, prior_logits: Tensor, divergences: Tensor) -> Tensor:
    """KL(q(c) ‖ π) + Σ_c q(c) KL_c, from log odds (B, K) of q(c) and (K,) or (B, K) of π, and KL_c (B, K): (B,)."""
    log_q = component_logits.log_softmax(-1)
    return (log_q.exp() * (log_q - prior_logits.log_softmax(-1) + divergences)).sum(-1)
