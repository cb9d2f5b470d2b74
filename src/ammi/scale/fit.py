"""One model trained by many workers: Ray Train starts them, joins them by torch.distributed, and replaces lost ones.

Each works on its part of every batch, so that the batch size is that of all of them, and what is learned does not
depend on how many they are. After every epoch the run is in a checkpoint: when a worker is lost, Ray starts all of them
again, on the nodes that are left, and they go on from there.
"""

import json
import pickle
import threading
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ammi.files import write_json
from ammi.hashers import TrainedHasher, load
from ammi.scale.cluster import import_ray
from ammi.training.loop import Callback
from ammi.training.progress import Advance, Progress, Silent

HASHER, OUTCOME, SHOWN = "hasher", "outcome.json", "progress.jsonl"  # in the folder of a run
_FAILURES = 10  # workers that may be lost, one after the other
_ROOM = {"CPU": 0.5}  # of a worker, half of what it uses: those of a lost node find room on the others
_SECONDS = 0.2  # between looks at the progress
# What a user can do something about, and trying again cannot mend.
_REFUSED = {kind.__name__: kind for kind in (ValueError, ImportError, OSError, MemoryError)}


class RayFit:
    """What `fit` of a hasher takes as `elsewhere`.

    Args:
        workers: how many.
        folder: where the run is kept while it lasts, which all nodes see; one that was interrupted goes on from there.
    """

    def __init__(self, workers: int, folder: Path):
        self.workers, self.folder = workers, folder.absolute()

    def __call__(
        self, hasher: TrainedHasher, arguments: dict[str, Any], callbacks: Sequence[Callback], progress: Progress
    ) -> TrainedHasher:
        check_shared(hasher)
        ray = import_ray()
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / OUTCOME).unlink(missing_ok=True)
        (self.folder / SHOWN).write_bytes(b"")
        parameters = hasher.get_params(deep=False) | {"checkpoint": hasher.checkpoint or self.folder / "checkpoint"}
        job = ray.cloudpickle.dumps((type(hasher)(**parameters), arguments))
        self._run({"job": ray.put(job), "folder": str(self.folder)}, _Show(callbacks, progress))
        outcome = json.loads((self.folder / OUTCOME).read_text())
        if "error" in outcome:
            raise _REFUSED[outcome["kind"]](outcome["error"])
        fitted = load(self.folder / HASHER)
        assert isinstance(fitted, TrainedHasher)
        fitted.set_params(**hasher.get_params(deep=False))
        return fitted

    def _run(self, config: dict[str, Any], show: "_Show") -> None:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", module=r"ray\.")  # of what Ray will change in itself
            from ray.train import FailureConfig, RunConfig, ScalingConfig, TrainingFailedError
            from ray.train.torch import TorchConfig, TorchTrainer

            trainer = TorchTrainer(
                _train,
                train_loop_config=config,
                torch_config=TorchConfig(backend="gloo", timeout_s=600),
                scaling_config=ScalingConfig(
                    num_workers=self.workers, resources_per_worker=_ROOM, placement_strategy="SPREAD"
                ),
                run_config=RunConfig(
                    name="ray", storage_path=str(self.folder), failure_config=FailureConfig(max_failures=_FAILURES)
                ),
            )
            # In a thread, since in the main one Ray Train takes Ctrl-C for itself, and keeps it.
            training = _Training(trainer)
            training.start()
            with open(self.folder / SHOWN) as file:
                rest = ""
                while training.is_alive():
                    training.join(_SECONDS)
                    *lines, rest = (rest + file.read()).split("\n")
                    for line in lines:
                        show(json.loads(line))
        if isinstance(training.error, TrainingFailedError):
            raise OSError(
                f"the training ended after {_FAILURES} lost workers ({str(training.error).splitlines()[0]}), and the "
                "same command goes on: look for nodes that run out of memory"
            ) from training.error
        if training.error is not None:
            raise training.error


class _Training(threading.Thread):
    """A run of Ray Train, and how it failed."""

    def __init__(self, trainer: Any):
        super().__init__(daemon=True)
        self._trainer = trainer
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self._trainer.fit()
        except BaseException as error:
            self.error = error


def check_shared(hasher: Any) -> None:
    """Refuse a method that workers cannot train together."""
    if not getattr(hasher, "is_shared", False):
        trained = isinstance(hasher, TrainedHasher)
        why = "its loss on a batch is more than the mean of those on its parts" if trained else "it has no batches"
        raise ValueError(
            f"{type(hasher).__name__} cannot be trained by several workers, since {why}: use --method ammi, or leave "
            "out --engine ray"
        )


def _train(config: dict[str, Any]) -> None:
    """What each worker does."""
    import ray

    from ammi.training.exchange import GroupExchange
    from ammi.training.threads import torch_threads

    folder, exchange = Path(config["folder"]), GroupExchange()
    hasher, arguments = pickle.loads(ray.get(config["job"]))
    progress = _Told(folder / SHOWN) if exchange.is_first else Silent()
    try:
        with torch_threads(1):
            hasher.fit(**arguments, progress=progress, exchange=exchange)
        outcome: Mapping[str, Any] = {"epochs": len(hasher.history_)}
    except tuple(_REFUSED.values()) as error:
        kind = next(name for name, kind in _REFUSED.items() if isinstance(error, kind))
        outcome = {"kind": kind, "error": str(error)}
    if exchange.is_first:
        if "error" not in outcome:
            hasher.save(folder / HASHER)
        write_json(folder / OUTCOME, outcome)


class _Told(Silent):
    """Writes what is to be shown to a file, a line each, which the process that asked for the run reads."""

    def __init__(self, path: Path):
        self._path = path

    def part(self, name: str, total: int) -> Advance:
        self._write({"part": name, "total": total})
        return lambda steps: self._write({"part": name, "steps": steps})

    def epoch(self, row: Mapping[str, float], epochs: int) -> None:
        self._write({"epoch": dict(row), "of": epochs})

    def say(self, text: str) -> None:
        self._write({"say": text})

    def _write(self, line: Mapping[str, Any]) -> None:
        with open(self._path, "a") as file:
            file.write(json.dumps(line) + "\n")


class _Show:
    """Shows lines that `_Told` wrote; an epoch that was done twice, since a worker was lost, is shown once."""

    def __init__(self, callbacks: Sequence[Callback], progress: Progress):
        self._callbacks, self._progress = callbacks, progress
        self._parts: dict[str, Advance] = {}
        self._epoch = 0.0

    def __call__(self, line: Mapping[str, Any]) -> None:
        if "total" in line:
            self._parts[line["part"]] = self._progress.part(line["part"], line["total"])
        elif "steps" in line:
            self._parts[line["part"]](line["steps"])
        elif "say" in line:
            self._progress.say(line["say"])
        elif line["epoch"]["epoch"] > self._epoch:
            self._epoch = line["epoch"]["epoch"]
            self._progress.epoch(line["epoch"], line["of"])
            for callback in self._callbacks:
                callback(line["epoch"])
