"""Readers of every format against what was written, and what they say of broken input."""

import csv
import gzip
import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.data import (
    BadRecordError,
    Document,
    corpus_path,
    data_folder,
    encodings,
    files,
    formats,
    read_documents,
    streams,
    write_jsonl,
)
from ammi.data.column_types import ColumnTypes
from ammi.data.reading import Needed
from ammi.data.rows import listed, refuse_repeated

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}

HALF = "it holds half a character (a lone surrogate), so decode it anew"
unicode_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
one_line = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(lambda s: not s.isspace())
id_numbers = st.integers(-(2**63), 2**63 - 2)
records = st.lists(
    st.fixed_dictionaries({"id": unicode_text | id_numbers, "text": unicode_text, "title": unicode_text})
)


AS_TEXTS = Needed(types=ColumnTypes({"title": "text"}))


def documents(rows: list[dict]) -> list[Document]:
    return [Document(row["id"], row["text"], {"title": row["title"]}) for row in rows]


def is_text(text: str) -> bool:
    """Whether a file of this text is none of another format: a zero byte is in no text."""
    return "\0" not in text


def write_csv(rows: list[dict], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, ["title", "text", "id"], delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("documents")


@settings(deadline=None)
@given(records)
@pytest.mark.parametrize("ending", COMPRESS)
def test_jsonl(folder, ending, rows):
    path = folder / f"x.jsonl{ending}"
    path.write_bytes(COMPRESS[ending]("\n\n".join(json.dumps(row) for row in rows).encode()))
    assert list(read_documents(path)) == documents(rows)


@settings(deadline=None)
@given(records)
@pytest.mark.parametrize("ending", COMPRESS)
def test_written_jsonl(folder, ending, rows):
    path = folder / f"written.jsonl{ending}"
    assert write_jsonl(path, iter(rows)) == len(rows)
    assert list(read_documents(path)) == documents(rows)


@settings(deadline=None)
@given(records)
@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize(("kind", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_csv(folder, ending, kind, delimiter, rows):
    path = folder / f"x.{kind}{ending}"
    path.write_bytes(COMPRESS[ending](write_csv(rows, delimiter)))
    read = list(read_documents(path, needed=AS_TEXTS))
    assert read == documents([row | {"id": str(row["id"])} for row in rows])


@settings(deadline=None)
@given(records)
def test_parquet(folder, rows):
    rows = [row | {"id": str(row["id"])} for row in rows]
    schema = pa.schema([(name, pa.string()) for name in ("id", "text", "title")])
    pq.write_table(pa.Table.from_pylist(rows, schema), folder / "x.parquet", row_group_size=3)
    assert list(read_documents(folder / "x.parquet")) == documents(rows)


@settings(deadline=None)
@given(st.lists(one_line))
@pytest.mark.parametrize("ending", COMPRESS)
def test_text_lines(folder, ending, lines):
    path = folder / f"x.txt{ending}"
    path.write_bytes(COMPRESS[ending]("\r\n".join(lines).encode()))
    assert list(read_documents(path)) == [Document(n, line, {}) for n, line in enumerate(lines, 1)]


@settings(deadline=None, max_examples=30)
@given(st.dictionaries(st.from_regex(r"\A[a-z0-9]{1,8}(/[A-Z]{1,8})?\Z"), unicode_text.filter(is_text), max_size=5))
def test_folder_of_text_files(tmp_path_factory, texts):
    folder = tmp_path_factory.mktemp("folder")
    texts = {name: text for name, text in texts.items() if not any(f"{name}/" in other for other in texts)}
    for name, text in texts.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(text.encode())
    (folder / ".hidden").write_text("not a document")
    read = {document.id: document.text for document in read_documents(folder)}
    assert read == {name: text.removeprefix("\ufeff") for name, text in texts.items()}
    for document in read_documents(folder):
        assert document.metadata["path"] == str(folder / str(document.id))
        assert document.metadata["parts"] == 1


@settings(deadline=None)
@given(records)
def test_standard_input(rows):
    with pytest.MonkeyPatch.context() as patch:
        piped = COMPRESS[".gz"]("".join(json.dumps(row) + "\n" for row in rows).encode())
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(piped)))
        assert list(read_documents("-")) == documents(rows)


def test_standard_input_of_lines(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("\n大 text\n{not first}\n".encode())))
    assert list(read_documents("-")) == [Document(2, "大 text", {}), Document(3, "{not first}", {})]


