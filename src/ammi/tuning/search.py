"""Search for hyperparameters with Optuna, by default as in the paper: at random on a grid.

The study is in a database, so that a search that was killed continues, and several machines can share it. Files beside
it have the best parameters (for `ammi fit --config`), all trials (from which a lost database is restored), and plots.
"""

import os
import platform
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, cast

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
    from optuna.trial import FrozenTrial, TrialState

    from ammi.hashers import Hasher

FILES = ("best.json", "trials.json", "study.db", "importance.png", "history.png")  # of a search
COSTS = ("seconds", "cpu_seconds", "sampler")  # attributes of a trial in Optuna
DIVERGED = "diverged"  # state of a trial without any score, and the attribute of Optuna's pruned trial that marks it


class TrialRow(TypedDict):
    """A finished trial, as trials.json has it."""

    trial: int
    state: str  # "complete", "pruned" if it was given up, "diverged" if it did so in its first epoch
    validation: float  # percent; 0 if it diverged
    parameters: dict[str, Any]
    scores: list[float]  # one per epoch
    seconds: float
    cpu_seconds: float | None  # None if unknown
    sampler: str


@dataclass(frozen=True)
class Search:
    """A method, its number of bits, a task, the fixed parameters, and the sampler and values of the others."""

    task: str
    method: str
    bits: int
    fixed: Parameters
    sampler: Sampler = "random"
    seed: int = 0
    values: Grid | None = None  # by default the grid of the method

    @property
    def title(self) -> str:
        return f"{self.task} {self.method} {self.bits} bits"

    @property
    def grid(self) -> Grid:
        """The values of the parameters that are not fixed."""
        grid = GRIDS[self.method] if self.values is None else self.values
        return {name: values for name, values in grid.items() if name not in self.fixed}

    def check(self) -> None:
        """Refuse a method without a grid, and fixed parameters that are not hyperparameters or out of range."""
        if self.values is None and self.method not in GRIDS:
            raise ValueError(f"{self.method} has nothing to tune: methods to tune are {', '.join(sorted(GRIDS))}")
        if wrong := [name for name in GENERAL_PARAMETERS if name in self.fixed]:
            raise ValueError(f"{wrong[0]} is no hyperparameter: the search sets it from its bits and its seed")
        self.experiment({}).hasher()._check_parameters()

    def experiment(self, drawn: Parameters) -> Experiment:
        """Return the experiment with parameters that were drawn from the grid."""
        return Experiment(self.task, self.method, self.bits, {**self.fixed, **drawn}, self.seed)


