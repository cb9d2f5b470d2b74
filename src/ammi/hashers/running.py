"""The stages of a fit: neighbours by words, a first model, neighbours by its codes, the final model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray

from ammi.hashers.training_data import TrainingData
from ammi.nets.matrix import Matrix
from ammi.nets.rows import row_blocks
from ammi.training.batches import Batches
from ammi.training.checkpoint import Checkpoint
from ammi.training.history import History
from ammi.training.loop import Callback, TrainingRun, train
from ammi.training.neighbours import nearest_documents
from ammi.training.objective import Objective
from ammi.training.progress import Advance, AsPart, Progress
from ammi.training.recipe import Partners, Recipe

_SHARE = 20  # at most one in this many documents is a neighbour

Neighbours = NDArray[np.integer]  # (n, k) row numbers
Probabilities = NDArray[np.float32]  # (n, m)


@dataclass(frozen=True)
class Stage:
    """One model that is trained: its documents, random numbers, progress and checkpoint."""

    data: TrainingData
    rows: NDArray[np.integer]  # the documents to train on
    rng: np.random.Generator
    device: torch.device
    progress: Progress
    checkpoint: Checkpoint | None = None
    history: History = field(default_factory=list)

    def first(self) -> "Stage":
        """Return the stage of the first model, with a checkpoint of its own."""
        checkpoint = self.checkpoint.part("first") if self.checkpoint else None
        return replace(self, progress=AsPart(self.progress, "first model"), checkpoint=checkpoint, history=[])

    def neighbours(self, wanted: int | Partners, codes: "Callable[[Stage], Probabilities] | None" = None) -> Neighbours:
        """Find the nearest documents of each by words and views, and by the codes of a first model; once for a run."""
        found = self.checkpoint.array("neighbours") if self.checkpoint else None
        if found is None:
            # With random numbers of its own: a resumed run skips this, and has to draw the same afterwards.
            aside = replace(self, rng=self.rng.spawn(1)[0])
            with torch.random.fork_rng(devices=[]):
                signs = None if codes is None else codes(aside)
                advance = self.progress.part("neighbours", len(self.rows))
                found = aside._partners(wanted, self.rows, signs, advance)
            if self.checkpoint:
                self.checkpoint.save_array("neighbours", found)
        return found

    def held_out_partners(self, wanted: int | Partners, held_out: NDArray[np.integer]) -> Neighbours:
        """Pair each held-out document with another one, as near as in training: one of as large a share of them."""
        if isinstance(wanted, int):
            wanted = max(1, round(wanted * len(held_out) / self.data.X.shape[0]))
        rng = self.rng.spawn(1)[0]
        found = replace(self, rng=rng)._partners(wanted, held_out, None, lambda rows: None)[held_out]
        return found[np.arange(len(held_out)), rng.integers(found.shape[1], size=len(held_out))]

    def _partners(
        self, wanted: int | Partners, rows: NDArray[np.integer], codes: Probabilities | None, advance: Advance
    ) -> Neighbours:
        """Return the partners (n, k) of some rows among themselves, by their numbers among all; 0 for other rows."""
        X = self.data.X
        if isinstance(wanted, int):
            k = min(wanted, max(1, len(rows) // _SHARE))
            return nearest_documents(X, k, rows, self.rng, advance, self.data.views, codes)
        among = np.asarray(wanted(X[rows]))
        if among.ndim != 2 or len(among) != len(rows) or not ((among >= 0) & (among < len(rows))).all():
            raise ValueError(
                f"neighbours is a function that gave an array of shape {among.shape}: expected the numbers of some of "
                f"the {len(rows)} rows for each of them, (rows, k)"
            )
        found = np.zeros((X.shape[0], among.shape[1]), np.int64)
        found[rows] = rows[among]
        return found

    def train(
        self,
        recipe: Recipe,
        neighbours: Neighbours | None,
        score: Callable[[], float],
        callbacks: Sequence[Callback] = (),
    ) -> TrainingRun:
        """Train on documents alone, on related ones, or on pairs of neighbours."""
        batches = Batches(
            self.data.X,
            self.data.related,
            batch_size=recipe.batch_size,
            rows=self.rows,
            neighbours=neighbours,
            sampling_exponent=recipe.sampling_exponent,
            word_dropout=recipe.word_dropout,
            device=self.device,
            rng=self.rng,
        )
        recipe.objective.to(self.device)
        run = TrainingRun(history=self.history)
        train(recipe, batches, score, run=run, checkpoint=self.checkpoint, callbacks=callbacks, progress=self.progress)
        return run

    def last_figure(self, recipe: Recipe) -> float:
        """Return the score of a recipe that keeps the last epoch."""
        return self.history[-1][recipe.rising] if recipe.rising else 0.0


def run_recipe(
    recipe: Recipe, stage: Stage, score: Callable[[], float], callbacks: Sequence[Callback] = ()
) -> TrainingRun:
    """Train a recipe's objective on the pairs that the recipe asks for.

    The full road has four stages: neighbours by words → first model → neighbours by its codes → final model. A recipe
    without neighbours has only the last one; a recipe without a first model has the first and the last one.
    """
    if not recipe.neighbours or stage.data.related is not None or len(stage.rows) < 2:
        return stage.train(recipe, None, score, callbacks)

    def first_codes(stage: Stage) -> Probabilities:
        assert recipe.first_model is not None
        first, first_stage = replace(recipe.first_model(), keep="last"), stage.first()
        by_words = first_stage.neighbours(first.neighbours)
        run = first_stage.train(first, by_words, lambda: first_stage.last_figure(first))
        if run.interrupted:
            raise KeyboardInterrupt
        codes = bit_probabilities(first.objective, stage.data.X, stage.device)
        codes *= 2  # the expected bits from -1 to 1, in place: there are as many numbers as documents times bits
        codes -= 1
        return codes

    by_codes = stage.neighbours(recipe.neighbours, first_codes if recipe.first_model else None)
    return stage.train(recipe, by_codes, score, callbacks)


@torch.no_grad()
def bit_probabilities(objective: Objective, X: Matrix, device: torch.device) -> Probabilities:
    """Return the probability (n, m) of each bit of each row to be 1."""
    return np.concatenate([objective.bit_probabilities(rows).cpu().numpy() for rows in row_blocks(X, device)])
