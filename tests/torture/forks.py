"""Processes that are forked while their parent has an index open: whatever was acknowledged, in either, is there.

The parent has the index open and idle, sees a snapshot of it, is in the midst of its documents, or writes to it in
another thread. A child is refused what it inherits. It opens the index anew, and is refused that only if the parent was
using it at the time.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from threading import Event, Thread

import numpy as np

from ammi.search import Entry, HammingIndex, check_store
from tests.torture.commands import FORK
from tests.torture.outcome import Outcome

N_BITS = 64
_CODE = np.zeros((1, N_BITS // 8), np.uint8)
_REFUSED = "was opened before this process was forked"
_IN_USE = "was in use when this process was forked"

USES: dict[str, Callable[[HammingIndex], object]] = {
    "add": lambda index: index.add(_CODE, ["lost"]),
    "delete": lambda index: index.delete([0]),
    "search": lambda index: index.search(_CODE),
    "len": len,
    "ids": list,
    "documents": lambda index: list(index.entries()),
    "compact": lambda index: index.compact(),
    "snapshot": lambda index: index.snapshot().__enter__(),
}


def fork(folder: Path, tries: int, seed: int = 0) -> Outcome:
    """Fork so many children, one after the other, which add documents while the parent does."""
    outcome, rng, location = Outcome(), np.random.default_rng(seed), folder / "index"
    index = HammingIndex.create(location, N_BITS)
    index.add(np.repeat(_CODE, 1500, axis=0), range(1500), ["some words"] * 1500)
    acknowledged = {*range(1500)}
    for n in range(tries):
        state = _STATES[n % len(_STATES)]
        receiving, sending = FORK.Pipe()
        with state(index, acknowledged) as (documents, in_use):
            child = FORK.Process(target=_child, args=(index, location, documents, n, sending))
            child.start()
            sending.close()
        acknowledged.update(index.add(_CODE, [f"parent {n}"]))
        if rng.random() < 0.5:
            index.close()
            index = HammingIndex.open(location)
        with suppress(BrokenPipeError):  # it was refused, and has ended
            receiving.send("go on")
        try:
            added, complaints = receiving.recv()
        except EOFError:
            added, complaints = [], ["the child died"]
        child.join()
        acknowledged.update(added)
        if not added and not in_use:
            complaints.append("nothing was added")
        complaints += [f"{id} is lost" for id in acknowledged if id not in index]
        for words in complaints:
            outcome.bad(f"fork {n} ({state.__name__}): {words}")
        if not complaints:
            outcome.good("added by the child" if added else "refused, since it was in use")
    index.close()
    if damage := check_store(location):
        outcome.bad(f"{damage}")
    return outcome


Found = tuple[Iterator[list[Entry]] | None, bool]  # documents that the parent was reading, and whether it was in use


@contextmanager
def _idle(index: HammingIndex, acknowledged: set) -> Iterator[Found]:
    yield None, False


@contextmanager
def _in_snapshot(index: HammingIndex, acknowledged: set) -> Iterator[Found]:
    with index.snapshot():
        n = len(index)
        yield None, True
        assert len(index) == n


@contextmanager
def _amid_documents(index: HammingIndex, acknowledged: set) -> Iterator[Found]:
    documents = index.entries()
    first = next(documents)
    yield documents, True
    assert len(first) + sum(map(len, documents)) == len(index)


@contextmanager
def _beside_a_writer(index: HammingIndex, acknowledged: set) -> Iterator[Found]:
    ended, begun = Event(), Event()

    def write() -> None:
        number = 0
        while not ended.is_set():
            acknowledged.update(index.add(_CODE, [f"thread {number}"]))
            number += 1
            begun.set()

    thread = Thread(target=write)
    thread.start()
    begun.wait()
    try:
        yield None, True
    finally:
        ended.set()
        thread.join()


_STATES = [_idle, _in_snapshot, _amid_documents, _idle, _beside_a_writer]


def _child(
    index: HammingIndex, location: Path, documents: Iterator[list[Entry]] | None, n: int, sending: Connection
) -> None:
    complaints, added = [], []
    uses = dict(USES) if documents is None else {"more documents": lambda index: next(documents), **USES}
    for name, use in uses.items():
        try:
            use(index)
            complaints.append(f"the child may {name}")
        except ValueError as error:
            if _REFUSED not in str(error):
                complaints.append(f"{name}: {error}")
    index.close()  # which leaves the parent's connections alone
    try:
        with HammingIndex.open(location) as own:
            added += own.add(_CODE, [f"child {n}"])
            sending.recv()  # the parent has added some, and perhaps closed it
            added += own.add(_CODE, [f"child {n} again"])
    except ValueError as error:
        if _IN_USE not in str(error):
            complaints.append(f"{error!r}")
    except Exception as error:
        complaints.append(f"{error!r}")
    sending.send((added, complaints))
