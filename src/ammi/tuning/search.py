"""Hyperparameters by search: the paper's random search over its grid, with Optuna.

A study is kept in a database, so that a search that was killed goes on where it was, and several machines may share
one. Beside it, as files: the best parameters, which `ammi fit --config` takes, all trials, from which a database that
was lost is made again, and plots.
"""

import os
import platform
import time
import weakref
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

from ammi.files import read_json, replacing_file, write_json
from ammi.plain import plain
from ammi.training.finite import NotFiniteError
from ammi.tuning.display import SILENT, Display, SearchView
from ammi.tuning.experiments import GENERAL_PARAMETERS, Experiment, Parameters
from ammi.tuning.grids import GRIDS, Grid, choose, near_defaults
from ammi.tuning.machine import machine
from ammi.tuning.plots import search_history, search_importance
from ammi.tuning.studies import Sampler, close_storage, naming_storage, new_sampler, open_storage, open_study
from ammi.tuning.tasks import Task

if TYPE_CHECKING:
    from optuna import Trial
    from optuna.trial import FrozenTrial

    from ammi.hashers import Hasher

FILES = ("best.json", "trials.json", "study.db", "importance.png", "history.png")  # of a search
COSTS = ("seconds", "cpu_seconds", "sampler")  # what a trial keeps beside its scores
DIVERGED = "diverged"  # the state of a trial without any score, and what Optuna's pruned trial keeps to say so


class TrialRow(TypedDict):
    """A finished trial, as trials.json has it."""

    trial: int
    state: str  # "complete", "pruned" where it was given up, "diverged" where it left the finite in its first epoch
    validation: float  # percent; 0 of one that diverged
    parameters: dict[str, Any]
    scores: list[float]  # one an epoch
    seconds: float
    cpu_seconds: float | None  # None where it was not kept
    sampler: str


@dataclass(frozen=True)
class Search:
    """What is searched: a method at so many bits on a task, with some parameters fixed and the rest on a grid."""

    task: str
    method: str
    bits: int
    fixed: Parameters
    sampler: Sampler = "random"
    seed: int = 0

    @property
    def title(self) -> str:
        return f"{self.task} {self.method} {self.bits} bits"

    @property
    def grid(self) -> Grid:
        """What is varied."""
        return {name: values for name, values in GRIDS[self.method].items() if name not in self.fixed}

    def check(self) -> None:
        """Refuse a method that has nothing to vary, to fix what is no hyperparameter, and values out of their range."""
        if self.method not in GRIDS:
            raise ValueError(f"{self.method} has nothing to tune: methods to tune are {', '.join(sorted(GRIDS))}")
        if wrong := [name for name in GENERAL_PARAMETERS if name in self.fixed]:
            raise ValueError(f"{wrong[0]} is no hyperparameter: the search sets it from its bits and its seed")
        self.experiment({}).hasher()._check_parameters()

    def experiment(self, drawn: Parameters) -> Experiment:
        """What is tried with the parameters that were drawn from the grid."""
        return Experiment(self.task, self.method, self.bits, {**self.fixed, **drawn}, self.seed)


