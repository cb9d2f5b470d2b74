"""Codes in Parquet: a file with the columns id and code, and a folder of such files.

The footer of a file holds what all its codes have in common: their bits, the model, and what else its writer says of
it. So a file is whole, or it is none. A folder has a manifest when all of its files are there.
"""

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ammi.data.streams import import_extra
from ammi.files import read_json, replacing_file, write_json
from ammi.plain import from_json

Id = str | int
MANIFEST = "manifest.json"
ABOUT = b"ammi.codes"  # in the footer


def write_code_table(
    path: Path,
    blocks: Iterable[tuple[list[Id], NDArray[np.uint8]]],
    n_bits: int,
    fingerprint: str,
    more: Mapping[str, Any] | None = None,
) -> int:
    """Write codes to a Parquet file, as a whole or not at all; return how many.

    `more` is what else the footer says; it is looked at when the last block is written.
    """
    width, n = -(-n_bits // 8), 0
    coming = iter(blocks)
    first = next(coming, ([], np.empty((0, width), np.uint8)))
    with replacing_file(path) as file, _writer(file, first[0], width) as writer:
        for ids, codes in chain([first], coming):
            if codes.dtype != np.uint8 or codes.shape != (len(ids), width):
                raise ValueError(
                    f"codes are {codes.dtype} of shape {codes.shape}, for {len(ids)} ids and {n_bits} bits"
                )
            writer.write_table(_table(ids, codes, writer.schema, path))
            n += len(ids)
        about = {"bits": n_bits, "model": fingerprint, **(more or {})}
        writer.add_key_value_metadata({ABOUT.decode(): json.dumps(about)})
    return n


def about_code_table(path: Path) -> dict[str, Any] | None:
    """What the footer of a file of codes says, and how many rows it has; None where it is another file."""
    arrow, parquet = import_extra("pyarrow"), import_extra("pyarrow.parquet")
    try:
        footer = parquet.read_metadata(path)
        about = from_json((footer.metadata or {})[ABOUT])
        return {**about, "rows": footer.num_rows}
    except (arrow.ArrowException, OSError, KeyError, ValueError, TypeError):
        return None


def read_code_table(path: Path) -> tuple[list[Id], NDArray[np.uint8], int, str]:
    """The ids, the packed codes, their bits, and the fingerprint of the model."""
    arrow, parquet = import_extra("pyarrow"), import_extra("pyarrow.parquet")
    about = about_code_table(path)
    if about is None:
        raise ValueError("it has no codes that ammi wrote")
    n_bits, fingerprint = about.get("bits"), about.get("model")
    if not isinstance(n_bits, int) or not isinstance(fingerprint, str) or n_bits < 1:
        raise ValueError(f"its codes are of {n_bits!r:.40} bits and of model {fingerprint!r:.40}")
    try:
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(["id", "code"])
            ids = table.column("id").to_pylist()
            packed = table.column("code").combine_chunks().cast(arrow.binary(-(-n_bits // 8)))
    except (arrow.ArrowException, OSError, KeyError) as error:
        raise ValueError(f"it cannot be read as Parquet: {error}") from error
    if packed.null_count or None in ids:
        raise ValueError("some of its ids or codes are missing")
    codes = np.frombuffer(b"".join(packed.to_pylist()), np.uint8).reshape(len(ids), -(-n_bits // 8))
    return ids, codes, n_bits, fingerprint


def code_tables(folder: Path) -> list[Path]:
    """The files of codes in a folder, in the order of their names."""
    return sorted(path for path in folder.glob("*.parquet") if not path.name.startswith("."))


def holds_code_tables(folder: Path) -> bool:
    """Whether a folder is one of files of codes, finished or not."""
    return any(about_code_table(path) is not None for path in code_tables(folder)[:1])


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Say that all files of a folder are there: `shards` has the number of rows of each."""
    write_json(folder / MANIFEST, manifest)


def finished_tables(folder: Path) -> list[Path]:
    """The files of a folder that is finished, each with as many rows as were written."""
    if not (folder / MANIFEST).exists():
        raise ValueError(f"{folder / MANIFEST} is missing, so that not all shards are there: let ammi encode finish it")
    shards = read_json(folder / MANIFEST).get("shards", {})
    for name, rows in shards.items():
        about = about_code_table(folder / name)
        if about is None or about["rows"] != rows:
            raise ValueError(f"{name} does not have the {rows} codes that {MANIFEST} names: let ammi encode finish it")
    return [folder / name for name in sorted(shards)]


def _writer(file: Any, ids: list[Id], width: int) -> Any:
    arrow, parquet = import_extra("pyarrow"), import_extra("pyarrow.parquet")
    kind = arrow.int64() if ids and isinstance(ids[0], int) else arrow.string()
    schema = arrow.schema([("id", kind), ("code", arrow.binary(width))])
    return parquet.ParquetWriter(file, schema, write_page_checksum=True)


def _table(ids: list[Id], codes: NDArray[np.uint8], schema: Any, path: Path) -> Any:
    arrow = import_extra("pyarrow")
    content = arrow.py_buffer(np.ascontiguousarray(codes))
    packed = arrow.FixedSizeBinaryArray.from_buffers(schema.field("code").type, len(codes), [None, content])
    try:
        return arrow.table([arrow.array(ids, schema.field("id").type), packed], schema=schema)
    except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
        raise ValueError(
            f"some ids are numbers and some strings, which {path} cannot hold: make all of them strings"
        ) from error
