"""Hyperparameters by search: the paper's random search over its grid, with Optuna.

A study is kept in a database, so that a search that was killed goes on where it was, and several machines may share
one. Beside it, as files: the best parameters, which `ammi fit --config` takes, all trials, from which a database that
was lost is made again, and plots.
"""

import inspect
import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ammi.experiments.machine import machine
from ammi.experiments.plots import search_history, search_importance
from ammi.experiments.runs import GENERAL, Run, write_json
from ammi.experiments.tasks import Task
from ammi.hashers import by_name

if TYPE_CHECKING:
    from optuna import Study, Trial
    from optuna.trial import FrozenTrial

Sampler = Literal["random", "tpe"]
Grid = Mapping[str, tuple[Any, ...]]

MEASURED = ("seconds", "cpu_seconds", "sampler")  # of a trial, beside its scores

_ENTROPY: Grid = {
    "batch_size": (16, 32, 64, 128),
    "learning_rate": (0.03, 0.01, 0.003, 0.001, 0.0003, 0.0001),
    "entropy_weight": (1.0, 1.5, 2.0, 2.5, 3.0, 3.5),
}
_AUTOENCODER: Grid = {
    "batch_size": (64, 128, 256),
    "learning_rate": (0.03, 0.01, 0.003, 0.001),
    "hidden_layers": (0, 1),
    "hidden_size": (300, 500, 700),
    "dropout": (0.0, 0.2, 0.5),
    "init_range": (0.1, 0.3),
}
# AMMI's and BMMI's are the paper's, with the choice of an adversary; it does not say what it varies of the others.
GRIDS: dict[str, Grid] = {
    "ammi": {
        **_ENTROPY,
        "adversary": ("exact", "gradient"),
        "adversary_steps": (1, 2, 4),
        "adversary_learning_rate": (0.03, 0.01, 0.003, 0.001),
    },
    "bmmi": _ENTROPY,
    "bmsh": {
        **_AUTOENCODER,
        "learning_rate": (None, 0.01, 0.003, 0.001),
        "components": (10, 20, 50, 80),
        "divergence_weight": (0.5, 1.0, 2.0),
    },
    "dvq": {
        "batch_size": (32, 64, 128),
        "learning_rate": (0.03, 0.01, 0.003, 0.001),
        "dimension": (1, 2, 4),
        "commitment": (0.1, 0.25, 0.5, 1.0, 2.0, 4.0),
        "hidden_layers": (0, 1),
        "init_range": (0.1, 0.3),
    },
    "gmsh": {**_AUTOENCODER, "components": (10, 20, 50), "divergence_weight": (0.5, 1.0, 2.0)},
    "itq": {"iterations": (10, 50, 200)},
    "nash": {**_AUTOENCODER, "divergence_weight": (0.5, 1.0, 2.0)},
    "srbm": {"hidden_size": (300, 500, 700), "noise": (1.0, 4.0, 8.0), "learning_rate": (0.003, 0.001, 0.0003)},
    "sth": {"neighbours": (10, 25, 50), "C": (0.01, 0.1, 1.0, 10.0)},
    "vdsh": {**_AUTOENCODER, "hidden_layers": (1, 2), "warm_up": (1000, 5000)},
}
_ONLY_WITH: dict[str, tuple[str, Any]] = {
    "adversary_steps": ("adversary", ("gradient",)),
    "adversary_learning_rate": ("adversary", ("gradient",)),
    "hidden_size": ("hidden_layers", (1, 2)),
    "dropout": ("hidden_layers", (1, 2)),
}


@dataclass(frozen=True)
class Search:
    """What is searched: a method at so many bits on a task, with some parameters fixed and the rest on a grid."""

    task: str
    method: str
    bits: int
    fixed: Mapping[str, Any]
    sampler: Sampler = "random"
    seed: int = 0

    @property
    def grid(self) -> Grid:
        """What is varied."""
        return {name: values for name, values in GRIDS[self.method].items() if name not in self.fixed}

    def check(self) -> None:
        """Refuse a method that has nothing to vary, and to fix what is no hyperparameter."""
        if self.method not in GRIDS:
            raise ValueError(f"{self.method} has nothing to tune: methods to tune are {', '.join(sorted(GRIDS))}")
        if wrong := [name for name in GENERAL if name in self.fixed]:
            raise ValueError(f"{wrong[0]} is no hyperparameter: the search sets it from its bits and its seed")

    def run(self, found: Mapping[str, Any]) -> Run:
        return Run(self.task, self.method, self.bits, {**self.fixed, **found}, self.seed)


