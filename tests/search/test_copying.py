"""Whole collections copied from store to store: all arrives, once, whatever interrupts it."""

from typing import Any

import numpy as np
import pytest

from ammi.search import DamagedError, HammingIndex, KeptVectors, Store, open_store
from ammi.search.copying import copy_store
from tests.search.stores import LOCATIONS, MilvusStore, PostgresStore, every_store, word_statistics
from tests.search.test_index import content
from tests.search.test_processes import start

ABOUT = {"fingerprint": "ab\0cd", "keys": ["year", "\0"], "files": {"config.json": b"{}", "w": b"\0\1"}}
METADATA: list[dict[str, Any]] = [
    {"year": 1987, "z": None, "a": [1, 1.0, 10**400]},
    {"\0": "a\0b\1", "f": -0.0, "e": 1e-7},
    {},
    {"d": {"x": []}},
]


def make(store: type[Store], home, n: int = 40, *, kept: KeptVectors | None = None, text_index: bool = True) -> Store:
    rng = np.random.default_rng(0)
    index = store.create(LOCATIONS[store](home), 20, **ABOUT, vectors=kept, text_index=text_index)  # type: ignore[arg-type]
    codes = np.packbits(rng.integers(0, 2, (n, 20), dtype=np.uint8), axis=1)
    ids = [f"{number}" if number % 3 else number for number in range(n - 2)] + ["\0", "x" * 5000]
    texts = [None if number % 5 == 0 else f"the oil\0 {number}" for number in range(n)]
    rows = None if kept is None else rng.normal(size=(n, kept.width)) * np.float32(2.0) ** rng.integers(-30, 1, (n, 1))
    index.add(codes, ids, texts, [METADATA[number % 4] for number in range(n)], vectors=rows)
    index.add(codes[:1], vectors=None if rows is None else rows[:1])
    index.delete([n - 2, 3])
    return index


def everything(index: Store) -> tuple:
    documents = [content(entry) for block in index.entries() for entry in block]
    words = word_statistics(index, ["the", "oil"]) if index.text_index else None
    return documents, index.about, index.files(), words


@pytest.mark.servers
@pytest.mark.parametrize("kept", [None, KeptVectors("float16", 3), KeptVectors("int8", 3)], ids=str)
def test_there_and_back_all_is_the_same(tmp_path, kept):
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
    with make(HammingIndex, tmp_path / "a", kept=kept, text_index=kept is None) as first:
        there, back = LOCATIONS[PostgresStore](tmp_path / "b"), LOCATIONS[HammingIndex](tmp_path / "c")
        told: list[int] = []
        copied = copy_store(first, there, advance=told.append)
        assert (copied.location, copied.documents, copied.there, sum(told)) == (there, 39, 0, 78)
        with open_store(there) as second:
            assert type(second) is PostgresStore
            assert everything(second) == everything(first)
            assert second.indexed_keys == first.indexed_keys
            again = copy_store(second, back)
        with open_store(back) as third:
            assert everything(third) == everything(first)
            assert third.indexed_keys == first.indexed_keys
            assert third.add(np.zeros((1, 3), np.uint8), vectors=None if kept is None else np.zeros((1, 3))) == [39]
        assert copied.checksum == again.checksum


@pytest.mark.parametrize(
    "stores",
    [(HammingIndex, PostgresStore), (PostgresStore, MilvusStore), (MilvusStore, HammingIndex)],
    ids=["there", "on", "back"],
)
def test_a_copy_that_is_killed_goes_on(tmp_path, stores):
    (tmp_path / "from").mkdir()
    (tmp_path / "to").mkdir()
    to = LOCATIONS[stores[1]](tmp_path / "to")
    with make(stores[0], tmp_path / "from", 2_100) as index:
        location, expected = index.location, everything(index)
    with start("copy", location, to) as process:
        assert process.stdin
        assert process.stdout
        process.stdin.write("go on\n")
        process.stdin.flush()
        brought = sum(int(process.stdout.readline()) for _ in range(2))
        process.kill()
    with open_store(location) as index:
        copied = copy_store(index, to)
        assert brought <= copied.there < copied.documents == 2_099
        with open_store(to) as target:
            assert everything(target) == expected
        assert copy_store(index, to).there == 2_099


@every_store
def test_what_holds_something_else_is_refused_and_unharmed(store, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
    with make(HammingIndex, tmp_path / "a") as index:
        location = LOCATIONS[store](tmp_path / "b")
        with pytest.raises(ValueError, match="is copied to itself: name another location"):
            copy_store(index, index.location)
        copy_store(index, location)
        with open_store(location) as target:
            target.set_metadata([5], {"year": 1988})
            before = everything(target)
            with pytest.raises(FileExistsError, match=r"holds another collection than .* \(document '5' is not"):
                copy_store(index, location)
            assert everything(target) == before
            target.delete(target)
            target.add(np.zeros((1, 3), np.uint8))
            with pytest.raises(FileExistsError, match="holds another collection"):
                copy_store(index, location)
        others = [(16, {}), (20, {"fingerprint": "x"}), (20, {"fingerprint": "ab\0cd", "text_index": False})]
        others += [(20, {"fingerprint": "ab\0cd", "text_index": "german"})]
        for n, (n_bits, about) in enumerate([*others, (20, {"fingerprint": "ab\0cd", "text_index": "english"})]):
            other = f"{location}{n}"
            store.create(other, n_bits, **about).close()  # type: ignore[arg-type]
            with pytest.raises(
                FileExistsError,
                match=r"its (bits: 16, not 20|model|word index: none|language: german, not english|files)",
            ):
                copy_store(index, other)
            with open_store(other) as target:
                assert len(target) == 0


@pytest.mark.servers
def test_what_changes_on_the_way_is_noticed(tmp_path):
    with make(HammingIndex, tmp_path) as index:
        to = LOCATIONS[PostgresStore](tmp_path)
        index.add(np.zeros((3000, 3), np.uint8))

        def meddle(n: int) -> None:
            if n == 1000:
                with open_store(to) as target:
                    target.add(np.zeros((1, 3), np.uint8), ["meddled"])

        with pytest.raises(DamagedError, match=r"were copied, but .* has .*: was it changed meanwhile\? delete it"):
            copy_store(index, to, advance=meddle)