class Tuning:
    """A running search: its study, its task, and the folder of its files.

    `close`, the end of `with` or garbage collection closes the connection to the study's database.
    """

    def __init__(self, search: Search, task: Task, folder: Path, storage: str | None = None):
        self.search, self.task, self.folder = search, task, folder
        self._check_same_search(self._recorded, str(folder / "trials.json"))
        folder.mkdir(parents=True, exist_ok=True)
        database = open_storage(storage or f"sqlite:///{folder / 'study.db'}")
        self._close = weakref.finalize(self, close_storage, database)
        with naming_storage():
            self.study = open_study(f"{search.task} {search.method} {search.bits}", database)
            self._check_same_search(self.study.user_attrs, f"the study {self.study.study_name!r}")
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
        """The trials that ended or were given up."""
        return [trial for trial in self.study.get_trials(deepcopy=False) if trial.state.name in ("COMPLETE", "PRUNED")]

    def run_until(self, trials: int, display: Display = SILENT) -> None:
        """Run trials until `trials` are finished; write the files after each."""
        with self.showing(trials, display) as view:
            while len(self.finished) < trials:
                self._run_trial(view)

    @contextmanager
    def showing(self, trials: int, display: Display) -> Iterator[SearchView]:
        """Yield the display of the trials; raise an error at the end if all of them diverged."""
        with naming_storage(), display.search(self.search.title, trials, len(self.finished)) as view:
            yield view
            if not self.best_rows(1):
                raise ValueError(
                    f"none of {trials} trials of {self.search.title} has a score, because all left the finite numbers: "
                    "divide the rows by their largest number, or set a lower learning rate"
                )

    def begin(self) -> "Started":
        """Begin the next trial."""
        trial = self._ask()
        drawn = choose(self.search.grid, self.search.fixed, trial.suggest_categorical)
        return Started(trial, self.search.experiment(drawn).hasher())

    def watch(self, started: "Started", score: float, view: SearchView) -> bool:
        """Record the score of an epoch; return whether to continue the trial."""
        started.epoch += 1
        view.epoch(started.trial.number, started.epoch, score)
        started.trial.report(score, started.epoch)
        return not started.trial.should_prune()

    def end(self, started: "Started", outcome: "Outcome", view: SearchView) -> None:
        """Record the outcome of a trial and write the files; a trial that diverged counts as the worst."""
        from optuna.trial import TrialState

        if outcome.diverged is not None:
            started.trial.set_user_attr(DIVERGED, True)
            view.diverged(started.trial.number, outcome.diverged)
        state = TrialState.PRUNED if outcome.validation is None else TrialState.COMPLETE
        self._tell(started, outcome, state)
        self.write()
        view.trial(len(self.finished), max(row["validation"] for row in self.rows()))

    def fail(self, started: "Started", again: bool) -> None:
        """Record that a trial failed; `again` queues its parameters again."""
        from optuna.trial import TrialState

        if again:
            self.study.enqueue_trial(started.trial.params)
        self._tell(started, Outcome(None, 0.0, None), TrialState.FAIL)

    def rows(self) -> list[TrialRow]:
        """Return the finished trials, in their order."""
        return [_row(trial) for trial in self.finished]

    def best_rows(self, n: int) -> list[TrialRow]:
        """Return the n best trials that were not given up, the best first."""
        complete = [row for row in self.rows() if row["state"] == "complete"]
        return sorted(complete, key=lambda row: -row["validation"])[:n]

    def best_parameters(self) -> dict[str, Any]:
        return {**self.search.fixed, **self.study.best_params}

    def write(self) -> None:
        """Write best.json, once a trial is complete, and then trials.json."""
        trials = self.rows()
        about = {"task": self.search.task, "method": self.search.method, "bits": self.search.bits}
        if self.best_rows(1):
            best = {**about, "parameters": {"n_bits": self.search.bits, **self.best_parameters()}}
            write_json(self.folder / "best.json", {**best, "validation": self.study.best_value, "trials": len(trials)})
        write_json(self.folder / "trials.json", {**about, **self._identity, **machine(), "trials": trials})

    def plot(self) -> None:
        """Write plots of the history and of the parameters' importance."""
        drawn = {"importance.png": search_importance(self.study), "history.png": search_history(self.rows())}
        for name, figure in drawn.items():
            if figure:
                with replacing_file(self.folder / name) as file:
                    figure.savefig(file, dpi=110)

    @cached_property
    def _identity(self) -> dict[str, Any]:
        """What the trials of one study must have in common."""
        return {"data": self.task.fingerprint(), "fixed": plain(self.search.fixed), "grid": plain(self.search.grid)}

    @cached_property
    def _recorded(self) -> dict[str, Any]:
        """The content of trials.json when the search was opened."""
        path = self.folder / "trials.json"
        return read_json(path) if path.exists() else {}

    def _check_same_search(self, recorded: Mapping[str, object], name: str) -> None:
        if other := [key for key in self._identity if recorded and recorded.get(key) != self._identity[key]]:
            raise ValueError(
                f"{name} is of another search, with other {' and '.join(other)}: "
                "choose another --out, or another --storage"
            )

    def _begin(self) -> None:
        """Mark the study as one of this search; fill an empty one with the recorded trials, and queue the defaults."""
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
        started = self.begin()
        try:
            outcome = run_trial(self.task, started.hasher, lambda score: self.watch(started, score, view))
        except BaseException as error:
            self.fail(started, again=isinstance(error, KeyboardInterrupt))
            raise
        self.end(started, outcome, view)

    def _tell(self, started: "Started", outcome: "Outcome", state: "TrialState") -> None:
        costs = (time.perf_counter() - started.start, outcome.cpu_seconds, self.search.sampler)
        for name, value in zip(COSTS, costs, strict=True):
            started.trial.set_user_attr(name, value)
        self.study.tell(started.trial, outcome.validation, state)

    def _ask(self) -> "Trial":
        """Return the next trial, marked with this process."""
        from optuna.trial import TrialState

        trial = self.study.ask()
        # A seed for each trial, so that a search that continues draws what it would have drawn.
        failed = self.study.get_trials(deepcopy=False, states=(TrialState.FAIL,))
        self.study.sampler = new_sampler(self.search.sampler, (self.search.seed, trial.number - len(failed)))
        for name, value in _this_process().items():
            trial.set_user_attr(name, value)
        return trial

    def _requeue_abandoned_trials(self) -> None:
        """Queue again the trials that a killed process of this machine left."""
        import psutil
        from optuna.trial import TrialState

        here = _this_process()["host"]
        for trial in self.study.get_trials(states=(TrialState.RUNNING,)):
            owner = trial.user_attrs
            if owner.get("host") == here and not psutil.pid_exists(owner.get("process", 0)):
                self.study.tell(trial.number, state=TrialState.FAIL)
                self.study.enqueue_trial(trial.params)


@dataclass
class Started:
    """A running trial."""

    trial: "Trial"
    hasher: "Hasher"
    epoch: int = 0
    start: float = field(default_factory=time.perf_counter)


class Outcome(NamedTuple):
    """The validation score of a trial, None if it was given up or diverged; its seconds; and why it diverged."""

    validation: float | None
    cpu_seconds: float
    diverged: str | None


class _GivenUpError(Exception):
    """Ends the fit of a trial that is given up."""


def run_trial(task: Task, hasher: "Hasher", watch: Callable[[float], bool]) -> Outcome:
    """Fit and validate a hasher; `watch` gets the score of each epoch and returns whether to continue."""
    start = time.process_time()
    validation = diverged = None

    def watch_epoch(score: float) -> None:
        if not watch(score):
            raise _GivenUpError

    try:
        task.fit(hasher, watch_epoch)
        validation = task.validation(hasher)
    except _GivenUpError:
        pass
    except NotFiniteError as error:
        diverged = str(error)
    return Outcome(validation, time.process_time() - start, diverged)


def _this_process() -> dict[str, str | int]:
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
