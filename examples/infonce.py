"""A method of one's own, on pairs of neighbours: InfoNCE, min -log exp(y · x / T) / Σ of exp(y · x' / T) in a batch."""

from dataclasses import replace

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ammi.hashers import TrainedHasher
from ammi.hashers.parameters import estimator, parameter
from ammi.nets.encoder import Encoder
from ammi.nets.rows import Rows
from ammi.training.batches import Batch
from ammi.training.objective import Figures, Objective
from ammi.training.recipe import DataShape, Recipe


class InfoNCE(Objective):
    def __init__(self, encoder: Encoder, temperature: float):
        super().__init__()
        self.encoder, self.temperature = encoder, temperature

    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        y, x = (torch.tanh(self.encoder(rows)) for rows in (batch.y, batch.x))  # (B, m), a neighbour of each document
        loss = cross_entropy(y @ x.T / (y.shape[1] * self.temperature), torch.arange(len(y)))
        return loss, {"contrast": loss}

    def bits(self, rows: Rows) -> Tensor:
        return self.encoder(rows) > 0


@estimator
class Contrastive(TrainedHasher):
    temperature: float = parameter("T. Useful: 0.1 to 0.5.", default=0.3, above=0)

    def recipe(self, shape: DataShape) -> Recipe:
        return replace(super().recipe(shape), neighbours=10)

    def objective(self, n_features: int, predictive: bool) -> InfoNCE:
        return InfoNCE(Encoder(n_features, self.n_bits), self.temperature)
