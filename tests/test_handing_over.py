"""What an open collection can be handed to: a test for each row of the table in docs/reliability.md."""

import asyncio
import copy
import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Thread

import numpy as np
import pytest

from ammi import LSH, Collection
from ammi.search import HammingIndex
from tests.search.stores import LOCATIONS, PostgresStore

VECTORS = np.eye(8)
MODEL = LSH(16, random_state=0).fit(VECTORS)
FORK = get_context("fork")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
on_disk_or_server = pytest.mark.parametrize("store", [HammingIndex, PostgresStore])


@pytest.fixture
def articles(tmp_path):
    with Collection.create(tmp_path / "articles", MODEL) as collection:
        collection.add(VECTORS)
        yield collection


def in_child(job: Callable[[], object], then: Callable[[], object] = lambda: None) -> object:
    """What a job returns in a forked process, or the words of its error; `then` runs in this one before it ends."""
    receiving, sending = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_report, args=(job, sending))
    process.start()
    then()
    found = receiving.recv()
    process.join()
    assert process.exitcode == 0
    return found


def _report(job: Callable[[], object], sending: Connection) -> None:
    try:
        sending.send(job())
    except (ValueError, TypeError) as error:
        sending.send(str(error))


def test_threads_share_an_open_collection(articles):
    with ThreadPoolExecutor(4) as threads:
        added = threads.map(lambda n: articles.add([VECTORS[n % 8]], ids=[f"new {n}"]), range(40))
        found = list(threads.map(lambda n: articles.search(VECTORS[n % 8], 1)[0].distance, range(40)))
        assert len(list(added)) == 40
    assert (len(articles), found) == (48, [0] * 40)


def test_a_snapshot_belongs_to_its_thread(articles):
    with articles.store.snapshot():
        other = Thread(target=lambda: articles.add(VECTORS))
        other.start()
        other.join()
        assert len(articles) == 8
    assert len(articles) == 16


def test_coroutines_call_it_in_threads(articles):
    async def use() -> list:
        searches = [asyncio.to_thread(articles.search, vector, 1) for vector in VECTORS]
        return await asyncio.gather(asyncio.to_thread(articles.add, VECTORS), *searches)

    _, *found = asyncio.run(use())
    assert [hits[0].distance for hits in found] == [0] * 8
    assert len(articles) == 16


@pytest.mark.parametrize("use", [pickle.dumps, copy.copy, copy.deepcopy])
def test_pickles_and_copies_name_the_location(articles, use):
    with pytest.raises(TypeError, match=r"cannot be pickled or copied: hand over its location, '.*articles'"):
        use(articles)
    with pytest.raises(TypeError, match=r"cannot be pickled or copied: hand over '.*articles'"):
        use(articles.store)


def _add(location: str) -> int:
    with Collection.open(location) as collection:
        collection.add(VECTORS)
        return len(collection)


def test_a_spawned_process_opens_the_location(articles):
    code = "import sys; from ammi import Collection; Collection.open(sys.argv[1]).delete([0])"
    subprocess.run([sys.executable, "-c", code, articles.location], check=True)
    assert len(articles) == 7


@needs_fork
@on_disk_or_server
@pytest.mark.parametrize(
    "use", [len, list, lambda index: index.add(np.zeros((1, 2), np.uint8)), lambda index: index.n_bits]
)
def test_a_forked_process_is_refused_an_inherited_collection(store, tmp_path, use):
    with store.create(LOCATIONS[store](tmp_path), 16) as index:
        index.add(np.zeros((3, 2), np.uint8))
        assert "was opened before this process was forked, and only its parent can use it" in str(
            in_child(lambda: use(index))
        )
        with index.snapshot():
            assert "open it again here" in str(in_child(lambda: use(index)))
            assert len(index) == 3
        documents, again = index.entries(), index.entries()
        next(documents), next(again)
        assert "open it again here" in str(in_child(lambda: next(documents)))
        index.add(np.zeros((1, 2), np.uint8))
        assert (len(index), list(again)) == (4, [])


@needs_fork
def test_a_change_that_is_being_made_belongs_to_the_parent(tmp_path):
    with HammingIndex.create(tmp_path / "index", 16) as index:
        index.add(np.zeros((3, 2), np.uint8))

        def encode(entries):
            answers.append(str(in_child(lambda: len(index))))
            return np.ones((len(entries), 2), np.uint8), None

        answers: list[str] = []
        index.recode(encode, 16, fingerprint="new", files=None)
        assert all("open it again here" in words for words in answers)
        assert index.export()[1].tolist() == [[1, 1]] * 3


@needs_fork
def test_a_forked_process_opens_the_location_and_loses_nothing(articles):
    assert in_child(lambda: _add(articles.location)) == 16

    def add_later() -> int:
        with Collection.open(articles.location) as own:
            own.add(VECTORS)
            os.write(is_open[1], b".")
            os.read(is_closed[0], 1)
            own.add(VECTORS)
            return len(own)

    def close() -> None:
        os.read(is_open[0], 1)
        articles.close()  # the last one to close it removes its journal: the child has it open
        os.write(is_closed[1], b".")

    is_open, is_closed = os.pipe(), os.pipe()
    assert in_child(add_later, close) == 32
    with Collection.open(articles.location) as again:
        assert len(again) == 32
    assert Collection.check(articles.location) == []


@needs_fork
def test_a_collection_in_use_cannot_be_opened_in_a_forked_process(articles):
    words = "was in use when this process was forked, and cannot be opened here: fork while nothing reads or writes it"
    with articles.store.snapshot():
        assert words in str(in_child(lambda: _add(articles.location)))
    entries = iter(articles)
    next(entries)
    assert words in str(in_child(lambda: _add(articles.location)))
    entries.close()
    assert in_child(lambda: _add(articles.location)) == 16


@needs_fork
def test_a_forked_process_that_ends_leaves_the_parent_its_journal(tmp_path):
    """The interpreter frees what it has when it ends, where multiprocessing just stops: no connection is among that."""
    program = """
        import os, sys
        import numpy as np
        from ammi.search import HammingIndex
        index = HammingIndex.create(sys.argv[1], 8)
        code = np.zeros((1, 1), np.uint8)
        index.add(code)
        documents = index.entries()
        next(documents)
        if os.fork() == 0:
            index.close()
            del documents
            sys.exit(0)
        os.wait()
        assert "index.sqlite-wal" in os.listdir(sys.argv[1])
        index.add(code)
        os._exit(0)  # as if it was killed: the change is in the journal
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "index")], check=True)
    with HammingIndex.open(tmp_path / "index") as index:
        assert len(index) == 2
