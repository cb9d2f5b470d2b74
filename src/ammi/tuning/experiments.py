"""Experiments: one method fitted to one task and measured, with the result in one JSON file.

The file's path has a digest of all parameters that affect the result, defaults included, so that an old result is not
taken for a new one when a default changes.
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

GENERAL_PARAMETERS = ("n_bits", "random_state", "verbose")  # set by the experiment
NEUTRAL_PARAMETERS = ("checkpoint", "device", "n_jobs")  # do not affect the result
OBJECTS = ("structure", "prior")  # of AMMI: no experiment has any, and results of before these parameters stay valid

Parameters = Mapping[str, Any]  # a hyperparameter has any JSON type
Result = dict[str, Any]  # the JSON file of an experiment


@dataclass(frozen=True)
class Experiment:
    """A method with parameters, a task and a seed. BOW has 0 bits, which stands for one bit per word."""

    task: str
    method: str
    bits: int
    parameters: Parameters = field(default_factory=dict)
    seed: int = 0

    @property
    def effective_parameters(self) -> dict[str, Any]:
        """All parameters that affect the result: those that are set, and the method's defaults."""
        parameters = {**default_parameters(self.method), **self.parameters}
        others = {*GENERAL_PARAMETERS, *NEUTRAL_PARAMETERS, *(name for name in OBJECTS if not parameters.get(name))}
        return {name: value for name, value in parameters.items() if name not in others}

    @property
    def path(self) -> Path:
        """The path of its result, with a digest of the parameters."""
        content = json.dumps(self.effective_parameters, sort_keys=True).encode()
        digest = hashlib.blake2b(content, digest_size=4).hexdigest()
        return Path(self.task, f"{self.method}-{self.bits}-{digest}-{self.seed}.json")

    def hasher(self) -> Hasher:
        """Return the method with its parameters, not yet fitted."""
        general = dict(zip(GENERAL_PARAMETERS, (self.bits, self.seed, False), strict=True))
        known = default_parameters(self.method)
        own = {name: value for name, value in general.items() if name in known}
        return by_name(self.method)(**own, **self.parameters)


def default_parameters(method: str) -> dict[str, Any]:
    """Return the parameters of a method with their defaults."""
    return {name: parameter.default for name, parameter in inspect.signature(by_name(method)).parameters.items()}


def measure(experiment: Experiment, task: Task) -> Result:
    """Fit and measure a method; return the experiment, its scores, its seconds and the machine."""
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
    """A folder of results. An experiment with a result is not done again."""

    def __init__(self, folder: Path):
        self.folder = folder

    def path(self, experiment: Experiment) -> Path:
        return self.folder / experiment.path

    def get(self, experiment: Experiment) -> Result | None:
        """Return the result of an experiment, or None."""
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
        """Do the missing experiments, and call `done` after each; several processes can do so at the same time."""

        def make(experiment: Experiment) -> None:
            write_json(self.path(experiment), measure(experiment, task_of(experiment.task)))
            done(experiment)

        make_missing(experiments, self.path, self.is_missing, make)
