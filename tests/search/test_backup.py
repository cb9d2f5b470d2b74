"""Backups: one state of a collection as one file, and back, in a folder or on a server."""

import shutil

import numpy as np
import pytest

from ammi.search import DamagedError, HammingIndex, open_store
from ammi.search.copying import backup_store, restore_store
from ammi.search.embedded.connections import connect
from ammi.search.embedded.database import STEPS
from tests.search.stores import LOCATIONS, PostgresStore
from tests.torture.crashes import content, content_at

CODES = np.random.default_rng(0).integers(0, 256, (50, 8), np.uint8)


def filled(location) -> HammingIndex:
    index = HammingIndex.create(location, files={"a": b"b"}, keys=["n"])
    index.add(CODES, texts=[f"text {i}" for i in range(50)], metadata=[{"n": i} for i in range(50)])
    index.delete([3, 49])
    return index


def test_a_backup_is_of_one_state_while_others_write(tmp_path):
    with filled(tmp_path / "index") as index:
        before = content(index)
        steps: list[int] = []

        def write(n_pages: int) -> None:
            index.delete([len(steps)])
            steps.append(n_pages)

        assert backup_store(index, tmp_path / "backup", advance=write) == 48
    assert steps
    assert restore_store(tmp_path / "backup", tmp_path / "new").documents == 48
    assert content_at(tmp_path / "new") == before
    with HammingIndex.open(tmp_path / "new") as new:
        assert (new.files(), new.indexed_keys, new.add(CODES[:1])) == ({"a": b"b"}, ["n"], [50])


def test_a_restore_replaces_what_is_there_and_keeps_its_file(tmp_path):
    with filled(tmp_path / "index") as index:
        backup_store(index, tmp_path / "backup")
        before = content(index)
        index.delete([0])
        restored = restore_store(tmp_path / "backup", tmp_path / "index")
        assert restored.old == str(tmp_path / "index" / "index.sqlite.before-1")
        with pytest.raises(FileNotFoundError, match="was deleted or replaced after it was opened: open it again"):
            len(index)
    assert content_at(tmp_path / "index") == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup", "index"]


def test_what_is_refused_leaves_all_as_it_was(tmp_path):
    with filled(tmp_path / "index") as index:
        backup_store(index, tmp_path / "backup")
    content = bytearray((tmp_path / "backup").read_bytes())
    content[9000] ^= 1
    (tmp_path / "damaged").write_bytes(content)
    (tmp_path / "notes").write_bytes(b"my notes" * 1000)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    for file, location, error, words in (
        ("damaged", "index", DamagedError, "damaged is damaged: use another backup"),
        ("notes", "index", ValueError, "notes is damaged: use another backup"),
        ("nothing", "index", FileNotFoundError, "there is no file .*: name one that ammi index backup wrote"),
        ("backup", "other", FileExistsError, "holds other files: name a new folder, or that of a collection"),
    ):
        with pytest.raises(error, match=words):
            restore_store(tmp_path / file, tmp_path / location)
    assert sorted(path.name for path in (tmp_path / "index").iterdir()) == ["index.changes", "index.sqlite"]
    assert HammingIndex.check(tmp_path / "index") == []


def test_a_backup_of_a_server_can_go_anywhere(tmp_path):
    from_, to = LOCATIONS[PostgresStore](tmp_path), LOCATIONS[PostgresStore](tmp_path)
    with PostgresStore.create(from_, files={"a": b"b"}) as index:
        index.add(CODES, texts=["a text"] * 50)
        before = content(index)
        assert backup_store(index, tmp_path / "backup") == 50
    for location in (tmp_path / "index", to):
        assert restore_store(tmp_path / "backup", location).documents == 50
        with open_store(location) as restored:
            assert (content(restored), restored.files()) == (before, {"a": b"b"})


def test_an_upgrade_takes_steps_and_keeps_the_old_file(tmp_path, monkeypatch):
    with filled(tmp_path / "index") as index:
        before = content(index)
    with connect(tmp_path / "index" / "index.sqlite", "mode=rw") as db:
        db.execute("ALTER TABLE state DROP COLUMN characters")
        db.execute("DROP TABLE words")
        db.execute("PRAGMA user_version = 3")
    db.close()
    shutil.copytree(tmp_path / "index", tmp_path / "second")
    with pytest.raises(ValueError, match=r"has format 3, .*: build it again"):
        HammingIndex.upgrade(tmp_path / "index")
    monkeypatch.setitem(STEPS, 3, lambda row: row | {"characters": 0})
    with pytest.raises(ValueError, match=r"has format 3, and .*: convert it with ammi index upgrade"):
        HammingIndex.open(tmp_path / "index")
    upgraded = HammingIndex.upgrade(tmp_path / "index")
    assert upgraded == (3, 48, str(tmp_path / "index" / "index.sqlite.before-1"))
    assert content_at(tmp_path / "index") == before
    assert HammingIndex.check(tmp_path / "index") == []
    assert HammingIndex.upgrade(tmp_path / "index").old is None
