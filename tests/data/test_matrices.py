"""Matrices of vectors from files and memory: the same rows whatever holds them, in bounded memory; damage is named."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_np
from pyarrow import feather, ipc

from ammi.data import (
    BadRecordError,
    VectorMatrix,
    documents_from,
    holds_codes,
    holds_matrix,
    read_documents,
    read_matrix,
)
from ammi.data.documents import BLOCK_DOCUMENTS

TYPES = ["f2", "f4", "f8", ">f4", "i1", "u1", "i2", "i4", "i8"]


def vectors(n: int = 5, d: int = 3, dtype: Any = "f4") -> np.ndarray:
    return np.random.default_rng(0).integers(-9, 9, size=(n, d)).astype(dtype)


@settings(deadline=None, max_examples=40)
@given(st.data())
def test_the_rows_of_a_file_are_those_of_the_array(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("matrix")
    dtype = np.dtype(data.draw(st.sampled_from(TYPES)))
    shape = data.draw(st.tuples(st.integers(0, 7), st.integers(1, 4)))
    numbers = st.integers(0, 100) if dtype.kind != "f" else st.floats(-100, 100, width=16)
    X = data.draw(st_np.arrays(dtype, shape, elements=numbers))
    np.save(folder / "c.npy", X)
    np.save(folder / "fortran.npy", np.asfortranarray(X))
    np.savez(folder / "one.npz", anything=X)
    np.savez_compressed(folder / "named.npz", vectors=X, other=np.arange(len(X)))
    sp.save_npz(folder / "sparse.npz", sp.coo_matrix(X.astype("f8")))
    for name in ("c.npy", "fortran.npy", "one.npz", "named.npz", "sparse.npz"):
        matrix = read_matrix(folder / name)
        assert (len(matrix), matrix.width) == X.shape
        whole = matrix.in_memory()
        assert sp.issparse(whole) == (name == "sparse.npz")
        assert whole.dtype in (np.float32, np.float64)
        np.testing.assert_array_equal(whole if isinstance(whole, np.ndarray) else whole.toarray(), X)
        read = list(read_documents(folder / name))
        assert [document.id for document in read] == list(range(len(X)))
        assert all(document.numbered for document in read)
        for document, row in zip(read, X, strict=True):
            np.testing.assert_array_equal(document.vector, row)
        assert matrix.zeros == sum(not row.any() for row in X)


def test_small_types_are_held_in_float32(tmp_path):
    for dtype, held in {"f2": "f4", "i1": "f4", "u1": "f4", "i2": "f4", "f8": "f8", "i8": "f8"}.items():
        np.save(tmp_path / "x.npy", vectors(dtype=dtype))
        assert read_matrix(tmp_path / "x.npy").in_memory().dtype == np.dtype(held)


def test_ids_texts_and_metadata_of_an_npz(tmp_path):
    X = vectors(3)
    when = np.array(["2020-01-02", "2020-01-03", "NaT"], "M8[s]")
    arrays: dict[str, Any] = {"ids": np.array(list("abc")), "texts": np.array(list("xyz")), "year": np.arange(3)}
    arrays["when"] = when
    np.savez(tmp_path / "x.npz", vectors=X, about="one value says something of the file", **arrays)
    read = list(read_documents(tmp_path / "x.npz"))
    assert [(document.id, document.text) for document in read] == [("a", "x"), ("b", "y"), ("c", "z")]
    assert [document.metadata["year"] for document in read] == [0, 1, 2]
    assert [document.metadata["when"] for document in read] == ["2020-01-02T00:00:00", "2020-01-03T00:00:00", None]
    assert not any(document.numbered for document in read)
    assert read_matrix(tmp_path / "x.npz").keys == ["year", "when"]
    (first, *_) = read_matrix(tmp_path / "x.npz", id="year", text="ids", vector="vectors")
    assert (first.id, first.text, list(first.metadata)) == (0, "a", ["texts", "when"])


def test_rows_that_are_not_finite_are_refused_or_skipped(tmp_path):
    X = vectors(BLOCK_DOCUMENTS + 10)
    X[[3, BLOCK_DOCUMENTS + 2], 1] = np.nan, -np.inf
    np.save(tmp_path / "x.npy", X)
    sparse = sp.csr_matrix(X)
    for rows in (X, sparse):
        with pytest.raises(BadRecordError, match=r"^X row 3 holds NaN: expected finite numbers, so fill it or drop"):
            VectorMatrix("X", rows).in_memory()
        problems: list[BadRecordError] = []
        matrix = VectorMatrix("X", rows, columns={"n": np.arange(len(X))}, on_error=problems.append)
        kept = np.delete(np.arange(len(X)), [3, BLOCK_DOCUMENTS + 2])
        whole = matrix.in_memory()
        np.testing.assert_array_equal(whole if isinstance(whole, np.ndarray) else whole.toarray(), X[kept])
        assert [str(problem).split(":")[0] for problem in problems] == [
            "X row 3 holds NaN",
            f"X row {BLOCK_DOCUMENTS + 2} holds -inf",
        ]
        assert [one["n"] for one in matrix.metadata()] == kept.tolist()
        assert [document.id for document in matrix] == kept.tolist()
    with pytest.warns(UserWarning, match="skipped: .* row [0-9]+ holds"):
        assert len(list(read_documents(tmp_path / "x.npy", on_error="skip"))) == len(X) - 2


def npz(**arrays: Any) -> Any:
    return lambda path: np.savez(path.with_suffix(".npz"), **arrays)


def npy(array: Any, cut: int | None = None) -> Any:
    def write(path: Path) -> None:
        np.save(path.with_suffix(".npy"), array)
        if cut:
            path.with_suffix(".npy").write_bytes(path.with_suffix(".npy").read_bytes()[:cut])

    return write


def cut_npz(path: Path) -> None:
    npz(vectors=vectors())(path)
    path.with_suffix(".npz").write_bytes(path.with_suffix(".npz").read_bytes()[:200])


ODD = {
    "one dimension": (npy(np.ones(3)), r"holds an array of shape \(3,\): expected two dimensions, a row for each"),
    "three dimensions": (npy(np.ones((2, 2, 2))), r"holds an array of shape \(2, 2, 2\): expected two dimensions"),
    "strings": (npy(np.array([["a"]])), "holds values of type <U1: expected numbers"),
    "objects": (npy(np.array([{}, 1], object)), "holds pickled Python objects, which are never unpickled"),
    "objects in npz": (npz(vectors=np.array([[None]])), "holds pickled Python objects, which are never unpickled"),
    "cut off": (npy(vectors(100), 500), "is not a whole file of a matrix: mmap length is greater than file size"),
    "cut in the header": (npy(vectors(), 50), "is not a whole file of a matrix: EOF"),
    "empty file": (lambda path: path.with_suffix(".npy").touch(), "is not a whole file of a matrix: EOF"),
    "no array": (lambda path: path.with_suffix(".npy").write_text("hello, world"), "is not a whole file of a matrix"),
    "no zip": (lambda path: path.with_suffix(".npz").write_text("hello"), "it is no archive of arrays, or ends early"),
    "cut zip": (cut_npz, "it is no archive of arrays, or ends early"),
    "no columns": (npy(np.ones((3, 0))), "holds vectors of no numbers: expected one column or more"),
    "no matrix": (npz(a=np.ones(3)), r"has no matrices: expected one array of two dimensions, .*, among a \(3,\)"),
    "two matrices": (npz(a=np.ones((3, 2)), b=np.ones((3, 2))), "has 2 matrices"),
    "other ids": (npz(vectors=vectors(), ids=np.arange(3)), r"has 5 vectors and an array 'ids' of shape \(3,\)"),
    "ids of floats": (npz(vectors=vectors(), ids=np.ones(5)), "has values of type float64 in 'ids': expected strings"),
    "no format": (npz(format=np.ones(3), shape=np.ones(2), data=np.ones(2)), "is not a whole file of a matrix"),
    "a single number": (
        npz(vectors=np.float16(0), x=np.ones((1, 3, 0))),
        "has a single number in place of its vectors",
    ),
    "a flat one": (npz(vectors=np.ones(5)), r"holds an array of shape \(5,\): expected two dimensions"),
}


@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_matrix_is_refused_in_one_sentence(odd, tmp_path):
    write, sentence = ODD[odd]
    write(tmp_path / "odd")
    (path,) = tmp_path.iterdir()
    with pytest.raises(ValueError, match=sentence) as refused:
        list(read_documents(path))
    assert str(refused.value).startswith(str(path))


def test_a_matrix_has_no_columns_to_name(tmp_path):
    np.save(tmp_path / "x.npy", vectors())
    np.savez(tmp_path / "x.npz", vectors=vectors(), year=np.arange(5))
    with pytest.raises(ValueError, match=r"x.npy has no column 'row': it is only a matrix"):
        read_matrix(tmp_path / "x.npy", vector="row")
    with pytest.raises(ValueError, match=r"x.npz has no array 'row' of vectors: it has vectors \(5, 3\), year \(5,\)"):
        read_matrix(tmp_path / "x.npz", vector="row")
    with pytest.raises(ValueError, match=r"x.npz has no column 'key': the columns there are year"):
        read_matrix(tmp_path / "x.npz", id="key")
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_matrix(tmp_path / "nothing.npy")
    with pytest.raises(ValueError, match="- is a pipe, and a matrix cannot be read from one: write it to a file first"):
        read_documents("-", format="npy")


def test_one_vector_where_it_is_asked_for(tmp_path):
    np.save(tmp_path / "one.npy", vectors()[0])
    (document,) = read_matrix(tmp_path / "one.npy", single=True)
    np.testing.assert_array_equal(document.vector, vectors()[0])


def test_codes_are_no_vectors(tmp_path):
    codes = tmp_path / "codes.npz"
    np.savez(codes, ids=np.arange(2), codes=np.zeros((2, 1), np.uint8), n_bits=8, fingerprint="f")
    np.savez(tmp_path / "x.npz", ids=np.arange(5), vectors=vectors())
    assert (holds_codes(codes), holds_matrix(codes)) == (True, False)
    assert (holds_codes(tmp_path / "x.npz"), holds_matrix(tmp_path / "x.npz")) == (False, True)
    with pytest.raises(ValueError, match=r"codes.npz holds codes, not vectors"):
        read_matrix(codes)


@pytest.mark.parametrize("kind", ["list", "large_list", "fixed_size_list"])
@pytest.mark.parametrize("number", ["halffloat", "float", "double", "int8", "int64"])
def test_a_column_of_vectors_in_tables_and_their_files(kind, number, tmp_path):
    X = vectors(dtype={"halffloat": "f2", "float": "f4", "double": "f8", "int8": "i1", "int64": "i8"}[number])
    of = pa.type_for_alias(number)
    lists = {"list": pa.list_(of), "large_list": pa.large_list(of), "fixed_size_list": pa.list_(of, 3)}
    table = pa.table({"text": list("abcde"), "row": pa.array(list(X), lists[kind])})
    pq.write_table(table, tmp_path / "x.parquet")
    feather.write_feather(table, tmp_path / "x.feather")
    with ipc.new_file(tmp_path / "x.arrow", table.schema) as out:
        out.write_table(table, max_chunksize=2)
    with ipc.new_stream(tmp_path / "stream.arrow", table.schema) as out:
        out.write_table(table, max_chunksize=2)
    paths = [tmp_path / name for name in ("x.parquet", "x.feather", "x.arrow", "stream.arrow")]
    for form in (*paths, table, table.to_pandas()):
        read = list(documents_from(form, vector="row"))
        assert [(document.text, document.metadata) for document in read] == [(letter, {}) for letter in "abcde"]
        np.testing.assert_array_equal([document.vector for document in read], X)


def test_whole_numbers_in_lists_stay_what_they_are_in_metadata():
    table = pa.table({"text": ["a", "b"], "years": [[1987, 1988], [1990]], "some": [[1, None], None]})
    first, second = documents_from(table)
    assert first.metadata == {"years": [1987, 1988], "some": [1, None]}
    assert second.metadata == {"years": [1990], "some": None}
    assert all(type(year) is int for year in first.metadata["years"])


def test_ragged_vectors_are_named_by_row_and_width(tmp_path):
    frame = pd.DataFrame({"text": list("abcd"), "row": [[1.0, 2.0], [3.0, 4.0], [5.0], [6.0, 7.0]]})
    frame.to_parquet(tmp_path / "x.parquet")
    with pytest.raises(BadRecordError, match=r"x.parquet row 3 has a vector of 1 numbers: expected 2, as before$"):
        list(read_documents(tmp_path / "x.parquet", vector="row"))
    with pytest.raises(BadRecordError, match="the DataFrame row 3 has a vector of 1 numbers: expected 2, as before"):
        list(documents_from(frame, vector="row"))
    problems: list[BadRecordError] = []
    read = list(read_documents(tmp_path / "x.parquet", vector="row", on_error=problems.append))
    assert ([document.text for document in read], len(problems)) == (["a", "b", "d"], 1)
    # Where texts are read, a column that happens to be called so may hold what it will.
    assert len(list(documents_from(frame.rename(columns={"row": "vector"})))) == 4


def test_broken_arrow_files_are_bad_records(tmp_path):
    path = tmp_path / "x.arrow"
    path.write_bytes(b"ARROW1 and then nothing")
    with pytest.raises(BadRecordError, match=r"x.arrow cannot be read as Arrow after row 0"):
        list(read_documents(path))
    with pytest.raises(ValueError, match="standard input is a pipe, and Arrow cannot be read from one"):
        read_documents("-", format="arrow")


def test_ids_of_another_number():
    with pytest.raises(ValueError, match="5 vectors came with 3 ids: pass one for each"):
        VectorMatrix("X", vectors(), ids=[1, 2, 3])


MEASURED = """
import sys
from tests.memory import peak_kilobytes
from ammi.data import read_matrix
matrix = read_matrix(sys.argv[1])
before = peak_kilobytes()
n = sum(len(documents) for documents, rows in matrix.blocks())
print(n, peak_kilobytes() - before)
"""


def test_an_npy_file_may_be_larger_than_the_memory_that_is_taken(tmp_path):
    path = tmp_path / "x.npy"
    X = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=(100_000, 384))  # 154 MB
    X[::7] = 1
    del X
    run = subprocess.run([sys.executable, "-c", MEASURED, path], check=True, capture_output=True, text=True)
    n, kilobytes = map(int, run.stdout.split())
    assert n == 100_000
    assert kilobytes < 40_000
