"""The paper's variational prior q(z): a table of logits computed by a small network."""

import torch
from torch import Tensor, nn

from ammi.chain import Structure
from ammi.parts import part_in_words


class Prior(nn.Module):
    """The table (m, K) of a structure, from an embedding Θ (m, H) through ReLU layers; H = 0 is the raw table."""

    def __init__(self, structure: Structure, layers: int, size: int):
        super().__init__()
        self.structure, self.layers, self.size = structure, layers, size
        n_bits, width = structure.shape
        self.embedding = nn.Parameter(torch.empty(n_bits, size or width))
        self.network: nn.Module = nn.Identity()
        if size:
            hidden = [module for _ in range(layers) for module in (nn.Linear(size, size), nn.ReLU())]
            self.network = nn.Sequential(*hidden, nn.Linear(size, width))

    def forward(self) -> Tensor:
        return self.network(self.embedding)

    def __repr__(self) -> str:
        return part_in_words(self)
