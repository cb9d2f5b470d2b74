"""A run of training that is about to begin, and what runs one in other processes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ammi.hashers.given import Given
from ammi.training.checkpoint import Checkpoint
from ammi.training.exchange import ALONE, Exchange
from ammi.training.loop import Callback
from ammi.training.progress import Progress
from ammi.training.steps import State

if TYPE_CHECKING:
    from ammi.hashers.trained import TrainedHasher


@dataclass(frozen=True)
class Stage:
    """A run that is about to begin, or to go on from what was saved: on which documents, and where it is kept."""

    given: Given
    rows: NDArray[np.integer]
    rng: np.random.Generator
    progress: Progress
    checkpoint: Checkpoint | None = None
    saved: State | None = None
    exchange: Exchange = ALONE


class Elsewhere(Protocol):
    """Fits a hasher in other processes: it is given what `fit` is given, and returns a fitted copy."""

    def __call__(
        self, hasher: "TrainedHasher", arguments: dict[str, Any], callbacks: Sequence[Callback], progress: Progress
    ) -> "TrainedHasher": ...
