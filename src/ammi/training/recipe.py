"""A recipe: what a method hands to training, as one value."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ammi.nets.matrix import Matrix
from ammi.training.objective import Objective

Partners = Callable[[Matrix], NDArray[np.integer]]  # from rows (n, V) to the numbers (n, k) of rows to pair each with


class DataShape(NamedTuple):
    """The facts about a collection that a recipe may depend on."""

    n_documents: int
    n_features: int
    predictive: bool  # whether each document comes with a related one


@dataclass(frozen=True)
class Recipe:
    """How to train an objective on one collection.

    Args:
        objective: what is minimised, freshly initialised.
        epochs: run at most this many.
        learning_rate: of Adam.
        batch_size: documents in a batch.
        clip: largest norm of a gradient.
        patience: stop after this many epochs without a better score.
        keep: if `fit` gets no validation, "best" keeps the epoch with the best `score`; "last" trains on all documents,
            runs all epochs and keeps the last one.
        score: how good the objective is after an epoch, the higher the better. None is minus the loss of a tenth of the
            documents, which are held out; if documents are paired with neighbours, so are these, among themselves.
        rising: a figure of the objective; patience does not end a run while this figure still rises. A recipe that
            keeps the last epoch shows it as the score.
        neighbours: without related documents, pair each document with one of this many nearest ones, or one of those
            that a function returns, the best first; 0 trains on documents alone.
        sampling_exponent: draw the neighbour of rank ⌊k u**exponent⌋ for a uniform u: 1 draws all equally often, more
            than 1 prefers near ones.
        first_model: makes the recipe of a model that is trained first, on neighbours by words; neighbours are then
            found by its codes as well.
        word_dropout: share of the words left out of sparse rows, drawn anew each time.
    """

    objective: Objective
    epochs: int
    learning_rate: float
    batch_size: int = 128
    clip: float = 10.0
    patience: int = 6
    keep: Literal["best", "last"] = "best"
    score: Callable[[Objective], float] | None = None
    rising: str | None = None
    neighbours: int | Partners = 0
    sampling_exponent: float = 1.0
    first_model: "Callable[[], Recipe] | None" = None
    word_dropout: float = 0.0

    def validated(self) -> Self:
        """Return the recipe for a run whose epoch is chosen by a validation."""
        # Any score is noisy as long as codes tell little: the best of the first epochs may be so by luck. A recipe
        # that trusts the last epoch more than the best one therefore still waits while the figure rises.
        return replace(self, keep="best", rising=self.rising if self.keep == "last" else None)
