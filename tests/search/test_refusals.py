"""What an index refuses, in which words, and that it is unharmed afterwards."""

import os
import sqlite3
from datetime import date

import numpy as np
import pytest

from ammi.search import HammingIndex

CODES = np.arange(24, dtype=np.uint8).reshape(3, 8)


@pytest.fixture
def index(tmp_path):
    with HammingIndex.create(tmp_path / "index", 64, fingerprint="ab12", model="models/news") as index:
        index.add(CODES, ["a", "b", "c"])
        yield index


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"codes": CODES[:, :7]}, r"uint8 of shape \(3, 7\), .* 64 bits takes uint8 of shape \(n, 8\): pack bits"),
        ({"codes": CODES[0]}, r"shape \(8,\)"),
        ({"codes": CODES.astype(int)}, "codes are int64"),
        ({"ids": ["a"]}, "3 codes came with 1 ids"),
        ({"ids": "abc"}, "ids is the string 'abc': pass a list"),
        ({"ids": [1, 2, 3.5]}, "3.5 cannot be an id"),
        ({"ids": [1, 2, True]}, "True cannot be an id"),
        ({"ids": [1, 2, 2**63]}, "9223372036854775808 cannot be an id"),
        ({"texts": "abc"}, "texts is the string 'abc'"),
        ({"texts": ["x"]}, "3 codes came with 1 texts"),
        ({"texts": ["x", "y", float("nan")]}, "nan cannot be a text"),
        ({"texts": ["x", "y", "\ud800"]}, "surrogates not allowed"),
        ({"metadata": [{}]}, "3 codes came with 1 metadata"),
        ({"metadata": [{}, {}, None]}, "None cannot be metadata"),
        ({"metadata": [{}, {}, {"day": date(2020, 1, 1)}]}, "date.* cannot be kept as JSON"),
        ({"metadata": [{}, {}, {"x": float("inf")}]}, "inf.* cannot be kept as JSON"),
        ({"fingerprint": "cd34"}, "codes are of model cd34, .* those of model ab12: encode with that model"),
    ],
)
def test_bad_documents_are_refused_and_change_nothing(index, arguments, words):
    with pytest.raises(ValueError, match=words):
        index.add(**{"codes": CODES + 1, **arguments})
    ids, codes = index.export()
    assert ids == ["a", "b", "c"]
    np.testing.assert_array_equal(codes, CODES)


def test_bad_questions_are_refused(index):
    with pytest.raises(ValueError, match="k is 0"):
        index.search(CODES, 0)
    with pytest.raises(ValueError, match="radius is -1"):
        index.within(CODES, -1)
    with pytest.raises(ValueError, match="uint8"):
        index.search([[1, 2]])
    for find in (index.search, index.within):
        with pytest.raises(ValueError, match="of model cd34"):
            find(CODES, 1, fingerprint="cd34")
        assert [hits[0].id for hits in find(CODES, 1, fingerprint="ab12")] == ["a", "b", "c"]


def test_unknown_ids_are_refused_and_nothing_is_deleted(index):
    index.add(CODES[:1], [1])
    with pytest.raises(ValueError, match=r"no document has the id '1' \(2 of 3 ids are unknown\)"):
        index.delete([1, "1", "d"])
    with pytest.raises(ValueError, match="no document has the id 2"):
        index.get([1, 2])
    assert len(index) == 4


def test_bits_after_the_last_are_refused(tmp_path):
    with HammingIndex.create(tmp_path, 13) as index:
        index.add(np.packbits(np.ones((1, 13), np.uint8), axis=1))
        with pytest.raises(ValueError, match="ones after bit 13"):
            index.search(np.full((1, 2), 255, np.uint8))


def test_an_index_remembers_its_model(index):
    with HammingIndex.open(index.folder) as again:
        assert (again.n_bits, again.fingerprint, again.model) == (64, "ab12", "models/news")
        assert repr(again) == f"HammingIndex({str(index.folder)!r}, n_bits=64)"


def test_numpy_ids_and_sizes_are_as_good_as_python_ones(index):
    index.add(CODES, np.array([7, 8, 9]), np.array(["x", "y", "z"]))
    assert index.export()[0] == ["a", "b", "c", 7, 8, 9]
    assert [hit.id for hit in index.search(CODES[:1], np.int64(2))[0]] == ["a", 7]
    assert [hit.id for hit in index.within(CODES[:1], np.int64(0))[0]] == ["a", 7]
    assert index.get(np.array([8]))[0].text == "y"


def test_exported_codes_cannot_be_changed(index):
    with pytest.raises(ValueError, match="read-only"):
        index.export()[1][0] = 0


def test_a_closed_index_says_so(index):
    index.close()
    index.close()
    for use in (lambda: len(index), lambda: index.search(CODES), lambda: index.add(CODES)):
        with pytest.raises(ValueError, match="was closed: open it again"):
            use()


def test_creating_over_an_index_or_a_database_is_refused(index, tmp_path):
    with pytest.raises(FileExistsError, match="holds an index: open it"):
        HammingIndex.create(index.folder)
    assert len(index) == 3
    with pytest.raises(ValueError, match="n_bits is 0"):
        HammingIndex.create(tmp_path / "other", 0)
    assert not (tmp_path / "other").exists()


def test_a_creation_cut_short_leaves_no_index_and_can_be_repeated(tmp_path):
    (tmp_path / "index.sqlite").touch()  # what SQLite leaves when it is killed before its first commit
    with pytest.raises(FileNotFoundError, match="cut short: create it again"):
        HammingIndex.open(tmp_path)
    HammingIndex.create(tmp_path).close()
    HammingIndex.open(tmp_path).close()


def test_folders_that_hold_no_index_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no index in .*nowhere"):
        HammingIndex.open(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(FileNotFoundError, match="there is no index"):
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


def test_a_newer_format_is_refused(index):
    index.close()
    db = sqlite3.connect(index.folder / "index.sqlite")
    db.execute("PRAGMA user_version = 2")
    db.close()
    with pytest.raises(ValueError, match="has format 2, and this ammi reads up to 1: upgrade ammi"):
        HammingIndex.open(index.folder)


def test_a_truncated_file_is_called_damaged(index):
    index.add(np.zeros((500, 8), np.uint8), texts=["a text"] * 500)
    index.close()
    file = index.folder / "index.sqlite"
    os.truncate(file, file.stat().st_size // 2)
    with pytest.raises(ValueError, match=r"is damaged .*: build it again"), HammingIndex.open(index.folder) as damaged:
        damaged.export()
