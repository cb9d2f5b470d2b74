"""What was damaged, swapped or put back from another day is named, and never answered from."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ammi.search import DamagedError, HammingIndex, KeptVectors
from ammi.search.embedded.connections import connect
from ammi.search.ranking import VectorRanking
from tests.search.stores import word_statistics

CODES = np.random.default_rng(0).integers(0, 256, (300, 8), dtype=np.uint8)
FILES = ("index.sqlite", "index.sqlite-wal", "index.changes")


def make(folder: Path, n: int = 300, seed: int = 0) -> HammingIndex:
    """An index with long texts and short ones, metadata, a word index, vectors."""
    rng = np.random.default_rng(seed)
    index = HammingIndex.create(folder, 64, keys=["year"], files={"model": bytes(5000)}, vectors=KeptVectors("int8", 6))
    texts = [f"oil {i} {'price ' * rng.integers(0, 1500)}" for i in range(n)]
    vectors = rng.normal(size=(n, 6))
    metadata = [{"year": 1900 + i % 9, "name": f"n {i}"} for i in range(n)]
    index.add(CODES[:n], [f"d{i}" if i % 2 else i for i in range(n)], texts, metadata, vectors=vectors)
    return index


def content(index: HammingIndex) -> tuple:
    """All that an index answers with."""
    entries = [
        (entry.id, entry.code.tobytes(), entry.text, entry.metadata, entry.vector.tobytes())
        for block in index.entries()
        for entry in block
        if entry.vector is not None
    ]
    hits = index.search(CODES[:20], 5, {"year": [1901, 1902]})
    words = word_statistics(index, ["oil", "price"])
    return entries, hits, words, index.export()[0], index.export()[1].tobytes(), index.files(), index.keys()


def flip(file: Path, bit: int) -> None:
    with open(file, "r+b") as opened:
        opened.seek(bit // 8)
        (byte,) = opened.read(1)
        opened.seek(bit // 8)
        opened.write(bytes([byte ^ 1 << bit % 8]))


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_never_answered_from(tmp_path, name):
    """98 of 211 single flipped bits gave silently wrong documents, codes or hits."""
    whole, copy = tmp_path / "whole", tmp_path / "copy"
    index = make(whole)
    if name != "index.sqlite-wal":
        index.close()
    else:
        index.delete(["d1"])
    left = {file.name: file.read_bytes() for file in whole.iterdir() if file.name in FILES}
    expected = content(index if name == "index.sqlite-wal" else HammingIndex.open(whole))
    rng = np.random.default_rng(0)
    places = rng.integers(0, 8 * len(left[name]), 40).tolist()
    if name == "index.sqlite":
        places += range(0, 8 * 100, 7)  # more of the header, on which all depends
    refused: list[str] = []
    for bit in places:
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir()
        for file, its_content in left.items():
            (copy / file).write_bytes(its_content)
        flip(copy / name, bit)
        try:
            with HammingIndex.open(copy) as damaged:
                found = content(damaged)
        except DamagedError as error:
            refused.append(str(error))
        else:
            assert found == expected
    assert all("damaged" in words or "not as it was left" in words for words in refused)
    assert len(refused) > len(places) / 2  # the others met what no answer needs
    index.close()


def alter(index: HammingIndex, statement: str) -> None:
    """Alter a row behind the back of the index, as a fault in memory would: the pages have the right checksums."""
    db = connect(Path(index.location) / "index.sqlite", "mode=rw")
    db.execute(statement)
    db.close()


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE texts SET text = text || ' ' WHERE position = 7", "document 'd7' is not as it was written"),
        ("DELETE FROM texts WHERE position = 7", "document 'd7' is not as it was written"),
        ("UPDATE documents SET metadata = '{}' WHERE position = 7", "document 'd7' is not as it was written"),
        ("UPDATE documents SET id = 'd1000' WHERE position = 7", "document 'd1000' is not as it was written"),
        ("UPDATE documents SET id_is_text = 1 WHERE position = 8", "document '8' is not as it was written"),
        (
            "UPDATE blocks SET codes = CAST(x'0102030405060708' || SUBSTR(codes, 9) AS BLOB)",
            "document 0 is not as it was written",
        ),
        ("UPDATE blocks SET codes = SUBSTR(codes, 2)", "block 0 of the codes does not have one for each document"),
        ("DELETE FROM documents WHERE position = 7", "the document at position 7 is missing"),
        ("UPDATE vectors SET vector = zeroblob(14) WHERE position = 7", "the vector of document 'd7' is not as it was"),
        ("DELETE FROM vectors WHERE position = 7", "the vector of document 'd7' is not as it was"),
    ],
)
def test_a_row_that_is_not_as_it_was_written_is_named(tmp_path, statement, words):
    with make(tmp_path, 20) as index:
        alter(index, statement)
    with HammingIndex.open(tmp_path) as index:
        with pytest.raises(DamagedError, match=words):
            list(index.entries())
        ranked = [VectorRanking(np.ones(6))]
        with pytest.raises(DamagedError, match=words):
            index.search_ranked(CODES[:1], ranked, 20, shortlist=20)
        if "vector" not in statement:
            for ask in (lambda: index.search(CODES[:1], 20), lambda: index.within(CODES[:1], 64)):
                with pytest.raises(DamagedError, match=words):
                    ask()


def test_a_document_without_its_code_is_named(tmp_path):
    with make(tmp_path, 20) as index:
        alter(index, "UPDATE blocks SET slots = SUBSTR(slots, 3), codes = SUBSTR(codes, 9)")
        with pytest.raises(DamagedError, match="document 0 has no code"):
            index.get(["d1", 0])


def test_checksums_follow_every_change(tmp_path):
    with make(tmp_path, 20) as index:
        index.set_metadata([0, "d7"], {"late": True})
        index.recode(lambda entries: (CODES[: len(entries), 1:4], None), 24, fingerprint="new", files=None)
        index.set_metadata([0, "d7"], {"later": True})
        assert [entry.metadata.get("later") for entry in index.get([0, "d1", "d7"])] == [True, None, True]
        assert sum(len(block) for block in index.entries()) == 20


def as_files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in FILES if (folder / name).exists()}


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, its_content in files.items():
        (folder / name).write_bytes(its_content)


@pytest.mark.parametrize(
    "swap",
    [
        lambda ours, old, other: ours | {"index.sqlite-wal": other["index.sqlite-wal"]},
        lambda ours, old, other: {**other, "index.changes": ours["index.changes"]},
        lambda ours, old, other: {**old, "index.changes": ours["index.changes"]},
        lambda ours, old, other: {name: ours[name] for name in ("index.sqlite", "index.changes")},
        lambda ours, old, other: {**ours, "index.sqlite-wal": ours["index.sqlite-wal"][:-3000]},
    ],
    ids=["the journal of another", "another database", "an old database", "no journal", "a journal cut short"],
)
def test_swapped_and_stale_files_are_refused(tmp_path, swap: Callable[..., dict[str, bytes]]):
    """Index A with the -wal of index B opened as B."""
    index, other = make(tmp_path / "a", 20), make(tmp_path / "b", 30, seed=1)
    old = as_files(tmp_path / "a")
    index.delete(["d1"])
    index.delete(["d3"])
    copy = tmp_path / "copy"
    copy.mkdir()
    put(copy, swap(as_files(tmp_path / "a"), old, as_files(tmp_path / "b")))
    index.close()
    other.close()
    with pytest.raises(
        DamagedError, match=r"not as it was left: .*(of another collection|were acknowledged); restore all"
    ):
        HammingIndex.open(copy)


def test_files_that_belong_together_are_accepted(tmp_path):
    """All of one moment; a copy of the database alone; a word of acknowledgement that lags behind."""
    index = make(tmp_path / "a", 20)
    old = as_files(tmp_path / "a")
    index.delete(["d1"])
    index.close()
    new = as_files(tmp_path / "a")
    for n, files in enumerate(
        (old, {"index.sqlite": new["index.sqlite"]}, new | {"index.changes": old["index.changes"]})
    ):
        copy = tmp_path / str(n)
        copy.mkdir()
        put(copy, files)
        with HammingIndex.open(copy) as opened:
            assert len(opened) == (20 if n == 0 else 19)
            opened.delete(["d3"])
        assert (copy / "index.changes").exists()


def test_a_folder_that_was_made_again_is_refused_by_those_who_have_the_old_one_open(tmp_path):
    """A handle on a folder that was deleted and made again wrote into nowhere."""
    old = make(tmp_path / "index", 20)
    shutil.rmtree(tmp_path / "index")
    for made_again in (False, True):
        if made_again:
            HammingIndex.create(tmp_path / "index", 64).close()
        uses = (lambda: old.add(CODES[:1]), lambda: old.search(CODES[:1]), lambda: list(old.entries()))
        for use in uses:
            with pytest.raises(FileNotFoundError, match="was deleted or replaced after it was opened: open it again"):
                use()
    with HammingIndex.open(tmp_path / "index") as new:
        assert len(new) == 0
    old.close()


def test_an_index_whose_checksums_were_switched_off_is_damaged(tmp_path):
    """The number of reserved bytes stands in the header, and says whether pages have checksums at all."""
    make(tmp_path, 20).close()
    with open(tmp_path / "index.sqlite", "r+b") as file:
        file.seek(20)
        file.write(b"\0")
    with pytest.raises(DamagedError):
        HammingIndex.open(tmp_path)


def test_an_emptied_file_is_damaged(tmp_path):
    make(tmp_path, 20).close()
    os.truncate(tmp_path / "index.sqlite", 0)
    with pytest.raises(DamagedError, match=r"index\.sqlite is empty"):
        HammingIndex.open(tmp_path)
