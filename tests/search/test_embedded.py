"""What only the embedded store promises: what it keeps in its folder, and what it leaves open."""

import gc
import json
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from threading import Event, Semaphore
from typing import Any

import apsw
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.search import HammingIndex, Hits
from ammi.search.embedded import database
from ammi.search.embedded.blocks import BLOCK
from tests.search.stores import traced

CODES = np.arange(24, dtype=np.uint8).reshape(3, 8)


def test_an_index_that_is_forgotten_is_closed(tmp_path):
    """On Python 3.13 a connection that nothing closes is a warning."""
    index = HammingIndex.create(tmp_path / "index")
    index.add(CODES)
    entries = index.entries()
    next(entries)
    assert len(open_connections(tmp_path)) == 1
    len(index)
    assert len(open_connections(tmp_path)) == 2  # one of them for the entries
    del index, entries
    gc.collect()
    assert not open_connections(tmp_path)


def open_connections(home: Path) -> list[apsw.Connection]:
    return [connection for connection in apsw.connections() if connection and connection.filename.startswith(str(home))]


def test_metadata_comes_straight_from_pandas(tmp_path):
    """Numpy's numbers, timestamps, NaN and arrays."""
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "year": np.array([1987, 1988, 1989]),
            "when": pd.to_datetime(["1987-03-11", None, "1989-01-01"]),
            "score": np.array([0.5, np.nan, 1.5], np.float32),
            "tags": [np.array(["a", "b"]), ["c"], ()],
            "ok": np.array([True, False, True]),
        }
    )
    with HammingIndex.create(tmp_path / "index", keys=["when", "ok"]) as index:
        index.add(CODES, metadata=frame.to_dict("records"))
        assert [entry.metadata for entry in index.get([0, 1])] == [
            {"year": 1987, "when": "1987-03-11T00:00:00", "score": 0.5, "tags": ["a", "b"], "ok": True},
            {"year": 1988, "when": None, "score": None, "tags": ["c"], "ok": False},
        ]
        assert index.keys() == {"ok": 3, "score": 2, "tags": 2, "when": 2, "year": 3}
        for where, kept in (
            ({"when": {"<": date(1988, 1, 1)}}, [0]),
            ({"year": frame["year"][1]}, [1]),
            ({"ok": np.True_, "tags": {"exists": True}}, [0]),
            ({"score": float("nan")}, [1]),
        ):
            assert [hit.id for hit in index.search(CODES[:1], where=where)[0]] == kept


def test_true_is_not_one(tmp_path):
    """Where={"x": 1} found True."""
    for keys in ([], ["x"]):
        with HammingIndex.create(tmp_path / str(len(keys)), keys=keys) as index:
            index.add(CODES, metadata=[{"x": True}, {"x": 1}, {"x": "1"}])
            found = [[hit.id for hit in index.search(CODES[:1], where={"x": x})[0]] for x in (True, 1, "1")]
            assert found == [[0], [1], [2]]


def test_indexed_keys_are_kept_and_added_to(tmp_path):
    with HammingIndex.create(tmp_path / "index", keys=["b", "a", "b"]) as index:
        assert index.indexed_keys == ["b", "a"]
        index.add(CODES, metadata=[{"c": 1}, {"c": [1, 2, 1]}, {"c": 3}])
        index.index_keys(["c", "a"])
    with HammingIndex.open(index.location) as index:
        assert index.indexed_keys == ["b", "a", "c"]
        assert [hit.id for hit in index.search(CODES[:1], where={"c": 1})[0]] == [0, 1]
        wrong: Any
        for wrong, words in (("c", "keys is the str 'c'"), ([1], "1 cannot be a metadata key")):
            with pytest.raises(ValueError, match=words):
                index.index_keys(wrong)