def piped(monkeypatch, content: str | bytes, **options) -> list[Document]:
    data = content.encode() if isinstance(content, str) else content
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    return list(read_documents("-", **options))


@settings(deadline=None)
@given(records.filter(bool))
@pytest.mark.parametrize("format", [None, "named"])
@pytest.mark.parametrize(("kind", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_a_piped_table_is_a_table(kind, delimiter, format, rows):
    with pytest.MonkeyPatch.context() as patch:
        read = piped(patch, write_csv(rows, delimiter), format=format and kind, needed=AS_TEXTS)
    assert read == documents([row | {"id": str(row["id"])} for row in rows])


def test_the_lines_of_a_piped_table_are_counted_from_its_start(monkeypatch):
    with pytest.raises(BadRecordError, match="standard input line 5 has 1 fields: expected 2, as in the header"):
        piped(monkeypatch, "\n\nid,text\n1,a\n2\n")
    assert piped(monkeypatch, "\n\nbody,text\na,b\n") == [Document(4, "b", {"body": "a"})]
    assert piped(monkeypatch, "\ufeffbody\ttext\na\tb\n", text="body") == [Document(2, "a", {"text": "b"})]


@pytest.mark.parametrize("line", ["text", "a text, with commas", "some\ttext words", 'one "text",', 'text,"open'])
def test_lines_that_are_no_header_are_texts(monkeypatch, line):
    assert [document.text for document in piped(monkeypatch, f"{line}\nb,c\n")] == [line, "b,c"]


@pytest.mark.parametrize("line", ["body", "id,text", "just a text", "id\ttext", '"body', "[1]"])
def test_a_named_column_of_a_pipe_without_it_is_refused(monkeypatch, line):
    with pytest.raises(ValueError, match=r"standard input has no column 'body': its first line .* is neither JSON nor"):
        piped(monkeypatch, f"{line}\nb,c\n", text="body", on_error="skip")
    with pytest.raises(ValueError, match="standard input has no column 'body'"):
        piped(monkeypatch, f"{line}\nb,c\n", text="body", format="txt")
    with pytest.raises(ValueError, match=r"standard input has no column 'key': the columns there are text$"):
        piped(monkeypatch, "just a text\n", id="key")


def test_a_format_is_for_pipes_and_other_endings(monkeypatch, tmp_path):
    assert piped(monkeypatch, "body\nb,c\n", text="text", format="txt")[0].text == "body"
    assert piped(monkeypatch, 'text\n"a\nb"\n', format="csv") == [Document(2, "a\nb", {})]
    (tmp_path / "x.data.gz").write_bytes(gzip.compress(b"id,text\n1,a\n"))
    assert list(read_documents(tmp_path / "x.data.gz", format="csv")) == [Document("1", "a", {})]
    pq.write_table(pa.table({"text": ["a"]}), tmp_path / "table")
    assert list(read_documents(tmp_path / "table", format="parquet")) == [Document(1, "a", {})]
    with pytest.raises(ValueError, match="format is 'xml': expected one of jsonl, csv, tsv, txt, parquet"):
        read_documents(tmp_path / "table", format="xml")
    with pytest.raises(ValueError, match="a folder, each file of which tells its format: leave out the format 'csv'"):
        read_documents(tmp_path, format="csv")
    with pytest.raises(ValueError, match="standard input is a pipe, and Parquet cannot be read from one"):
        read_documents("-", format="parquet")


def test_ids_that_begin_after_the_first_line_are_refused(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('\n{"text": "a"}\n{"text": "b", "id": 7}\n')
    with pytest.raises(
        ValueError, match=r"x\.jsonl line 3 has a column 'id' and .*x\.jsonl line 2 has none: .*id='id'"
    ):
        list(read_documents(path, on_error="skip"))
    problems: list[BadRecordError] = []
    assert list(read_documents(path, id="id", on_error=problems.append)) == [Document(7, "b", {})]
    assert [str(problem) for problem in problems] == [f"{path} line 2 has no column 'id': the columns there are text"]
    path.write_text('{"text": "b", "id": 7}\n{"text": "a"}\n{"text": "c", "id": "8"}\n')
    assert list(read_documents(path, on_error=problems.append)) == [Document(7, "b", {}), Document("8", "c", {})]
    assert [str(problem) for problem in problems[1:]] == [str(problems[0])]


def test_a_column_of_numbers_is_a_vector_and_takes_the_place_of_a_text(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"vector": [1, 0.5], "text": null}\n{"vector": "malaria", "text": "a"}\n{"vector": [2]}\n')
    first, second, third = read_documents(path)
    assert (first.text, first.metadata, third.text) == (None, {}, None)
    assert second == Document(2, "a", {"vector": "malaria"})
    assert second.vector is None
    for document, numbers in ((first, [1, 0.5]), (third, [2])):
        assert document.vector is not None
        assert document.vector.dtype == np.float64
        assert document.vector.tolist() == numbers
    (named,) = read_documents(_written(path, '{"row": [1.5], "vector": "a"}'), vector="row")
    assert named.vector is not None
    assert (named.vector.tolist(), named.metadata) == ([1.5], {"vector": "a"})


@pytest.mark.parametrize("vector", ["[1, null]", "[1, NaN]", '[1, "a"]', "[1, [2]]", "[1, 1e999]"])
def test_a_vector_of_other_things_is_refused(tmp_path, vector):
    with pytest.raises(BadRecordError, match=r"line 1 has \[1, .* for a vector: expected .* numbers"):
        list(read_documents(_written(tmp_path / "x.jsonl", f'{{"text": "a", "vector": {vector}}}')))


def _written(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


def test_metadata_are_what_json_holds(tmp_path):
    path = _written(tmp_path / "x.jsonl", '{"text": "a", "score": NaN, "deep": {"of": [1, NaN]}}')
    assert list(read_documents(path)) == [Document(1, "a", {"score": None, "deep": {"of": [1, None]}})]
    problems: list[BadRecordError] = []
    deep = "[" * 150 + "]" * 150
    _written(path, f'{{"text": "a", "x": 1e999}}\n{{"text": "b", "x": {deep}}}\n{{"text": "c"}}\n')
    assert [document.text for document in read_documents(path, on_error=problems.append)] == ["c"]
    for problem, message in zip(problems, ["inf", "the value is nested"], strict=True):
        assert f" has metadata that cannot be kept: {message}" in str(problem)
    assert [f"x.jsonl line {number} " in str(problems[number - 1]) for number in (1, 2)] == [True, True]


def test_two_columns_of_one_name_are_refused_in_parquet(tmp_path):
    pq.write_table(pa.table([["a"], ["b"]], names=["text", "text"]), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="more than one column called text: rename them"):
        list(read_documents(tmp_path / "x.parquet", on_error="skip"))


def test_texts_of_parquet_that_are_not_utf8_are_bad_rows(tmp_path):
    bad = pa.array([b"good", b"\xff", None], pa.binary()).cast(pa.string(), safe=False)
    pq.write_table(pa.table({"id": [1, 2, 3], "text": ["a", "b", "c"], "note": bad}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"x\.parquet row 2"):
        list(read_documents(tmp_path / "x.parquet"))
    found = list(read_documents(tmp_path / "x.parquet", on_error=lambda problem: None))
    assert [document.metadata for document in found] == [{"note": "good"}, {"note": None}]


def test_named_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=('{"text": "a"}\n',))
    writer.start()
    assert list(read_documents(tmp_path / "pipe")) == [Document(1, "a", {})]
    writer.join()


def test_reading_is_lazy(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": "a"}\nbroken\n')
    documents = read_documents(tmp_path / "x.jsonl")
    assert next(documents) == Document(1, "a", {})
    with pytest.raises(BadRecordError):
        next(documents)


def test_columns_are_chosen_by_name(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"id": 7, "key": "k", "body": "b", "text": "t"}')
    read = list(read_documents(tmp_path / "x.jsonl", text="body", id="key"))
    assert read == [Document("k", "b", {"id": 7, "text": "t"})]


@pytest.mark.parametrize("missing", [{"text": "body"}, {"id": "body"}])
@pytest.mark.parametrize(("kind", "content"), [("jsonl", '{"id": 1, "text": ""}'), ("csv", "id,text\n1,\n")])
def test_a_missing_column_is_refused_and_the_others_named(tmp_path, kind, content, missing):
    path = tmp_path / f"x.{kind}"
    path.write_text(content)
    with pytest.raises(ValueError, match=r"has no column 'body': the columns there are id, text$"):
        list(read_documents(path, **missing))
    if kind == "csv" or "text" in missing:  # no line can have it
        with pytest.raises(ValueError, match=r"x\.\w+( line 1)? has no column 'body': the columns there are id, text$"):
            list(read_documents(path, **missing, on_error="skip"))


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.tsv.gz", "x.txt", "x.jsonl.zst"])
def test_an_empty_file_has_no_documents(tmp_path, name):
    (tmp_path / name).touch()
    assert list(read_documents(tmp_path / name)) == []


@pytest.mark.parametrize("name", ["x.parquet", "x.arrow"])
def test_a_table_of_no_bytes_is_a_broken_one(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(ValueError, match="cannot be read as"):
        list(read_documents(tmp_path / name))


def test_a_date_that_python_cannot_hold_is_a_bad_record(tmp_path):
    dates = pa.array([0, 2**52], pa.timestamp("ms"))
    pq.write_table(pa.table({"id": [1, 2], "text": ["oil", "wheat"], "date": dates}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"row 2 has metadata .*: a timestamp\[ms\] that Python cannot hold"):
        list(read_documents(tmp_path / "x.parquet"))
    found = list(read_documents(tmp_path / "x.parquet", on_error=lambda error: None))
    assert [(one.id, one.metadata) for one in found] == [(1, {"date": "1970-01-01T00:00:00"})]


def test_what_is_no_file_is_no_text_of_a_folder(tmp_path):
    (tmp_path / "a.txt").write_text("hello")
    os.mkfifo(tmp_path / "b.txt")
    with pytest.warns(UserWarning, match=r"b\.txt cannot be read: it is a device, a pipe or a socket"):
        list(read_documents(tmp_path))
    assert [one.id for one in read_documents(tmp_path, on_error=lambda error: None)] == ["a.txt"]


def test_a_folder_that_cannot_be_read_is_not_left_out_in_silence(tmp_path, monkeypatch):
    (tmp_path / "a.txt").write_text("hello")
    (tmp_path / "sub").mkdir()
    scan = os.scandir

    def refuse(path):
        if Path(path).name == "sub":  # as it would for a user who may not, whom root cannot be
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.warns(UserWarning, match="sub cannot be read: Permission denied"):
        list(read_documents(tmp_path))
    skipped: list[BadRecordError] = []
    assert [one.id for one in read_documents(tmp_path, on_error=skipped.append)] == ["a.txt"]
    assert len(skipped) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_read(tmp_path, encoding, caplog):
    caplog.set_level("INFO")
    (tmp_path / "x.jsonl").write_text('{"text": "größe"}\n{"text": "大"}\n', encoding=encoding)
    assert [document.text for document in read_documents(tmp_path / "x.jsonl")] == ["größe", "大"]
    assert caplog.messages == [f"{tmp_path / 'x.jsonl'} is read as UTF-16"]


def test_what_stands_before_garbage_in_zstd_is_read(tmp_path):
    lines = b"".join(b'{"text": "hello %d"}\n' % n for n in range(100))
    (tmp_path / "x.jsonl.zst").write_bytes(zstandard.compress(lines) + b"garbage")
    skipped: list[str] = []
    found = list(read_documents(tmp_path / "x.jsonl.zst", on_error=lambda error: skipped.append(str(error))))
    assert (len(found), len(skipped)) == (100, 1)


def test_a_byte_order_mark_is_no_text(tmp_path):
    (tmp_path / "x.csv").write_bytes(b"\xef\xbb\xbftext\nhello\n")
    assert list(read_documents(tmp_path / "x.csv")) == [Document(2, "hello", {})]


def test_a_large_document(tmp_path):
    text = 'söme "text",\n' * 1_000_000
    (tmp_path / "x.csv").write_bytes(write_csv([{"id": 1, "text": text, "title": ""}], ","))
    (tmp_path / "x.jsonl").write_text(json.dumps({"text": text}))
    for name in ("x.csv", "x.jsonl"):
        (document,) = read_documents(tmp_path / name)
        assert document.text == text


LONG = {
    "x.jsonl": (b'{"text": "a"}\n', b'{"text": "' + b"b" * 200 + b'"}\n', b'{"text": "c"}\n'),
    "x.txt": (b"a\n", b"b" * 200 + b"\n", b"c\n"),
    "x.csv": (b"text\na\n", b"b" * 200 + b"\n", b"c\n"),
    "x.tsv": (b"text\na\n", b'"' + b"b\n" * 100 + b'"\n', b"c\n"),
}


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("name", LONG)
def test_a_line_that_is_too_long_is_a_bad_record(tmp_path, monkeypatch, name, ending):
    for module in (formats, streams, encodings):
        monkeypatch.setattr(module, "LONGEST", 100)
    path = tmp_path / f"{name}{ending}"
    path.write_bytes(COMPRESS[ending](b"".join(LONG[name])))
    problems: list[BadRecordError] = []
    read = [document.text for document in read_documents(path, on_error=problems.append)]
    assert read[0] == "a"
    assert read[-1] == "c" or name == "x.tsv"  # where the end of the long record opens another quote
    assert str(problems[0]).startswith(f"{path} line {3 if b'text' in LONG[name][0][:4] else 2} ")
    assert "is longer than 32 MB: cut it into several documents" in str(problems[0])


def test_a_text_of_a_table_that_is_too_long_is_a_bad_record(tmp_path, monkeypatch):
    monkeypatch.setattr("ammi.data.reading.LONGEST", 100)
    pq.write_table(pa.table({"text": ["a" * 100, "b" * 101, "c"]}), tmp_path / "x.parquet")
    problems: list[BadRecordError] = []
    assert [document.id for document in read_documents(tmp_path / "x.parquet", on_error=problems.append)] == [1, 3]
    assert [str(problem).partition("x.parquet ")[2][:25] for problem in problems] == ["row 2 is longer than 32 M"]


def test_a_file_of_a_folder_that_is_too_long_is_a_bad_record(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "LONGEST", 100)
    (tmp_path / "a.txt").write_text("a" * 100)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"b" * 101))
    problems: list[BadRecordError] = []
    assert [document.id for document in read_documents(tmp_path, on_error=problems.append)] == ["a.txt"]
    assert [problem.kind for problem in problems] == ["too long"]


@pytest.mark.slow
@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_line_of_gigabytes_in_a_small_file_takes_little_memory(tmp_path, ending):
    """A process of its own tells what it took."""
    path, chunk = tmp_path / f"x.jsonl{ending}", b" " * (1 << 24)
    if ending == ".gz":
        with gzip.open(path, "wb", compresslevel=1) as file:
            for part in (b'{"text": "', *[chunk] * 8, b'"}\n{"text": "b"}\n'):
                file.write(part)
    else:
        with open(path, "wb") as raw, zstandard.ZstdCompressor(level=1).stream_writer(raw) as file:
            for part in (b'{"text": "', *[chunk] * 16, b'"}\n{"text": "b"}\n'):
                file.write(part)
    assert path.stat().st_size < 3_000_000
    script = (
        "from ammi.data import read_documents; from tests.memory import peak_kilobytes; before = peak_kilobytes(); "
        f"read = [one.text for one in read_documents({str(path)!r}, on_error=lambda problem: print(problem))]; "
        "print(read, peak_kilobytes() - before < 150_000)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240, check=True)
    assert done.stdout.splitlines() == [
        f"{path} line 1 is longer than 32 MB: cut it into several documents",
        "['b'] True",
    ]


@given(st.lists(st.sampled_from(list("abc")), max_size=300))
def test_a_header_of_many_columns_is_named_in_part(names):
    header = [f"{name}{i}" for i, name in enumerate(names)]
    refuse_repeated("x.csv", header)
    shown = listed(header)
    assert len(shown) < 300
    assert shown.endswith(" more") == (len(names) > 20)
    assert listed(["a" * 100]) == "a" * 37 + "..."


@pytest.mark.parametrize(
    "wrong",
    [
        '{"id": 1, "text": "a", "x": 1e400}',
        f'{{"id": 1, "text": "a", "x": {"[" * 101}{"]" * 101}}}',
        f'{{"id": 1, "text": "a", "x": {"1" * 5000}}}',
        '{"id": 9223372036854775807, "text": "a"}',
        '{"id": 1, "text": "a\\ud800"}',
        '{"id": 1, "text": ["a"]}',
        '{"id": 1, "vector": [1]}',
        '{"id": 1}',
        "[" * 900 + "]" * 900,
    ],
)
@pytest.mark.parametrize("first", [True, False])
def test_what_cannot_be_kept_is_a_bad_record_with_its_line(tmp_path, wrong, first):
    path, good = tmp_path / "x.jsonl", '{"id": 7, "text": "b"}'
    path.write_text("\n".join([wrong, good] if first else [good, wrong]))
    problems: list[BadRecordError] = []
    read = list(read_documents(path, needed=Needed("text"), on_error=problems.append))
    assert [document.id for document in read] == [7]
    assert [str(problem).startswith(f"{path} line {1 if first else 2} ") for problem in problems] == [True]
    assert len(str(problems[0]).splitlines()[0]) < 300


def test_a_nan_is_nothing(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"text": "a", "x": NaN}')
    assert [document.metadata for document in read_documents(tmp_path / "x.jsonl")] == [{"x": None}]


def test_other_types_of_parquet(tmp_path):
    columns = {
        "text": pa.array([b"caf\xc3\xa9", b"\xff"], pa.binary()),
        "when": pa.array([datetime(2020, 1, 2, 3, 4, 5)] * 2, pa.timestamp("ns")),
        "labels": pa.array([["a", "b"], None]),
        "price": pa.array([Decimal("1.50")] * 2),
        "code": pa.array([UUID(int=7).bytes] * 2, pa.uuid()),
        "shares": pa.array([[0.5, None]] * 2, pa.list_(pa.float32())),
    }
    pq.write_table(pa.table(columns), tmp_path / "x.parquet")
    problems: list[BadRecordError] = []
    read = list(read_documents(tmp_path / "x.parquet", on_error=problems.append))
    metadata = {"when": "2020-01-02T03:04:05", "labels": ["a", "b"], "price": "1.50", "shares": [0.5, None]}
    assert read == [Document(1, "café", metadata | {"code": str(UUID(int=7))})]
    assert [str(problem) for problem in problems] == [f"{tmp_path / 'x.parquet'} row 2 is not UTF-8: {HALF}"]


BROKEN = {
    "not JSON: Expecting value at character 10": b'{"text": }',
    'is ["text"]: expected a JSON object': b'["text"]',
    "has no column 'text'": b'{"body": "a"}',
    "has null for a text: expected a string": b'{"text": null}',
    "is not UTF-8": b'{"text": "caf\xe9"}',
    "cannot be read: its brackets are nested too deep": b'{"text": ' + b"[" * 100_000,
    "line 2 is not UTF-8": b'{"text": "\\ud800"}',
    "is not UTF-8 ": b'{"text": "a", "labels": ["\xff"]}',
}


@pytest.mark.parametrize(("message", "line"), BROKEN.items())
def test_a_broken_line_is_refused_skipped_or_reported(tmp_path, message, line):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"text": "a"}\n' + line + b'\n{"text": "b"}\n')
    message = message.strip()
    with pytest.raises(BadRecordError, match=r"x\.jsonl line 2 ") as refused:
        list(read_documents(path))
    assert message in str(refused.value)
    with pytest.warns(UserWarning, match=r"skipped: .*x\.jsonl line 2 "):
        skipped = list(read_documents(path, on_error="skip"))
    problems: list[BadRecordError] = []
    assert list(read_documents(path, on_error=problems.append)) == skipped
    assert [document.id for document in skipped] == [1, 3]
    assert [str(problem) for problem in problems] == [str(refused.value)]


@pytest.mark.parametrize("value", ["true", "1.5", "null", "[1]"])
def test_an_id_is_a_string_or_a_whole_number(tmp_path, value):
    (tmp_path / "x.jsonl").write_text(f'{{"id": {value}, "text": ""}}')
    with pytest.raises(BadRecordError, match="for an id: expected a string or a whole number"):
        list(read_documents(tmp_path / "x.jsonl"))


def test_broken_csv(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes(b'id,text\n1,\xc3\xa4\n2\n3,"b"c\n4,"d\n\n\xff"\n5,e,f\n6,"g\nh"\n\n7,i\n8,"never closed\n9,j\n')
    problems: list[str] = []
    read = list(read_documents(path, on_error=lambda problem: problems.append(str(problem))))
    assert read == [Document("1", "ä", {}), Document("6", "g\nh", {}), Document("7", "i", {})]
    assert [problem.removeprefix(str(path)) for problem in problems] == [
        " line 3 has 1 fields: expected 2, as in the header",
        " line 4 is not CSV: ',' expected after '\"'",
        f" line 5 is not UTF-8: {HALF}",
        " line 8 has 3 fields: expected 2, as in the header",
        " line 13 is not CSV: unexpected end of data",
    ]


@pytest.mark.parametrize(
    ("header", "complaint"), [("a,b,a", "more than one column called a"), ('"a"b', "line 1 is not CSV")]
)
def test_a_header_that_makes_no_columns_is_refused(tmp_path, header, complaint):
    (tmp_path / "x.csv").write_text(header + "\n1,2,3\n")
    with pytest.raises(ValueError, match=complaint):
        list(read_documents(tmp_path / "x.csv", on_error="skip"))


@pytest.mark.parametrize("ending", [".gz", ".zst"])
def test_a_broken_archive_is_not_taken_for_a_short_one(tmp_path, ending):
    rows = [{"text": os.urandom(100).hex()} for _ in range(3000)]
    whole = COMPRESS[ending]("".join(json.dumps(row) + "\n" for row in rows).encode())
    path = tmp_path / f"x.jsonl{ending}"
    problems: list[BadRecordError] = []

    path.write_bytes(whole[: len(whole) // 2])
    read = list(read_documents(path, on_error=problems.append))
    assert 0 < len(read) < len(rows)
    assert [document.text for document in read] == [row["text"] for row in rows[: len(read)]]
    assert "is broken and ends early" in str(problems[0])

    path.write_bytes(whole[:2000] + b"?" * 3000)
    with pytest.raises(BadRecordError):
        list(read_documents(path))


def test_zstd_frames_one_after_another(tmp_path):
    compress = zstandard.ZstdCompressor().compress
    (tmp_path / "x.txt.zst").write_bytes(compress(b"a\n") + compress(b"") + compress((b"b" * 99 + b"\n") * 4000))
    assert sum(1 for _ in read_documents(tmp_path / "x.txt.zst")) == 4001


def test_bad_files_in_a_folder(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xff\x81")
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"whole")[:-9])
    (tmp_path / "c.txt").symlink_to("nowhere")
    (tmp_path / "d.txt.gz").write_bytes(gzip.compress(b"fine"))
    problems: list[BadRecordError] = []
    assert [(one.id, one.text) for one in read_documents(tmp_path, on_error=problems.append)] == [("d.txt.gz", "fine")]
    for problem, message in zip(
        problems,
        ["a.txt is left out: it is neither a text", "b.txt.gz cannot be read", "c.txt cannot be read"],
        strict=True,
    ):
        assert message in str(problem)


def test_other_files_are_refused(tmp_path):
    (tmp_path / "x.doc").write_text("?")
    (tmp_path / "x.gz").write_text("?")
    (tmp_path / "x.parquet").write_text("not parquet")
    with pytest.raises(BadRecordError, match=r"x\.doc is left out: it is broken or not what its name says"):
        list(read_documents(tmp_path / "x.doc"))
    with pytest.raises(ValueError, match=r"x\.gz is unknown: expected a folder, or a file ending in \.jsonl"):
        read_documents(tmp_path / "x.gz")
    with pytest.raises(BadRecordError, match=r"x\.parquet cannot be read as Parquet"):
        list(read_documents(tmp_path / "x.parquet"))
    with pytest.raises(FileNotFoundError, match=r"no file or folder .*absent"):
        read_documents(tmp_path / "absent.jsonl")
    with pytest.raises(ValueError, match="on_error is 'ignore': expected 'refuse', 'skip' or a function"):
        read_documents(tmp_path / "x.doc", on_error="ignore")  # type: ignore[arg-type]


@pytest.mark.parametrize(("module", "name"), [("zstandard", "x.jsonl.zst"), ("pyarrow.parquet", "x.parquet")])
def test_a_missing_extra_names_its_command(tmp_path, monkeypatch, module, name):
    (tmp_path / name).write_bytes(COMPRESS[".zst"](b"{}"))
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=r"is not installed: run pip install 'ammi\[formats\]'"):
        list(read_documents(tmp_path / name))


@pytest.mark.parametrize("ending", COMPRESS)
def test_a_failed_write_leaves_the_file_as_it_was(tmp_path, ending):
    def failing():
        yield {"text": "new"}
        raise OSError("disk full")

    path = tmp_path / f"x.jsonl{ending}"
    write_jsonl(path, [{"text": "old"}])
    before = path.read_bytes()
    with pytest.raises(OSError, match="disk full"):
        write_jsonl(path, failing())
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.slow
def test_the_shared_corpora():
    try:
        data_folder()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    sizes = {"reuters": 21_578, "newsgroups": 19_466, "tmc_small": 5_694}
    assert {name: sum(1 for _ in read_documents(corpus_path(name))) for name in sizes} == sizes


def test_standard_input_is_read_once(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"one\ntwo\n")))
    assert [document.text for document in read_documents("-", format="txt")] == ["one", "two"]
    with pytest.raises(ValueError, match=r"standard input was read already: name it \(-\) once"):
        list(read_documents("-", format="txt"))
