"""Whole collections copied from engine to engine: all arrives, once, whatever interrupts it."""

from typing import Any

import numpy as np
import pytest

from ammi.search import DamagedError, HammingIndex, Index, KeptVectors, open_index
from ammi.search.copying import copy_index
from ammi.search.milvus.index import MilvusIndex
from ammi.search.postgres.index import PostgresIndex
from tests.search.engines import PLACES, every_engine
from tests.search.test_index import content
from tests.search.test_processes import start

ABOUT = {"fingerprint": "ab\0cd", "keys": ["year", "\0"], "files": {"config.json": b"{}", "w": b"\0\1"}}
METADATA: list[dict[str, Any]] = [
    {"year": 1987, "z": None, "a": [1, 1.0, 10**400]},
    {"\0": "a\0b\1", "f": -0.0, "e": 1e-7},
    {},
    {"d": {"x": []}},
]


def make(engine: type[Index], home, n: int = 40, *, kept: KeptVectors | None = None, text_index: bool = True) -> Index:
    rng = np.random.default_rng(0)
    index = engine.create(PLACES[engine](home), 20, **ABOUT, vectors=kept, text_index=text_index)  # type: ignore[arg-type]
    codes = np.packbits(rng.integers(0, 2, (n, 20), dtype=np.uint8), axis=1)
    ids = [f"{number}" if number % 3 else number for number in range(n - 2)] + ["\0", "x" * 5000]
    texts = [None if number % 5 == 0 else f"the oil\0 {number}" for number in range(n)]
    rows = None if kept is None else rng.normal(size=(n, kept.width)) * np.float32(2.0) ** rng.integers(-30, 1, (n, 1))
    index.add(codes, ids, texts, [METADATA[number % 4] for number in range(n)], vectors=rows)
    index.add(codes[:1], vectors=None if rows is None else rows[:1])
    index.delete([n - 2, 3])
    return index


def everything(index: Index) -> tuple:
    documents = [content(entry) for block in index.entries() for entry in block]
    about = index.n_bits, index.fingerprint, index.vectors, index.text_index, index.files(), index.keys_indexed
    with index._reading():
        words = index._word_statistics(["the", "oil"]) if index.text_index else None
        return documents, about, words, index._next_number()


@pytest.mark.parametrize("kept", [None, KeptVectors("float16", 3), KeptVectors("int8", 3)], ids=str)
def test_there_and_back_all_is_the_same(tmp_path, kept):
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
    with make(HammingIndex, tmp_path / "a", kept=kept, text_index=kept is None) as first:
        there, back = PLACES[PostgresIndex](tmp_path / "b"), PLACES[HammingIndex](tmp_path / "c")
        told: list[int] = []
        copied = copy_index(first, there, advance=told.append)
        assert (copied.place, copied.documents, copied.there, sum(told)) == (there, 39, 0, 78)
        with open_index(there) as second:
            assert type(second) is PostgresIndex
            assert everything(second) == everything(first)
            again = copy_index(second, back)
        with open_index(back) as third:
            assert everything(third) == everything(first)
            assert third.add(np.zeros((1, 3), np.uint8), vectors=None if kept is None else np.zeros((1, 3))) == [39]
        assert copied.checksum == again.checksum


@pytest.mark.parametrize(
    "engines",
    [(HammingIndex, PostgresIndex), (PostgresIndex, MilvusIndex), (MilvusIndex, HammingIndex)],
    ids=["there", "on", "back"],
)
def test_a_copy_that_is_killed_goes_on(tmp_path, engines):
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    to = PLACES[engines[1]](tmp_path / "to")
    with make(engines[0], tmp_path / "from", 2_100) as index:
        place, expected = index.place, everything(index)
    with start("copy", place, to) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("go on\n")
        process.stdin.flush()
        brought = sum(int(process.stdout.readline()) for _ in range(2))
        process.kill()
    with open_index(place) as index:
        copied = copy_index(index, to)
        assert brought <= copied.there < copied.documents == 2_099
        with open_index(to) as target:
            assert everything(target) == expected
        assert copy_index(index, to).there == 2_099


@every_engine
def test_what_holds_something_else_is_refused_and_unharmed(engine, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    with make(HammingIndex, tmp_path / "a") as index:
        place = PLACES[engine](tmp_path / "b")
        with pytest.raises(ValueError, match="is copied to itself: name another place"):
            copy_index(index, index.place)
        copy_index(index, place)
        with open_index(place) as target:
            target.set_metadata([5], {"year": 1988})
            before = everything(target)
            with pytest.raises(FileExistsError, match=r"holds another collection than .* \(document '5' is not"):
                copy_index(index, place)
            assert everything(target) == before
            target.delete(target)
            target.add(np.zeros((1, 3), np.uint8))
            with pytest.raises(FileExistsError, match="holds another collection"):
                copy_index(index, place)
        others = [(16, {}), (20, {"fingerprint": "x"}), (20, {"fingerprint": "ab\0cd", "text_index": False})]
        for n, (n_bits, about) in enumerate([*others, (20, {"fingerprint": "ab\0cd"})]):
            other = f"{place}{n}"
            engine.create(other, n_bits, **about).close()  # type: ignore[arg-type]
            with pytest.raises(FileExistsError, match=r"its (bits: 16, not 20|model|word index: none|files)"):
                copy_index(index, other)
            with open_index(other) as target:
                assert len(target) == 0


def test_what_changes_on_the_way_is_noticed(tmp_path):
    with make(HammingIndex, tmp_path) as index:
        to = PLACES[PostgresIndex](tmp_path)
        index.add(np.zeros((3000, 3), np.uint8))

        def meddle(n: int) -> None:
            if n == 1000:
                with open_index(to) as target:
                    target.add(np.zeros((1, 3), np.uint8), ["meddled"])

        with pytest.raises(DamagedError, match=r"were copied, but .* has .*: was it changed meanwhile\? delete it"):
            copy_index(index, to, advance=meddle)
