"""What `check` finds in a damaged index, and what `repair` keeps of it."""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ammi.search import DamagedError, Entry, HammingIndex, check_store, repair_store
from ammi.search.embedded import damage
from ammi.search.embedded.connections import connect
from tests.search.stores import LOCATIONS, every_store
from tests.search.test_integrity import CODES, alter, content, flip, make


@every_store
def test_nothing_is_wrong_with_a_whole_index(store, tmp_path):
    location = LOCATIONS[store](tmp_path)
    with store.create(location, 64, keys=["a"]) as index:
        index.add(
            CODES[:50], texts=["a text", "καὶ ἄλλο", "", None, "x\0y"] * 10, metadata=[{"a": [1, 1.0, -0.0]}] * 50
        )
        index.delete([3])
    looked: list[int] = []
    assert check_store(location, advance=looked.append) == []
    assert sum(looked) == 49


@settings(max_examples=25, deadline=None)
@given(texts=st.lists(st.text(max_size=40), max_size=20))
@example(texts=["a lone 世 character", "ก", "ア and 世界", "é", "x"])
@example(texts=["x" * 40_000, f"{'न' * 20_000} y", "é" * 16_385, "世" * 40_000])
def test_no_text_is_called_damage(tmp_path_factory, texts):
    """A lone character of a script without spaces, or a word longer than FTS5 keeps, looked like damage for ever."""
    folder = tmp_path_factory.mktemp("index")
    with HammingIndex.create(folder, 64) as index:
        index.add(CODES[: len(texts)], texts=texts)
        index.delete(range(0, len(texts), 3))
    assert check_store(folder) == []
    assert repair_store(folder).old is None


def test_a_new_file_that_is_not_whole_does_not_take_the_place_of_the_old(tmp_path, monkeypatch):
    with make(tmp_path, 20) as index:
        alter(index, "UPDATE texts SET text = text || ' ' WHERE position = 7")
    before = (tmp_path / "index.sqlite").read_bytes()
    copy = damage.copy_intact

    def copy_and_lose(*arguments):
        kept = copy(*arguments)
        with HammingIndex.open(tmp_path / ".repair") as new:
            new.delete(["d1"])
        return kept

    monkeypatch.setattr(damage, "copy_intact", copy_and_lose)
    with pytest.raises(
        OSError, match=r"could not be read back whole \(it is not in the state in which it was left\).* is as it was"
    ):
        repair_store(tmp_path)
    assert (tmp_path / "index.sqlite").read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"index.sqlite", "index.changes"}
    monkeypatch.undo()
    assert repair_store(tmp_path).kept == 19


def test_a_repair_of_a_whole_index_changes_nothing(tmp_path):
    with make(tmp_path, 20) as index:
        before = {file.name: file.stat().st_ino for file in tmp_path.iterdir()}
        repaired = repair_store(tmp_path)
        assert (repaired.kept, repaired.lost, repaired.damage, repaired.old) == (20, [], [], None)
        assert {file.name: file.stat().st_ino for file in tmp_path.iterdir()} == before
        assert len(index) == 20


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(8))
def test_all_is_kept_that_a_flipped_bit_did_not_meet(tmp_path, seed):
    make(tmp_path / "a").close()
    with HammingIndex.open(tmp_path / "a") as index:
        whole = {entry.id: entry for block in index.entries() for entry in block}
    file = tmp_path / "a" / "index.sqlite"
    bit = int(np.random.default_rng(seed).integers(8 * 4096, 8 * file.stat().st_size))
    flip(file, bit)
    page = bit // 8 // 4096 + 1
    assert check_store(tmp_path / "a")[0] == f"page {page} of index.sqlite does not have its checksum"
    try:
        repaired = repair_store(tmp_path / "a")
    except DamagedError as error:
        assert "cannot be repaired" in str(error)  # noqa: PT017  # the page says how long codes are
        return
    assert len(repaired.lost) + repaired.unnamed <= 1
    assert repaired.kept + len(repaired.lost) + repaired.unnamed == 300
    assert repaired.old
    assert (page * 4096) <= Path(repaired.old).stat().st_size
    assert check_store(tmp_path / "a") == []
    with HammingIndex.open(tmp_path / "a") as index:
        for block in index.entries():
            for entry in block:
                old = whole.pop(entry.id)
                assert (entry.text, entry.metadata, entry.code.tobytes()) == (
                    old.text,
                    old.metadata,
                    old.code.tobytes(),
                )
        assert len(whole) <= 1
        assert index.add(CODES[:1], vectors=np.ones((1, 6))) == [299]


def same(a: Entry, b: Entry) -> bool:
    return (a.text, a.metadata, a.code.tobytes()) == (b.text, b.metadata, b.code.tobytes())


