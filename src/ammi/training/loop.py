"""The training loop: epochs of batches, a validation score after each, the best epoch kept."""

import copy
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from ammi.training.batches import Batch, Batches
from ammi.training.checkpoint import Checkpoint
from ammi.training.history import History
from ammi.training.progress import TrainingProgress


class Objective(Protocol):
    """A torch module that says what to minimise on a batch, and what to show of it."""

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]: ...


@dataclass
class Run:
    """Where a training run stands; all but whether it was interrupted goes into a checkpoint."""

    history: History
    best: dict[str, Tensor]
    best_epoch: int = 0
    finished: bool = False
    interrupted: bool = False


def train(
    model: Any,
    batches: Batches,
    validate: Callable[[], float],
    after_epoch: Callable[[], None],
    *,
    epochs: int,
    patience: int,
    learning_rate: float,
    clip: float,
    checkpoint: Checkpoint | None,
    progress: TrainingProgress,
) -> Run:
    """Train until the validation score has not risen for `patience` epochs, and leave the best epoch in the model.

    Ctrl-C ends the run early, and the best epoch so far is kept.
    """
    optimiser = torch.optim.Adam(list(_trained(model)), lr=learning_rate, fused=True)
    run = Run(history=[], best=_copy(model))
    if checkpoint and (saved := checkpoint.load()):
        run = _restore(saved, model, optimiser, batches)
    try:
        while not run.finished and len(run.history) < epochs:
            row = _epoch(model, batches, optimiser, clip)
            after_epoch()
            row["score"] = float(validate())
            run.history.append({"epoch": len(run.history) + 1, **row})
            if run.best_epoch == 0 or row["score"] > run.history[run.best_epoch - 1]["score"]:
                run.best, run.best_epoch = _copy(model), len(run.history)
            run.finished = len(run.history) - run.best_epoch >= patience
            progress.show(run.history[-1])
            if checkpoint:
                checkpoint.save(_state(run, model, optimiser, batches))
    except KeyboardInterrupt:
        run.interrupted = True
        progress.say(f"Stopped by hand after epoch {len(run.history)}; the best one so far is kept.")
    if run.best_epoch:
        model.load_state_dict(run.best)
    return run


def _epoch(model: Any, batches: Batches, optimiser: torch.optim.Optimizer, clip: float) -> dict[str, float]:
    start = time.perf_counter()
    totals: dict[str, Tensor] = {}
    model.train()
    trained = list(_trained(model))
    for batch in batches:
        with one_thread():
            loss, measured = model.loss(batch)
            optimiser.zero_grad()
            loss.backward()
            _clip(trained, clip)
        optimiser.step()  # number by number, so the same on any number of threads
        for name, value in measured.items():
            totals[name] = totals.get(name, torch.zeros(())) + value.detach() * batch.size
    model.eval()
    seconds = time.perf_counter() - start
    means = {name: (total / batches.n_documents).item() for name, total in totals.items()}
    return {**means, "seconds": seconds, "documents_per_second": batches.n_documents / seconds}


@contextmanager
def one_thread() -> Iterator[None]:
    """One thread for steps of a batch: at their size a second one gains little, and sums must not depend on it."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _clip(parameters: list[nn.Parameter], largest: float) -> None:
    """Shorten the gradient to a norm of `largest`; most of the time there is nothing to do."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients]).norm()
    if norm > largest:
        for gradient in gradients:
            gradient.mul_(largest / norm)


def _trained(model: Any) -> Iterator[nn.Parameter]:
    """The parameters that the loop trains: an adversary, where the model has one, trains itself."""
    return (p for name, p in model.named_parameters() if not name.startswith("adversary."))


def _copy(model: Any) -> dict[str, Tensor]:
    return copy.deepcopy(model.state_dict())


def _state(run: Run, model: Any, optimiser: torch.optim.Optimizer, batches: Batches) -> dict[str, Any]:
    return {
        "history": run.history,
        "best": run.best,
        "best_epoch": run.best_epoch,
        "finished": run.finished,
        "model": model.state_dict(),
        "optimiser": optimiser.state_dict(),
        "order": batches.rng.bit_generator.state,
        "random": torch.get_rng_state(),
    }


def _restore(saved: dict[str, Any], model: Any, optimiser: torch.optim.Optimizer, batches: Batches) -> Run:
    model.load_state_dict(saved["model"])
    optimiser.load_state_dict(saved["optimiser"])
    batches.rng.bit_generator.state = saved["order"]
    torch.set_rng_state(saved["random"])
    return Run(saved["history"], saved["best"], saved["best_epoch"], saved["finished"])
