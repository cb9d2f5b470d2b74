"""The training loop: epochs of batches, a validation score after each, the best epoch kept."""

import copy
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from ammi.training.batches import Batches
from ammi.training.checkpoint import Checkpoint
from ammi.training.history import History
from ammi.training.objective import AllRows, Objective
from ammi.training.progress import Progress
from ammi.training.threads import torch_threads

State = dict[str, Any]  # what a checkpoint holds
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


@dataclass
class TrainingRun:
    """Where a run stands; all but whether it was interrupted goes into a checkpoint."""

    history: History = field(default_factory=list)
    best: dict[str, Tensor] = field(default_factory=dict)
    best_epoch: int = 0
    finished: bool = False
    interrupted: bool = False

    def add(self, score: float, weights: dict[str, Tensor], patience: int, rising: str | None = None) -> None:
        """Note the score of the last epoch, and keep its weights if it is the best one so far."""
        self.history[-1]["score"] = score
        if self.best_epoch == 0 or score > self.history[self.best_epoch - 1]["score"]:
            self.best, self.best_epoch = copy.deepcopy(weights), len(self.history)
        self.finished = len(self.history) - self.best_epoch >= patience and not (
            rising and self._rises(rising, patience)
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
    `saved` is the state to go on from. Ctrl-C ends the run early, and the best epoch so far is kept.
    """
    optimiser = torch.optim.Adam(list(objective.trained()), lr=schedule.learning_rate, fused=True)
    if saved:
        _restore(saved, run, objective, optimiser, batches)
    try:
        while not run.finished and len(run.history) < schedule.epochs:
            row = _epoch(objective, batches, optimiser, schedule.clip)
            objective.after_epoch(documents)
            run.history.append({"epoch": len(run.history) + 1, **row})
            run.add(float(score()), objective.state_dict(), schedule.patience, schedule.rising)
            progress.epoch(run.history[-1])
            for callback in callbacks:
                callback(dict(run.history[-1]))
            if checkpoint:
                checkpoint.save(_state(run, objective, optimiser, batches))
    except KeyboardInterrupt:
        if not run.best_epoch:
            raise
        del run.history[_scored(run) :]
        run.interrupted = True
        progress.say(f"Stopped by hand after epoch {len(run.history)}; the best one so far is kept.")
    if run.best_epoch:
        objective.load_state_dict(run.best)


def _epoch(
    objective: Objective, batches: Batches, optimiser: torch.optim.Optimizer, largest: float
) -> dict[str, float]:
    start = time.perf_counter()
    totals: dict[str, Tensor] = {}
    objective.train()
    trained = list(objective.trained())
    for batch in batches:
        with torch_threads(1):  # a second one gains little at this size, and sums must not depend on it
            loss, figures = objective.loss(batch)
            optimiser.zero_grad()
            loss.backward()
            _clip(trained, largest)
        optimiser.step()  # number by number, so the same on any number of threads
        for name, value in figures.items():
            totals[name] = totals.get(name, torch.zeros(())) + value.detach() * batch.size
    objective.eval()
    seconds = time.perf_counter() - start
    means = {name: (total / batches.n_documents).item() for name, total in totals.items()}
    return {**means, "seconds": seconds, "documents_per_second": batches.n_documents / seconds}


def _clip(parameters: list[nn.Parameter], largest: float) -> None:
    """Shorten the gradient to a norm of `largest`; most of the time there is nothing to do."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients]).norm()
    if norm > largest:
        for gradient in gradients:
            gradient.mul_(largest / norm)


def _scored(run: TrainingRun) -> int:
    """How many epochs were finished, their score included."""
    return sum("score" in row for row in run.history)


def _state(run: TrainingRun, objective: Objective, optimiser: torch.optim.Optimizer, batches: Batches) -> State:
    return {
        "history": run.history,
        "best": run.best,
        "best_epoch": run.best_epoch,
        "finished": run.finished,
        "model": objective.state_dict(),
        "optimiser": optimiser.state_dict(),
        "order": batches.rng.bit_generator.state,
        "random": torch.get_rng_state(),
    }


def _restore(
    saved: State, run: TrainingRun, objective: Objective, optimiser: torch.optim.Optimizer, batches: Batches
) -> None:
    objective.load_state_dict(saved["model"])
    optimiser.load_state_dict(saved["optimiser"])
    batches.rng.bit_generator.state = saved["order"]
    torch.set_rng_state(saved["random"])
    run.history[:] = saved["history"]
    run.best, run.best_epoch, run.finished = saved["best"], saved["best_epoch"], saved["finished"]
