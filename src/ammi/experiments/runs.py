"""Runs: one method fitted to one task and measured, kept as one JSON file whose path says what was run."""

import hashlib
import inspect
import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ammi.experiments.machine import machine
from ammi.experiments.tasks import Task
from ammi.hashers import Hasher, by_name

DEFAULTS = "defaults"
GENERAL = ("n_bits", "random_state", "verbose")  # parameters that a run sets itself


@dataclass(frozen=True)
class Run:
    """A method with some of its parameters set, on a task, with a seed; BOW has 0 bits, which is one for each word."""

    task: str
    method: str
    bits: int
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @property
    def path(self) -> Path:
        """Where its result belongs: parameters other than the defaults are told apart by a digest of them."""
        return Path(self.task, f"{self.method}-{self.bits}-{digest(self.parameters)}-{self.seed}.json")

    def hasher(self) -> Hasher:
        kind = by_name(self.method)
        general = dict(zip(GENERAL, (self.bits, self.seed, False), strict=True))
        known = inspect.signature(kind).parameters
        return kind(**{name: value for name, value in general.items() if name in known}, **self.parameters)


def digest(parameters: Mapping[str, Any]) -> str:
    """A short name of parameters."""
    if not parameters:
        return DEFAULTS
    return hashlib.blake2b(json.dumps(parameters, sort_keys=True).encode(), digest_size=4).hexdigest()


def measure(run: Run, task: Task) -> dict[str, Any]:
    """Fit and measure: what was run, its scores, the seconds it took and on what machine."""
    hasher = run.hasher()
    start, cpu_start = time.perf_counter(), time.process_time()
    task.fit(hasher)
    fitted, cpu_fitted = time.perf_counter(), time.process_time()
    hasher.encode(task.documents)
    encoded = time.perf_counter()
    return {
        "task": run.task,
        "method": run.method,
        "bits": run.bits,
        "parameters": dict(run.parameters),
        "seed": run.seed,
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
    """A folder of runs that were done. A run that is there is not run again."""

    def __init__(self, folder: Path):
        self.folder = folder

    def get(self, run: Run) -> dict[str, Any] | None:
        """The result of a run, if it was done."""
        path = self.folder / run.path
        return json.loads(path.read_text()) if path.exists() else None

    def missing(self, runs: Iterable[Run]) -> list[Run]:
        return [run for run in runs if not (self.folder / run.path).exists()]

    def complete(self, runs: Iterable[Run], find: Callable[[str], Task], done: Callable[[Run], None]) -> None:
        """Do those that are missing, and tell of each; several processes may do so side by side.

        A run that another process is at is left for last, and done here only if that one dies.
        """
        for patience in (0, -1):
            for run in self.missing(runs):
                with suppress(Timeout), alone(self.folder / run.path, patience):
                    if self.missing([run]):  # else the other process has just done it
                        write_json(self.folder / run.path, measure(run, find(run.task)))
                        done(run)


def alone(path: Path, patience: float = -1) -> FileLock:
    """A lock for making a file, which goes when its process does; after `patience` seconds Timeout is raised."""
    lock = path.parent / ".locks" / path.stem
    lock.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(lock, timeout=patience)


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.write_text(json.dumps(value, indent=1) + "\n")
    new.replace(path)
