"""Rows of tables of Arrow and pandas in memory, and of files of Parquet and Arrow.

Neither library is imported unless one of its tables, or a file, has to be read.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ammi.data.rows import BadRecordError, Row, RowStream, refuse_repeated
from ammi.data.streams import import_extra

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BATCH_ROWS = 1000  # rows converted to Python objects at once


def parquet_rows(name: str, path: str | Path) -> RowStream:
    """Return the rows of a Parquet file."""
    parquet, arrow = import_extra("pyarrow.parquet"), import_extra("pyarrow")
    number = 0
    try:
        with parquet.ParquetFile(path) as file:
            for row in batch_rows(name, file.iter_batches(batch_size=BATCH_ROWS)):
                number = row.number
                yield row
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        yield BadRecordError(f"{name} cannot be read as Parquet after row {number}: {error}")


def arrow_rows(name: str, path: str | Path) -> RowStream:
    """Return the rows of an Arrow file (.arrow, .feather), a stream or a file by its first bytes."""
    arrow, ipc = import_extra("pyarrow"), import_extra("pyarrow.ipc")
    number = 0
    try:
        with arrow.memory_map(str(path)) as file:
            is_stream = bytes(file.read(6)) != b"ARROW1"
            file.seek(0)
            with ipc.open_stream(file) if is_stream else ipc.open_file(file) as reader:
                batches = reader if is_stream else map(reader.get_batch, range(reader.num_record_batches))
                for row in batch_rows(name, batches):
                    number = row.number
                    yield row
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        yield BadRecordError(f"{name} cannot be read as Arrow after row {number}: {error}")


def batch_rows(name: str, batches: "Iterable[pa.RecordBatch]") -> Iterator[Row]:
    """Yield the rows of Arrow's record batches."""
    number = 0
    for whole in batches:
        for column in whole.columns:
            check_column(column)
        header = whole.schema.names
        refuse_repeated(name, header)
        for start in range(0, whole.num_rows, BATCH_ROWS):
            batch = whole.slice(start, BATCH_ROWS)
            for values in _across(map(_arrow_values, batch.columns), batch.num_rows):
                number += 1
                yield Row(f"{name} row {number}", number, dict(zip(header, values, strict=True)))


def check_column(column: "pa.Array") -> None:
    """Refuse a column whose offsets, lengths or indices lead out of its memory: Arrow follows them without a look.

    Texts are checked as bytes, because one that is not UTF-8 spoils its own row only.
    """
    column.validate()  # the sizes of its buffers, before they are viewed in another way
    column.view(_as_bytes(column.type)).validate(full=True)


def _as_bytes(kind: "pa.DataType") -> "pa.DataType":
    """Return the type of the same memory with bytes in place of texts, and numbers of dates, which are hours off."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_struct(kind):
        return pa.struct([field.with_type(_as_bytes(field.type)) for field in kind])
    if types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _as_bytes(kind.value_type), kind.ordered)
    if types.is_map(kind):
        return pa.map_(_as_bytes(kind.key_type), _as_bytes(kind.item_type), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(_as_bytes(kind.value_type), kind.list_size)
    for is_list, list_of in ((types.is_list, pa.list_), (types.is_large_list, pa.large_list)):
        if is_list(kind):
            return list_of(_as_bytes(kind.value_type))
    plain = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}
    return (plain | {pa.date64(): pa.int64()}).get(kind, kind)


def _arrow_values(column: "pa.Array") -> list[Any]:
    """Return the values of a column; a list of numbers without gaps is an array, many times faster than a list."""
    from pyarrow import types

    kind = column.type
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    whole = is_list and types.is_integer(kind.value_type) and not column.flatten().null_count
    if whole or (is_list and types.is_floating(kind.value_type)):
        return list(column.to_numpy(zero_copy_only=False))
    try:
        return column.to_pylist()
    except (ValueError, ArithmeticError):  # a value that Python cannot represent
        return [_value(scalar) for scalar in column]


def _value(scalar: "pa.Scalar") -> Any:
    """Return a value, or an object for which its row will be refused.

    Arrow does not check that strings are UTF-8: other bytes become half characters. A date may lie outside of Python's
    range, and two fields of a struct may have the same name.
    """
    try:
        return scalar.as_py()
    except UnicodeDecodeError as error:
        return error.object.decode(errors="surrogateescape")
    except (ValueError, ArithmeticError) as error:
        return _NoValue(f"a {scalar.type} that Python cannot hold ({error})")


class _NoValue:
    """A value that `plain` refuses, with a description for its message."""

    def __init__(self, words: str):
        self._words = words

    def __repr__(self) -> str:
        return self._words


class TableRows(NamedTuple):
    """The rows of a table in memory, and the name that messages give to it."""

    name: str
    rows: Iterator[Row]


def table_rows(table: Any, id: str) -> TableRows | None:
    """Return the rows of a table of pandas or Arrow; None for any other object. Neither library is imported."""
    kinds = {f"{kind.__module__.partition('.')[0]}.{kind.__name__}" for kind in type(table).__mro__}
    if "pandas.DataFrame" in kinds:
        return TableRows("the DataFrame", frame_rows("the DataFrame", table, id))
    name = "the Arrow table"
    if "pyarrow.Table" in kinds:
        return TableRows(name, batch_rows(name, table.to_batches()))
    if "pyarrow.RecordBatch" in kinds:
        return TableRows(name, batch_rows(name, [table]))
    if "pyarrow.RecordBatchReader" in kinds:
        return TableRows(name, batch_rows(name, table))
    return None


def frame_rows(name: str, frame: "pd.DataFrame", id: str) -> Iterator[Row]:
    """Yield the rows of a DataFrame; an index called `id` is a column if no column is called so."""
    if id not in frame.columns and frame.index.name == id:
        frame = frame.reset_index()
    header = [str(column) for column in frame.columns]
    refuse_repeated(name, header)
    number = 0
    for start in range(0, len(frame), BATCH_ROWS):
        batch = frame.iloc[start : start + BATCH_ROWS]
        columns = (batch.iloc[:, i].tolist() for i in range(len(header)))
        for values in _across(columns, len(batch)):
            number += 1
            yield Row(f"{name} row {number}", number, dict(zip(header, values, strict=True)))


def _across(columns: Iterable[list[Any]], n_rows: int) -> Iterable[tuple[Any, ...]]:
    """Transpose columns to rows, also without any column."""
    return zip(*columns, strict=True) if (columns := list(columns)) else [()] * n_rows