def test_an_indexed_key_spares_the_reading_of_metadata(tmp_path):
    """A filter on a million documents read and parsed a million documents."""
    n = 5000
    with HammingIndex.create(tmp_path / "index", 8, keys=["year"]) as index:
        index.add(np.zeros((n, 1), np.uint8), metadata=[{"year": year % 100, "lang": "en"} for year in range(n)])
        with traced(index) as statements:
            for where in ({"year": 7}, {"year": {">=": 7, "<": 8}}, {"year": 7, "lang": "en"}):
                assert [hit.id for hit in index.search(np.zeros((1, 1), np.uint8), 3, where)[0]] == [7, 107, 207]
        with index._reading():
            plans = [
                step
                for statement, values in statements
                if "key_values" in statement or "metadata" in statement
                for *_, step in index._database.execute(f"EXPLAIN QUERY PLAN {statement}", values)
            ]
        assert any("SEARCH key_values USING PRIMARY KEY (key=? AND value=?)" in step for step in plans)
        assert any("SEARCH key_values USING PRIMARY KEY (key=? AND value>? AND value<?)" in step for step in plans)
        assert not any(step.startswith("SCAN") and ("documents" in step or "key_values" in step) for step in plans)


@pytest.mark.parametrize("seed", range(5))
def test_the_rows_of_positions(tmp_path, seed):
    """Where nothing, something and whole blocks were deleted."""
    rng = np.random.default_rng(seed)
    with HammingIndex.create(tmp_path / "index", 8) as index:
        index.add(np.zeros((5 * BLOCK + 7, 1), np.uint8))
        index.delete(range(BLOCK, 2 * BLOCK))
        index.delete(rng.choice(np.arange(3 * BLOCK, 4 * BLOCK), 50, replace=False))
        with index._reading():
            table = index._table()
        chosen = np.sort(rng.choice(len(table.codes), 300, replace=False))
        np.testing.assert_array_equal(table.rows(table.positions(chosen)), chosen)
        np.testing.assert_array_equal(table.rows(table.positions()), np.arange(len(table.codes)))


@pytest.mark.parametrize("name", ["\ud800", "a\0b"])
def test_what_no_folder_can_be_called_is_refused(name):
    with pytest.raises(ValueError, match="cannot be the name of a folder"):
        HammingIndex.create(name, 8)


def test_an_index_is_found_again_from_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with HammingIndex.create("index") as index:
        index.add(CODES)
        monkeypatch.chdir(Path("/"))
        assert len(next(index.entries())) == 3


def test_metadata_that_changes_leaves_the_codes_in_memory(tmp_path):
    with HammingIndex.create(tmp_path / "index") as index:
        index.add(CODES)
        before = index.export()[1]
        index.set_metadata([0], {"a": 1})
        assert index.export()[1] is before
        index.delete([0])
        assert len(index.export()[1]) == 2


def test_compact_gives_the_space_of_deleted_documents_back(tmp_path):
    with HammingIndex.create(tmp_path, 64) as index:
        index.add(np.zeros((3000, 8), np.uint8), texts=[f"text {n} " * 50 for n in range(3000)])
        index.delete(range(100, 3000))
        for _ in index.entries():  # one who reads an old view
            before, after = index.compact()
            assert after >= before / 2  # it still needs the old pages
        before, after = index.compact()
        assert after < before / 5
        assert after == (tmp_path / "index.sqlite").stat().st_size
        assert [entry.text for entry in index.get([7, 99])] == ["text 7 " * 50, "text 99 " * 50]
    assert HammingIndex.check(tmp_path) == []


def test_the_journal_stays_short_beside_steady_readers(tmp_path, monkeypatch):
    """One reader after the other kept SQLite from beginning it anew: it grew with every change."""
    monkeypatch.setattr(database, "_LONG_JOURNAL", 2_000_000)
    monkeypatch.setattr(database, "_MILLISECONDS_FOR_JOURNAL", 10_000)  # on a busy machine, too
    over, turns = Event(), [Semaphore(1), Semaphore(0)]

    def read(own: Semaphore, other: Semaphore) -> None:
        own.acquire()
        while not over.is_set():
            with index.snapshot():
                other.release()
                own.acquire()  # the other one has begun
        other.release()

    with HammingIndex.create(tmp_path, 64) as index, ThreadPoolExecutor(2) as readers:
        jobs = [readers.submit(read, *turns), readers.submit(read, *reversed(turns))]
        sizes = []
        for n in range(60):
            index.add(np.zeros((1, 8), np.uint8), [n % 3], ["word " * 50_000])
            sizes.append((tmp_path / "index.sqlite-wal").stat().st_size)
        over.set()
        for job in jobs:
            job.result()
    assert max(sizes) < 9_000_000, sizes  # of 17 MB


