"""Processes and threads that work at the same time; tests.torture has more of them, kills them, and fills the disk."""

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

from ammi.search import HammingIndex
from tests.search.processes import N_BITS
from tests.search.stores import LOCATIONS, PostgresStore

ROOT = Path(__file__).parents[2]
SET = 50  # documents
on_disk_or_server = pytest.mark.parametrize("store", [HammingIndex, PostgresStore])


def start(part: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.search.processes", part, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def finish(process: subprocess.Popen[str]) -> str:
    output, _ = process.communicate(timeout=600)
    assert process.returncode == 0
    return output


@pytest.mark.slow
@on_disk_or_server
def test_readers_and_writers_during_a_recode(store, tmp_path):
    """A reader sees all old or all new; what a writer does meanwhile is neither lost nor left with old codes."""
    location = LOCATIONS[store](tmp_path)
    index = store.create(location, N_BITS, fingerprint="old", files={"model": b"old"})
    index.add(np.zeros((10_000, 8), np.uint8))
    others = [start("read_while_recoded", location), start("change_while_recoded", location)]
    for process in others:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"

    def encode(entries):
        time.sleep(0.02)  # as a model would
        return np.full((len(entries), 3), 255, np.uint8), None

    index.recode(encode, 24, fingerprint="new", files={"model": b"new"})
    reader, writer = map(finish, others)
    assert reader == "new old\n"
    _, *present = map(int, writer.split())
    ids, codes = index.export()
    assert sorted(ids) == present
    assert (codes == 255).all()
    index.close()


def test_threads_take_turns(tmp_path):
    with HammingIndex.create(tmp_path, N_BITS) as index:

        def add_and_search(thread: int) -> None:
            for i in range(20):
                index.add(np.full((1, 8), thread, np.uint8), [f"{thread}/{i}"])
                found.append(index.search(np.full((1, 8), thread, np.uint8), 1)[0][0].id == f"{thread}/0")

        found: list[bool] = []
        threads = [Thread(target=add_and_search, args=(thread,)) for thread in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == [True] * 80
        assert len(index) == 80


def test_threads_search_at_the_same_time_while_one_writes(tmp_path):
    """Every answer is that of one moment: all documents of a version, and never of an older one than before."""
    with HammingIndex.create(tmp_path, N_BITS) as index:
        index.add(np.zeros((SET, 8), np.uint8), range(SET), metadata=[{"version": 0}] * SET)
        over, seen = Event(), [[0] for _ in range(3)]

        def search(versions: list[int]) -> None:
            while not over.is_set():
                hits = index.search(np.zeros((1, 8), np.uint8), 2 * SET)[0]
                assert [hit.id for hit in hits] == list(range(SET))
                (version,) = {hit.metadata["version"] for hit in hits}
                assert {hit.distance for hit in hits} == {version.bit_count() * 8}
                assert version >= versions[-1]
                versions.append(version)

        with ThreadPoolExecutor(3) as pool:
            searches = [pool.submit(search, versions) for versions in seen]
            for version in range(1, 40):
                codes = np.full((SET, 8), version, np.uint8)
                index.add(codes, range(SET), metadata=[{"version": version}] * SET)
            over.set()
            for one in searches:
                one.result()
        assert all(len(set(versions)) > 3 for versions in seen)


def read_only(folder: Path) -> None:
    """As for a user who may only read."""
    for path in (folder, *folder.iterdir()):
        path.chmod(0o555 if path.is_dir() else 0o444)


@pytest.mark.parametrize("left_open", [False, True], ids=["closed", "with a journal"])
def test_a_folder_that_cannot_be_written_can_be_searched(left_open):
    """A10. A process of another user, since root may write everywhere."""
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o755)
        index = HammingIndex.create(Path(home) / "index", N_BITS)
        index.add(np.zeros((SET, 8), np.uint8), texts=["a text"] * SET)
        if not left_open:
            index.close()
        read_only(Path(home) / "index")
        said = finish(start("read_without_permission", Path(home) / "index"))
        refused = "can only be read: make the folder writable, or change a copy (ammi index copy)"
        assert said == f"{SET} a text\nPermissionError {refused}\n"
        index.close()


def test_one_who_may_only_read_sees_what_others_write(tmp_path):
    with tempfile.TemporaryDirectory() as home:
        os.chmod(home, 0o755)
        folder = Path(home) / "index"
        HammingIndex.create(folder, N_BITS).close()
        read_only(folder)
        folder.chmod(0o755)
        with start("count_without_permission", folder) as reader:
            assert reader.stdout is not None
            assert reader.stdin is not None
            for n in (0, 10, 20, 30):
                reader.stdin.write("count\n")
                reader.stdin.flush()
                assert reader.stdout.readline() == f"{n}\n"
                for file in folder.iterdir():
                    file.chmod(0o644)
                with HammingIndex.open(folder) as index:
                    index.add(np.zeros((10, 8), np.uint8))
            reader.stdin.close()


def test_a_file_that_may_not_grow(tmp_path):
    HammingIndex.create(tmp_path, N_BITS).close()
    added, counted, found, words = finish(start("write_until_full", tmp_path, 400_000)).split(maxsplit=3)
    assert int(added) == int(counted) == int(found) > 0
    assert "could not be written" in words
    assert "and has all changes before this one: make space and try again" in words
    with HammingIndex.open(tmp_path) as index:
        assert index.export()[0] == list(range(int(added)))
        index.add(np.zeros((1000, 8), np.uint8))
