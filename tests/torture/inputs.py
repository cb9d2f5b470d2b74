"""Strange inputs to every command and to the public functions: each is a success or one sentence of ours.

`python -m tests.torture generated` tries 100,000 of them, in processes of their own. `inputs` is what Hypothesis draws
from: a file, and some attempts to read it or to do something else. `try_one` makes one and says what is wrong with how
it ended.
"""

import json
import os
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import suppress
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from ammi import hashers
from tests.memory import peak_kilobytes
from tests.torture import strange
from tests.torture.calls import OF_INDEXES, OF_VALUES, Call
from tests.torture.calls_of_chains import OF_CHAINS
from tests.torture.calls_of_models import OF_MODELS
from tests.torture.command_lines import INPUT, check_command, command_lines
from tests.torture.judged import Judged, foreign
from tests.torture.outcome import Outcome
from tests.torture.template import SERVED, Workplace, workplace

MOST_KILOBYTES = 2_000_000  # that one input may take
MOST_SECONDS = 60  # of the processor
HANGS = 900  # seconds by the clock, on however busy a machine, after which the process is ended
ATTEMPTS = 8  # with one file, which takes longer to draw than most of them
BATCH = 1000  # attempts of one process

CALLS = {**OF_INDEXES, **OF_VALUES, **OF_CHAINS, **OF_MODELS}


class Attempt(NamedTuple):
    """A command line with its standard input, or a call."""

    name: str
    command: list[str] | None
    stdin: bytes
    call: Call | None

    def run(self, file: str, served: str) -> Judged:
        if self.command is not None:
            meant = {INPUT: file, SERVED: served}
            return check_command([meant.get(word, word) for word in self.command], self.stdin)
        assert self.call
        self.call.run(file, served)
        return Judged(False)

    def __str__(self) -> str:
        words = self.call.arguments if self.call else (self.command, self.stdin)
        return f"{self.name} {words!r:.1000}"


class Input(NamedTuple):
    """A file, its name and its content, and what is tried with it."""

    name: str
    content: bytes
    attempts: list[Attempt]


_stdins = st.one_of(st.just(b""), st.just(b""), strange.CONTENTS[".jsonl"], strange.CONTENTS[".txt"])
_command_lines = command_lines()
_names = st.sampled_from(list(CALLS))


@st.composite
def attempts(draw: st.DrawFn) -> Attempt:
    if draw(st.booleans()):
        command = draw(_command_lines)
        stdin = draw(_stdins) if "-" in command else b""
        return Attempt(
            " ".join(["ammi", *command[: 2 if command[0] in ("index", "data") else 1]]), command, stdin, None
        )
    name = draw(_names)
    return Attempt(name, None, b"", draw(CALLS[name]))


_attempts = attempts()
inputs = st.builds(
    lambda file, attempts: Input(file[0], file[1], list(attempts)), strange.files(), st.tuples(*[_attempts] * ATTEMPTS)
)


