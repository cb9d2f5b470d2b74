"""An objective as small as can be: where the documents' middle is; a bit says on which side of it a number is."""

import io
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from ammi.files import read_with_digest
from ammi.nets.rows import Rows
from ammi.training.batches import Batch, Batches
from ammi.training.objective import AllRows, Figures, Objective


class Middle(Objective):
    """Minimises the squared distance of dense rows from a point, with some noise on it while it is trained."""

    def __init__(self, n_columns: int = 3):
        super().__init__()
        self.point = nn.Parameter(torch.zeros(n_columns))
        self.asleep = nn.Parameter(torch.zeros(1))  # no part of the loss
        self.epochs_seen: list[int] = []

    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        assert isinstance(batch.y, Tensor)
        assert torch.get_num_threads() == 1
        noise = 0.01 * torch.randn_like(self.point) if self.training else 0
        distance = ((batch.y - self.point - noise) ** 2).sum(1).mean()
        return distance, {"distance": distance, "total": batch.y.sum(1).mean()}

    def bits(self, rows: Rows) -> Tensor:
        assert isinstance(rows, Tensor)
        return rows > self.point

    def after_epoch(self, documents: AllRows) -> None:
        assert not self.training
        self.epochs_seen.append(sum(len(rows) for rows in documents()))


def documents(n: int = 50) -> np.ndarray:
    return np.random.default_rng(0).normal(1.0, 0.1, (n, 3)).astype(np.float32)


def kept_array(path: Path) -> np.ndarray:
    """What a checkpoint keeps in a file beside it."""
    return torch.load(io.BytesIO(read_with_digest(path)), weights_only=True)["content"].numpy()


def batches(X: np.ndarray) -> Batches:
    return Batches(X, batch_size=16, rng=np.random.default_rng(1))