class Tuning:
    """A search under way: its study, the task, and the folder of its files."""

    def __init__(self, search: Search, task: Task, folder: Path, storage: str | None = None):
        self.search, self.task, self.folder = search, task, folder
        folder.mkdir(parents=True, exist_ok=True)
        self.study = _open(search, storage or f"sqlite:///{folder / 'study.db'}")
        self._claim()
        self._take_back()

    @property
    def finished(self) -> "list[FrozenTrial]":
        """The trials that were measured, to their end or until they were given up."""
        return [trial for trial in self.study.get_trials(deepcopy=False) if trial.state.name in ("COMPLETE", "PRUNED")]

    def go_on(self, trials: int, watch: Callable[[int, int, float], None], done: Callable[[], None]) -> None:
        """Try until so many trials are finished; tell of each epoch (trial, epoch, score) and of each trial."""
        while len(self.finished) < trials:
            self._try(watch)
            self.write()
            done()

    def rows(self) -> list[dict[str, Any]]:
        """The finished trials: state, validation score, parameters, the scores of all epochs, and seconds."""
        return [_row(trial) for trial in self.finished]

    def plot(self) -> None:
        """Draw the history of the search and the importance of the parameters."""
        if figure := search_importance(self.study):
            figure.savefig(self.folder / "importance.png", dpi=110)
        search_history(self.rows()).savefig(self.folder / "history.png", dpi=110)

    def write(self) -> None:
        """Write the best parameters, and then the list of trials, which says that they are there."""
        trials = self.rows()
        about = {"task": self.search.task, "method": self.search.method, "bits": self.search.bits}
        best = {**about, "parameters": {"n_bits": self.search.bits, **self.best_parameters()}}
        write_json(self.folder / "best.json", {**best, "validation": self.study.best_value, "trials": len(trials)})
        write_json(self.folder / "trials.json", {**about, **self._identity(), **machine(), "trials": trials})

    def best_parameters(self) -> dict[str, Any]:
        return {**self.search.fixed, **self.study.best_params}

    def _claim(self) -> None:
        """Make an empty study the one of this search; one of another search is refused."""
        wanted, kept = self._identity(), self.study.user_attrs
        if other := [name for name in wanted if kept and kept.get(name) != wanted[name]]:
            raise ValueError(
                f"the study {self.study.study_name!r} is of another search, with other {' and '.join(other)}: "
                "choose another --out, or another --storage"
            )
        for name, value in wanted.items():
            self.study.set_user_attr(name, value)
        if not self.study.get_trials(deepcopy=False):
            self._restore()
            self.study.enqueue_trial(_near_defaults(self.search), skip_if_exists=True)

    def _identity(self) -> dict[str, Any]:
        """What a study is of."""
        grid = {name: list(values) for name, values in self.search.grid.items()}
        return {"data": self.task.fingerprint(), "fixed": dict(self.search.fixed), "grid": grid}

    def _restore(self) -> None:
        """Put the trials of trials.json into an empty study."""
        from optuna.distributions import CategoricalDistribution
        from optuna.trial import TrialState, create_trial

        path = self.folder / "trials.json"
        for row in json.loads(path.read_text())["trials"] if path.exists() else []:
            done = row["state"] == "complete"
            self.study.add_trial(
                create_trial(
                    state=TrialState.COMPLETE if done else TrialState.PRUNED,
                    value=row["validation"] if done else None,
                    params=row["parameters"],
                    distributions={name: CategoricalDistribution(self.search.grid[name]) for name in row["parameters"]},
                    intermediate_values=dict(enumerate(row["scores"], 1)),
                    user_attrs={name: row[name] for name in MEASURED},
                )
            )

    def _try(self, watch: Callable[[int, int, float], None]) -> None:
        from optuna import TrialPruned
        from optuna.trial import TrialState

        trial = self.study.ask()
        # A sampler for each trial, so that a search that goes on draws what it would have drawn, not the same again.
        failed = self.study.get_trials(deepcopy=False, states=(TrialState.FAIL,))
        self.study.sampler = _sampler(self.search.sampler, (self.search.seed, trial.number - len(failed)))
        for name, value in _who().items():
            trial.set_user_attr(name, value)
        hasher = self.search.run(self._suggest(trial)).hasher()
        start, cpu_start, epoch = time.perf_counter(), time.process_time(), 0

        def watched(score: float) -> None:
            nonlocal epoch
            epoch += 1
            watch(trial.number, epoch, score)
            trial.report(score, epoch)
            if trial.should_prune():
                raise TrialPruned

        outcome: dict[str, Any] = {"state": TrialState.FAIL}
        try:
            self.task.fit(hasher, watched)
            outcome = {"values": self.task.validation(hasher)}
        except TrialPruned:
            outcome = {"state": TrialState.PRUNED}
        except KeyboardInterrupt:
            self.study.enqueue_trial(trial.params)
            raise
        finally:
            measured = (time.perf_counter() - start, time.process_time() - cpu_start, self.search.sampler)
            for name, value in zip(MEASURED, measured, strict=True):
                trial.set_user_attr(name, value)
            self.study.tell(trial, **outcome)

    def _suggest(self, trial: "Trial") -> dict[str, Any]:
        chosen = dict(self.search.fixed)
        for name, values in self.search.grid.items():
            if _has_a_say(name, chosen):
                chosen[name] = trial.suggest_categorical(name, values)
        return {name: value for name, value in chosen.items() if name not in self.search.fixed}

    def _take_back(self) -> None:
        """Queue the trials again that a process of this machine left when it was killed."""
        import psutil
        from optuna.trial import TrialState

        me = _who()
        for trial in self.study.get_trials(states=(TrialState.RUNNING,)):
            left = trial.user_attrs
            if left.get("host") == me["host"] and not psutil.pid_exists(left.get("process", 0)):
                self.study.tell(trial.number, state=TrialState.FAIL)
                self.study.enqueue_trial(trial.params)


