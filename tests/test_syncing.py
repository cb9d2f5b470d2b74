"""A collection that follows files or a table: on every store, through a server, and after kills at every moment."""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ammi import LSH, Collection, DocumentHasher
from ammi.data import read_documents
from ammi.syncing import Synced
from ammi.web.settings import Settings
from tests.search.stores import LOCATIONS
from tests.web.serving import running

MODEL = DocumentHasher(LSH(16, random_state=0)).fit(["lamp harbour mist", "barge barley mill", "owl reed lock"] * 4)
GOLDEN = Path(__file__).parent / "golden" / "files"
SOURCE = Path(__file__).parents[1] / "src"


@pytest.fixture
def folder(tmp_path) -> Path:
    """Files of several kinds: one document each, several, and none."""
    home = tmp_path / "files"
    (home / "sub").mkdir(parents=True)
    for n in range(6):
        (home / f"{n}.txt").write_text(f"lamp {n} of the harbour")
    (home / "sub" / "rows.jsonl").write_text("".join(f'{{"text": "barge {n}"}}\n' for n in range(9)))
    (home / "sub" / "many.csv").write_text("text\n" + "".join(f"mill {n}\n" for n in range(20)))
    (home / "picture.png").write_bytes(b"\x89PNG")
    return home


@pytest.fixture
def collection(tmp_path) -> Iterator[Collection]:
    with Collection.create(tmp_path / "index", MODEL) as created:
        yield created


def content(collection: Collection) -> Counter:
    return Counter((str(one.id), one.text, one.metadata["path"], one.metadata["digest"]) for one in collection)


def expected(*folders: Path) -> Counter:
    documents = read_documents([*folders], on_error=lambda problem: None) if len(folders) > 1 else read(folders[0])
    return Counter((str(one.id), one.text, one.metadata["path"], one.metadata["digest"]) for one in documents)


def read(folder: Path):
    return read_documents(folder, on_error=lambda problem: None)


def synced(collection: Collection, source, **options) -> Synced:
    """Sync, with files called by their names alone."""
    found = collection.sync(source, on_error=lambda problem: None, **options)
    added, replaced, deleted = (sorted(Path(str(name)).name for name in names) for names in found[:3])
    return Synced(added, replaced, deleted, found.unchanged, found.skipped)


def change(folder: Path) -> None:
    """Change, delete, grow, shrink and add files."""
    (folder / "0.txt").write_text("an owl")
    (folder / "1.txt").unlink()
    (folder / "sub" / "rows.jsonl").write_text("".join(f'{{"text": "barge {n}"}}\n' for n in range(3, 7)))
    (folder / "sub" / "many.csv").write_text("text\n" + "".join(f"reed {n}\n" for n in range(30)))
    (folder / "new.md").write_text("# A new file")


@pytest.mark.parametrize("store", LOCATIONS, ids=lambda store: store.__name__)
def test_files_are_added_replaced_and_deleted(store, tmp_path, folder):
    with Collection.create(LOCATIONS[store](tmp_path), MODEL) as collection:
        names = ["0.txt", "1.txt", "2.txt", "3.txt", "4.txt", "5.txt", "many.csv", "rows.jsonl"]
        assert synced(collection, folder) == Synced(names, [], [], 0, 1)
        assert content(collection) == expected(folder)
        assert synced(collection, str(folder)) == Synced([], [], [], 8, 1)
        os.utime(folder / "0.txt", (0, 0))
        assert synced(collection, folder) == Synced([], [], [], 8, 1)
        change(folder)
        reported: list[tuple[str, str]] = []
        found = synced(collection, folder, report=lambda what, name: reported.append((what, Path(name).name)))
        assert found == Synced(["new.md"], ["0.txt", "many.csv", "rows.jsonl"], ["1.txt"], 4, 1)
        assert sorted(reported) == [
            ("added", "new.md"), ("deleted", "1.txt"), ("replaced", "0.txt"), ("replaced", "many.csv"),
            ("replaced", "rows.jsonl"),
        ]  # fmt: skip
        assert content(collection) == expected(folder)
        assert [hit.metadata["path"] for hit in collection.search("owl", k=1)] == [str(folder / "0.txt")]


