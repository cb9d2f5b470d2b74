"""Files of codes: what is written is read again, and what is broken is refused."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.data import read_matrix, streams
from ammi.data.codes import holds_codes, read_codes, write_codes

NAMES = ["codes.npz", "codes.jsonl", "codes.jsonl.gz", "codes.jsonl.zst"]
names = st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8), max_size=30)
numbers = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30)


@settings(deadline=None)
@given(ids=names | numbers, n_bits=st.integers(1, 100), cut=st.integers(0, 30), seed=st.integers(0, 2**31))
@pytest.mark.parametrize("name", NAMES)
def test_what_was_written_is_read(name, ids, n_bits, cut, seed, tmp_path_factory):
    bits = np.random.default_rng(seed).integers(0, 2, (len(ids), n_bits), dtype=np.uint8)
    codes = np.packbits(bits, axis=1)
    path = tmp_path_factory.mktemp("codes") / name
    assert write_codes(path, [(ids[:cut], codes[:cut]), (ids[cut:], codes[cut:])], n_bits, "0123abcd") == len(ids)
    if name.startswith("codes.jsonl") and not ids:
        return  # nothing tells it from an empty file of documents
    assert holds_codes(path)
    read = read_codes(path)
    assert (read.ids, read.n_bits, read.fingerprint) == (ids, n_bits, "0123abcd")
    assert np.array_equal(read.codes, codes)


def test_documents_are_not_codes(tmp_path):
    (tmp_path / "documents.jsonl").write_text('{"id": 1, "text": "a code of bits"}\n')
    assert not holds_codes(tmp_path / "documents.jsonl")
    assert not holds_codes(tmp_path)


def test_what_is_broken_is_refused(tmp_path):
    codes = np.arange(24, dtype=np.uint8).reshape(3, 8)
    for name in NAMES:
        path = tmp_path / name
        write_codes(path, [([1, 2, 3], codes)], 64, "0123abcd")
        path.write_bytes(path.read_bytes()[:-30])
        with pytest.raises(ValueError, match="is not a whole file of codes of one model"):
            read_codes(path)
    path = tmp_path / "mixed.jsonl"
    record = {"id": 1, "code": "00" * 8, "bits": 64, "model": "0123abcd"}
    wrong: list[dict] = [
        {"model": "ffff"},
        {"bits": 63},
        {"bits": 100},
        {"code": "zz" * 8},
        {"bits": 64.0},
        {"bits": True},
    ]
    for other in [*wrong, {"bits": 0, "code": ""}, {"code": 7}, {"model": None}]:
        path.write_text(json.dumps(record) + "\n" + json.dumps(record | other) + "\n")
        with pytest.raises(ValueError, match="is not a whole file of codes of one model"):
            read_codes(path)


def test_an_archive_of_other_types_is_refused(tmp_path):
    path, codes = tmp_path / "codes.npz", np.zeros((2, 1), np.uint8)
    good = {"ids": np.arange(2), "codes": codes, "n_bits": 8, "fingerprint": "f"}
    wrong: list[dict] = [{"n_bits": 8.5}, {"n_bits": [8]}, {"n_bits": 0}, {"ids": [0.5, 1.5]}, {"ids": [[1, 2]]}]
    for other in [*wrong, {"fingerprint": 7}, {"codes": codes.astype(int)}, {"ids": [True, False]}]:
        np.savez(path, **(good | other))
        with pytest.raises(ValueError, match="is not a whole file of codes of one model"):
            read_codes(path)


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "codes.npz"
    arrays: dict[str, Any] = {
        "ids": np.arange(1 << 16),
        "codes": np.zeros((1 << 16, 32), np.uint8),
        "n_bits": 256,
        "fingerprint": "f",
    }
    np.savez_compressed(path, **arrays)
    assert len(read_codes(path).ids) == 1 << 16
    monkeypatch.setattr(streams, "_ARCHIVE", 1 << 20)
    monkeypatch.setattr(streams, "_ARCHIVE_TIMES", 5)
    for read in (read_codes, read_matrix):
        with pytest.raises(ValueError, match=r"would unpack to .* GB, more than 5 times its size: save the arrays"):
            read(path if read is read_codes else _as_matrix(tmp_path))


def _as_matrix(folder):
    np.savez_compressed(folder / "matrix.npz", vectors=np.zeros((1 << 16, 32)))
    return folder / "matrix.npz"


def test_deep_brackets_are_neither_codes_nor_an_end_without_a_word(tmp_path):
    path = tmp_path / "deep.jsonl"
    path.write_text('{"code": ' + "[" * 100_000)
    assert not holds_codes(path)
    with pytest.raises(ValueError, match="is not a whole file of codes of one model"):
        read_codes(path)


def test_names_and_ids_that_cannot_be_are_refused(tmp_path):
    codes = np.zeros((2, 1), np.uint8)
    with pytest.raises(ValueError, match=r"expected the ending \.npz, \.parquet or \.jsonl"):
        write_codes(tmp_path / "codes.csv", [([1, 2], codes)], 8, "0123abcd")
    with pytest.raises(
        ValueError, match=r"codes are uint8 of shape \(2, 1\), for 2 ids and 9 bits: pass a row for each"
    ):
        write_codes(tmp_path / "codes.npz", [([1, 2], codes)], 9, "0123abcd")
    with pytest.raises(ValueError, match=r"write \.jsonl instead"):
        write_codes(tmp_path / "codes.npz", [([1, "2"], codes)], 8, "0123abcd")
    assert list(tmp_path.iterdir()) == []