def try_one(attempt: Attempt, file: str, content: bytes, location: Workplace) -> Judged:
    """Make an attempt in the workplace, which is then as it was."""
    Path(file).write_bytes(content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return attempt.run(file, location.served)
    except Exception as error:
        return Judged(True, foreign(error))
    finally:
        with suppress(OSError):
            os.unlink(file)
        location.restore()


def run_batch(number: int, size: int, location: Workplace, last: Path) -> dict[str, Any]:
    """Make so many attempts, and count how they ended; each is written down before, in case it is the last."""
    counts: Counter[str] = Counter()
    findings: dict[str, dict[str, Any]] = {}

    def watched(attempt: Attempt, one: Input) -> None:
        last.write_text(f"{attempt} {one.name} {one.content!r:.2000}", errors="replace")
        _forget_peak()
        before = peak_kilobytes()
        signal.alarm(HANGS)
        start = time.process_time()
        judged = try_one(attempt, one.name, one.content, location)
        wrong, kilobytes = judged.wrong, peak_kilobytes() - before
        if kilobytes > MOST_KILOBYTES:
            wrong = wrong or f"took {kilobytes:,} kB"
        if time.process_time() - start > MOST_SECONDS:
            wrong = wrong or f"took {time.process_time() - start:.0f} s"
        counts["wrong" if wrong else "refused" if judged.refused else "done"] += 1
        counts["most kilobytes"] = max(counts["most kilobytes"], kilobytes)
        if wrong:
            at = f"{attempt.name}: {wrong[wrong.rfind('[') :] if '[' in wrong else wrong[:60]}"
            kept = findings.setdefault(at, {"times": 0, "wrong": wrong, "example": last.read_text()})
            kept["times"] += 1

    @seed(number)
    @settings(
        max_examples=-(-size // ATTEMPTS), database=None, deadline=None, phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(inputs)
    def each(one: Input) -> None:
        for attempt in one.attempts:
            watched(attempt, one)

    each()
    return {"counts": dict(counts), "findings": findings}


def _forget_peak() -> None:
    """Let the peak of memory begin anew, where the system can do that."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _batch(number: int, size: int, location: Workplace, last: Path, result: Path) -> None:
    """A batch in a process of its own."""
    location.restore()
    result.write_text(json.dumps(run_batch(number, size, location, last)))


def _in_a_process(number: int, size: int, location: Workplace) -> dict[str, Any]:
    """What a batch found; a process that did not come to its end is something that was found."""
    with tempfile.TemporaryDirectory() as folder:
        last, result = Path(folder, "last.txt"), Path(folder, "result.json")
        process = get_context("fork").Process(target=_batch, args=(number, size, location, last, result))
        process.start()
        process.join()
        if result.exists():
            return json.loads(result.read_text())
        end = {"times": 1, "wrong": f"ended with {process.exitcode}", "example": last.read_text()}
        return {"counts": {"wrong": 1}, "findings": {f"batch {number}": end}}


def run_all(n_attempts: int, kept: Path | None = None) -> Outcome:
    """All attempts, a batch after the other. Batches of which nothing was wrong are kept, and not made again."""
    done: dict[str, dict[str, int]] = json.loads(kept.read_text()) if kept and kept.exists() else {}
    outcome = Outcome()
    torch.set_num_threads(1)
    with workplace() as location:
        _warm_up(location)
        for number in range(-(-n_attempts // BATCH)):
            counts = done.get(str(number))
            if counts is None:
                found = _in_a_process(number, min(BATCH, n_attempts - number * BATCH), location)
                counts = found["counts"]
                for at, finding in found["findings"].items():
                    print(at, json.dumps(finding), file=sys.stderr, flush=True)
                    outcome.examples.append(at)
                if not found["findings"] and kept:
                    done[str(number)] = counts
                    kept.write_text(json.dumps(done) + "\n")
            outcome.tried += sum(counts.get(name, 0) for name in ("done", "refused", "wrong"))
            outcome.wrong += counts.get("wrong", 0)
            for name in ("done", "refused"):
                outcome.seen[name] = outcome.seen.get(name, 0) + counts.get(name, 0)
            outcome.seen["most MB"] = max(outcome.seen.get("most MB", 0), counts.get("most kilobytes", 0) // 1000)
            print(f"{outcome.tried:,} of {n_attempts:,}: {outcome.wrong:,} wrong", file=sys.stderr, flush=True)
    if kept and not outcome.wrong:
        kept.unlink(missing_ok=True)  # the next run begins anew
    return outcome


def _warm_up(location: Workplace) -> None:
    """Import and compile here what all batches need."""
    hashers.VDSH(4, epochs=1, verbose=False).fit(np.eye(4))  # torch's Adam imports for seconds
    with tempfile.TemporaryDirectory() as folder:
        run_batch(1 << 30, 400, location, Path(folder, "last.txt"))
    signal.alarm(0)
