"""Places and engines, and what importing them costs."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from examples.memory_engine import MemoryIndex

from ammi.search import HammingIndex, create_index, index_exists, open_index
from ammi.search.places import engine_of, is_url
from ammi.search.postgres.index import PostgresIndex
from tests.search.engines import PLACES, every_engine


@every_engine
def test_a_place_leads_to_its_engine(engine, tmp_path):
    place = PLACES[engine](tmp_path)
    assert not index_exists(place)
    with pytest.raises(FileNotFoundError, match=r"there is no index in .*: create it first"):
        open_index(place)
    with create_index(place, 16, fingerprint="ab12", keys=["year"], files={"a": b"b", "c": b""}) as index:
        assert type(index) is engine
        index.add(np.zeros((1, 2), np.uint8))
    assert index_exists(place)
    with open_index(place) as index:
        assert (type(index), index.place, len(index)) == (engine, place, 1)
        assert (index.n_bits, index.fingerprint, index.files()) == (16, "ab12", {"a": b"b", "c": b""})
    with pytest.raises(FileExistsError, match="holds an index: open it"):
        create_index(place)


def test_a_folder_may_have_a_colon_in_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("news:1987", Path("memory:news"), "folder:x"):
        with create_index(place) as index:
            assert type(index) is HammingIndex
        assert Path(place, "index.sqlite").is_file()


def test_an_unknown_scheme_is_refused():
    for use in (open_index, create_index, index_exists):
        with pytest.raises(ValueError, match=r"no engine for 'foo://x/y': there are folder, .*memory"):
            use("foo://x/y")


def test_schemes_have_their_engines(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for place in ("postgresql://host/db#x", "postgres://host/db", "memory:x"):
        assert is_url(place)
        assert engine_of(place) is (MemoryIndex if place == "memory:x" else PostgresIndex)
    for folder in ("articles", "./postgresql:x", Path("memory:x"), "folder:x", "news:1987", "https://host"):
        assert not is_url(folder)


def test_importing_the_search_loads_little():
    """U15: a text search starts without what it does not need."""
    heavy = {"torch", "sklearn", "scipy", "numba", "pandas", "rich", "psycopg"}
    code = f"import sys, ammi.search; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "[]\n"


def test_a_memory_index_is_one_for_all_who_open_it():
    with MemoryIndex.create("memory:shared", 8) as one, MemoryIndex.open("memory:shared") as other:
        one.add(np.zeros((2, 1), np.uint8))
        assert len(other) == 2
