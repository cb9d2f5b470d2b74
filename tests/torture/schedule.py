"""A schedule of any changes and questions on every store, with kills, full disks and backups at random moments.

It is the state machine of tests/search/test_index.py, which compares a store with a plain dict after every step. Kills
are made where a change is a transaction, in folders and on PostgreSQL, and full disks where the disk is ours.
"""

import os
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule, run_state_machine_as_test

from ammi.search import Entry, HammingIndex, Store, check_store
from ammi.search.copying import backup_store, restore_store
from tests.search.plain import PlainIndex, random_codes
from tests.search.stores import LOCATIONS, PostgresStore
from tests.search.test_index import Changes, content, documents, seeds
from tests.torture.commands import FORK
from tests.torture.outcome import Outcome

_PAGE = 4096
changes = st.sampled_from(["add", "delete", "set metadata", "recode", "compact"])


class Schedule(Changes):
    """The changes and questions of `Changes`, and what goes wrong with processes and disks."""

    seen: Counter[str]
    saved: tuple[PlainIndex, Any] | None = None  # the plain twin and the vectors when the backup was made

    def has_own_disk(self) -> bool:
        return self.store is HammingIndex and hasattr(os, "geteuid") and os.geteuid() == 0

    def folder(self) -> tempfile.TemporaryDirectory:
        return OwnDisk() if self.has_own_disk() else super().folder()

    def later(self, kind: str, documents: Sequence[tuple], seed: int) -> tuple[Callable[[Store], object], PlainIndex]:
        """Return a change of a kind, and the plain twin after it."""
        after, chosen = deepcopy(self.plain), self.some(0.5, seed)
        if kind == "delete":
            after.delete(chosen)
            return lambda store: store.delete(map(str, chosen)), after
        if kind == "set metadata":
            after.set_metadata(chosen, {"a": seed})
            return lambda store: store.set_metadata(map(str, chosen), {"a": seed}), after
        if kind == "compact":
            return lambda store: store.compact(), after
        if kind == "recode":
            rng, after.m = np.random.default_rng(seed), 1 + seed % 130
            new = {id: random_codes(rng, 1, after.m, distinct=5)[0] for id in after.documents}
            for id, code in new.items():
                after.documents[id] = after.documents[id]._replace(code=code)

            def encode(entries: Sequence[Entry]) -> tuple[np.ndarray, None]:
                return np.array([new[str(entry.id)] for entry in entries]), None

            return lambda store: store.recode(encode, after.m, fingerprint=f"model {seed}", files=None), after
        more: list[tuple] = [(name := f"more {seed % 5} {n}", name, {}) for n in range(1 + seed % 300)]
        ids, texts, metadata = zip(*documents, *more, strict=True)
        codes, (rows, kept) = self.codes(len(ids), seed), self.rows(len(ids), seed)
        after.add(codes, ids, texts, metadata, kept)
        return lambda store: store.add(codes, ids, texts, metadata, vectors=rows), after

    def take(self, outcomes: Sequence[PlainIndex]) -> None:
        """Go on with the plain twin that the store is like, of those that it may be like."""
        self.index = self.store.open(self.index.location)
        self.plain = the_one_like(self.index, outcomes)
        self.m = self.plain.m

    def kill_at_random(self, work: Callable[[Store], object], seed: int) -> bool:
        """Work on the store in a process of its own; return whether it was killed before it ended."""
        location = self.index.location
        self.index.close()

        def run() -> None:
            with self.store.open(location) as store:
                work(store)

        process = FORK.Process(target=run)
        process.start()
        process.join(random.Random(seed).expovariate(40))
        process.kill()
        process.join()
        assert process.exitcode in (0, -signal.SIGKILL)
        return process.exitcode != 0

    @precondition(lambda self: self.store in (HammingIndex, PostgresStore))
    @rule(kind=changes, documents=documents, seed=seeds)
    def kill(self, kind, documents, seed):
        """Kill a process that makes a change: it was made or not."""
        change, after = self.later(kind, documents, seed)
        killed = self.kill_at_random(change, seed)
        self.take([self.plain, after] if killed else [after])
        self.seen["kills"] += killed

    @precondition(lambda self: self.has_own_disk())
    @rule(kind=changes, documents=documents, seed=seeds, pages=st.integers(0, 20))
    def fill_disk(self, kind, documents, seed, pages):
        """Make a change on a disk that may be too full for it."""
        change, after = self.later(kind, documents, seed)
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
        backup_store(self.index, self.backup)
        self.saved = deepcopy(self.plain), self.vectors
        self.seen["backups"] += 1

    @precondition(lambda self: self.store in (HammingIndex, PostgresStore) and self.saved is not None)
    @rule(seed=seeds)
    def kill_a_backup(self, seed):
        """Kill a process that writes a backup over an older one: it is the old one or the new one."""
        assert self.saved is not None
        killed = self.kill_at_random(lambda store: backup_store(store, self.backup), seed)
        self.take([self.plain])
        new = deepcopy(self.plain), self.vectors
        candidates = [self.saved, new] if killed else [new]
        found = self.restored([plain for plain, _ in candidates])
        self.saved = next(one for one in candidates if one[0] is found)
        self.seen["backups killed"] += killed

    @property
    def backup(self) -> Path:
        return Path(self.home.name, "backup")

    def restored(self, outcomes: Sequence[PlainIndex]) -> PlainIndex:
        """Restore the backup to a folder of its own, and return the plain twin that it is like."""
        with tempfile.TemporaryDirectory() as folder:
            restore_store(self.backup, Path(folder, "restored"))
            with HammingIndex.open(Path(folder, "restored")) as restored:
                return the_one_like(restored, outcomes)

    @precondition(lambda self: self.saved is not None)
    @rule()
    def restore(self):
        """Restore the backup: in place, if the store is a folder; else to a folder, to be compared."""
        assert self.saved is not None
        plain, vectors = self.saved
        if self.store is HammingIndex:
            self.index.close()
            restore_store(self.backup, self.index.location)
            self.vectors = vectors
            self.take([deepcopy(plain)])
            for old in Path(self.index.location).glob("*.before-*"):
                old.unlink()
        else:
            self.restored([plain])
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


def the_one_like(store: Store, outcomes: Sequence[PlainIndex]) -> PlainIndex:
    """Return the plain twin that a store is like."""
    found = store.n_bits, [content(entry) for block in store.entries() for entry in block]
    for outcome in outcomes:
        if found == (outcome.m, [content(entry) for entry in outcome.documents.values()]):
            return outcome
    raise AssertionError(f"{found[0]} bits, {len(found[1])} documents: as after no outcome")


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
