"""Exports: the same documents come back from every kind of file and table, whatever their metadata are called."""

import json
import os
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ammi.data import BadRecordError, Document, documents_from, holds_codes, read_codes, read_documents, write_export

NAMES = ["x.jsonl", "x.jsonl.gz", "x.jsonl.zst", "x.parquet"]
OWN = ["id", "text", "code", "bits", "model", "metadata", "vector", "ammi_export", "id_is_number"]

unicode_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ids = unicode_text | st.integers(-(2**63), 2**63 - 2) | st.integers().map(str)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | unicode_text
values = st.recursive(leaves, lambda inner: st.lists(inner) | st.dictionaries(unicode_text, inner), max_leaves=5)
metadata = st.dictionaries(st.sampled_from(OWN) | unicode_text, values, max_size=4)
entries = st.lists(st.tuples(ids, st.none() | unicode_text, metadata), max_size=6)


def with_codes(rows: list, n_bits: int) -> list:
    """Entries with codes and, every second one, a vector."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (len(rows), -(-n_bits // 8)), dtype=np.uint8)
    vectors = [row if n % 2 else None for n, row in enumerate(rng.normal(size=(len(rows), 3)).astype(np.float32))]
    return [
        (id, code, text, about, vector) for (id, text, about), code, vector in zip(rows, codes, vectors, strict=True)
    ]


def assert_same(read: list[Document], written: list, n_bits: int) -> None:
    assert read == [Document(id, text, about) for id, _, text, about, _ in written]
    for document, (id, code, _, about, vector) in zip(read, written, strict=True):
        assert (document.vector is None) == (vector is None)
        assert document.vector is None or document.vector.tobytes() == vector.tobytes()
        assert type(document.id) is type(id)
        assert json.dumps(document.metadata) == json.dumps(about)  # 1 is not True, nor 1.0
        assert document.code is not None
        assert (document.code.packed.tolist(), document.code.n_bits) == (code.tolist(), n_bits)
        assert document.code.fingerprint == "0123abcd"
        assert not document.numbered


@pytest.mark.slow
@given(entries, st.integers(1, 100))
@pytest.mark.parametrize("name", NAMES)
def test_what_was_written_is_read(name, tmp_path_factory, rows, n_bits):
    path = tmp_path_factory.mktemp("export") / name
    written = with_codes(rows, n_bits)
    assert write_export(path, iter(written), n_bits, "0123abcd") == len(rows)
    assert_same(list(read_documents(path)), written, n_bits)
    assert_same(list(documents_from(path)), written, n_bits)
    assert not holds_codes(path)
    if rows and name.startswith("x.jsonl"):
        assert read_codes(path).ids == [id for id, *_ in written]


@given(entries)
def test_the_rows_of_an_export_come_back_from_tables_and_dicts(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("export")
    written = with_codes(rows, 16)
    write_export(folder / "x.parquet", written, 16, "0123abcd")
    write_export(folder / "x.jsonl", written, 16, "0123abcd")
    table = pq.read_table(folder / "x.parquet")
    lines = [json.loads(line) for line in (folder / "x.jsonl").read_bytes().splitlines()]
    for form in (table, table.to_pandas(), table.to_pylist(), lines):
        assert_same(list(documents_from(form)), written, 16)


def test_many_documents_make_many_batches(tmp_path):
    written = with_codes([(n, f"text {n}", {}) for n in range(2500)], 8)
    write_export(tmp_path / "x.parquet", written, 8, "0123abcd")
    assert pq.ParquetFile(tmp_path / "x.parquet").num_row_groups > 1
    assert_same(list(read_documents(tmp_path / "x.parquet")), written, 8)


@pytest.mark.parametrize("name", NAMES)
def test_an_export_is_whole_or_not_there(tmp_path, name):
    def failing():
        yield from with_codes([(1, "a", {})] * 1500, 8)
        raise OSError("disk full")

    path = tmp_path / name
    write_export(path, with_codes([(1, "old", {})], 8), 8, "0123abcd")
    before = path.read_bytes()
    with pytest.raises(OSError, match="disk full"):
        write_export(path, failing(), 8, "0123abcd")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


def test_other_names_are_refused(tmp_path):
    with pytest.raises(ValueError, match=r"x\.xls is no name for an export: expected the ending \.jsonl.*\.parquet"):
        write_export(tmp_path / "x.xls", [], 8, "0123abcd")
    assert list(tmp_path.iterdir()) == []


def test_columns_of_an_export_need_no_names(tmp_path):
    write_export(tmp_path / "x.jsonl", with_codes([(1, "a", {"body": "b"})], 8), 8, "0123abcd")
    for text, id in (("body", None), (None, "body")):
        with pytest.raises(ValueError, match=r"was exported from a collection, .*: name no columns"):
            list(read_documents(tmp_path / "x.jsonl", text=text, id=id))


LINE = {"ammi_export": 1, "id": 1, "text": "a", "code": "00", "bits": 8, "model": "0123abcd", "metadata": {}}
BROKEN = {
    "its format is 2, and this ammi": {"ammi_export": 2},
    "it has 7 for metadata: expected a dict": {"metadata": 7},
    "Expecting value": {"metadata": "no JSON"},
    "its brackets are nested too deep": {"metadata": "[" * 100_000},
    "it has null for an id: expected a string or": {"id": None},
    "it has true for an id: expected a string or": {"id": True},
    'it has "a" for an id: expected a whole number': {"id": "a", "id_is_number": True},
    "it has 7 for a text: expected a string": {"text": 7},
    "the code 'zz' is not written in hexadecimal digits": {"code": "zz"},
    "2 bytes of code for 8 bits": {"code": "0000"},
    "bits is 8.5: expected a whole number": {"bits": 8.5},
    "Infinity has no form": {"metadata": {"a": float("inf")}},
}


@pytest.mark.parametrize(("message", "change"), BROKEN.items())
def test_a_broken_line_is_a_bad_record(tmp_path, message, change):
    path = tmp_path / "x.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in (LINE, LINE | change, LINE | {"id": 3})))
    problems: list[BadRecordError] = []
    read = list(read_documents(path, on_error=problems.append))
    assert [document.id for document in read] == [1, 3]
    (problem,) = problems
    assert f"{path} line 2 is no document of an export, for" in str(problem)
    assert message.removeprefix("Infinity") in str(problem)


def test_a_line_that_lacks_a_column_is_a_bad_record():
    for missing in set(LINE) - {"ammi_export"}:
        with pytest.raises(BadRecordError, match=f"document 1 is no document of an export, for it lacks '{missing}'"):
            list(documents_from([{name: value for name, value in LINE.items() if name != missing}]))
    with pytest.raises(BadRecordError, match="document 1 is not UTF-8"):
        list(documents_from([LINE | {"metadata": {"a": "\ud800"}}]))


def test_pandas_reads_an_export(tmp_path):
    write_export(tmp_path / "x.parquet", with_codes([("a", None, {"n": 1}), (7, "b", {})], 8), 8, "0123abcd")
    frame = pd.read_parquet(tmp_path / "x.parquet")
    assert frame["id"].tolist() == ["a", "7"]
    assert frame["id_is_number"].tolist() == [False, True]
    assert pa.Table.from_pandas(frame).num_rows == 2


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_half_a_character_is_refused_and_nothing_is_written(name, tmp_path):
    entries: list[Any] = [(1, np.zeros(1, np.uint8), text, {}, None) for text in ("whole", "\ud800")]
    with pytest.raises(ValueError, match=r"holds half a character \(a lone surrogate\)"):
        write_export(tmp_path / name, entries, 8, "f")
    assert not list(tmp_path.iterdir())