class Tuning:
    """A search under way: its study, the task, and the folder of its files.

    It holds a connection to the study's database, which is closed by `with`, by `close` and when it is forgotten.
    """

    def __init__(self, search: Search, task: Task, folder: Path, storage: str | None = None):
        self.search, self.task, self.folder = search, task, folder
        self._check_same_search(self._recorded, f"{folder / 'trials.json'} is")
        folder.mkdir(parents=True, exist_ok=True)
        database = open_storage(storage or f"sqlite:///{folder / 'study.db'}")
        self._close = weakref.finalize(self, close_storage, database)
        with naming_storage():
            self.study = open_study(f"{search.task} {search.method} {search.bits}", database)
            self._check_same_search(self.study.user_attrs, f"the study {self.study.study_name!r} is")
            self._begin()
            self._requeue_abandoned_trials()

    def __enter__(self) -> "Tuning":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection to the database."""
        self._close()

    @property
    def finished(self) -> "list[FrozenTrial]":
        """The trials that were measured, to their end or until they were given up."""
        return [trial for trial in self.study.get_trials(deepcopy=False) if trial.state.name in ("COMPLETE", "PRUNED")]

    def run_until(self, trials: int, display: Display = SILENT) -> None:
        """Try until so many trials are finished; the files are written anew after each."""
        with self.showing(trials, display) as view:
            while len(self.finished) < trials:
                self._run_trial(view)

    @contextmanager
    def showing(self, trials: int, display: Display) -> Iterator[SearchView]:
        """While trials are run: what shows them. It is refused that all of them diverge."""
        with naming_storage(), display.search(self.search.title, trials, len(self.finished)) as view:
            yield view
            if not self.best_rows(1):
                raise ValueError(
                    f"none of {trials} trials of {self.search.title} has a score, since all left the finite numbers: "
                    "divide the rows by their largest number, or fix a lower learning rate"
                )

    def begin(self) -> "Started":
        """The next trial."""
        trial = self._ask()
        drawn = choose(self.search.grid, self.search.fixed, trial.suggest_categorical)
        return Started(trial, self.search.experiment(drawn).hasher())

    def watch(self, started: "Started", score: float, view: SearchView) -> bool:
        """Note the score of an epoch; whether the trial is to go on."""
        started.epoch += 1
        view.epoch(started.trial.number, started.epoch, score)
        started.trial.report(score, started.epoch)
        return not started.trial.should_prune()

    def end(
        self,
        started: "Started",
        validation: float | None,
        cpu_seconds: float,
        view: SearchView,
        diverged: str | None = None,
    ) -> None:
        """Keep what was measured, None where the trial was given up or diverged, and write the files.

        A trial that diverged, which a sentence says, is finished as the worst there is.
        """
        from optuna.trial import TrialState

        if diverged is not None:
            started.trial.set_user_attr(DIVERGED, True)
            view.diverged(started.trial.number, diverged)
        outcome = {"state": TrialState.PRUNED} if validation is None else {"values": validation}
        self._tell(started, cpu_seconds, outcome)
        self.write()
        view.trial(len(self.finished), max(row["validation"] for row in self.rows()))

    def fail(self, started: "Started", again: bool, cpu_seconds: float = 0.0) -> None:
        """Note that a trial came to nothing; it is tried again, or not."""
        from optuna.trial import TrialState

        if again:
            self.study.enqueue_trial(started.trial.params)
        self._tell(started, cpu_seconds, {"state": TrialState.FAIL})

    def rows(self) -> list[TrialRow]:
        """The finished trials, in their order."""
        return [_row(trial) for trial in self.finished]

    def best_rows(self, n: int) -> list[TrialRow]:
        """The best of the trials that were not given up, the best first."""
        complete = [row for row in self.rows() if row["state"] == "complete"]
        return sorted(complete, key=lambda row: -row["validation"])[:n]

    def best_parameters(self) -> dict[str, Any]:
        return {**self.search.fixed, **self.study.best_params}

    def write(self) -> None:
        """Write the best parameters, once there are some, and then the list of trials, which says that they are."""
        trials = self.rows()
        about = {"task": self.search.task, "method": self.search.method, "bits": self.search.bits}
        if self.best_rows(1):
            best = {**about, "parameters": {"n_bits": self.search.bits, **self.best_parameters()}}
            write_json(self.folder / "best.json", {**best, "validation": self.study.best_value, "trials": len(trials)})
        write_json(self.folder / "trials.json", {**about, **self._identity, **machine(), "trials": trials})

    def plot(self) -> None:
        """Draw the history of the search and the importance of the parameters."""
        drawn = {"importance.png": search_importance(self.study), "history.png": search_history(self.rows())}
        for name, figure in drawn.items():
            if figure:
                with replacing_file(self.folder / name) as file:
                    figure.savefig(file, dpi=110)

    @cached_property
    def _identity(self) -> dict[str, Any]:
        """What a study and a list of trials are of."""
        return {"data": self.task.fingerprint(), "fixed": plain(self.search.fixed), "grid": plain(self.search.grid)}

    @cached_property
    def _recorded(self) -> dict[str, Any]:
        """What trials.json held when the search was opened; nothing where there is none."""
        path = self.folder / "trials.json"
        return read_json(path) if path.exists() else {}

    def _check_same_search(self, kept: Mapping[str, Any], what_is: str) -> None:
        if other := [name for name in self._identity if kept and kept.get(name) != self._identity[name]]:
            raise ValueError(
                f"{what_is} of another search, with other {' and '.join(other)}: "
                "choose another --out, or another --storage"
            )

    def _begin(self) -> None:
        """Make an empty study the one of this search, with the trials that were recorded, or else with the first."""
        for name, value in self._identity.items():
            self.study.set_user_attr(name, value)
        if not self.study.get_trials(deepcopy=False):
            for row in self._recorded.get("trials", []):
                self._restore_trial(row)
            first = near_defaults(self.search.method, self.search.grid, self.search.fixed)
            self.study.enqueue_trial(first, skip_if_exists=True)

    def _restore_trial(self, row: TrialRow) -> None:
        from optuna.distributions import CategoricalDistribution
        from optuna.trial import TrialState, create_trial

        done = row["state"] == "complete"
        self.study.add_trial(
            create_trial(
                state=TrialState.COMPLETE if done else TrialState.PRUNED,
                value=row["validation"] if done else None,
                params=row["parameters"],
                distributions={name: CategoricalDistribution(self.search.grid[name]) for name in row["parameters"]},
                intermediate_values=dict(enumerate(row["scores"], 1)),
                user_attrs={
                    **{name: row[name] for name in COSTS},  # type: ignore[literal-required]
                    **({DIVERGED: True} if row["state"] == DIVERGED else {}),
                },
            )
        )

    def _run_trial(self, view: SearchView) -> None:
        started, cpu_start = self.begin(), time.process_time()

        def watch(score: float) -> None:
            if not self.watch(started, score, view):
                raise _GivenUpError

        validation = diverged = None
        try:
            self.task.fit(started.hasher, watch)
            validation = self.task.validation(started.hasher)
        except _GivenUpError:
            pass
        except NotFiniteError as error:
            diverged = str(error)
        except BaseException as error:
            self.fail(started, isinstance(error, KeyboardInterrupt), time.process_time() - cpu_start)
            raise
        self.end(started, validation, time.process_time() - cpu_start, view, diverged)

    def _tell(self, started: "Started", cpu_seconds: float, outcome: dict[str, Any]) -> None:
        costs = (time.perf_counter() - started.start, cpu_seconds, self.search.sampler)
        for name, value in zip(COSTS, costs, strict=True):
            started.trial.set_user_attr(name, value)
        self.study.tell(started.trial, **outcome)

    def _ask(self) -> "Trial":
        """The next trial, marked as one of this process."""
        from optuna.trial import TrialState

        trial = self.study.ask()
        # A sampler for each trial, so that a search that goes on draws what it would have drawn, not the same again.
        failed = self.study.get_trials(deepcopy=False, states=(TrialState.FAIL,))
        self.study.sampler = new_sampler(self.search.sampler, (self.search.seed, trial.number - len(failed)))
        for name, value in _this_process().items():
            trial.set_user_attr(name, value)
        return trial

    def _requeue_abandoned_trials(self) -> None:
        """Queue the trials again that a process of this machine left when it was killed."""
        import psutil
        from optuna.trial import TrialState

        here = _this_process()["host"]
        for trial in self.study.get_trials(states=(TrialState.RUNNING,)):
            left = trial.user_attrs
            if left.get("host") == here and not psutil.pid_exists(left.get("process", 0)):
                self.study.tell(trial.number, state=TrialState.FAIL)
                self.study.enqueue_trial(trial.params)


@dataclass
class Started:
    """A trial under way."""

    trial: "Trial"
    hasher: "Hasher"
    epoch: int = 0
    start: float = field(default_factory=time.perf_counter)


class _GivenUpError(Exception):
    """Ends the fit of a trial that is not to go on."""


def _this_process() -> dict[str, Any]:
    return {"host": platform.node(), "process": os.getpid()}


def _row(trial: "FrozenTrial") -> TrialRow:
    scores = [score for _, score in sorted(trial.intermediate_values.items())]
    complete = trial.value is not None and trial.state.name == "COMPLETE"
    return {
        "trial": trial.number,
        "state": DIVERGED if DIVERGED in trial.user_attrs else trial.state.name.lower(),
        "validation": cast(float, trial.value) if complete else max(scores, default=0.0),
        "parameters": trial.params,
        "scores": scores,
        "seconds": trial.user_attrs["seconds"],
        "cpu_seconds": trial.user_attrs["cpu_seconds"],
        "sampler": trial.user_attrs["sampler"],
    }
