"""Run the trials of a search on a cluster: the study stays in the process of the command, workers train.

After every epoch a worker reports the score and is told whether to continue, so trials are given up as without Ray.
With one worker the search is the same, trial by trial; a trial whose worker is lost is started again.
"""

import queue
import threading
from typing import TYPE_CHECKING, NamedTuple

from ammi.scale.workers import Handle, Shared, original_errors, pool
from ammi.tuning.display import SILENT, Display
from ammi.tuning.search import Outcome, Started, Tuning, run_trial
from ammi.tuning.tasks import Task

if TYPE_CHECKING:
    from ammi.hashers import Hasher


class Message(NamedTuple):
    """What a worker reports: the score of an epoch, or the outcome of a trial.

    Neither means that the worker has replaced a lost one and knows of no trial.
    """

    score: float | None = None
    outcome: Outcome | None = None


class Trainer:
    """Train one trial at a time, in a thread that waits after every epoch."""

    _task: Task
    _has_begun = False

    def begin(self, task: Shared[Task], hasher: "Hasher") -> Message:
        """Begin a trial; return its first message."""
        if not self._has_begun:
            self._task = task()
        self._messages: queue.Queue[Message | BaseException] = queue.Queue()
        self._decisions: queue.Queue[bool] = queue.Queue()
        self._has_begun = True
        threading.Thread(target=self._train, args=(hasher,), daemon=True).start()
        return self._next_message()

    def proceed(self, wanted: bool) -> Message:
        """Continue the trial, or give it up; return its next message."""
        if not self._has_begun:
            return Message()
        self._decisions.put(wanted)
        return self._next_message()

    def _next_message(self) -> Message:
        message = self._messages.get()
        if isinstance(message, BaseException):
            raise message
        return message

    def _train(self, hasher: "Hasher") -> None:
        def watch(score: float) -> bool:
            self._messages.put(Message(score=score))
            return self._decisions.get()

        try:
            self._messages.put(Message(outcome=run_trial(self._task, hasher, watch)))
        except BaseException as error:
            self._messages.put(error)


def tune_on_ray(tuning: Tuning, trials: int, workers: int, display: Display = SILENT) -> None:
    """Run trials, several at the same time, until `trials` are finished; write the files after each."""
    task = Shared(tuning.task)
    with tuning.showing(trials, display) as view, pool(Trainer, workers) as actors:
        idle, running = list(actors), dict[Handle, tuple[Started, Handle]]()
        try:
            while len(tuning.finished) < trials:
                while idle and len(running) + len(tuning.finished) < trials:
                    started, actor = tuning.begin(), idle.pop()
                    running[actor.begin.remote(task, started.hasher)] = started, actor
                message, started, actor = _next_message(running)
                if message.score is not None:
                    proceeds = tuning.watch(started, message.score, view)
                    running[actor.proceed.remote(proceeds)] = started, actor
                    continue
                idle.append(actor)
                if message.outcome is None:
                    tuning.fail(started, again=True)
                else:
                    tuning.end(started, message.outcome, view)
        except BaseException as error:
            for started, _ in running.values():
                tuning.fail(started, again=isinstance(error, KeyboardInterrupt))
            raise


def _next_message(running: dict[Handle, tuple[Started, Handle]]) -> tuple[Message, Started, Handle]:
    """Wait for the message of any trial; return it with its trial, and stop waiting for that one."""
    import ray

    (reference,), _ = ray.wait(list(running), num_returns=1)
    with original_errors():
        message = ray.get(reference)
    return message, *running.pop(reference)
