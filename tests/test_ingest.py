"""Vectors into a collection from Python: every form gives the same codes, and odd ones are named."""

from datetime import date
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import ammi.plain
from ammi import LSH, Collection
from ammi.data import BadRecordError, Document

X = np.random.default_rng(0).normal(size=(30, 6)).astype(np.float32)
IDS = [f"v{i}" for i in range(30)]
MODEL = LSH(64, random_state=0).fit(X)


def npy(folder: Path) -> Path:
    np.save(folder / "x.npy", X)
    return folder / "x.npy"


def npz(folder: Path) -> Path:
    np.savez(folder / "x.npz", vectors=X, ids=np.array(IDS), year=np.arange(30))
    return folder / "x.npz"


def sparse(folder: Path) -> Path:
    sp.save_npz(folder / "sparse.npz", sp.csc_matrix(X))
    return folder / "sparse.npz"


def parquet(folder: Path) -> Path:
    pd.DataFrame({"id": IDS, "vector": list(X)}).to_parquet(folder / "x.parquet")
    return folder / "x.parquet"


FORMS: dict[str, Any] = {
    "array": lambda folder: X,
    "mapped": lambda folder: np.load(npy(folder), mmap_mode="r"),
    "sparse": lambda folder: sp.coo_matrix(X),
    "npy": npy,
    "npz": npz,
    "sparse npz": sparse,
    "parquet": parquet,
    "frame": lambda folder: pd.DataFrame({"vector": X.tolist()}),
    "table": lambda folder: pa.table({"vector": pa.FixedSizeListArray.from_arrays(pa.array(X.ravel()), 6)}),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_vectors_gives_the_same_codes(form, tmp_path):
    with Collection.create(tmp_path / "index", MODEL) as collection:
        assert collection.reads == "vector"
        added = collection.add(FORMS[form](tmp_path))
        assert added == (IDS if form in ("npz", "parquet") else list(range(30)))
        np.testing.assert_array_equal([entry.code for entry in collection], MODEL.encode(X))
        assert [hit.distance for hit in collection.search(X[3], k=1)] == [0]
        renamed = collection.add(FORMS[form](tmp_path), ids=[f"again-{id}" for id in IDS])
        assert renamed[3] == "again-v3"
        assert len(collection) == 60


def test_metadata_of_a_matrix_file_answer_filters_and_evaluate(tmp_path):
    path = npz(tmp_path)
    with Collection.create(tmp_path / "index", MODEL) as collection:
        collection.add(path)
        assert [hit.metadata for hit in collection.search(X[3], where={"year": 3})] == [{"year": 3}]
        among_others = collection.evaluate("year", k=1)
        itself = collection.evaluate("year", queries=path, k=1)
        assert (among_others.precision, itself.precision) == (0, 100)


def test_vectors_that_do_not_suit_the_model(tmp_path):
    with Collection.create(tmp_path / "index", MODEL) as collection:
        with pytest.raises(ValueError, match="document 0 has a vector of 5 numbers, and the model reads 6: pass"):
            collection.add(X[:, :5])
        rows = [{"id": "a", "vector": X[0]}, {"id": "b", "vector": X[1, :4]}]
        with pytest.raises(ValueError, match="document 'b' has a vector of 4 numbers, and the model reads 6"):
            collection.add(rows)
        broken = X.copy()
        broken[7, 2] = np.inf
        with pytest.raises(BadRecordError, match="the matrix row 7 holds inf: expected finite numbers"):
            collection.add(broken)
        with pytest.raises(ValueError, match="30 vectors came with 2 ids: pass one for each"):
            collection.add(X, ids=[1, 2])
        with pytest.raises(ValueError, match="the matrix holds values of type <U1: expected numbers"):
            collection.add(np.array([["a", "b"]]))
        with pytest.raises(ValueError, match=r"vector of a query has the shape \(5,\), and the model reads 6 numbers"):
            collection.search(X[0, :5])
        with pytest.raises(ValueError, match=r"shape \(5,\)"):
            collection.search_many([X[0], X[0, :5]])
        assert len(collection) == 0
        assert collection.add(X[:0]) == []


def test_zero_vectors_are_vectors_like_any_other(tmp_path):
    with Collection.create(tmp_path / "index", MODEL) as collection:
        assert collection.add(np.zeros((2, 6))) == [0, 1]
        assert [hit.distance for hit in collection.search(np.zeros(6))] == [0, 0]


def test_metadata_are_converted_and_spelled_once_on_their_way_into_a_store(tmp_path, monkeypatch):
    model = LSH(16, random_state=0).fit(X)
    spelled, converted = Mock(wraps=ammi.plain.as_json), Mock(wraps=ammi.plain.plain)
    monkeypatch.setattr("ammi.plain.as_json", spelled)
    monkeypatch.setattr("ammi.plain.plain", converted)
    rows: list[Any] = [{"id": n, "vector": X[n], "year": np.int64(1987 + n)} for n in range(3)]
    with Collection.create(tmp_path / "index", model) as collection:
        collection.add(rows)
        collection.add(pa.table({"vector": X[:4].tolist(), "n": [1, 2, 3, 4]}))
        collection.add(Document(f"d{n}", None, {"n": n}, vector=X[n]) for n in range(5))
        assert spelled.call_count == 3 + 4 + 5
        assert sum(isinstance(call.args[0], dict) for call in converted.call_args_list) == 3 + 4 + 5
        assert collection.get(1).metadata == {"year": 1988}


def test_a_document_is_checked_when_it_is_made():
    values: Any = np.int64(7), "a", {"when": date(2020, 1, 2), 1: np.float32(0.5)}, False, [1, 2]
    document = Document(*values)
    assert (document.id, document.metadata) == (7, {"when": "2020-01-02", "1": 0.5})
    assert document.json == '{"when":"2020-01-02","1":0.5}'
    assert document.vector is not None
    assert document.vector.dtype == np.float64
    odd: Any
    for odd in (True, 1.5, None, 2**63, "\ud800"):
        with pytest.raises(ValueError, match=r"^document .* (for an id: expected a string or|is not UTF-8)"):
            Document(odd, "a", {})
    for odd in (7, "\ud800", ["a"]):
        with pytest.raises(ValueError, match=r"^document 'x' (has .* for a text: expected a string|is not UTF-8)"):
            Document("x", odd, {})
    for odd in ({"a": float("inf")}, {"a": "\ud800"}, [1]):
        with pytest.raises(ValueError, match=r"^document 'x' (has .*metadata|is not UTF-8)"):
            Document("x", None, odd)
    for odd in ([1, np.nan], [[1.0]], "12", ["1"], []):
        with pytest.raises(ValueError, match=r"^document 'x' has .* for a vector: expected .* numbers"):
            Document("x", None, {}, vector=odd)
