"""A network of one's own: layers that add to what they read. `AMMI(encoder=residual)` trains it.

Models with it are saved, as the name and the arguments of the function, because that is registered. To load them, this
module is imported first; a package can announce it instead, in its pyproject.toml:

    [project.entry-points."ammi.parts"]
    residual = "residual_network:residual"
"""

import torch
from torch import Tensor, nn

from ammi.nets.encoder import FirstLayer
from ammi.nets.rows import Rows
from ammi.parts import register_part


class Residual(nn.Module):
    """Rows (B, V), which may be sparse, to numbers (B, n_outputs)."""

    def __init__(self, n_inputs: int, n_outputs: int, width: int, layers: int):
        super().__init__()
        self.first = FirstLayer(n_inputs, width)
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.last = nn.Linear(width, n_outputs)

    def forward(self, rows: Rows) -> Tensor:
        hidden = self.first(rows)  # (B, width)
        for layer in self.layers:
            hidden = hidden + layer(torch.relu(hidden))
        return self.last(hidden)


@register_part
def residual(n_inputs: int, n_outputs: int, *, width: int = 256, layers: int = 2) -> Residual:
    """Other sizes are bound with functools.partial: AMMI(encoder=partial(residual, width=64))."""
    return Residual(n_inputs, n_outputs, width, layers)