def test_a_change_reads_only_the_blocks_that_it_touched(tmp_path):
    """Each write read all codes again."""
    rng = np.random.default_rng(0)
    with HammingIndex.create(tmp_path, 64) as index, HammingIndex.open(tmp_path) as other:
        index.add(rng.integers(0, 256, (3 * BLOCK, 8), dtype=np.uint8))
        before = other.export()[1]
        for change, most in (
            (lambda: index.add(CODES), 2),  # the last block and the one after it
            (lambda: index.add(CODES[:1], [7]), 2),  # one in the first block is replaced
            (lambda: index.delete([BLOCK, 2 * BLOCK]), 2),
        ):
            change()
            with traced(other) as statements:
                found = other.export()
            read = [json.loads(values[0]) for statement, values in statements if "slots, codes" in statement]
            assert [len(blocks) <= most for blocks in read] == [True]
            np.testing.assert_array_equal(found[1], np.array([entry.code for entry in index.get(found[0])]))
        assert len(before) == 3 * BLOCK


def test_what_is_appended_does_not_copy_what_is_there(tmp_path):
    with HammingIndex.create(tmp_path, 64) as index:
        index.add(np.zeros((3 * BLOCK, 8), np.uint8))
        before = index.export()[1]
        index.add(CODES)
        after = index.export()[1]
        assert np.shares_memory(before, after)
        assert (len(before), len(after)) == (3 * BLOCK, 3 * BLOCK + 3)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["add", "delete", "replace"]), st.integers(0, 2**16)), max_size=8))
def test_a_table_follows_changes_forwards_and_backwards(changes):
    """Any thread derives what it sees from what any other has seen last."""
    with tempfile.TemporaryDirectory() as home, HammingIndex.create(home, 16) as index:
        views: list[tuple[HammingIndex, ExitStack, np.ndarray]] = []
        for kind, seed in changes:
            rng = np.random.default_rng(seed)
            ids = list(index)
            n = int(rng.integers(1, 1100))
            if kind == "delete" and ids:
                index.delete(rng.choice(ids, min(n, len(ids)), replace=False).tolist())
            else:
                chosen = rng.choice(ids, min(n, len(ids)), replace=False).tolist() if kind == "replace" else None
                codes = rng.integers(0, 256, (n if chosen is None else len(chosen), 2), dtype=np.uint8)
                index.add(codes, chosen)
            view = HammingIndex(index._database.view(), index._newest)
            stack = ExitStack()
            stack.enter_context(view._reading())
            views.append((view, stack, view._tables.codes.table(None).codes))
        for n in np.random.default_rng(len(changes)).permutation(2 * len(views)) // 2:
            view, _, expected = views[n]
            np.testing.assert_array_equal(view._table().codes, expected)
        for _, stack, _ in views:
            stack.close()


def test_without_pandas_hits_say_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pip install pandas"):
        Hits().to_pandas()


def test_a_page_of_the_word_index_is_one_page_of_the_file(tmp_path):
    with HammingIndex.create(tmp_path / "index", 8) as index:
        with index._writing():
            index._tables.words.add((position, "oil") for position in range(30_000))
        with index._reading():
            select = "SELECT pagetype, count(*) FROM dbstat WHERE name = 'words_data' GROUP BY 1"
            pages = dict(index._database.execute(select).fetchall())
    assert pages["leaf"] > 5
    assert "overflow" not in pages
