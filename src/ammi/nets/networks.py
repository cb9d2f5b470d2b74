"""Encoder networks that users and other packages add, beside the ReLU layers of encoder.py.

A network is any torch module from rows (B, V) to numbers (B, n_outputs), or a function `(n_inputs, n_outputs)` that
makes one. `ammi.parts` says how it is saved with a model.
"""

import copy
from collections.abc import Callable

import torch
from torch import Tensor, nn

from ammi.nets.encoder import FirstLayer
from ammi.nets.rows import Rows, dense_blocks

Factory = Callable[..., nn.Module]

_ROWS = 512  # dense ones at once, where a batch may be cut


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
