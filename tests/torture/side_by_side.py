"""Readers and writers of one index side by side, against a model of what they should see.

Documents come in sets, and a writer replaces or deletes a whole set in one change. What a reader sees of a set is one
version of it, no older than the last one that was acknowledged before it looked, no newer than the one in hand after.
"""

import time
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized, SynchronizedArray
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ammi.search import Entry, HammingIndex, Hit, Store, check_store, open_store
from ammi.search.locations import store_class
from ammi.search.store_methods import Location
from tests.torture import jobs
from tests.torture.commands import FORK
from tests.torture.outcome import Outcome

N_BITS, SETS, SIZE = 64, 12, 20
LEAST = 15  # changes of each writer and looks of each reader, however busy the machine is


def run(location: Location, seconds: float, writers: int = 2, readers: int = 2, seed: int = 0) -> Outcome:
    outcome = Outcome()
    store_class(location).create(location, N_BITS, keys=["set"]).close()
    begun, made = (FORK.Array("q", SETS) for _ in range(2))  # the version of each set that is in hand, and that is made
    until = time.monotonic() + seconds
    jobs = [(_write, (writer, writers)) for writer in range(writers)] + [
        (_read, (reader,)) for reader in range(readers)
    ]
    pipes, processes = [], []
    for job, numbers in jobs:
        receiving, sending = FORK.Pipe(duplex=False)
        process = FORK.Process(target=_reporting, args=(job, location, begun, made, until, sending, seed, *numbers))
        process.start()
        sending.close()
        pipes.append(receiving)
        processes.append(process)
    for pipe, process in zip(pipes, processes, strict=True):
        try:
            name, n, failures = pipe.recv()
        except EOFError:
            name, n, failures = "processes that died", 1, ["a process died"]
        process.join()
        outcome.tried += n
        outcome.seen[name] = outcome.seen.get(name, 0) + n
        for words in failures:
            outcome.tried -= 1
            outcome.bad(words)
    return outcome


def check(folder: Path, tries: int, writers: int = 2) -> Outcome:
    """Check an index while others change and compact it: a check finds nothing."""
    outcome, index = Outcome(), folder / "index"
    with HammingIndex.create(index, N_BITS, keys=["step"]) as new:  # large enough for a check to take some time
        new.add(np.zeros((1000, N_BITS // 8), np.uint8), range(1000, 2000), ["some words"] * 1000)
    made = FORK.Value("q")
    processes = [FORK.Process(target=_change, args=(index, writer, writers, made)) for writer in range(writers)]
    for process in processes:
        process.start()
    try:
        while outcome.tried < tries:
            before = made.value
            while made.value == before:  # a check has a change before it, and most likely some beside it
                time.sleep(0.001)
            try:
                damage = check_store(index)
            except Exception as error:
                damage = [repr(error)]
            outcome.bad("; ".join(damage)) if damage else outcome.good("sound")
        if not all(process.is_alive() for process in processes):
            outcome.bad("a writer died")
    finally:
        for process in processes:
            process.kill()
            process.join()
    return outcome


def _change(folder: Path, writer: int, writers: int, made: Synchronized) -> None:
    with HammingIndex.open(folder) as index:
        for step in count(writer, writers):
            try:
                jobs.change(index, step)
            except ValueError as error:
                if "ids are unknown" not in str(error):  # another writer has deleted them meanwhile
                    raise
            made.value += 1
            if step % 50 == 0:
                index.compact()


def _reporting(
    job, location: Location, begun, made, until: float, sending: Connection, seed: int, *numbers: int
) -> None:
    rng, n = np.random.default_rng([seed, *numbers]), 0
    failures: list[str] = []
    with open_store(location) as index:
        while (time.monotonic() < until or n < LEAST) and len(failures) < 20:
            n += 1
            try:
                job(index, begun, made, rng, *numbers)
            except Exception as error:
                failures.append(f"{job.__name__}: {error!r}")
    sending.send(("changes" if job is _write else "looks", n, failures))


def version_of(one: int, version: int) -> list[tuple[int, bytes, str, dict]]:
    """The documents of a version of a set: id, code, text, metadata. Every third version is empty."""
    if version % 3 == 0:
        return []
    rng = np.random.default_rng([one, version])
    codes = rng.integers(0, 256, (SIZE, N_BITS // 8), dtype=np.uint8)
    ids = [one * SIZE + i for i in range(SIZE)]
    return [
        (id, code.tobytes(), f"set {one} version {version} document {id}", {"set": one, "version": version})
        for id, code in zip(ids, codes, strict=True)
    ]


def _write(
    index: Store,
    begun: SynchronizedArray,
    made: SynchronizedArray,
    rng: np.random.Generator,
    writer: int,
    writers: int,
) -> None:
    """Make the next version of a set that belongs to this writer."""
    one = int(rng.integers(SETS // writers)) * writers + writer
    version = made[one] + 1
    begun[one] = version
    documents = version_of(one, version)
    if documents:
        ids, codes, texts, metadata = zip(*documents, strict=True)
        index.add(np.array([list(code) for code in codes], np.uint8), ids, texts, metadata)
    else:
        index.delete([one * SIZE + i for i in range(SIZE)])
    made[one] = version


def _read(
    index: Store, begun: SynchronizedArray, made: SynchronizedArray, rng: np.random.Generator, reader: int
) -> None:
    """Look at a set in some way."""
    one = int(rng.integers(SETS))
    oldest = made[one]
    match rng.integers(3):
        case 0:
            found = {_told(entry) for block in index.entries({"set": one}) for entry in block}
        case 1:
            query = rng.integers(0, 256, (1, N_BITS // 8), dtype=np.uint8)
            found = {_told(hit) for hit in index.search(query, 10 * SIZE, {"set": one})[0]}
            for hit in index.search(query, 3)[0]:
                if hit.distance != np.bitwise_count(_code(hit) ^ query).sum():
                    raise AssertionError(f"{hit} is not {hit.distance} away")
        case 2:
            try:
                found = {_told(entry) for entry in index.get(range(one * SIZE, (one + 1) * SIZE))}
            except ValueError as error:
                if f"{SIZE} of {SIZE} ids are unknown" not in str(error):
                    raise
                found = set()
    newest = begun[one]
    for version in range(oldest, newest + 1):
        if found == {(id, text, version) for id, _, text, _ in version_of(one, version)} if version else not found:
            return
    raise AssertionError(f"set {one} is at version {oldest} to {newest}, but this was seen: {sorted(found)[:3]}")


def _told(one: Entry | Hit) -> tuple:
    return one.id, one.text, one.metadata["version"]


def _code(hit: Hit) -> NDArray[np.uint8]:
    """What the code of a document must be."""
    codes = {id: code for id, code, _, _ in version_of(hit.metadata["set"], hit.metadata["version"])}
    return np.frombuffer(codes[int(hit.id)], np.uint8)
