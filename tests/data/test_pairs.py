"""The article pairs come back as matrices; a pickle that would run code does not run it."""

import os
import pickle
from collections import OrderedDict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ammi.data import read_pairs

VOCABULARY = {f"word{i}": i for i in range(7)}
bags = st.dictionaries(st.integers(0, 6), st.floats(0, 1, width=32) | st.integers(0, 9))
splits = st.lists(st.tuples(bags, bags), max_size=5)


def dense(bags: list[dict]) -> np.ndarray:
    out = np.zeros((len(bags), len(VOCABULARY)), np.float32)
    for row, bag in enumerate(bags):
        for word, weight in bag.items():
            out[row, word] = weight
    return out


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
