"""Article pairs come back as they were written; a pickle that would run code does not run it."""

import os
import pickle
import sys
from collections import OrderedDict
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from ammi.data.pairs import ArticlePairs, check_place, holds_pairs, read_pair_texts, read_pairs, write_pairs
from tests.damage import write_checksums

VOCABULARY = {f"word{i}": i for i in range(7)}
bags = st.dictionaries(st.integers(0, 6), st.floats(0, 1, width=32) | st.integers(0, 9))
splits = st.lists(st.tuples(bags, bags), max_size=5)


def dense(bags: list[dict]) -> np.ndarray:
    out = np.zeros((len(bags), len(VOCABULARY)), np.float32)
    for row, bag in enumerate(bags):
        for word, weight in bag.items():
            out[row, word] = weight
    return out


@settings(deadline=None)
@given(splits, splits, splits, st.sampled_from([2, 3, 4, 5]), st.sampled_from([dict, list]))
def test_what_was_written_is_read(tmp_path_factory, train, cv, test, protocol, vocabulary):
    path = tmp_path_factory.mktemp("pairs") / "pairs.p"
    path.write_bytes(pickle.dumps((train, cv, test, vocabulary(VOCABULARY)), protocol))
    read = read_pairs(path)
    for pairs, matrices in [(train, read.train), (cv, read.cv), (test, read.test)]:
        for side in (0, 1):
            assert matrices[side].dtype == np.float32
            np.testing.assert_array_equal(matrices[side].toarray(), dense([pair[side] for pair in pairs]))


class Malicious:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_would_run_code_is_refused(tmp_path, protocol):
    payload = pickle.dumps(([], [], [], [Malicious(str(tmp_path / "done"))]), protocol)
    (tmp_path / "pairs.p").write_bytes(payload)
    with pytest.raises(ValueError, match=r"pairs\.p is refused .*asks for \w+\.mkdir, and only plain data is allowed"):
        read_pairs(tmp_path / "pairs.p")
    assert not (tmp_path / "done").exists()
    pickle.loads(payload)
    assert (tmp_path / "done").exists()  # it would have


@pytest.mark.parametrize("value", [np.zeros(3), np.float64(1), OrderedDict(), Fraction(1, 2), {1, 2}.union])
def test_objects_are_refused(tmp_path, value):
    (tmp_path / "pairs.p").write_bytes(pickle.dumps(([({0: value}, {})], [], [], ["a"])))
    with pytest.raises(ValueError, match="only plain data is allowed"):
        read_pairs(tmp_path / "pairs.p")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ([], r"expected \(train, validation, test, vocabulary\)"),
        (([], [], [], 7), r"expected \(train, validation, test, vocabulary\)"),
        ((7, [], [], "ab"), "training is not a list of pairs of dicts"),
        (([], [({0: 1},)], [], "ab"), "validation is not a list of pairs of dicts"),
        (([], [], [({0: 1.0}, [1.0])], "ab"), "test pair 1 is not made of dicts"),
        (([], [], [({0: "a"}, {})], "ab"), "test pair 1 is not made of dicts"),
        (([({2: 1.0}, {})], [], [], "ab"), "training pairs have words outside the vocabulary of 2"),
        (([({-1: 1.0}, {})], [], [], "ab"), "training pairs have words outside the vocabulary of 2"),
        (([({1: float("nan")}, {})], [], [], "ab"), "weights that are not finite"),
    ],
)
def test_another_layout_is_refused(tmp_path, content, complaint):
    (tmp_path / "pairs.p").write_bytes(pickle.dumps(content))
    with pytest.raises(ValueError, match=complaint):
        read_pairs(tmp_path / "pairs.p")


@pytest.mark.parametrize("junk", [b"", b"junk", b"\x80\x04K", pickle.dumps([[1]] * 9)[:-3]])
def test_other_files_are_refused(tmp_path, junk):
    (tmp_path / "pairs.p").write_bytes(junk)
    with pytest.raises(ValueError, match="is refused as a pickle of plain data"):
        read_pairs(tmp_path / "pairs.p")


documents = st.fixed_dictionaries({"id": st.integers(), "text": st.text()}, optional={"labels": st.lists(st.text())})
rows = st.lists(st.tuples(st.tuples(documents, bags), st.tuples(documents, bags)), max_size=4)


class Words:
    """Features that are saved as files, as those of `ammi.features` are."""

    def to_files(self) -> dict[str, bytes]:
        return {"words.txt": "\n".join(VOCABULARY).encode()}


def as_pairs(split: list) -> tuple[list, tuple[csr_matrix, csr_matrix]]:
    """The documents of a split, and its matrices."""
    X, Y = (csr_matrix(dense([pair[side][1] for pair in split])) for side in (0, 1))
    return [(first, second) for (first, _), (second, _) in split], (X, Y)


def write(folder, train=(), cv=(), test=()):
    splits = {"train": as_pairs(train), "cv": as_pairs(cv), "test": as_pairs(test)}
    texts = {name: texts for name, (texts, _) in splits.items()}
    matrices = ArticlePairs(*(matrices for _, matrices in splits.values()))
    return texts, matrices, write_pairs(folder, matrices, texts, Words(), {"source": "here", "seed": 3})


ONE = ({"id": 1, "text": "a"}, {0: 1.0, 3: 0.5}), ({"id": 2, "text": "b"}, {6: 1.0})


