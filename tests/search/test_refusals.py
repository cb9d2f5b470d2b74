"""What an index refuses, in which words, and that it is unharmed afterwards."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import pytest

from ammi.search import HammingIndex, OtherModelError
from ammi.search.embedded.connections import connect
from tests.search.stores import LOCATIONS, PostgresStore, every_store

CODES = np.arange(24, dtype=np.uint8).reshape(3, 8)


@pytest.fixture
def store():
    return HammingIndex


@pytest.fixture
def index(store, tmp_path):
    with store.create(LOCATIONS[store](tmp_path), 64, fingerprint="ab12", files={"model": b"weights"}) as index:
        index.add(CODES, ["a", "b", "c"])
        yield index


@every_store
def test_a_fingerprint_that_is_no_text_is_refused(store, tmp_path):
    for wrong in ("\ud800", 7):
        with pytest.raises(ValueError, match=r"the fingerprint .* is not a string"):
            store.create(LOCATIONS[store](tmp_path), 8, fingerprint=wrong)


@every_store
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"codes": CODES[:, :7]}, r"uint8 of shape \(3, 7\), .* 64 bits takes uint8 of shape \(n, 8\): pack bits"),
        ({"codes": CODES[0]}, r"shape \(8,\)"),
        ({"codes": CODES.astype(int)}, "codes are int64"),
        ({"ids": ["a"]}, "3 documents came with 1 ids"),
        ({"ids": "abc"}, "ids is the str 'abc': pass a list"),
        ({"ids": [1, 2, 3.5]}, "this call has 3.5 for an id: expected a string or a whole number"),
        ({"ids": [1, 2, True]}, "has true for an id"),
        ({"ids": [1, 2, 2**63]}, "has 9223372036854775808 for an id: .* at most 64 bits"),
        ({"texts": "abc"}, "texts is the str 'abc'"),
        ({"texts": ["x"]}, "3 documents came with 1 texts"),
        ({"ids": [1, 2, "\ud800"]}, "this call is not UTF-8: it holds half a character"),
        ({"texts": ["x", "y", float("nan")]}, "document 2 of this call has null for a text: expected a string"),
        ({"texts": ["x", "y", "\ud800"], "ids": [7, 8, "z"]}, "document 'z' is not UTF-8: it holds half a character"),
        ({"metadata": [{}]}, "3 documents came with 1 metadata"),
        ({"metadata": {}}, "metadata is the dict {}: pass a list"),
        ({"metadata": [{}, {}, None], "ids": [7, 8, 9]}, "document 9 has null for metadata: expected a dict"),
        (
            {"metadata": [{}, {}, {"x": float("inf")}], "ids": [7, 8, "z"]},
            "document 'z' has metadata that cannot be kept: inf",
        ),
        ({"metadata": [{}, {}, {"x": object()}]}, "document 2 of this call has metadata .*: .* type object"),
        (
            {"metadata": [{}, {}, {1: "a", "1": "b"}], "ids": [7, 8, 9]},
            "document 9 has metadata .*: two keys .*'1'",
        ),
        ({"metadata": [{}, {}, {"x": "\ud800"}]}, "document 2 of this call is not UTF-8: it holds half"),
        ({"fingerprint": "cd34"}, "codes are of model cd34, .* those of model ab12: encode with that model"),
    ],
)
def test_bad_documents_are_refused_and_change_nothing(index, arguments, words):
    with pytest.raises(ValueError, match=words):
        index.add(**{"codes": CODES + 1, **arguments})
    ids, codes = index.export()
    assert ids == ["a", "b", "c"]
    np.testing.assert_array_equal(codes, CODES)


@every_store
def test_bad_questions_are_refused(index):
    with pytest.raises(ValueError, match="k is 0"):
        index.search(CODES, 0)
    with pytest.raises(ValueError, match="radius is -1"):
        index.within(CODES, -1)
    wrong: Any
    for wrong in (1.5, float("nan"), "1", None, True):
        with pytest.raises(ValueError, match=r"k is .*, expected a whole number"):
            index.search(CODES, wrong)
        with pytest.raises(ValueError, match=r"radius is .*, expected a whole number"):
            index.within(CODES, wrong)
    with pytest.raises(ValueError, match="uint8"):
        index.search([[1, 2]])
    for find in (index.search, index.within):
        with pytest.raises(OtherModelError, match="of model cd34"):
            find(CODES, 1, fingerprint="cd34")
        assert [hits[0].id for hits in find(CODES, 1, fingerprint="ab12")] == ["a", "b", "c"]


@every_store
def test_unknown_ids_are_refused_and_nothing_is_deleted(index):
    index.add(CODES[:1], [1])
    with pytest.raises(ValueError, match=r"no document has the id 'd' \(2 of 3 ids are unknown\)"):
        index.delete([1, "1", "d", "e"])
    with pytest.raises(ValueError, match="no document has the id 2"):
        index.get([1, 2])
    with pytest.raises(ValueError, match="no document has the id 'd'"):
        index.set_metadata(["a", "d"], {"x": 1})
    assert index.keys() == {}
    assert len(index) == 4


def test_bits_after_the_last_are_refused(tmp_path):
    with HammingIndex.create(tmp_path, 13) as index:
        index.add(np.packbits(np.ones((1, 13), np.uint8), axis=1))
        with pytest.raises(ValueError, match="ones after bit 13"):
            index.search(np.full((1, 2), 255, np.uint8))


@every_store
def test_an_index_remembers_its_model(store, index):
    with store.open(index.location) as again:
        assert (again.n_bits, again.fingerprint, again.files()) == (64, "ab12", {"model": b"weights"})
        assert repr(again) == f"{store.__name__}({index.location!r})"


@every_store
def test_numpy_ids_and_sizes_are_as_good_as_python_ones(index):
    index.add(CODES, np.array([7, 8, 9]), np.array(["x", "y", "z"]))
    assert index.export()[0] == ["a", "b", "c", 7, 8, 9]
    assert [hit.id for hit in index.search(CODES[:1], np.int64(2))[0]] == ["a", 7]
    assert [hit.id for hit in index.within(CODES[:1], np.int64(0))[0]] == ["a", 7]
    assert index.get(np.array([8]))[0].text == "y"


@every_store
@pytest.mark.parametrize("wrong", [["year", 7], ["\ud800"], "year"])
def test_keys_that_cannot_be_are_refused(index, wrong):
    with pytest.raises(ValueError, match=r"cannot be a metadata key to index|keys is the str"):
        index.index_keys(wrong)
    assert index.indexed_keys == []


@every_store
def test_exported_codes_cannot_be_changed(index):
    with pytest.raises(ValueError, match="read-only"):
        index.export()[1][0] = 0


@pytest.mark.parametrize("store", [HammingIndex, PostgresStore])
def test_a_closed_index_says_so(index):
    index.close()
    index.close()
    uses = (lambda: len(index), lambda: index.search(CODES), lambda: index.add(CODES), lambda: next(index.entries()))
    for use in uses:
        with pytest.raises(ValueError, match="was closed: open it again"):
            use()


def test_creating_over_an_index_or_a_database_is_refused(index, tmp_path):
    with pytest.raises(FileExistsError, match="holds a collection: open it"):
        HammingIndex.create(index.location)
    assert len(index) == 3
    wrong: Any
    for wrong in (0, 8.5, True, "64", 2**64):
        with pytest.raises(ValueError, match=f"n_bits is {wrong!r}, expected a whole number from 1 to"):
            HammingIndex.create(tmp_path / "other", wrong)
    assert not (tmp_path / "other").exists()


def test_a_creation_cut_short_leaves_no_index_and_can_be_repeated(tmp_path):
    (tmp_path / "index.sqlite").touch()  # what SQLite leaves when it is killed before its first commit
    with pytest.raises(FileNotFoundError, match="was interrupted: delete the folder, and create it again"):
        HammingIndex.open(tmp_path)
    HammingIndex.create(tmp_path).close()
    HammingIndex.open(tmp_path).close()


def test_folders_that_hold_no_index_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no collection in .*nowhere"):
        HammingIndex.open(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(FileNotFoundError, match="there is no collection"):
        HammingIndex.open(tmp_path)
    file = tmp_path / "index.sqlite"
    file.write_text("These are my notes on indexes. " * 100)
    for use in (HammingIndex.open, HammingIndex.create):
        with pytest.raises(ValueError, match=r"is damaged \(file is not a database"):
            use(tmp_path)
    assert file.read_text().startswith("These are my notes")


def test_databases_of_other_programs_are_refused(tmp_path):
    other = sqlite3.connect(tmp_path / "index.sqlite")
    other.execute("CREATE TABLE about (name)")
    other.close()
    before = (tmp_path / "index.sqlite").read_bytes()
    with pytest.raises(ValueError, match="belongs to another program"):
        HammingIndex.open(tmp_path)
    with pytest.raises(FileExistsError, match="create the new one elsewhere"):
        HammingIndex.create(tmp_path)
    assert (tmp_path / "index.sqlite").read_bytes() == before


@pytest.mark.parametrize(
    ("version", "words"),
    [(1, "has format 1, .*: convert it with ammi index upgrade"), (8, "has format 8, .*: upgrade ammi")],
)
def test_another_format_is_refused(index, version, words):
    index.close()
    db = connect(Path(index.location) / "index.sqlite", "mode=rw")
    db.execute(f"PRAGMA user_version = {version}")
    db.close()
    with pytest.raises(ValueError, match=words):
        HammingIndex.open(index.location)


SLOW = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1e12) SELECT COUNT(*) FROM n"


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (["DROP TABLE state", f"CREATE VIEW state AS {SLOW}"], "the view 'state'"),
        (["CREATE TRIGGER t AFTER UPDATE ON state BEGIN UPDATE texts SET text = 'forged'; END"], "the trigger 't'"),
        (["CREATE TABLE mine (a)"], "the table 'mine'"),
        (["CREATE INDEX slow ON texts (length(text))"], "the index 'slow'"),
        (
            ["DROP TABLE texts", "CREATE TABLE texts (position INTEGER, text CHECK (length(text) > 1))"],
            "the table 'texts'",
        ),
    ],
)
def test_what_a_stranger_put_into_the_file_is_refused(index, statements, words):
    index.add(np.zeros((1, 8), np.uint8), texts=["a text"])
    index.close()
    with closing(connect(Path(index.location) / "index.sqlite", "mode=rw")) as db:
        for statement in statements:
            db.execute(statement)
    for use in (HammingIndex.open, HammingIndex.check, HammingIndex.repair):
        with pytest.raises(ValueError, match=rf"index\.sqlite has {words}, which ammi did not make"):
            use(index.location)


def test_a_connection_runs_nothing_that_is_in_the_file(index):
    index.close()
    with closing(connect(Path(index.location) / "index.sqlite", "mode=rw")) as db:
        db.execute("CREATE VIEW seen AS SELECT 1")
        with pytest.raises(apsw.Error, match=r"access to view .* prohibited"):
            db.execute("SELECT * FROM seen")
        assert not db.pragma("trusted_schema")


def test_a_truncated_file_is_called_damaged(index):
    index.add(np.zeros((500, 8), np.uint8), texts=["a text"] * 500)
    index.close()
    file = Path(index.location) / "index.sqlite"
    os.truncate(file, file.stat().st_size // 2)
    with (
        pytest.raises(ValueError, match=r"is damaged .*: restore a copy"),
        HammingIndex.open(index.location) as damaged,
    ):
        damaged.export()