def _open(search: Search, storage: str) -> "Study":
    try:
        import optuna
        from sqlalchemy.exc import ArgumentError
    except ImportError as error:
        raise ImportError("tuning needs Optuna: pip install 'ammi[tune]'") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        return optuna.create_study(
            study_name=f"{search.task} {search.method} {search.bits}",
            storage=storage,
            direction="maximize",
            pruner=optuna.pruners.MedianPruner(n_startup_trials=4, n_warmup_steps=4),
            load_if_exists=True,
        )
    except ArgumentError as error:
        raise ValueError(f"{storage} is no storage of Optuna: expected a URL such as sqlite:///study.db") from error


def _near_defaults(search: Search) -> dict[str, Any]:
    """The first trial: the method's defaults, each moved to the nearest value of the grid."""
    defaults = {name: one.default for name, one in inspect.signature(by_name(search.method)).parameters.items()}
    chosen = dict(search.fixed)
    for name, values in search.grid.items():
        if _has_a_say(name, chosen):
            default = defaults[name]
            chosen[name] = default if default in values else min(values, key=lambda value: abs(value - default))
    return {name: value for name, value in chosen.items() if name not in search.fixed}


def _has_a_say(name: str, chosen: Mapping[str, Any]) -> bool:
    """Whether a parameter matters, given those that were chosen before it."""
    parent, values = _ONLY_WITH.get(name, ("", ()))
    return parent not in chosen or chosen[parent] in values


def _sampler(kind: Sampler, seed: tuple[int, int]) -> Any:
    from optuna.samplers import RandomSampler, TPESampler

    number = int(np.random.SeedSequence(seed).generate_state(1)[0])
    return RandomSampler(seed=number) if kind == "random" else TPESampler(seed=number, multivariate=False)


def _who() -> dict[str, Any]:
    return {"host": platform.node(), "process": os.getpid()}


def _row(trial: "FrozenTrial") -> dict[str, Any]:
    scores = [score for _, score in sorted(trial.intermediate_values.items())]
    return {
        "trial": trial.number,
        "state": trial.state.name.lower(),
        "validation": trial.value if trial.state.name == "COMPLETE" else max(scores),
        "parameters": trial.params,
        "scores": scores,
        **{name: trial.user_attrs[name] for name in MEASURED},
    }
