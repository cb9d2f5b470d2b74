"""A run of training that is about to begin."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ammi.hashers.given import Given
from ammi.training.checkpoint import Checkpoint
from ammi.training.progress import Progress
from ammi.training.steps import State


@dataclass(frozen=True)
class Stage:
    """A run that is about to begin, or to go on from what was saved: on which documents, and where it is kept."""

    given: Given
    rows: NDArray[np.integer]
    rng: np.random.Generator
    progress: Progress
    checkpoint: Checkpoint | None = None
    saved: State | None = None
