"""Documents as Python holds them: every form gives the same documents, and what is missing is named by its location."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.data import BadRecordError, Document, documents_from
from ammi.data.tables import BATCH_ROWS

unicode_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
row = st.fixed_dictionaries({"id": unicode_text, "text": unicode_text, "year": st.integers(-(2**63), 2**63 - 1)})
rows = st.lists(row, max_size=6)
FORMS: dict[str, Callable[[list[dict]], Any]] = {
    "dicts": list,
    "iterator": iter,
    "documents": lambda rows: [Document(row["id"], row["text"], {"year": row["year"]}) for row in rows],
    "DataFrame": lambda rows: pd.DataFrame(rows, columns=["id", "text", "year"]),
    "index": lambda rows: pd.DataFrame(rows, columns=["id", "text", "year"]).set_index("id"),
    "Table": lambda rows: table(rows),
    "RecordBatch": lambda rows: table(rows).combine_chunks().to_batches()[0] if rows else table(rows),
    "RecordBatchReader": lambda rows: table(rows).to_reader(max_chunksize=2),
}


def table(rows: list[dict]) -> pa.Table:
    kinds = [("id", pa.string()), ("text", pa.large_string()), ("year", pa.int64())]
    return pa.Table.from_pylist(rows, pa.schema(kinds))


@settings(deadline=None)
@given(rows)
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_documents(form, rows):
    read = list(documents_from(FORMS[form](rows)))
    assert read == [Document(row["id"], row["text"], {"year": row["year"]}) for row in rows]
    assert not any(document.numbered for document in read)


@settings(deadline=None)
@given(st.lists(unicode_text, max_size=6))
def test_texts_are_numbered(texts):
    expected = [Document(number, text, {}) for number, text in enumerate(texts, 1)]
    forms = [texts, iter(texts), np.array(texts, object), pd.Series(texts, dtype=object), pa.array(texts, pa.string())]
    for form in forms:
        read = list(documents_from(form))
        assert read == expected
        assert all(document.numbered and type(document.text) is str for document in read)


def test_columns_are_chosen_by_name():
    rows = [{"key": np.int64(7), "body": np.str_("b"), "row": [1.0], "id": 1, "text": "t", "vector": [2.0]}]
    for form in (rows, pd.DataFrame(rows), pa.Table.from_pylist([rows[0] | {"key": 7}])):
        (document,) = documents_from(form, text="body", id="key", vector="row")
        assert document == Document(7, "b", {"id": 1, "text": "t", "vector": [2.0]})
        assert type(document.id) is int
        assert document.vector is not None
        assert document.vector.tolist() == [1.0]


@pytest.mark.parametrize("names", [{"text": "body"}, {"id": "body"}, {"vector": "body"}])
def test_a_chosen_column_that_is_not_there_is_refused(names):
    rows = [{"id": 1, "text": "a"}]
    for form, name in (
        (rows, "document 1"),
        (pd.DataFrame(rows), "the DataFrame"),
        (pa.Table.from_pylist(rows), "the Arrow table"),
    ):
        with pytest.raises(ValueError, match=f"^{name} has no column 'body': the columns there are id, text$"):
            list(documents_from(form, **names))


def test_values_of_pandas_become_what_json_holds():
    frame = pd.DataFrame(
        {
            "text": ["a", "b"],
            "id": np.array([3, 4], np.uint8),
            "when": pd.to_datetime(["2020-01-02", None]),
            "share": [0.5, np.nan],
            "count": pd.array([1, None], "Int64"),
            "kind": pd.Categorical(["x", None]),
            "tags": [np.array(["p", "q"]), {"a": np.int64(1)}],
            "key": [UUID(int=7), np.datetime64("2020-01-02T03:04:05.5", "ns")],
            7: [True, np.False_],
        }
    )
    first, second = documents_from(frame)
    assert first == Document(
        3,
        "a",
        {
            "when": "2020-01-02T00:00:00",
            "share": 0.5,
            "count": 1,
            "kind": "x",
            "tags": ["p", "q"],
            "key": str(UUID(int=7)),
            "7": True,
        },
    )
    assert second.metadata == {
        "when": None,
        "share": None,
        "count": None,
        "kind": None,
        "tags": {"a": 1},
        "key": "2020-01-02T03:04:05.500000",
        "7": False,
    }
    assert json.loads(json.dumps(second.metadata)) == second.metadata


def test_the_index_of_a_frame_is_no_id_unless_it_is_called_so():
    frame = pd.DataFrame({"text": ["a", "b"]}, index=["x", "y"])
    assert [document.id for document in documents_from(frame)] == [1, 2]
    assert [document.id for document in documents_from(frame.rename_axis("id"))] == ["x", "y"]
    assert [document.id for document in documents_from(frame.rename_axis("key"), id="key")] == ["x", "y"]
    both = frame.assign(id=[8, 9]).rename_axis("id")
    assert list(documents_from(both)) == [Document(8, "a", {}), Document(9, "b", {})]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, 7])
def test_a_missing_text_is_refused_with_its_place(missing):
    rows = [{"id": 1, "text": "a"}, {"id": 2, "text": missing}]
    for form, location in ((rows, "document 2"), (pd.DataFrame(rows, dtype=object), "the DataFrame row 2")):
        with pytest.raises(BadRecordError, match=f"^{location} has (null|7) for a text: expected a string$"):
            list(documents_from(form))
    with pytest.raises(BadRecordError, match=r"^document 2 is .* of type .*: expected a text, a dict, a vector"):
        list(documents_from(["a", missing]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_vectors_need_no_texts_and_keep_their_type(dtype):
    vectors = np.random.default_rng(0).normal(size=(5, 3)).astype(dtype)
    fixed = pa.FixedSizeListArray.from_arrays(pa.array(vectors.ravel()), 3)
    forms = {
        "array": vectors,
        "dicts": [{"vector": vector} for vector in vectors],
        "frame": pd.DataFrame({"vector": list(vectors)}),
        "fixed lists": pa.table({"vector": fixed}).slice(0, 5),
        "lists": pa.table({"vector": pa.array(list(vectors))}),
    }
    for form in forms.values():
        read = list(documents_from(form))
        assert [(document.id, document.text, document.metadata) for document in read] == [
            (n, None, {}) for n in range(1, 6)
        ]
        for document, vector in zip(read, vectors, strict=True):
            assert document.vector is not None
            assert document.vector.dtype == dtype
            np.testing.assert_array_equal(document.vector, vector)


def test_vectors_beside_texts():
    rows = [
        {"id": 1, "text": "a", "vector": [1, 2]},
        {"id": 2, "text": None, "vector": (0.5, 2)},
        {"id": 3, "text": "c", "vector": None},
        {"id": 4, "vector": np.arange(2)},
    ]
    read = list(documents_from(rows))
    assert [(document.text, document.metadata) for document in read] == [
        ("a", {}),
        (None, {}),
        ("c", {"vector": None}),
        (None, {}),
    ]
    found = [None if document.vector is None else document.vector.tolist() for document in read]
    assert found == [[1, 2], [0.5, 2], None, [0, 1]]
    assert next(documents_from([[0.5, 1.0]])).vector is not None
    for wrong in ([1, None], np.array([1, np.inf]), np.zeros((2, 2)), [1, "a"]):
        with pytest.raises(BadRecordError, match=r"document 1 has .* for a vector: expected .* numbers"):
            list(documents_from([{"vector": wrong}]))
    with pytest.raises(BadRecordError, match="document 2 has null for a vector: expected a list of numbers"):
        list(documents_from([{"text": "a", "row": [1.0]}, {"text": "b", "row": None}], vector="row"))


def test_all_have_an_id_or_none():
    with pytest.raises(ValueError, match="document 2 has a column 'id' and document 1 has none: give every document"):
        list(documents_from([{"text": "a"}, {"text": "b", "id": 1}]))
    with pytest.raises(BadRecordError, match="document 2 has no column 'id'"):
        list(documents_from([{"text": "b", "id": 1}, {"text": "a"}]))
    for id in (1.5, None, True, [1]):
        with pytest.raises(BadRecordError, match=r"document 1 has .* for an id: expected a string or a whole number"):
            list(documents_from([{"text": "a", "id": id}]))


def test_what_cannot_be_kept_is_named_by_its_place():
    with pytest.raises(
        BadRecordError, match=r"document 2 has metadata that cannot be kept: <object .* has no form in JSON"
    ):
        list(documents_from([{"text": "a"}, {"text": "b", "x": object()}]))
    with pytest.raises(
        BadRecordError, match="document 1 has metadata that cannot be kept: two keys are written '1' in JSON"
    ):
        list(documents_from([{"text": "a", 1: "x", "1": "y"}]))
    with pytest.raises(BadRecordError, match="document 1 is not UTF-8"):
        list(documents_from(["\ud800"]))
    with pytest.raises(ValueError, match="the DataFrame has more than one column called 1: rename them"):
        list(documents_from(pd.DataFrame([["a", 2, 3]], columns=["text", 1, "1"])))


@pytest.mark.parametrize("single", ["a text", b"bytes", {"text": "a"}])
def test_a_single_document_is_refused(single):
    with pytest.raises(ValueError, match=r"documents is the single value .*: pass a list, .document. for one"):
        documents_from(single)


@pytest.mark.parametrize("single", [7, None, np.array(1.0)])
def test_what_holds_no_documents_is_refused(single):
    with pytest.raises(ValueError, match=r"documents is .*: pass a list of documents"):
        documents_from(single)


def test_a_path_is_read(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"key": 7, "body": "b", "row": [1]}')
    (document,) = documents_from(path, text="body", id="key", vector="row")
    assert document == Document(7, "b", {})
    assert document.vector is not None
    with pytest.raises(ValueError, match="has no column 'text'"):
        list(documents_from(path))


def test_tables_are_read_in_batches_and_on_demand():
    frame = pd.DataFrame({"text": [str(n) for n in range(2 * BATCH_ROWS + 3)]})
    for form in (frame, pa.Table.from_pandas(frame), pa.RecordBatch.from_pandas(frame)):
        assert list(documents_from(form)) == [Document(n + 1, str(n), {}) for n in range(2 * BATCH_ROWS + 3)]

    def endless():
        while True:
            yield pa.record_batch({"text": ["a", "b"]})

    reader = pa.RecordBatchReader.from_batches(pa.schema([("text", pa.string())]), endless())
    read = documents_from(reader)
    assert [next(read) for _ in range(3)] == [Document(1, "a", {}), Document(2, "b", {}), Document(3, "a", {})]


def test_neither_pandas_nor_arrow_nor_scipy_is_imported_for_texts():
    code = (
        "import sys, ammi.data; list(ammi.data.documents_from(['a', {'text': 'b'}][:1])); "
        "print([name for name in ('pandas', 'pyarrow', 'scipy', 'torch') if name in sys.modules])"
    )
    path = str(Path(__file__).parents[2] / "src")
    run = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {path!r}); {code}"],
        check=True,
        capture_output=True,
        text=True,
    )
    assert run.stdout.strip() == "[]"
