"""Dense rows as a network reads them: from their centre, in units of their spread.

Embeddings are rows of unit length whose numbers are small and lie around a point other than 0: read as they are, they
tell an encoder of small random weights next to nothing. Sparse rows, whose zeros mean something, stay as they are.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ammi.nets.matrix import Matrix, is_dense
from ammi.nets.rows import Rows, to_dense

SCALING = "scaling.centre", "scaling.spread"  # of a Scaling that a module calls its scaling

LENGTH = 6.0  # of a row, the root of the mean square: longer ones make Adam's steps too large, shorter ones too small

_ROWS_AT_ONCE = 4096
_ROUNDING = 1e-6  # a spread this small beside the values themselves is what float32 makes of equal rows


class Scaling(nn.Module):
    """(x - c) / s of each row x, with c the mean of the rows and s one number, so that rows are about LENGTH long.

    Until it has learned these from dense rows it leaves rows alone, and has nothing to be saved.
    """

    centre: Tensor | None  # (V,)
    spread: Tensor | None  # ()

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("centre", None)
        self.register_buffer("spread", None)
        self.register_load_state_dict_pre_hook(_make_room)

    def learn(self, X: Matrix, device: torch.device) -> None:
        """Find centre and spread where the rows are dense."""
        if not is_dense(X):
            return
        mean = X.mean(axis=0, dtype=np.float64)
        blocks = (X[start : start + _ROWS_AT_ONCE] - mean for start in range(0, len(X), _ROWS_AT_ONCE))
        distance = np.sqrt(sum(np.square(block).sum() for block in blocks) / len(X))
        equal = distance <= _ROUNDING * np.linalg.norm(mean)
        self.centre = torch.from_numpy(mean).float().to(device)
        self.spread = torch.tensor(1.0 if equal else distance / LENGTH, dtype=torch.float32, device=device)

    def forward(self, rows: Rows) -> Rows:
        if self.centre is None or self.spread is None:
            return rows
        return (to_dense(rows, len(self.centre)) - self.centre) / self.spread


def _make_room(module: nn.Module, state: dict[str, Any], prefix: str, *_: object) -> None:
    """Before a saved state is loaded: have centre and spread where it has, and else not."""
    assert isinstance(module, Scaling)
    known = state.get(f"{prefix}centre")
    module.centre = None if known is None else torch.zeros_like(known)
    module.spread = None if known is None else known.new_ones(())
