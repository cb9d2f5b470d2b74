"""Backups: one state of a collection as one file, and back, in a folder or on a server."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ammi.search import DamagedError, HammingIndex, open_store
from ammi.search.copying import backup_store, restore_store
from ammi.search.embedded.connections import connect
from ammi.search.embedded.database import FORMAT
from tests.golden import HERE
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
        ("backup", "other", FileExistsError, "holds other files: name a new or empty folder"),
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


def set_format(folder: Path, number: int) -> None:
    db = connect(folder / "index.sqlite", "mode=rw")
    db.execute("DROP TABLE IF EXISTS words")  # is made anew
    db.execute(f"PRAGMA user_version = {number}")
    db.close()


def test_an_upgrade_takes_steps_and_keeps_the_old_file(tmp_path):
    with filled(tmp_path / "index") as index:
        before = content(index)
    set_format(tmp_path / "index", 0)
    for use in (HammingIndex.upgrade, HammingIndex.open):
        with pytest.raises(ValueError, match=r"has format 0, .*: export its documents with the ammi that wrote it"):
            use(tmp_path / "index")
    set_format(tmp_path / "index", 5)
    with pytest.raises(ValueError, match=r"has format 5, and .*: convert it with ammi index upgrade"):
        HammingIndex.open(tmp_path / "index")
    upgraded = HammingIndex.upgrade(tmp_path / "index")
    assert upgraded == (5, FORMAT, 48, str(tmp_path / "index" / "index.sqlite.before-1"))
    assert content_at(tmp_path / "index") == before
    assert HammingIndex.check(tmp_path / "index") == []
    assert HammingIndex.upgrade(tmp_path / "index").old is None


@pytest.mark.parametrize(
    "damage",
    [
        "DELETE FROM about",
        "ALTER TABLE state DROP COLUMN number",
        "DROP TABLE documents",
        "UPDATE blocks SET slots = 'abc'",
        "UPDATE blocks SET codes = 7",
        "UPDATE blocks SET slots = x'0100'",
        "UPDATE documents SET metadata = '[' WHERE id = 5",
    ],
)
def test_a_damaged_file_of_the_first_formats_is_refused(tmp_path, damage):
    shutil.copy(HERE / "collection-1" / "index.sqlite", tmp_path)
    with closing(sqlite3.connect(tmp_path / "index.sqlite")) as db, db:
        db.execute(damage)
    before = (tmp_path / "index.sqlite").read_bytes()
    with pytest.raises(DamagedError, match=r"is damaged|cannot be converted"):
        HammingIndex.upgrade(tmp_path)
    assert (tmp_path / "index.sqlite").read_bytes() == before
