"""Writers that are killed at random moments, and kills and power losses between any two of their system calls."""

import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from ammi import load
from ammi.search import HammingIndex, Store, check_store, repair_store
from tests.search.plain import PlainIndex
from tests.torture import jobs
from tests.torture.commands import FORK
from tests.torture.outcome import Outcome
from tests.torture.system_calls import Disk, record

Job = Callable[[Path, int, int, jobs.Say], None]
Look = Callable[[Path], object]  # what is there now


def content(index: Store | PlainIndex) -> list[tuple]:
    """Everything an index holds, in order."""
    blocks = [list(index.documents.values())] if isinstance(index, PlainIndex) else index.entries()
    return [(one.id, one.code.tobytes(), one.text, one.metadata) for block in blocks for one in block]


def content_at(folder: Path) -> list[tuple]:
    with HammingIndex.open(folder) as index:
        return content(index)


class Expected:
    """What an index holds after so many changes."""

    def __init__(self) -> None:
        self._plain = PlainIndex(jobs.N_BITS)
        self._contents: list[list[tuple]] = [[]]

    def __getitem__(self, n: int) -> list[tuple]:
        while len(self._contents) <= n:
            jobs.change(self._plain, len(self._contents) - 1)
            self._contents.append(content(self._plain))
        return self._contents[n]


def kill_writers(folder: Path, tries: int, seed: int = 0) -> Outcome:
    """A process makes changes until it is killed, and the next one goes on from there: none it said it made is lost."""
    rng, expected, outcome = np.random.default_rng(seed), Expected(), Outcome()
    HammingIndex.create(folder / "index", jobs.N_BITS, keys=["step"]).close()
    made = 0
    for _ in range(tries):
        made += killed(jobs.change_index, folder / "index", made, rng)
        found = _found(content_at, folder / "index")
        if found == expected[made]:
            outcome.good("change in hand not made")
        elif found == expected[made + 1]:
            outcome.good("change in hand made")
            made += 1
        else:
            outcome.bad(f"after {made} changes: {str(found)[:300]}")
            break  # what follows would be wrong as well
    return outcome


def killed(job: Job, folder: Path, first: int, rng: np.random.Generator) -> int:
    """Start a job, kill it at a random moment, and count the steps that it said it had made."""
    with _running(job, folder, first) as (process, said):
        for _ in range(rng.integers(1, 6)):
            said.recv()
        time.sleep(rng.exponential(0.004))
        process.kill()
        process.join()
        return said.drain() - first


@contextmanager
def _running(job: Job, folder: Path, first: int) -> Iterator[tuple]:
    said, saying = FORK.Pipe(duplex=False)
    process = FORK.Process(target=job, args=(folder, first, sys.maxsize, saying.send))
    process.start()
    saying.close()
    try:
        yield process, _Last(said, first)
    finally:
        process.kill()
        process.join()


class _Last:
    """The steps that were said, of which the last counts."""

    def __init__(self, said: Connection, first: int):
        self._said, self.steps = said, first

    def recv(self) -> None:
        self.steps = self._said.recv() + 1

    def drain(self) -> int:
        try:
            while True:
                self.recv()
        except EOFError:
            return self.steps


def _found(look: Look, location: Path) -> object:
    """What is there, or the error that says why nothing can be seen."""
    try:
        return look(location)
    except Exception as error:
        return repr(error)


def crash_writer(folder: Path, steps: int, losses: int, seed: int = 0) -> Outcome:
    """An index after a kill, and after so many different power losses, at every system call of a writer."""
    HammingIndex.create(folder / "index", jobs.N_BITS, keys=["step"]).close()
    expected = Expected()
    return _crash("change_index", folder, "index", steps, losses, seed, content_at, expected.__getitem__)


def crash_repair(folder: Path, changes: int, losses: int, seed: int = 0) -> Outcome:
    """A damaged index whose repair ends at any system call: the next repair keeps all documents that are whole."""
    index = folder / "index"
    HammingIndex.create(index, jobs.N_BITS, keys=["step"]).close()
    process = FORK.Process(target=_leave_damaged, args=(index, changes))
    process.start()
    process.join()

    def repaired(location: Path) -> list[tuple]:
        repair_store(location)
        assert check_store(location) == []
        return content_at(location)

    whole = Expected()[changes]
    return _crash("repair", folder, "index", 1, losses, seed, repaired, lambda made: whole)


def _leave_damaged(folder: Path, changes: int) -> None:
    """Change an index, spoil what can be made anew of the documents, and end without closing it: as killed writers."""
    index = HammingIndex.open(folder)
    for step in range(changes):
        jobs.change(index, step)
    with index._writing():
        index._database.set_state(characters=index._database.state.characters + 1)
    os._exit(0)


def crash_saves(folder: Path, steps: int, losses: int, seed: int = 0) -> Outcome:
    """A model after a kill, and after power losses, at every system call of saves over it."""
    (folder / "models").mkdir()
    jobs.save_models(folder / "models", 0, 1, lambda step: None)
    fingerprints = [jobs.model(step).fingerprint_ for step in range(steps + 1)]
    return _crash(
        "save_models",
        folder,
        "models",
        steps,
        losses,
        seed,
        lambda location: load(location / "model").fingerprint_,
        lambda made: fingerprints[max(made - 1, 0)],
    )


def _crash(
    job: str,
    folder: Path,
    name: str,
    steps: int,
    losses: int,
    seed: int,
    look: Look,
    expected: Callable[[int], object],
) -> Outcome:
    rng, outcome = np.random.default_rng(seed), Outcome()
    attacked, before, location = folder / name, folder / "before", folder / "after"
    shutil.copytree(attacked, before)
    calls = record([sys.executable, "-m", "tests.torture.jobs", job, str(attacked), "0", str(steps)], attacked)
    disk, said = Disk(attacked, before), ""
    for n, call in enumerate(calls):
        if call.name == "say":
            said += call.data.decode()
        disk.apply(call)
        made = said.count("\n")
        for power_is_lost in (False, *[True] * losses):
            disk.write(location, rng if power_is_lost else None)
            found = _found(look, location)
            event = "power lost" if power_is_lost else "killed"
            if found in (expected(made), expected(min(made + 1, steps))):
                outcome.good(event)
            else:
                outcome.bad(f"{event} after call {n} ({call.name} {call.paths}), {made} steps made: {str(found)[:300]}")
    return outcome