def test_a_document_that_is_lost_is_named(tmp_path):
    with make(tmp_path, 20) as index:
        alter(index, "UPDATE texts SET text = text || ' ' WHERE position = 7")
        alter(index, "UPDATE vectors SET vector = zeroblob(14) WHERE position = 8")
        alter(index, "DELETE FROM documents WHERE position = 9")
    damage = [
        "document 'd7' is not as it was written",
        "the vector of document 8 is not as it was written",
        "the document at position 9 is missing",
    ]
    assert check_store(tmp_path) == damage
    repaired = repair_store(tmp_path)
    assert repaired == (17, ["d7", 8], 1, damage, str(tmp_path / "index.sqlite.damaged-1"))
    assert check_store(tmp_path) == []
    with HammingIndex.open(tmp_path) as index:
        assert index.files() == {"model": bytes(5000)}
        assert index.indexed_keys == ["year"]
        assert len(index.search(CODES[:1], 20)[0]) == 17
        assert "d7" not in index


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE key_kinds SET documents = documents + 1", "counts of metadata keys do not agree"),
        ("DELETE FROM key_values WHERE position = 7", "values of indexed keys do not agree"),
        ("UPDATE key_values SET position = 1000 WHERE position = 7", "values of indexed keys do not agree"),
        ("DELETE FROM words WHERE rowid = 7", "word index does not agree"),
        ("UPDATE state SET characters = 5", "word index does not agree"),
    ],
)
def test_tables_that_do_not_agree_are_found_and_made_anew(tmp_path, statement, words):
    with make(tmp_path, 20) as index:
        expected = content(index)
        alter(index, statement)
    (found,) = check_store(tmp_path)
    assert words in found
    assert repair_store(tmp_path).kept == 20
    with HammingIndex.open(tmp_path) as index:
        assert content(index) == expected


def test_what_is_left_of_a_file_that_was_cut_short_is_kept(tmp_path):
    with make(tmp_path) as index:
        whole = {entry.id: entry.text for block in index.entries() for entry in block}
    file = tmp_path / "index.sqlite"
    os.truncate(file, file.stat().st_size - 4096)
    looked: list[int] = []
    assert check_store(tmp_path, advance=looked.append)[0].endswith("pages of index.sqlite the last 1 are missing")
    repaired = repair_store(tmp_path)
    assert 0 < sum(looked) == repaired.kept <= 300
    assert repaired.kept + len(repaired.lost) + repaired.unnamed <= 300
    assert check_store(tmp_path) == []
    with HammingIndex.open(tmp_path) as index:
        assert {entry.id: entry.text for block in index.entries() for entry in block}.items() <= whole.items()


def test_a_number_of_pages_that_was_damaged_is_not_believed(tmp_path):
    make(tmp_path, 20).close()
    file = tmp_path / "index.sqlite"
    flip(file, 28 * 8)  # of which it says to have billions then
    for length in (file.stat().st_size, 1000, 50, 0):
        os.truncate(file, length)
        assert "is missing" not in check_store(tmp_path)[0]
        with pytest.raises(DamagedError, match="cannot be repaired"):
            repair_store(tmp_path)


def test_first_bytes_that_are_lost_are_put_back(tmp_path):
    with make(tmp_path, 20) as index:
        expected = content(index)
    with open(tmp_path / "index.sqlite", "r+b") as file:
        file.write(b"SQL\0")
    assert check_store(tmp_path) == ["the first bytes of index.sqlite are not those of a database"]
    assert repair_store(tmp_path).kept == 20
    with HammingIndex.open(tmp_path) as index:
        assert content(index) == expected


def test_a_stale_index_is_kept_as_it_is_when_it_is_repaired(tmp_path):
    index = make(tmp_path / "a", 20)
    index.close()
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with HammingIndex.open(tmp_path / "a") as index:
        index.delete(["d1"])
    shutil.copy(tmp_path / "b" / "index.sqlite", tmp_path / "a" / "index.sqlite")
    assert check_store(tmp_path / "a") == ["index.sqlite ends with change 1, but 2 were acknowledged"]
    assert repair_store(tmp_path / "a").kept == 20
    with HammingIndex.open(tmp_path / "a") as index:
        assert len(index) == 20


def test_those_who_have_a_repaired_index_open_have_to_open_it_again(tmp_path):
    with make(tmp_path, 20) as index:
        alter(index, "DELETE FROM texts WHERE position = 7")
        repair_store(tmp_path)
        with pytest.raises(FileNotFoundError, match="open it again"):
            index.delete(["d1"])
    with connect(tmp_path / "index.sqlite.damaged-1", "mode=rw") as db:  # with the journal that it had
        assert db.execute("SELECT COUNT(*) FROM documents").fetchall() == [(20,)]
    db.close()


def test_what_cannot_be_repaired_stays_as_it_is(tmp_path):
    for n, statement in enumerate(("UPDATE state SET n_bits = 65", "UPDATE documents SET checksum = 0")):
        with make(tmp_path / str(n), 20) as index:
            alter(index, statement)
        before = (tmp_path / str(n) / "index.sqlite").read_bytes()
        words = r"cannot be repaired \((what codes it has is not as it was|no document is whole).*: restore a copy"
        with pytest.raises(DamagedError, match=words):
            repair_store(tmp_path / str(n))
        assert {file.name for file in (tmp_path / str(n)).iterdir()} == {"index.sqlite", "index.changes"}
        assert (tmp_path / str(n) / "index.sqlite").read_bytes() == before


def test_what_cannot_be_checked_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no collection in"):
        check_store(tmp_path)
    with pytest.raises(ValueError, match="has no repair"):
        repair_store("memory:x")
