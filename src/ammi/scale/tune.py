"""The trials of a search on a cluster: the study stays with the process that asked, actors train.

After every epoch an actor tells the score and is told whether to go on, so that a trial is given up as it is alone.
With one worker the search is the same, trial by trial; a trial whose worker is lost is begun again.
"""

import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from ammi.scale.workers import Kept, in_one_sentence, pool
from ammi.training.finite import NotFiniteError
from ammi.tuning.display import SILENT, Display
from ammi.tuning.search import Started, Tuning
from ammi.tuning.tasks import Task

if TYPE_CHECKING:
    from ammi.hashers import Hasher


class Told(NamedTuple):
    """What a trial tells: a score after an epoch, or at its end its validation, unless it was given up, and seconds.

    Or else why it diverged, or that the worker is a new one, in place of one that was lost, and knows of no trial.
    """

    score: float | None = None
    validation: float | None = None
    diverged: str | None = None
    cpu_seconds: float = 0.0
    is_lost: bool = False


class _GivenUpError(Exception):
    """Ends the fit of a trial that is not to go on."""


class Trainer:
    """Trains one trial at a time, in a thread that waits after every epoch."""

    _task: Task
    _has_begun = False

    def begin(self, task: Callable[[], Task], hasher: "Hasher") -> Told:
        """Begin a trial; return what it tells first."""
        if not self._has_begun:
            self._task = task()
        self._told: queue.Queue[Told | BaseException] = queue.Queue()
        self._go_on: queue.Queue[bool] = queue.Queue()
        self._has_begun = True
        threading.Thread(target=self._train, args=(hasher,), daemon=True).start()
        return self._next()

    def go_on(self, wanted: bool) -> Told:
        """Let the trial go on, or give it up; return what it tells next."""
        if not self._has_begun:
            return Told(is_lost=True)
        self._go_on.put(wanted)
        return self._next()

    def _next(self) -> Told:
        told = self._told.get()
        if isinstance(told, BaseException):
            raise told
        return told

    def _train(self, hasher: "Hasher") -> None:
        start = time.process_time()

        def watch(score: float) -> None:
            self._told.put(Told(score=score))
            if not self._go_on.get():
                raise _GivenUpError

        try:
            self._task.fit(hasher, watch)
            self._told.put(Told(validation=self._task.validation(hasher), cpu_seconds=time.process_time() - start))
        except _GivenUpError:
            self._told.put(Told(cpu_seconds=time.process_time() - start))
        except NotFiniteError as error:
            self._told.put(Told(diverged=str(error), cpu_seconds=time.process_time() - start))
        except BaseException as error:
            self._told.put(error)


def tune_on_ray(tuning: Tuning, trials: int, workers: int, display: Display = SILENT) -> None:
    """Try until so many trials are finished, some at the same time; the files are written anew after each."""
    task = Kept(tuning.task)
    with tuning.showing(trials, display) as view, pool(Trainer, workers) as actors:
        idle, waiting = list(actors), dict[Any, tuple[Started, Any]]()
        try:
            while len(tuning.finished) < trials:
                while idle and len(waiting) + len(tuning.finished) < trials:
                    started, actor = tuning.begin(), idle.pop()
                    waiting[actor.begin.remote(task, started.hasher)] = started, actor
                told, started, actor = _next_told(waiting)
                if told.score is not None:
                    goes_on = tuning.watch(started, told.score, view)
                    waiting[actor.go_on.remote(goes_on)] = started, actor
                    continue
                idle.append(actor)
                if told.is_lost:
                    tuning.fail(started, again=True)
                else:
                    tuning.end(started, told.validation, told.cpu_seconds, view, told.diverged)
        except BaseException as error:
            for started, _ in waiting.values():
                tuning.fail(started, again=isinstance(error, KeyboardInterrupt))
            raise


def _next_told(waiting: dict[Any, tuple[Started, Any]]) -> tuple[Told, Started, Any]:
    """What one of the trials tells first, which is then waited for no more."""
    import ray

    (reference,), _ = ray.wait(list(waiting), num_returns=1)
    with in_one_sentence():
        told = ray.get(reference)
    return told, *waiting.pop(reference)
