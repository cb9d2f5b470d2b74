"""The variational autoencoders: an encoder, bits or numbers drawn from its distribution, and a word decoder.

max E[log p(x|z)] - β KL(q(z|y) ‖ p(z)),   x = y, or in predictive hashing the document related to y
"""

from abc import abstractmethod
from typing import TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from ammi.hashers.encoders import EncoderHasher
from ammi.hashers.parameters import estimator, parameter
from ammi.nets.decoder import WordDecoder
from ammi.nets.divergences import BITS_PER_NAT
from ammi.nets.encoder import LINEAR, Encoder, draw_uniform
from ammi.nets.rows import Rows
from ammi.training.batches import Batch
from ammi.training.objective import AllRows, Figures, Objective

A = TypeVar("A", bound="Autoencoder")


class Autoencoder(Objective):
    """An encoder and a word decoder. A method draws the code, and computes its divergence from the prior."""

    def __init__(self, encoder: nn.Module, decoder: WordDecoder, n_bits: int, divergence_weight: float = 1.0):
        super().__init__()
        self.encoder, self.decoder = encoder, decoder
        self.n_bits, self.divergence_weight = n_bits, divergence_weight

    @abstractmethod
    def draw(self, rows: Rows) -> tuple[Tensor, Tensor]:
        """Return the input of the decoder (B, ·), and the divergence of each row (B,)."""

    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        z, divergence = self.draw(batch.y)
        target = batch.y if batch.x is None else batch.x
        reconstruction, penalty = -self.decoder(z, target).mean(), divergence.mean()
        figures = {"reconstruction": reconstruction * BITS_PER_NAT, "divergence": penalty * BITS_PER_NAT}
        return reconstruction + self.divergence_weight * penalty, figures


class BernoulliAutoencoder(Autoencoder):
    """The first m outputs of the encoder are the log odds of the bits."""

    def bits(self, rows: Rows) -> Tensor:
        return self.encoder(rows)[:, : self.n_bits] > 0

    def linear(self) -> tuple[str, str] | None:
        return LINEAR if isinstance(self.encoder, Encoder) and self.encoder.is_linear else None


class GaussianAutoencoder(Autoencoder):
    """z is Gaussian given the document; a bit is 1 if its mean is above the median over the training documents."""

    medians: Tensor

    def __init__(self, encoder: nn.Module, decoder: WordDecoder, n_bits: int, divergence_weight: float = 1.0):
        super().__init__(encoder, decoder, n_bits, divergence_weight)
        self.register_buffer("medians", torch.zeros(self.n_bits))

    def mean(self, rows: Rows) -> Tensor:
        return self.encoder(rows)[:, : self.n_bits]

    def sample(self, mean: Tensor, log_variance: Tensor) -> Tensor:
        """Draw z in training; afterwards return its mean."""
        return mean + torch.randn_like(mean) * (log_variance / 2).exp() if self.training else mean

    def bits(self, rows: Rows) -> Tensor:
        return self.mean(rows) > self.medians

    @torch.no_grad()
    def after_epoch(self, documents: AllRows) -> None:
        means = np.concatenate([self.mean(rows).cpu().numpy() for rows in documents()])
        self.medians = torch.from_numpy(np.median(means, axis=0)).to(self.medians.device)


@estimator
class AutoencoderHasher(EncoderHasher):
    """An estimator around an Autoencoder, which reconstructs the words of a row: its columns with a value above 0."""

    dropout: float = parameter(
        "share of the hidden layers' units left out at random in training.", default=0.1, least=0, below=1
    )

    def _parts(self, n_features: int, n_outputs: int, n_read: int) -> tuple[nn.Module, WordDecoder]:
        """Make an encoder with n_outputs outputs, and a decoder that reads n_read numbers."""
        return self._encoder(n_features, n_outputs, self.dropout), WordDecoder(n_read, n_features)

    def _initialised(self, objective: A) -> A:
        """Draw every parameter, except those of a user's network, which comes initialised."""
        own = set(objective.encoder.parameters()) if callable(self.encoder) else set()
        draw_uniform((parameter for parameter in objective.parameters() if parameter not in own), self.init_range)
        return objective
