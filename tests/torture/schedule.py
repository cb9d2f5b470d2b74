"""A schedule of any changes and questions on every store, with kills, full disks and backups at random moments.

It is the state machine of tests/search/test_index.py, which compares a store with a plain dict after every step. Kills
are made where a change is a transaction, in folders and on PostgreSQL, and full disks where the disk is ours.
"""

import os
import random
import shutil
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from ammi.search import HammingIndex, Store, check_store
from ammi.search.copying import backup_store, restore_store
from tests.search.plain import PlainIndex
from tests.search.stores import LOCATIONS, PostgresStore
from tests.search.test_index import Changes, content, documents, seeds
from tests.torture.commands import FORK
from tests.torture.outcome import Outcome

_PAGE = 4096


class Schedule(Changes):
    """The changes and questions of `Changes`, and what goes wrong with processes and disks."""

    seen: Counter[str]
    saved: tuple[PlainIndex, int, Any] | None = None  # the plain twin when the backup was made

    def has_own_disk(self) -> bool:
        return self.store is HammingIndex and hasattr(os, "geteuid") and os.geteuid() == 0

    def folder(self) -> tempfile.TemporaryDirectory:
        return OwnDisk() if self.has_own_disk() else super().folder()

    def add_later(self, documents: Sequence[tuple], seed: int) -> tuple[Callable[[Store], object], PlainIndex]:
        """Return a change that adds documents, and the plain twin after it."""
        more: list[tuple] = [(name := f"more {seed % 5} {n}", name, {}) for n in range(1 + seed % 300)]
        ids, texts, metadata = zip(*documents, *more, strict=True)
        codes, (rows, kept) = self.codes(len(ids), seed), self.rows(len(ids), seed)
        after = deepcopy(self.plain)
        after.add(codes, ids, texts, metadata, kept)
        return lambda store: store.add(codes, ids, texts, metadata, vectors=rows), after

    def take(self, outcomes: Sequence[PlainIndex]) -> None:
        """Go on with the plain twin that the store is like, of those that it may be like."""
        self.index = self.store.open(self.index.location)
        found = [content(entry) for block in self.index.entries() for entry in block]
        for outcome in outcomes:
            if found == [content(entry) for entry in outcome.documents.values()]:
                self.plain = outcome
                return
        raise AssertionError(f"{len(found)} documents are there, as after neither outcome")

    @precondition(lambda self: self.store in (HammingIndex, PostgresStore))
    @rule(documents=documents, seed=seeds)
    def kill(self, documents, seed):
        """Kill a process that makes a change: it was made or not."""
        change, after = self.add_later(documents, seed)
        location = self.index.location
        self.index.close()

        def work() -> None:
            with self.store.open(location) as store:
                change(store)

        process = FORK.Process(target=work)
        process.start()
        process.join(random.Random(seed).expovariate(20))
        process.kill()
        process.join()
        self.take([after] if process.exitcode == 0 else [self.plain, after])
        self.seen["kills"] += process.exitcode != 0

    @precondition(lambda self: self.has_own_disk())
    @rule(documents=documents, seed=seeds, pages=st.integers(0, 60))
    def fill_disk(self, documents, seed, pages):
        """Make a change on a disk that may be too full for it."""
        change, after = self.add_later(documents, seed)
        used = shutil.disk_usage(self.home.name).used
        subprocess.run(["mount", "-o", f"remount,size={used + pages * _PAGE}", self.home.name], check=True)
        outcomes = [after]
        try:
            change(self.index)
        except OSError:
            outcomes = [self.plain, after]
            self.seen["full disks"] += 1
        finally:
            subprocess.run(["mount", "-o", "remount,size=1g", self.home.name], check=True)
        self.index.close()
        self.take(outcomes)

    @rule()
    def back_up(self):
        """Write a backup, which is restored later."""
        backup_store(self.index, Path(self.home.name, "backup"))
        self.saved = deepcopy(self.plain), self.m, self.vectors
        self.seen["backups"] += 1

    @precondition(lambda self: self.saved is not None)
    @rule()
    def restore(self):
        """Restore the backup: in place, if the store is a folder; else to a folder, to be compared."""
        assert self.saved is not None
        backup, (plain, m, vectors) = Path(self.home.name, "backup"), self.saved
        if self.store is HammingIndex:
            self.index.close()
            restore_store(backup, self.index.location)
            self.m, self.vectors = m, vectors
            self.take([deepcopy(plain)])
            for old in Path(self.index.location).glob("*.before-*"):
                old.unlink()
        else:
            folder = Path(self.home.name, "restored")
            restore_store(backup, folder)
            with HammingIndex.open(folder) as restored:
                found = [content(entry) for block in restored.entries() for entry in block]
            assert found == [content(entry) for entry in plain.documents.values()]
            shutil.rmtree(folder)
        self.seen["restored"] += 1

    @precondition(lambda self: self.store is HammingIndex)
    @rule()
    def check(self):
        assert check_store(self.index.location) == []
        self.seen["checks"] += 1

    def teardown(self):
        if hasattr(self, "index"):
            self.index.close()
            self.seen["schedules"] += 1
        if self.has_own_disk() and hasattr(self, "home"):
            subprocess.run(["umount", self.home.name], check=True)
        super().teardown()


class OwnDisk(tempfile.TemporaryDirectory):
    """A folder that is a small disk in memory."""

    def __init__(self) -> None:
        super().__init__()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1g", "tmpfs", self.name], check=True)


def run(folder: Path, seconds: float, stores: Sequence[type[Store]] = tuple(LOCATIONS), examples: int = 5) -> Outcome:
    """Make schedules on one store after the other until the time is over."""
    outcome, end = Outcome(), time.monotonic() + seconds
    again = settings(
        max_examples=examples,
        stateful_step_count=30,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    while not outcome.tried or time.monotonic() < end:
        for store in stores:
            seen: Counter[str] = Counter()
            machine = type(f"{store.__name__}Schedule", (Schedule,), {"store": store, "seen": seen})
            try:
                run_state_machine_as_test(machine, settings=again)
            except Exception as error:
                outcome.bad(f"{store.__name__}: {error!r} {' '.join(getattr(error, '__notes__', []))}")
            else:
                outcome.tried += seen.pop("schedules")
                outcome.seen = dict(Counter(outcome.seen) + seen)
    return outcome
