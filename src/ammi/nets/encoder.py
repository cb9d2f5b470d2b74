"""Encoders: from a document's row to the numbers that define its code."""

import math
from collections.abc import Iterable
from itertools import pairwise

import torch
from torch import Tensor, nn

from ammi.nets.rows import Rows, product

LINEAR = "encoder.0.weight", "encoder.0.bias"  # parameters of a linear Encoder, if a module names it `encoder`


class FirstLayer(nn.Module):
    """A linear layer whose input may be sparse; it starts with random numbers as torch's nn.Linear does."""

    def __init__(self, n_inputs: int, n_outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_inputs, n_outputs))
        self.bias = nn.Parameter(torch.empty(n_outputs))
        draw_uniform(self.parameters(), 1 / math.sqrt(n_inputs))

    def forward(self, rows: Rows) -> Tensor:
        return product(rows, self.weight) + self.bias


class Encoder(nn.Sequential):
    """A network from rows (B, V) to (B, n_outputs) with ReLU layers and dropout; without hidden layers it is linear."""

    def __init__(
        self, n_inputs: int, n_outputs: int, hidden_layers: int = 0, hidden_size: int = 512, dropout: float = 0.0
    ):
        sizes = [hidden_size] * hidden_layers + [n_outputs]
        with torch.random.fork_rng(devices=[]):  # `initialise` follows, and is to draw the same numbers as ever
            layers: list[nn.Module] = [FirstLayer(n_inputs, sizes[0])]
        for before, after in pairwise(sizes):
            layers += [nn.ReLU(), *([nn.Dropout(dropout)] if dropout else []), nn.Linear(before, after)]
        super().__init__(*layers)

    @property
    def first(self) -> FirstLayer:
        """The layer that reads the rows."""
        layer = self[0]
        assert isinstance(layer, FirstLayer)
        return layer

    @property
    def is_linear(self) -> bool:
        """Whether there is only the first layer, `0.weight` and `0.bias`."""
        return len(self) == 1


@torch.no_grad()
def draw_uniform(parameters: Iterable[nn.Parameter], init_range: float) -> None:
    """Draw parameters uniformly from (-α, α), as the paper does."""
    for parameter in parameters:
        parameter.uniform_(-init_range, init_range)


def initialise(module: nn.Module, init_range: float) -> None:
    """Draw every parameter of a module."""
    draw_uniform(module.parameters(), init_range)
