"""Centring and scaling of dense rows.

Embeddings are rows of unit length with small numbers around a point other than 0: unscaled, they tell an encoder with
small random weights next to nothing. Sparse rows, whose zeros have a meaning, stay as they are.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ammi.nets.matrix import Matrix, is_dense
from ammi.nets.rows import ROWS_AT_ONCE, Rows, to_dense

SCALING = "scaling.centre", "scaling.spread"  # buffers of a Scaling, if a module names it `scaling`

LENGTH = 6.0  # of a row, the root of the mean square: longer ones make Adam's steps too large, shorter ones too small

_ROUNDING = 1e-6  # relative to the values: rows with a smaller spread are equal but for rounding


class Scaling(nn.Module):
    """Maps each row x to (x - c) / s, with c the mean of the rows and s one number, so that rows have length LENGTH.

    Before it has learned c and s from dense rows it returns rows unchanged, and has no state.
    """

    centre: Tensor | None  # (V,)
    spread: Tensor | None  # ()

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("centre", None)
        self.register_buffer("spread", None)
        self.register_load_state_dict_pre_hook(_make_room)

    def learn(self, X: Matrix, device: torch.device) -> None:
        """Learn centre and spread if the rows are dense."""
        if not is_dense(X):
            return
        mean = X.mean(axis=0, dtype=np.float64)
        blocks = (X[start : start + ROWS_AT_ONCE] - mean for start in range(0, len(X), ROWS_AT_ONCE))
        distance = np.sqrt(sum(np.square(block).sum() for block in blocks) / len(X))
        equal = distance <= _ROUNDING * np.linalg.norm(mean)
        self.centre = torch.from_numpy(mean).float().to(device)
        self.spread = torch.tensor(1.0 if equal else distance / LENGTH, dtype=torch.float32, device=device)

    def forward(self, rows: Rows) -> Rows:
        if self.centre is None or self.spread is None:
            return rows
        return (to_dense(rows, len(self.centre)) - self.centre) / self.spread


def _make_room(module: nn.Module, state: dict[str, Any], prefix: str, *_: object) -> None:
    """Create centre and spread before a state is loaded that has them."""
    assert isinstance(module, Scaling)
    known = state.get(f"{prefix}centre")
    module.centre = None if known is None else torch.zeros_like(known)
    module.spread = None if known is None else known.new_ones(())
