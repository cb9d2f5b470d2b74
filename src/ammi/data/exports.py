"""Files of a collection's documents, JSON lines or Parquet, from which the same documents are read again.

A line has the columns `ammi_export` (the format, which identifies such a file), `id`, `text`, `code`, `bits`, `model`
(as in a file of codes), `metadata`, an object of its own so that its keys may have any names, and if the collection
keeps vectors `vector`, a list of numbers. In Parquet, where a column has one type, the metadata are written as JSON,
and `id_is_number` distinguishes the id 17 from "17".
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ammi.data.codes import EXPORT, code_columns, code_of
from ammi.data.documents import Document, checked_vector
from ammi.data.streams import import_extra, write_jsonl
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
        raise ValueError(f"{path} is no name for an export: expected the ending .jsonl (also .gz, .zst) or .parquet")
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


def _write_parquet(path: Path, records: Iterator[Metadata]) -> int:
    arrow, parquet = import_extra("pyarrow"), import_extra("pyarrow.parquet")
    whole, string = arrow.int64(), arrow.string()
    kinds = {EXPORT: whole, "id": string, IS_NUMBER: arrow.bool_(), "text": string, "code": string, "bits": whole}
    kinds |= {"model": string, "vector": arrow.list_(arrow.float32()), "metadata": string}
    schema = arrow.schema(list(kinds.items()))
    n = 0
    with replacing_file(path) as file, parquet.ParquetWriter(file, schema) as writer:
        while batch := [_parquet_record(record) for record in islice(records, BATCH_ENTRIES)]:
            try:
                writer.write_batch(arrow.RecordBatch.from_pylist(batch, schema))
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
