"""BMSH: a Bernoulli autoencoder of words whose prior is a mixture of Bernoullis.

max E[log p(x|z)] - β (KL(q(c|y) ‖ π) + Σ_c q(c|y) KL(Bern(q(y)) ‖ Bern(γ_c))), z drawn from Bern(q(y)) with a
straight-through gradient. In predictive hashing x is the related document, and π and γ are functions of y.
"""

import math
from dataclasses import replace

import torch
from torch import Tensor, nn

from ammi.hashers.autoencoder import AutoencoderHasher, BernoulliAutoencoder
from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.trained import MOST_RATE, MOST_SIZE
from ammi.nets.decoder import WordDecoder
from ammi.nets.divergences import bernoulli_divergence, mixture_divergence, straight_through
from ammi.nets.encoder import Encoder
from ammi.nets.rows import Rows
from ammi.training.recipe import DataShape, Recipe

LARGEST_LOGIT = 1.0  # of γ as a function of y, which would diverge otherwise; the published program's


class BMSHObjective(BernoulliAutoencoder):
    def __init__(
        self,
        components: int,
        conditional_prior: Encoder | None,
        encoder: nn.Module,
        decoder: WordDecoder,
        n_bits: int,
        divergence_weight: float,
    ):
        super().__init__(encoder, decoder, n_bits, divergence_weight)
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


@estimator
class BMSH(AutoencoderHasher):
    """A Bernoulli autoencoder with a mixture prior; takes `related` documents."""

    predictive = True

    components: int = parameter(
        "Bernoullis of the prior. Useful: 10 to 80.", default=50, whole=True, least=1, most=MOST_SIZE
    )
    divergence_weight: float = parameter(
        "β, the weight of the divergence from the prior. Useful: 0.5 to 3.", default=1.0, least=0
    )
    learning_rate: float | None = parameter(
        "η; by default 0.04 / √n_bits, since long codes diverge at rates that short ones need.",
        default=None,
        above=0,
        most=MOST_RATE,
        optional=True,
    )
    hidden_layers: int = 1
    hidden_size: int = 300
    dropout: float = 0.5
    init_range: float = 0.3

    def objective(self, n_features: int, predictive: bool) -> BMSHObjective:
        parts = self._parts(n_features, self.n_bits + self.components, self.n_bits)
        prior = None
        if predictive:
            n_outputs = self.components * (1 + self.n_bits)
            prior = Encoder(n_features, n_outputs, max(1, self._n_layers()), self.hidden_size)
        return self._initialised(BMSHObjective(self.components, prior, *parts, self.n_bits, self.divergence_weight))

    def recipe(self, shape: DataShape) -> Recipe:
        rate = 0.04 / math.sqrt(self.n_bits) if self.learning_rate is None else self.learning_rate
        return replace(super().recipe(shape), learning_rate=rate)
