"""Files of a collection's documents, JSON lines or Parquet, from which the same documents are read again.

A line has the columns `ammi_export` (the format, which identifies such a file), `id`, `text`, `code`, `bits`, `model`
(as in a file of codes), `metadata`, an object of its own so that its keys may have any names, and if the collection
keeps vectors `vector`, a list of numbers. In Parquet, where a column has one type, the metadata are written as JSON,
and `id_is_number` distinguishes the id 17 from "17".
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from io import StringIO
from itertools import chain, islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ammi.data.codes import EXPORT, code_columns, code_of
from ammi.data.documents import Document, checked_vector
from ammi.data.streams import import_extra, replacing_compressed, write_jsonl
from ammi.files import replacing_file
from ammi.plain import Id, Metadata, checked_id, checked_metadata, checked_optional_text, from_json, short
from ammi.version import __version__

FORMAT = 1
IS_NUMBER = "id_is_number"
BATCH_ENTRIES = 1000  # documents of a batch of Parquet

# id, packed code (ceil(m / 8),), text, metadata, vector (d,)
Entry = tuple[Id, NDArray[np.uint8], str | None, Mapping[str, object], NDArray[np.float32] | None]


def write_export(path: str | Path, entries: Iterable[Entry], n_bits: int, fingerprint: str) -> int:
    """Write documents to `.jsonl`, plain or compressed, or `.parquet`, all or nothing; return how many."""
    path = Path(path)
    records = (export_record(entry, n_bits, fingerprint) for entry in entries)
    if path.suffix == ".parquet":
        return _write_parquet(path, records)
    if ".jsonl" not in path.suffixes:
        raise _no_name(path)
    return write_jsonl(path, records)


def export_record(entry: Entry, n_bits: int, fingerprint: str) -> Metadata:
    """Return the line of a document."""
    id, code, text, metadata, vector = entry
    return {
        EXPORT: FORMAT,
        "id": id,
        "text": text,
        **code_columns(code, n_bits, fingerprint),
        **({} if vector is None else {"vector": vector.tolist()}),
        "metadata": metadata,
    }


def flat_record(entry: Entry) -> Metadata:
    """Return a document with its metadata as columns: metadata.KEY if the document has a column of that name."""
    id, _, text, metadata, _ = entry
    return {"id": id, "text": text, **{column_of(key): value for key, value in metadata.items()}}


def column_of(key: str) -> str:
    """Return the name of the column of a metadata key."""
    return f"metadata.{key}" if key in ("id", "text") else key


def is_table(path: Path) -> bool:
    """Return whether a file can only have metadata as columns."""
    return bool({".csv", ".tsv"} & {ending.lower() for ending in path.suffixes})


def write_columns(path: Path, entries: Callable[[], Iterable[Entry]], kinds: Mapping[str, Iterable[str]]) -> int:
    """Write documents with their metadata as columns, to `.csv`, `.tsv` or `.jsonl`, plain or compressed, or to
    `.parquet`; return how many. `kinds` has the keys with the kinds of their values."""
    if path.suffix == ".parquet":
        types = {column_of(key): [*kinds[key]] for key in kinds}
        while True:
            try:
                return _write_table(path, map(flat_record, entries()), types)
            except _ListFoundError as found:
                types[str(found)] = []
    if not is_table(path) and ".jsonl" not in path.suffixes:
        raise _no_name(path)
    if not is_table(path):
        return write_jsonl(path, map(flat_record, entries()))
    n = -1  # the header is no document
    with replacing_compressed(path) as out:
        for line in csv_lines(entries(), kinds, "\t" if ".tsv" in path.suffixes else ","):
            out.write(line)
            n += 1
    return n


def _write_table(path: Path, records: Iterator[Metadata], kinds: Mapping[str, list[str]]) -> int:
    """Write a Parquet file: numbers, booleans and texts in columns of these types, anything else as JSON."""
    arrow = import_extra("pyarrow")
    types = {"number": arrow.float64(), "bool": arrow.bool_(), "text": arrow.string()}
    plain = {key: types[found[0]] for key, found in kinds.items() if len(found) == 1 and found[0] in types}
    schema = {key: plain.get(key, arrow.string()) for key in ("id", "text", *kinds)}
    rows = ({key: _of_type(plain, key, record.get(key)) for key in schema} for record in records)
    return _write_rows(path, rows, schema)


class _ListFoundError(Exception):
    """A list in a column of numbers or booleans, whose lists are then written as JSON, and all else with them."""


def _of_type(plain: Mapping[str, object], key: str, value: object) -> object:
    if isinstance(value, list) and key in plain and str(plain[key]) != "string":
        raise _ListFoundError(key)
    if value is None or (key in plain and not isinstance(value, list)) or isinstance(value, str):
        return value
    return str(value) if key == "id" else json.dumps(value, ensure_ascii=False)


def _no_name(path: Path) -> ValueError:
    return ValueError(
        f"{path} is no name for an export: expected the ending .jsonl, .csv or .tsv (also .gz, .zst), or .parquet"
    )


def csv_lines(entries: Iterable[Entry], keys: Iterable[str], delimiter: str = ",") -> Iterator[bytes]:
    """Yield documents as the lines of a table with a header: id, text, and a column for each metadata key.

    A missing value is empty; lists and objects are JSON.
    """
    line = StringIO()
    names = ["id", "text", *map(column_of, keys)]
    writer = csv.writer(line, delimiter=delimiter)
    for row in chain([names], (map(_cell, map(flat_record(entry).get, names)) for entry in entries)):
        writer.writerow(row)
        try:
            yield line.getvalue().encode()
        except UnicodeEncodeError:
            raise ValueError("a text holds half a character (a lone surrogate): decode it anew") from None
        line.seek(0)
        line.truncate()


def _cell(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _write_parquet(path: Path, records: Iterator[Metadata]) -> int:
    arrow = import_extra("pyarrow")
    whole, string = arrow.int64(), arrow.string()
    schema = {EXPORT: whole, "id": string, IS_NUMBER: arrow.bool_(), "text": string, "code": string, "bits": whole}
    schema |= {"model": string, "vector": arrow.list_(arrow.float32()), "metadata": string}
    return _write_rows(path, map(_parquet_record, records), schema)


def _write_rows(path: Path, rows: Iterator[Metadata], schema: Mapping[str, object]) -> int:
    """Write rows to a Parquet file with columns of these types, all or nothing; return how many."""
    arrow, parquet = import_extra("pyarrow"), import_extra("pyarrow.parquet")
    fields, n = arrow.schema(list(schema.items())), 0
    with replacing_file(path) as file, parquet.ParquetWriter(file, fields) as writer:
        while batch := list(islice(rows, BATCH_ENTRIES)):
            try:
                writer.write_batch(arrow.RecordBatch.from_pylist(batch, fields))
            except UnicodeEncodeError:
                raise ValueError(
                    f"one of the records {n + 1} to {n + len(batch)} holds half a character (a lone surrogate): decode "
                    "its texts anew"
                ) from None
            n += len(batch)
    return n


def _parquet_record(record: Metadata) -> Metadata:
    id, metadata = record["id"], json.dumps(record["metadata"], ensure_ascii=False)
    return record | {"id": str(id), IS_NUMBER: isinstance(id, int), "metadata": metadata}


def is_exported(columns: Mapping[str, object]) -> bool:
    """Return whether a row is of a file that `write_export` wrote."""
    return EXPORT in columns


def exported(columns: Mapping[str, object]) -> Document:
    """Return the document of a row of an export."""
    if columns[EXPORT] != FORMAT:
        raise ValueError(f"its format is {short(columns[EXPORT])}, and this ammi ({__version__}) reads {FORMAT}")
    try:
        id, text, about = (columns[name] for name in ("id", "text", "metadata"))
        code = code_of(columns)
    except KeyError as error:
        raise ValueError(f"it lacks {error}") from error
    metadata, json = checked_metadata(from_json(about) if isinstance(about, str) else about, "it")
    id = checked_id(_number(id) if columns.get(IS_NUMBER) is True else id, "it")
    value = columns.get("vector")
    vector = None if value is None else checked_vector(value, "it").astype(np.float32)
    return Document(id, checked_optional_text(text, "it"), metadata, vector=vector, code=code, json=json)


def _number(id: object) -> int:
    try:
        return int(str(id))
    except ValueError:
        raise ValueError(f"it has {short(id)} for an id: expected a whole number") from None