@settings(deadline=None, max_examples=25)
@given(rows, rows, rows)
def test_a_folder_is_read_as_it_was_written(tmp_path_factory, train, cv, test):
    folder = tmp_path_factory.mktemp("pairs") / "deep" / "pairs"
    for again in (train, cv):  # the second time in place of the first
        texts, matrices, config = write(folder, again, cv, test)
        assert read_pair_texts(folder) == texts
        read = read_pairs(folder)
        for split in ("train", "cv", "test"):
            for got, expected in zip(getattr(read, split), getattr(matrices, split), strict=True):
                assert (got.dtype, got.shape) == (np.float32, expected.shape)
                np.testing.assert_array_equal(got.toarray(), expected.toarray())
    assert config["pairs"] == {"train": len(cv), "cv": len(cv), "test": len(test)}
    assert (config["source"], config["seed"], config["words"]) == ("here", 3, 7)
    assert (folder / "features" / "words.txt").read_text().split() == list(VOCABULARY)
    assert [path.name for path in folder.parent.iterdir()] == ["pairs"]


def test_what_holds_no_pairs_is_neither_read_nor_replaced(tmp_path):
    (tmp_path / "config.json").write_text('{"format": 1, "method": "AMMI"}')
    with pytest.raises(ValueError, match="is there and does not hold pairs: choose another folder"):
        write(tmp_path, [ONE])
    with pytest.raises(ValueError, match="is there and does not hold pairs: choose another folder"):
        write(tmp_path / "config.json", [ONE])
    assert (tmp_path / "config.json").read_text() == '{"format": 1, "method": "AMMI"}'
    for read in (read_pairs, read_pair_texts):
        with pytest.raises(ValueError, match="does not hold pairs: expected a folder made by ammi data pairs"):
            read(tmp_path)


class FullDisk:
    def to_files(self):
        raise OSError("no space left")


def test_pairs_that_cannot_be_written_leave_the_old_ones(tmp_path):
    texts, matrices, _ = write(tmp_path / "pairs", [ONE])
    with pytest.raises(OSError, match="no space left"):
        write_pairs(tmp_path / "pairs", matrices, texts, FullDisk(), {})
    assert read_pair_texts(tmp_path / "pairs") == texts
    assert [path.name for path in tmp_path.iterdir()] == ["pairs"]
    with pytest.raises(ValueError, match=r"train.X has 1 rows: expected 2, one for each pair"):
        write_pairs(tmp_path / "pairs", matrices, {**texts, "train": texts["train"] * 2}, Words(), {})


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot let two folders change places")
def test_a_set_that_is_replaced_is_there_after_every_step(tmp_path, monkeypatch):
    write(tmp_path / "pairs", [ONE])
    there, sync = [], os.fsync

    def watched(handle: int) -> None:
        sync(handle)
        there.append(holds_pairs(tmp_path / "pairs"))

    monkeypatch.setattr(os, "fsync", watched)
    texts, *_ = write(tmp_path / "pairs", [ONE, ONE])
    assert there
    assert all(there)
    assert read_pair_texts(tmp_path / "pairs") == texts


def test_it_can_be_told_before_whether_a_set_is_replaced(tmp_path):
    assert not holds_pairs(tmp_path)
    assert not holds_pairs(tmp_path / "pairs")
    write(tmp_path / "pairs", [ONE])
    assert holds_pairs(tmp_path / "pairs")
    assert holds_pairs(str(tmp_path / "pairs"))
    (tmp_path / "pairs" / "config.json").write_text("[1]")
    assert not holds_pairs(tmp_path / "pairs")


def test_a_place_that_cannot_be_written_is_noticed_before_the_work(tmp_path):
    check_place(tmp_path / "not" / "yet" / "there")
    check_place(tmp_path)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").touch()
    places = [tmp_path / "file" / "pairs", Path("/proc/ammi/pairs")] if Path("/proc").is_dir() else [tmp_path / "file"]
    for location in places:
        with pytest.raises(OSError, match=rf"{location} cannot be written, for .* in .*: choose another folder"):
            check_place(location)


@pytest.mark.parametrize(
    ("name", "read"),
    [("matrices.safetensors", read_pairs), ("pairs.jsonl.gz", read_pair_texts)],
    ids=["matrices", "texts"],
)
def test_damaged_folders_are_refused(tmp_path, name, read):
    write(tmp_path / "one", [ONE])
    write(tmp_path / "two", [ONE, ONE], [ONE])
    whole = (tmp_path / "one" / name).read_bytes()
    for damaged in (whole[:-9], b"", (tmp_path / "two" / name).read_bytes()):
        (tmp_path / "one" / name).write_bytes(damaged)
        with pytest.raises(ValueError, match=f"{name} is damaged or of another version"):
            read(tmp_path / "one")
        write_checksums(tmp_path / "one")
        with pytest.raises(ValueError, match=f"{name} (is damaged|does not belong).*: make the pairs again"):
            read(tmp_path / "one")
    (tmp_path / "one" / name).unlink()
    with pytest.raises(ValueError, match=f"{name} is missing"):
        read(tmp_path / "one")
    config = tmp_path / "one" / "config.json"
    config.write_text(config.read_text().replace('"format": 3', '"format": 2'))
    (tmp_path / "one" / "SHA256SUMS").unlink()
    with pytest.raises(ValueError, match=r"has format 2, this ammi .* reads 3: make the pairs again"):
        read(tmp_path / "one")
