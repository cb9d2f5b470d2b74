"""What several processes make: each thing once, by another if the first one dies, and nothing while one is at it."""

import subprocess
import sys
import time

import pytest
from filelock import Timeout

from ammi.tuning.locks import lock_for, make_missing

WORKER = """
import sys, time
from pathlib import Path
from ammi.tuning.locks import make_missing

folder, name = Path(sys.argv[1]), sys.argv[2]

def make(item):
    time.sleep(0.01)
    (folder / item).write_text(name)
    with open(folder / f"made by {name}", "a") as made:
        made.write(item + "\\n")

items = [f"item-{i}" for i in range(20)]
make_missing(items, lambda item: folder / item, lambda item: not (folder / item).exists(), make)
"""


def test_two_processes_make_each_thing_once(tmp_path):
    names = ("one", "other")
    workers = [subprocess.Popen([sys.executable, "-c", WORKER, str(tmp_path), name]) for name in names]
    assert [worker.wait(300) for worker in workers] == [0, 0]
    made = [(tmp_path / f"made by {name}") for name in names]
    items = [item for path in made if path.exists() for item in path.read_text().split()]
    assert sorted(items) == sorted(f"item-{i}" for i in range(20))


def test_a_lock_that_is_held_is_waited_for_no_longer_than_wanted(tmp_path):
    with lock_for(tmp_path / "file.json"):
        start = time.perf_counter()
        with pytest.raises(Timeout), lock_for(tmp_path / "file.json", timeout=0.1):
            pass
        assert 0.1 <= time.perf_counter() - start < 60


def test_a_killed_process_leaves_its_work_to_others(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from ammi.tuning.locks import lock_for\n"
        "with lock_for(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "file")], stdout=subprocess.PIPE)
    assert holder.stdout
    assert holder.stdout.readline() == b"held\n"
    holder.kill()
    holder.communicate()
    made: list[str] = []
    make_missing(["file"], lambda item: tmp_path / item, lambda item: item not in made, made.append)
    assert made == ["file"]


def test_what_breaks_lets_go_of_its_lock(tmp_path):
    def broken(item: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_missing(["file"], lambda item: tmp_path / item, lambda item: True, broken)
    with lock_for(tmp_path / "file", timeout=0):
        pass


def test_what_is_not_installed_is_named():
    code = "import sys; sys.modules['filelock'] = None; import ammi.tuning.locks"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert failed.stderr.splitlines()[-1] == "ImportError: keeping results needs filelock: pip install 'ammi[tune]'"
