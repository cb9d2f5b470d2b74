"""The interface of an objective: a torch module with a loss on a batch, and a code for each row."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from torch import Tensor, nn

from ammi.nets.matrix import Matrix
from ammi.nets.rows import Rows
from ammi.training.batches import Batch
from ammi.training.progress import Progress

Figures = dict[str, Tensor]  # shown for each epoch, each a mean over the documents of a batch
AllRows = Callable[[], Iterable[Rows]]  # every document, block by block, from the first one on each call


class Objective(nn.Module, ABC):
    """A loss and codes. A method defines `loss` and `bits`; the rest has a default."""

    @abstractmethod
    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        """Return the loss of a batch, and figures to show."""

    @abstractmethod
    def bits(self, rows: Rows) -> Tensor:
        """Return the codes (B, m) of rows, of 0 and 1 or of False and True."""

    def bit_probabilities(self, rows: Rows) -> Tensor:
        """Return the probability (B, m) of each bit to be 1; by default the bits themselves."""
        return self.bits(rows).float()

    def trained(self) -> Iterator[nn.Parameter]:
        """Return the parameters that gradient steps train: all, unless a part trains itself."""
        return self.parameters()

    def pretrain(self, X: Matrix, rng: np.random.Generator, progress: Progress) -> None:
        """Learn from the documents X before the first epoch; a resumed run does not repeat it."""

    def after_epoch(self, documents: AllRows) -> None:
        """Learn from all documents at once after an epoch, such as thresholds."""

    def linear(self) -> tuple[str, str] | None:
        """Name the weights (V, m or more) and biases if a bit is 1 where x · w + b > 0, else return None."""
        return None
