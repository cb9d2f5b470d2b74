"""The training loop: epochs of batches, a validation score after each, the best epoch kept."""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ammi.nets.rows import row_blocks
from ammi.training.batches import Batches
from ammi.training.checkpoint import Checkpoint
from ammi.training.compiled import choose_steps
from ammi.training.finite import NotFiniteError, check_figures, check_start, check_weights
from ammi.training.history import History
from ammi.training.objective import Objective
from ammi.training.progress import Progress
from ammi.training.recipe import Recipe
from ammi.training.steps import State, Steps

Callback = Callable[[Mapping[str, float]], None]  # called with a row of the history after each epoch

_STILL_RISING = 1.1  # times the figure `patience` epochs ago


@dataclass
class TrainingRun:
    """The state of a run. A checkpoint holds all of it but why the run ended early."""

    history: History = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)
    best_epoch: int = 0
    finished: bool = False
    interrupted: bool = False
    diverged: int | None = None  # the epoch in which a number became infinite or NaN

    def add(self, score: float, weights: dict[str, Tensor], recipe: Recipe) -> None:
        """Record the score of the last epoch, and keep its weights if it is the best one so far."""
        self.history[-1]["score"] = score
        if recipe.keep == "last" or self.best_epoch == 0 or score > self.history[self.best_epoch - 1]["score"]:
            self.best, self.best_epoch = copy.deepcopy(weights), len(self.history)
        self.look_at_patience(recipe)

    def look_at_patience(self, recipe: Recipe) -> None:
        """Decide whether the run has waited long enough for a better epoch."""
        self.finished = len(self.history) - self.best_epoch >= recipe.patience and not (
            recipe.rising and self._rises(recipe.rising, recipe.patience)
        )

    def _rises(self, figure: str, patience: int) -> bool:
        """Return whether a figure rose by a tenth in the last `patience` epochs."""
        return self.history[-1][figure] > _STILL_RISING * self.history[-1 - patience][figure]

    def drop_unfinished_epoch(self) -> None:
        """Remove the row of an epoch that has no score yet."""
        self.history[:] = [row for row in self.history if "score" in row]


def train(
    recipe: Recipe,
    batches: Batches,
    score: Callable[[], float],
    *,
    run: TrainingRun,
    checkpoint: Checkpoint | None,
    callbacks: Sequence[Callback],
    progress: Progress,
) -> None:
    """Train a recipe's objective until patience or the epochs end, and leave the kept epoch in the objective.

    `run` is filled in on the way: when `score` is called, its history ends with the row of the epoch, still without
    the score. A run with a checkpoint is resumed from there; a finished one goes on if the recipe has more epochs or
    more patience than it had. Ctrl-C ends the run early and keeps the best epoch so far;
    so does an epoch that becomes infinite or NaN, which is not part of the history. Without any good epoch that is a
    NotFiniteError.
    """
    objective = recipe.objective
    saved = checkpoint.load() if checkpoint else None
    if saved is None:
        objective.pretrain(batches.Y, batches.rng, progress)
        check_start(dict(objective.named_parameters()))
    steps = choose_steps(objective, batches, recipe.learning_rate, recipe.clip)
    if saved is not None:
        _restore(saved, run, objective, steps, batches)
        run.look_at_patience(recipe)
        if len(run.history) > recipe.epochs:
            raise ValueError(
                f"the checkpoint has {len(run.history)} epochs, more than the {recipe.epochs} that are wanted: ask for "
                "as many, or use another folder"
            )
    try:
        while not run.finished and len(run.history) < recipe.epochs:
            when = f"in epoch {len(run.history) + 1}"
            row = _epoch(objective, steps, batches, when)
            objective.after_epoch(lambda: row_blocks(batches.Y, batches.device))
            check_weights(objective.state_dict(), when)
            run.history.append({"epoch": len(run.history) + 1, **row})
            scored = float(score())
            check_figures({"validation score": scored}, when)
            run.add(scored, objective.state_dict(), recipe)
            progress.epoch(run.history[-1], recipe.epochs)
            for callback in callbacks:
                callback(dict(run.history[-1]))
            if checkpoint:
                checkpoint.save(_state(run, objective, steps, batches))
    except NotFiniteError as error:
        run.drop_unfinished_epoch()
        if not run.best_epoch:
            raise
        run.diverged = len(run.history) + 1
        progress.say(f"Stopped, since {error}. Epoch {run.best_epoch} is kept.")
    except KeyboardInterrupt:
        if not run.best_epoch:
            raise
        run.drop_unfinished_epoch()
        run.interrupted = True
        progress.say(f"Stopped by hand after epoch {len(run.history)}; the best one so far is kept.")
    if run.best_epoch:
        objective.load_state_dict(run.best)
    objective.eval()  # a run that was finished before has had no epoch to switch


def _epoch(objective: Objective, steps: Steps, batches: Batches, when: str) -> dict[str, float]:
    start = time.perf_counter()
    objective.train()
    means = steps.epoch(batches)
    objective.eval()
    check_figures(means, when)
    check_weights(objective.state_dict(), when)
    seconds = time.perf_counter() - start
    return {**means, "seconds": seconds, "documents_per_second": batches.n_documents / seconds}


def _state(run: TrainingRun, objective: Objective, steps: Steps, batches: Batches) -> State:
    return {
        "history": run.history,
        "best": run.best,
        "best_epoch": run.best_epoch,
        "model": objective.state_dict(),
        "optimiser": steps.state_dict(),
        "order": batches.rng.bit_generator.state,
        "random": torch.get_rng_state(),
    }


def _restore(saved: State, run: TrainingRun, objective: Objective, steps: Steps, batches: Batches) -> None:
    objective.load_state_dict(saved["model"])
    steps.load_state_dict(saved["optimiser"])
    batches.rng.bit_generator.state = saved["order"]
    torch.set_rng_state(saved["random"])
    run.history[:] = saved["history"]
    run.best, run.best_epoch = saved["best"], saved["best_epoch"]