def test_a_collection_that_was_built_from_files_goes_on_with_them(collection, folder):
    collection.add(read(folder))
    assert synced(collection, folder) == Synced([], [], [], 8, 1)


def test_through_a_server(tmp_path, folder):
    with Collection.create(tmp_path / "index", MODEL) as here, running(here, Settings(writable=True)) as address:
        with Collection.open(address) as collection:
            assert len(synced(collection, folder).added) == 8
            change(folder)
            assert synced(collection, folder).replaced == ["0.txt", "many.csv", "rows.jsonl"]
        assert content(here) == expected(folder)


def test_documents_of_other_origin_stay(collection, folder, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    collection.add([{"id": "mine", "text": "an owl"}])
    synced(collection, [folder, other])
    assert len(collection) == 1 + 2 * 35
    shutil.rmtree(other / "sub")
    assert synced(collection, other).deleted == ["many.csv", "rows.jsonl"]
    assert synced(collection, folder) == Synced([], [], [], 8, 1)
    assert "mine" in collection
    with pytest.raises(FileNotFoundError, match="no file or folder"):
        collection.sync(tmp_path / "absent")
    assert len(collection) == 1 + 35 + 6


def test_a_file_never_takes_the_place_of_another(collection, folder, tmp_path):
    synced(collection, folder)
    other = tmp_path / "other"
    other.mkdir()
    (other / "0.txt").write_text("an owl")
    with pytest.raises(ValueError, match=r"by the id '0.txt', which one of .* would replace: sync a folder that holds"):
        collection.sync(other)
    collection.delete("0.txt")
    collection.add([{"id": "0.txt", "text": "mine"}])
    with pytest.raises(ValueError, match=r"has another document by the id '0\.txt'"):
        collection.sync(folder, on_error=lambda problem: None)
    assert collection.get("0.txt").text == "mine"


def test_a_folder_that_was_moved_is_read_again(collection, folder):
    synced(collection, folder)
    moved = folder.rename(folder.with_name("moved"))
    assert len(synced(collection, moved).added) == 8
    assert content(collection) == expected(moved)
    assert synced(collection, moved).unchanged == 8


def test_what_cannot_be_read_any_more_stays_as_it_was(collection, folder):
    pytest.importorskip("kreuzberg")
    shutil.copy(GOLDEN / "lamp.pdf", folder / "lamp.pdf")
    synced(collection, folder)
    shutil.copy(GOLDEN / "locked.pdf", folder / "lamp.pdf")
    assert synced(collection, folder) == Synced([], [], [], 8, 2)
    assert [entry.id for entry in collection.get(["lamp.pdf#page=1", "lamp.pdf#page=2"])]
    (folder / "lamp.pdf").unlink()
    assert synced(collection, folder).deleted == ["lamp.pdf"]


def test_a_folder_that_cannot_be_searched_deletes_nothing(collection, folder, monkeypatch):
    synced(collection, folder)
    scan = os.scandir

    def refuse(path):
        if Path(path).name == "sub":
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert synced(collection, folder).deleted == []
    assert len(collection) == 35


def test_a_table_with_ids(collection, tmp_path):
    frame = pd.DataFrame({"id": range(2500), "text": [f"lamp {n}" for n in range(2500)], "year": 1987})
    collection.add(read_of(tmp_path))
    assert len(collection.sync(frame).added) == 2500
    assert collection.sync(frame) == Synced([], [], [], 2500, 0)
    frame.loc[7, "text"] = "an owl"
    frame.loc[2400, "year"] = 1988
    found = collection.sync(frame.drop(index=[3, 1200]))
    assert found == Synced([], [7, 2400], [3, 1200], 2496, 0)
    assert collection.get(7).text == "an owl"
    assert collection.get(2400).metadata == {"year": 1988}
    assert "a.txt" in collection  # which is of a file
    (tmp_path / "x.csv").write_text("key,text\nz,a reed\n")
    found = collection.sync(tmp_path / "x.csv", id="key")
    assert (found.added, len(found.deleted)) == (["z"], 2498)
    with pytest.raises(ValueError, match="finds documents again by their ids, and these have none"):
        collection.sync([{"text": "an owl"}])
    with pytest.raises(ValueError, match="document 2 has a column 'id' and document 1 has none"):
        collection.sync(["a.txt", {"id": "b", "text": "an owl"}])


def read_of(home: Path):
    (home / "one").mkdir()
    (home / "one" / "a.txt").write_text("a file")
    return read_documents(home / "one")


def test_a_table_of_vectors(tmp_path):
    X = np.random.default_rng(0).normal(size=(50, 8))
    frame = pd.DataFrame({"id": range(50), "vector": list(X)})
    with Collection.create(tmp_path / "index", LSH(32, random_state=0).fit(X)) as collection:
        assert len(collection.sync(frame).added) == 50
        assert collection.sync(frame).unchanged == 50
        frame.at[3, "vector"] = -X[3]
        assert collection.sync(frame).replaced == [3]


KILLED = """
    import os, signal, sys
    import ammi.data.documents
    from ammi import Collection
    ammi.data.documents.BLOCK_DOCUMENTS = 4  # so that a file is written in several steps
    left = int(sys.argv[3])

    def dying(do):
        def step(*arguments, **options):
            global left
            left -= 1
            if left == 0 and sys.argv[4] == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            outcome = do(*arguments, **options)
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return outcome
        return step

    Collection.add, Collection.delete = dying(Collection.add), dying(Collection.delete)
    with Collection.open(sys.argv[1]) as collection:
        collection.sync(sys.argv[2], on_error=lambda problem: None)
"""


@pytest.mark.slow
def test_a_kill_at_any_step_loses_nothing_and_adds_nothing_twice(tmp_path, folder):
    """A first sync, and one of changes, are killed before and after each of their writes; the next completes them."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])}
    killed = 0
    for step in range(1, 40, 2):
        for when in ("before", "after"):
            home = tmp_path / f"{step}-{when}"
            shutil.copytree(folder, home / "files")
            Collection.create(home / "index", MODEL).close()
            program = [sys.executable, "-c", textwrap.dedent(KILLED), home / "index", home / "files", str(step), when]
            first = subprocess.run(program, env=environment)
            with Collection.open(home / "index") as collection:
                before = len(collection)
                found = synced(collection, home / "files")
                assert content(collection) == expected(home / "files")
                assert (found.unchanged == 8) == (before == 35)
            change(home / "files")
            second = subprocess.run(program, env=environment)
            with Collection.open(home / "index") as collection:
                synced(collection, home / "files")
                assert content(collection) == expected(home / "files")
                assert synced(collection, home / "files").unchanged == 8
            killed += (first.returncode == -signal.SIGKILL) + (second.returncode == -signal.SIGKILL)
        if (first.returncode, second.returncode) == (0, 0):
            break
    assert killed > 20


def test_the_command_watches(tmp_path, folder):
    """It syncs after a change, goes on, and ends with Ctrl-C, in a process of its own."""
    Collection.create(tmp_path / "index", MODEL).close()
    command = [sys.executable, "-m", "ammi", "index", "sync", str(tmp_path / "index"), str(folder), "--watch"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(SOURCE), os.environ.get("PYTHONPATH", "")])}
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, env=environment)
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("8 added, 0 unchanged, 1 skipped; 35 documents are in ")
        change(folder)
        line = process.stdout.readline()
        assert line.startswith("1 added, 3 replaced, 1 deleted, 4 unchanged, 1 skipped; 40 documents are in "), line
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=240)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130
    assert f"replaced {folder / '0.txt'}" in said
    assert "has what was there at the last sync" in said
    assert said.count("picture.png is left out") == 2  # once by the first sync, once by all others
