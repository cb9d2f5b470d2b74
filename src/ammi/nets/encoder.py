"""Encoders: from a document's row to the numbers that define its code.

Beside the ReLU layers of `Encoder`, users and other packages add networks: any torch module from rows (B, V) to numbers
(B, n_outputs), or a function `(n_inputs, n_outputs)` that makes one. `ammi.parts` says how it is saved with a model.
"""

import copy
import math
from collections.abc import Callable, Iterable
from itertools import pairwise

import torch
from torch import Tensor, nn

from ammi.nets.rows import Rows, dense_blocks, product

Factory = Callable[..., nn.Module]

LINEAR = "encoder.0.weight", "encoder.0.bias"  # parameters of a linear Encoder, if a module names it `encoder`

_ROWS = 512  # dense ones at once, where a batch may be cut


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


class DenseInput(nn.Module):
    """Gives sparse rows as dense tensors to a network that reads nothing else."""

    def __init__(self, network: nn.Module, n_inputs: int):
        super().__init__()
        self.network, self.n_inputs = network, n_inputs

    def forward(self, rows: Rows) -> Tensor:
        if isinstance(rows, Tensor):
            return self.network(rows)
        size = None if self.training else _ROWS  # in training, batch normalisation sees the whole batch
        return torch.cat([self.network(block) for block in dense_blocks(rows, self.n_inputs, size)])


def build_network(network: nn.Module | Factory, n_inputs: int, n_outputs: int) -> nn.Module:
    """Return a copy of a module, or the module that a function makes, so that it reads rows that may be sparse."""
    made = copy.deepcopy(network) if isinstance(network, nn.Module) else network(n_inputs, n_outputs)
    if not isinstance(made, nn.Module):
        raise ValueError(f"the encoder {network!r} gave {made!r:.60}, expected a torch module: return one from it")
    reads_sparse_rows = any(isinstance(module, FirstLayer) for module in made.modules())
    return made if reads_sparse_rows else DenseInput(made, n_inputs)
