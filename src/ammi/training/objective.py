"""What the loop trains: a torch module that says what to minimise on a batch, and which code a row has."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import ClassVar

import numpy as np
from torch import Tensor, nn

from ammi.nets.matrix import Matrix
from ammi.nets.rows import Rows
from ammi.training.batches import Batch, Batches
from ammi.training.progress import Progress
from ammi.training.steps import Steps, TorchSteps

Figures = dict[str, Tensor]  # what an epoch shows, each a mean over the documents of a batch
AllRows = Callable[[], Iterable[Rows]]  # every document, block by block, from the first each time


class Objective(nn.Module, ABC):
    """A method defines `loss` and `bits`; the rest has a default.

    `rising` names a figure that rises while it learns. Where no labels choose the epoch, no run ends before.
    """

    rising: ClassVar[str | None] = None

    @abstractmethod
    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        """What to minimise on a batch, and what to show of it."""

    @abstractmethod
    def bits(self, rows: Rows) -> Tensor:
        """The codes (B, m) of rows, of 0 and 1 or of False and True."""

    def trained(self) -> Iterator[nn.Parameter]:
        """The parameters that the loop trains: all, unless a part trains itself."""
        return self.parameters()

    def steps(self, batches: Batches, learning_rate: float, clip: float) -> Steps:
        """What trains it on such batches: torch, unless there is something faster for them."""
        return TorchSteps(self, learning_rate, clip)

    def pretrain(self, X: Matrix, rng: np.random.Generator, progress: Progress) -> None:
        """What is learned from the documents X before the epochs; a run that goes on does not do it again."""

    def after_epoch(self, documents: AllRows) -> None:
        """What is learned from all documents at once when an epoch is over, such as thresholds."""

    def linear(self) -> tuple[str, str] | None:
        """The names of weights (V, m or more) and biases, where a bit is 1 if x · w + b > 0; else None."""
        return None
