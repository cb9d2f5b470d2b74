"""Types of the columns of CSV and TSV: inferred where no text is lost, or named."""

import io
import sys
from pathlib import Path
from typing import Any

import pytest

from ammi.data import BadRecordError, read_documents
from ammi.data.column_types import ColumnTypes
from ammi.data.reading import Needed


def column(folder: Path, values: list[str], types: ColumnTypes | None = None, **options: Any) -> list[Any]:
    """The values of a column x of a CSV file, as documents have them."""
    (folder / "table.csv").write_text("text,x\n" + "".join(f'a,"{value}"\n' for value in values))
    read = read_documents(folder / "table.csv", needed=Needed(types=types), **options)
    return [document.metadata["x"] for document in read]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["9", "10", "", "-3"], [9, 10, None, -3]),
        (["1.50", "2.25", "3"], [1.5, 2.25, 3]),  # prices
        (["1.0", "2.55", "0.30000000000000004", "1e-05"], [1.0, 2.55, 0.30000000000000004, 1e-05]),  # as pandas writes
        (["TRUE", "false", ""], [True, False, None]),
        (["1987-03-01", "2001-12-31T17:05Z"], ["1987-03-01", "2001-12-31T17:05:00+00:00"]),
        (["31.3.1987", "1987/4/1", " 1987-05-02 10:00 "], ["1987-03-31", "1987-04-01", "1987-05-02T10:00:00"]),
    ],
)
def test_a_type_that_all_values_have_is_inferred(tmp_path, values, expected):
    found = column(tmp_path, values)
    assert found == expected
    assert [type(value) for value in found] == [type(value) for value in expected]


@pytest.mark.parametrize(
    "values",
    [
        ["01", "10"],  # postal codes
        ["1.1", "1.10"],  # versions
        ["1", "2", "n/a"],
        ["1234567890123456"],  # an id that a float would change
        ["2e10", "3e11"],
        ["+49", "1"],
        ["-0", "1"],
        ["1_000", "2"],
        ["3/2/1987", "4/2/1987"],  # in March or in February?
        ["1987-02-30"],
        ["yes", "no"],
        ["", ""],
        ["NaN", "1.5"],
    ],
)
def test_a_column_stays_one_of_texts_where_a_type_would_lose_something(tmp_path, values):
    assert column(tmp_path, values) == values


def test_the_whole_file_decides(tmp_path):
    """Its last value, too, so that the values of a column have one type."""
    assert column(tmp_path, [*map(str, range(5000)), "x"])[:2] == ["0", "1"]
    assert column(tmp_path, [*map(str, range(5000)), "7"])[:2] == [0, 1]


def test_texts_and_ids_are_not_typed(tmp_path):
    (tmp_path / "x.csv").write_text("id,text,n\n1,2,3\n4,5,6\n")
    read = list(read_documents(tmp_path / "x.csv"))
    assert [(one.id, one.text, one.metadata) for one in read] == [("1", "2", {"n": 3}), ("4", "5", {"n": 6})]


def test_named_types(tmp_path):
    assert column(tmp_path, ["1", "2"], ColumnTypes({"x": "text"})) == ["1", "2"]
    assert column(tmp_path, ["007", "N/A", "-"], ColumnTypes({"x": "number"})) == [7, None, None]
    assert column(tmp_path, ["yes", "0", "n"], ColumnTypes({"x": "boolean"})) == [True, False, False]
    assert column(tmp_path, ["1", "2"], ColumnTypes(texts=["x"])) == ["1", "2"]
    assert column(tmp_path, ["1.2.2003"], ColumnTypes(texts=["x"])) == ["2003-02-01"]  # dates are texts
    with pytest.raises(
        BadRecordError, match=r"line 3 has \"soon\" in the column 'x': expected a date such as 1987-03-31"
    ):
        column(tmp_path, ["1987-03-31", "soon"], ColumnTypes({"x": "date"}))
    skipped: list[BadRecordError] = []
    assert column(tmp_path, ["1", "b", "3"], ColumnTypes({"x": "number"}), on_error=skipped.append) == [1, 3]
    assert [problem.kind for problem in skipped] == ["without a number"]
    with pytest.raises(ValueError, match="has no column 'y' to give a type: the columns are x"):
        column(tmp_path, ["1"], ColumnTypes({"y": "number"}))
    with pytest.raises(
        ValueError, match="the type of column 'x' is 'float': expected one of number, date, boolean, text"
    ):
        ColumnTypes({"x": "float"})
    (tmp_path / "x.jsonl").write_text('{"text": "a", "x": "1"}\n')
    with pytest.raises(ValueError, match="comes with types: name types for CSV and TSV only"):
        list(read_documents(tmp_path / "x.jsonl", needed=Needed(types=ColumnTypes({"x": "number"}))))


def test_the_first_rows_of_a_pipe_decide_and_later_values_stay(monkeypatch):
    rows = "text,x\n" + "".join(f"a,{n}\n" for n in range(1500)) + "a,many\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(rows.encode())))
    types = ColumnTypes()
    found = [document.metadata["x"] for document in read_documents("-", format="csv", needed=Needed(types=types))]
    assert found == [*range(1500), "many"]
    assert types.found == {"x": "number"}
    assert types.misfits == {"x": 1}


def test_a_second_reading_keeps_the_types_of_the_first(tmp_path):
    types = ColumnTypes()
    assert column(tmp_path, ["1", "2"], types) == [1, 2]
    assert column(tmp_path, ["1", "b"], types) == [1, "b"]
