"""Places and stores, and what importing them costs."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ammi.search import HammingIndex, open_store, store_exists
from ammi.search.locations import is_url, store_class
from examples.memory_store import MemoryStore
from tests.search.stores import LOCATIONS, PostgresStore, create_store, every_store


@every_store
def test_a_place_leads_to_its_engine(store, tmp_path):
    location = LOCATIONS[store](tmp_path)
    assert not store_exists(location)
    with pytest.raises(FileNotFoundError, match=r"there is no collection in .*: create it first"):
        open_store(location)
    with create_store(location, 16, fingerprint="ab12", keys=["year"], files={"a": b"b", "c": b""}) as index:
        assert type(index) is store
        index.add(np.zeros((1, 2), np.uint8))
    assert store_exists(location)
    with open_store(location) as index:
        assert (type(index), index.location, len(index)) == (store, location, 1)
        assert (index.n_bits, index.fingerprint, index.files()) == (16, "ab12", {"a": b"b", "c": b""})
    with pytest.raises(FileExistsError, match="holds a collection: open it"):
        create_store(location)


def test_a_folder_may_have_a_colon_in_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for location in ("news:1987", Path("memory:news"), "folder:x"):
        with create_store(location) as index:
            assert type(index) is HammingIndex
        assert Path(location, "index.sqlite").is_file()


def test_an_unknown_scheme_is_refused():
    for use in (open_store, create_store, store_exists):
        with pytest.raises(ValueError, match=r"no store for 'foo://x/y': there are folder, .*memory"):
            use("foo://x/y")


def test_schemes_have_their_engines(tmp_path, monkeypatch):
    pytest.importorskip("psycopg")
    monkeypatch.chdir(tmp_path)
    for location in ("postgresql://host/db#x", "postgres://host/db", "memory:x"):
        assert is_url(location)
        assert store_class(location) is (MemoryStore if location == "memory:x" else PostgresStore)
    for folder in ("articles", "./postgresql:x", Path("memory:x"), "folder:x", "news:1987", "https://host"):
        assert not is_url(folder)


def test_importing_the_search_loads_little():
    """A text search starts without what it does not need."""
    heavy = {"torch", "sklearn", "scipy", "numba", "pandas", "rich", "psycopg"}
    code = f"import sys, ammi.search; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_a_memory_index_is_one_for_all_who_open_it():
    with MemoryStore.create("memory:shared", 8) as one, MemoryStore.open("memory:shared") as other:
        one.add(np.zeros((2, 1), np.uint8))
        assert len(other) == 2
