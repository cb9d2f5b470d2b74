"""The training loop: epochs of batches, a validation score after each, the best epoch kept."""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from ammi.training.batches import Batches
from ammi.training.checkpoint import Checkpoint
from ammi.training.finite import NotFiniteError, check_figures, check_weights
from ammi.training.history import History
from ammi.training.objective import AllRows, Objective
from ammi.training.progress import Progress
from ammi.training.steps import State, Steps

Callback = Callable[[Mapping[str, float]], None]  # is given a row of the history when an epoch is over

_STILL_RISING = 1.1  # in times the figure so many epochs ago


@dataclass(frozen=True)
class Schedule:
    """How long to train, and in what steps."""

    epochs: int
    patience: int
    learning_rate: float
    clip: float
    rising: str | None = None  # a figure; while it still rises, patience does not end the run
    keeps_last: bool = False  # all epochs are run, and the last one is kept


@dataclass
class TrainingRun:
    """Where a run stands; all but why it ended early goes into a checkpoint."""

    history: History = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)
    best_epoch: int = 0
    finished: bool = False
    interrupted: bool = False
    diverged: int | None = None  # the epoch that left the finite, where there was one

    def add(self, score: float, weights: dict[str, Tensor], schedule: Schedule) -> None:
        """Note the score of the last epoch, and keep its weights if it is the best one so far."""
        self.history[-1]["score"] = score
        if schedule.keeps_last or self.best_epoch == 0 or score > self.history[self.best_epoch - 1]["score"]:
            self.best, self.best_epoch = copy.deepcopy(weights), len(self.history)
        self.finished = len(self.history) - self.best_epoch >= schedule.patience and not (
            schedule.rising and self._rises(schedule.rising, schedule.patience)
        )

    def _rises(self, figure: str, patience: int) -> bool:
        """Whether a figure rose by a tenth since the run began to be patient."""
        return self.history[-1][figure] > _STILL_RISING * self.history[-1 - patience][figure]


def train(
    objective: Objective,
    batches: Batches,
    documents: AllRows,
    score: Callable[[], float],
    schedule: Schedule,
    *,
    run: TrainingRun,
    saved: State | None,
    checkpoint: Checkpoint | None,
    callbacks: Sequence[Callback],
    progress: Progress,
) -> None:
    """Train until the validation score has not risen for some epochs, and leave the best epoch in the objective.

    `run` is filled in on the way; its history has the row of an epoch, still without its score, when `score` is called.
    `saved` is the state to go on from. Ctrl-C ends the run early, and the best epoch so far is kept. So does an epoch
    that leaves the finite, which is not part of the history; where no epoch is good, that is a NotFiniteError.
    """
    steps = objective.steps(batches, schedule.learning_rate, schedule.clip)
    if saved:
        _restore(saved, run, objective, steps, batches)
    try:
        while not run.finished and len(run.history) < schedule.epochs:
            when = f"in epoch {len(run.history) + 1}"
            row = _epoch(objective, steps, batches, when)
            objective.after_epoch(documents)
            check_weights(objective.state_dict(), when)
            run.history.append({"epoch": len(run.history) + 1, **row})
            scored = float(score())
            check_figures({"validation score": scored}, when)
            run.add(scored, objective.state_dict(), schedule)
            progress.epoch(run.history[-1], schedule.epochs)
            for callback in callbacks:
                callback(dict(run.history[-1]))
            if checkpoint:
                checkpoint.save(_state(run, objective, steps, batches))
    except NotFiniteError as error:
        del run.history[_scored(run) :]
        if not run.best_epoch:
            raise
        run.diverged = len(run.history) + 1
        progress.say(f"Stopped, since {error}. Epoch {run.best_epoch} is kept.")
    except KeyboardInterrupt:
        if not run.best_epoch:
            raise
        del run.history[_scored(run) :]
        run.interrupted = True
        progress.say(f"Stopped by hand after epoch {len(run.history)}; the best one so far is kept.")
    if run.best_epoch:
        objective.load_state_dict(run.best)


def _epoch(objective: Objective, steps: Steps, batches: Batches, when: str) -> dict[str, float]:
    start = time.perf_counter()
    objective.train()
    means = steps.epoch(batches)
    objective.eval()
    check_figures(means, when)
    check_weights(objective.state_dict(), when)
    seconds = time.perf_counter() - start
    return {**means, "seconds": seconds, "documents_per_second": batches.n_documents / seconds}


def _scored(run: TrainingRun) -> int:
    """How many epochs were finished, their score included."""
    return sum("score" in row for row in run.history)


def _state(run: TrainingRun, objective: Objective, steps: Steps, batches: Batches) -> State:
    return {
        "history": run.history,
        "best": run.best,
        "best_epoch": run.best_epoch,
        "finished": run.finished,
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
    run.best, run.best_epoch, run.finished = saved["best"], saved["best_epoch"], saved["finished"]
