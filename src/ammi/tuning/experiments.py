"""Experiments: one method fitted to one task and measured, kept as one JSON file whose path says what was done.

The path is of all parameters that decide a result, also of those at their defaults: where a default changes, an old
result is not taken for a new one.
"""

import hashlib
import inspect
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ammi.files import read_json, write_json
from ammi.hashers import Hasher, by_name
from ammi.tuning.locks import make_missing
from ammi.tuning.machine import machine
from ammi.tuning.tasks import Task

GENERAL_PARAMETERS = ("n_bits", "random_state", "verbose")  # which an experiment sets itself
UNDECISIVE_PARAMETERS = ("checkpoint", "device", "n_jobs")  # which change no result

Parameters = Mapping[str, Any]  # a hyperparameter may be anything that JSON holds
Result = dict[str, Any]  # of an experiment, as its JSON file has it


@dataclass(frozen=True)
class Experiment:
    """A method with some of its parameters set, on a task, with a seed; BOW has 0 bits, which is one for each word."""

    task: str
    method: str
    bits: int
    parameters: Parameters = field(default_factory=dict)
    seed: int = 0

    @property
    def effective_parameters(self) -> dict[str, Any]:
        """All parameters that decide its result: those that are set, and the method's defaults."""
        parameters = {**default_parameters(self.method), **self.parameters}
        apart = (*GENERAL_PARAMETERS, *UNDECISIVE_PARAMETERS)
        return {name: value for name, value in parameters.items() if name not in apart}

    @property
    def path(self) -> Path:
        """Where its result belongs: a digest tells parameters apart."""
        digest = parameters_digest(self.effective_parameters)
        return Path(self.task, f"{self.method}-{self.bits}-{digest}-{self.seed}.json")

    def hasher(self) -> Hasher:
        """The method with its parameters, not fitted yet."""
        general = dict(zip(GENERAL_PARAMETERS, (self.bits, self.seed, False), strict=True))
        known = default_parameters(self.method)
        fitting = {name: value for name, value in general.items() if name in known}
        return by_name(self.method)(**fitting, **self.parameters)


def parameters_digest(parameters: Parameters) -> str:
    """A short name of parameters."""
    return hashlib.blake2b(json.dumps(parameters, sort_keys=True).encode(), digest_size=4).hexdigest()


def default_parameters(method: str) -> dict[str, Any]:
    """The parameters that a method has, each with its default."""
    return {name: parameter.default for name, parameter in inspect.signature(by_name(method)).parameters.items()}


def measure(experiment: Experiment, task: Task) -> Result:
    """Fit and measure: what was done, its scores, the seconds it took and on what machine."""
    hasher = experiment.hasher()
    start, cpu_start = time.perf_counter(), time.process_time()
    task.fit(hasher)
    fitted, cpu_fitted = time.perf_counter(), time.process_time()
    hasher.encode(task.documents)
    encoded = time.perf_counter()
    return {
        "task": experiment.task,
        "method": experiment.method,
        "bits": experiment.bits,
        "parameters": experiment.effective_parameters,
        "seed": experiment.seed,
        "dimension": hasher.n_bits,
        **task.test(hasher),
        "validation": task.validation(hasher),
        "epochs": len(getattr(hasher, "history_", [])),
        "best_epoch": getattr(hasher, "best_epoch_", 0),
        "fit_s": fitted - start,
        "fit_cpu_s": cpu_fitted - cpu_start,
        "encode_s": encoded - fitted,
        "load": os.getloadavg()[0],
        **machine(),
    }


class Results:
    """A folder of results. An experiment whose result is there is not done again."""

    def __init__(self, folder: Path):
        self.folder = folder

    def path(self, experiment: Experiment) -> Path:
        return self.folder / experiment.path

    def get(self, experiment: Experiment) -> Result | None:
        """The result of an experiment, if it was done."""
        path = self.path(experiment)
        return read_json(path) if path.exists() else None

    def is_missing(self, experiment: Experiment) -> bool:
        return not self.path(experiment).exists()

    def missing(self, experiments: Iterable[Experiment]) -> list[Experiment]:
        return [experiment for experiment in experiments if self.is_missing(experiment)]

    def complete(
        self,
        experiments: Iterable[Experiment],
        task_of: Callable[[str], Task],
        done: Callable[[Experiment], None] = lambda experiment: None,
    ) -> None:
        """Do those that are missing, and tell of each; several processes may do so side by side."""

        def make(experiment: Experiment) -> None:
            write_json(self.path(experiment), measure(experiment, task_of(experiment.task)))
            done(experiment)

        make_missing(experiments, self.path, self.is_missing, make)
