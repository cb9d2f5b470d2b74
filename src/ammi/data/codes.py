"""Files of codes, which name the model that made them: `.npz`, JSON lines, `.parquet`, or a folder of Parquet files.

A line of JSON has id, code (hexadecimal), bits and model. A Parquet file has the columns id and code, and in its footer
the bits, the model and whatever else its writer adds; without a footer it is no file at all. A folder has a manifest
when all of its files are there.
"""

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.data.streams import (
    BROKEN_ARCHIVE,
    BROKEN_COMPRESSION,
    check_archive,
    import_extra,
    lines_of,
    open_bytes,
    write_jsonl,
)
from ammi.files import read_json, replacing_file
from ammi.plain import Id, Metadata, from_json

EXPORT = "ammi_export"  # a column of documents that a collection exported, which have codes too: see exports.py
MANIFEST = "manifest.json"  # its `shards` has the number of rows of each file
_FOOTER = b"ammi.codes"

PackedCodes = NDArray[np.uint8]  # (n, ceil(m / 8))
CodeBlock = tuple[list[Id], PackedCodes]


class KnownCode(NamedTuple):
    """The code of one document, and the fingerprint of the model that made it."""

    packed: PackedCodes  # (ceil(m / 8),)
    n_bits: int
    fingerprint: str


@dataclass(frozen=True)
class CodeFile:
    """Packed codes with the ids of their documents, their length, and the fingerprint of the model that made them."""

    ids: list[Id]
    codes: PackedCodes
    n_bits: int
    fingerprint: str

    def __post_init__(self) -> None:
        _check_block((self.ids, self.codes), self.n_bits)


def code_columns(code: PackedCodes, n_bits: int, fingerprint: str) -> dict[str, str | int]:
    """Return a code as lines of JSON and exports have it."""
    return {"code": code.tobytes().hex(), "bits": n_bits, "model": fingerprint}


def code_of(columns: Mapping[str, object]) -> KnownCode:
    """Return the code that `code_columns` wrote."""
    digits, n_bits, fingerprint = columns["code"], columns["bits"], columns["model"]
    if not isinstance(digits, str) or not isinstance(fingerprint, str):
        raise ValueError(f"the code {digits!r:.40} of model {fingerprint!r:.40} is not written as two strings")
    if not isinstance(n_bits, int) or isinstance(n_bits, bool) or n_bits < 1:
        raise ValueError(f"bits is {n_bits!r:.40}: expected a whole number from 1")
    try:
        packed = np.frombuffer(bytes.fromhex(digits), np.uint8)
    except ValueError:
        raise ValueError(f"the code {digits!r:.40} is not written in hexadecimal digits") from None
    if len(packed) != -(-n_bits // 8):
        raise ValueError(f"there are {len(packed)} bytes of code for {n_bits} bits")
    return KnownCode(packed, n_bits, fingerprint)


def code_records(block: CodeBlock, n_bits: int, fingerprint: str) -> Iterator[dict[str, str | int]]:
    """Yield the lines of a file of codes."""
    for id, code in zip(*block, strict=True):
        yield {"id": id, **code_columns(code, n_bits, fingerprint)}


def write_codes(path: str | Path, blocks: Iterable[CodeBlock], n_bits: int, fingerprint: str) -> int:
    """Write codes to `.npz`, `.parquet` or `.jsonl`, plain or compressed, as a whole or not at all; return how many."""
    path = Path(path)
    if path.suffix == ".parquet":
        return write_code_table(path, blocks, n_bits, fingerprint)
    if ".jsonl" in path.suffixes:
        return write_jsonl(path, (record for block in blocks for record in code_records(block, n_bits, fingerprint)))
    if path.suffix != ".npz":
        raise ValueError(f"{path} is no name for a file of codes: expected the ending .npz, .parquet or .jsonl")
    with replacing_file(path) as file:  # refuses the location before the blocks are made
        ids: list[Id] = []
        codes = [np.empty((0, -(-n_bits // 8)), np.uint8)]
        for block in blocks:
            _check_block(block, n_bits)
            ids += block[0]
            codes.append(block[1])
        if len({type(id) for id in ids}) > 1:
            raise ValueError(f"some ids are numbers and some strings, which {path} cannot hold: write .jsonl instead")
        np.savez(file, ids=np.array(ids), codes=np.concatenate(codes), n_bits=n_bits, fingerprint=fingerprint)
    return len(ids)


def write_code_table(
    path: Path, blocks: Iterable[CodeBlock], n_bits: int, fingerprint: str, more: Mapping[str, object] | None = None
) -> int:
    """Write codes to a Parquet file, as a whole or not at all; return how many.

    `more` is added to the footer; it is read after the last block was written.
    """
    arrow, parquet = import_extra("pyarrow"), import_extra("pyarrow.parquet")
    coming, n = iter(blocks), 0
    first = next(coming, ([], np.empty((0, -(-n_bits // 8)), np.uint8)))
    kind = arrow.int64() if first[0] and isinstance(first[0][0], int) else arrow.string()
    schema = arrow.schema([("id", kind), ("code", arrow.binary(-(-n_bits // 8)))])
    with replacing_file(path) as file, parquet.ParquetWriter(file, schema, write_page_checksum=True) as writer:
        for ids, codes in chain([first], coming):
            _check_block((ids, codes), n_bits)
            content = [None, arrow.py_buffer(np.ascontiguousarray(codes))]
            packed = arrow.FixedSizeBinaryArray.from_buffers(schema.field("code").type, len(codes), content)
            try:
                writer.write_table(arrow.table([arrow.array(ids, kind), packed], schema=schema))
            except (arrow.ArrowInvalid, arrow.ArrowTypeError) as error:
                raise ValueError(
                    f"some ids are numbers and some strings, which {path} cannot hold: make all of them strings"
                ) from error
            n += len(ids)
        about = {"bits": n_bits, "model": fingerprint, **(more or {})}
        writer.add_key_value_metadata({_FOOTER.decode(): json.dumps(about)})
    return n


def _check_block(block: CodeBlock, n_bits: int) -> None:
    ids, codes = block
    if codes.dtype != np.uint8 or codes.shape != (len(ids), -(-n_bits // 8)):
        found = f"{codes.dtype} of shape {codes.shape}"
        raise ValueError(f"codes are {found}, for {len(ids)} ids and {n_bits} bits: pass a row for each id")


def holds_codes(path: str | Path) -> bool:
    """Return whether a file, or a folder of Parquet files, holds codes, rather than documents."""
    path = Path(path)
    if path.is_dir():
        return any(about_code_table(table) is not None for table in code_tables(path)[:1])
    if not path.is_file():
        return False
    if path.suffix == ".parquet":
        return about_code_table(path) is not None
    if path.suffix == ".npz":
        return _npz_holds_codes(path)
    if ".jsonl" not in path.suffixes:
        return False
    with open_bytes(path) as file:
        try:
            first = from_json(next(lines_of(file), None) or b"")
        except (ValueError, *BROKEN_COMPRESSION):
            return False
    return isinstance(first, dict) and {"code", "bits", "model"} <= set(first) and EXPORT not in first


def _npz_holds_codes(path: Path) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return {f"{name}.npy" for name in ("ids", "codes", "n_bits", "fingerprint")} <= set(archive.namelist())
    except zipfile.BadZipFile:
        return False


def about_code_table(path: Path) -> Metadata | None:
    """Return the footer of a Parquet file of codes, and its number of rows; None for any other file."""
    arrow, parquet = import_extra("pyarrow"), import_extra("pyarrow.parquet")
    try:
        footer = parquet.read_metadata(path)
        about = from_json((footer.metadata or {})[_FOOTER])
        return {**about, "rows": footer.num_rows}
    except (arrow.ArrowException, OSError, KeyError, ValueError, TypeError):
        return None


def code_tables(folder: Path) -> list[Path]:
    """Return the Parquet files of a folder, in the order of their names."""
    return sorted(path for path in folder.glob("*.parquet") if not path.name.startswith("."))


def read_codes(path: str | Path) -> CodeFile:
    """Read a file or a folder that `write_codes` or `ammi encode` wrote."""
    path = Path(path)
    try:
        if path.is_dir():
            return _read_folder(path)
        read = {".parquet": _read_table, ".npz": _read_npz}.get(path.suffix, _read_jsonl)
        return read(path)
    except KeyError as error:
        raise ValueError(f"{path} is not a file of codes: it lacks {error}") from error
    except (ValueError, *BROKEN_ARCHIVE) as error:
        raise ValueError(f"{path} is not a whole file of codes of one model: {error}") from error


def _read_folder(folder: Path) -> CodeFile:
    if not (folder / MANIFEST).exists():
        raise ValueError(f"{folder / MANIFEST} is missing, so that not all shards are there: let ammi encode finish it")
    shards = read_json(folder / MANIFEST).get("shards", {})
    for name, rows in shards.items():
        about = about_code_table(folder / name)
        if about is None or about["rows"] != rows:
            raise ValueError(f"{name} does not have the {rows} codes that {MANIFEST} names: let ammi encode finish it")
    files = [read_codes(folder / name) for name in sorted(shards)]
    n_bits, fingerprint = _one_model({(file.n_bits, file.fingerprint) for file in files}, "shards")
    ids = [id for file in files for id in file.ids]
    return CodeFile(ids, np.concatenate([file.codes for file in files]), n_bits, fingerprint)


def _one_model(models: set[tuple[int, str]], parts: str) -> tuple[int, str]:
    if len(models) != 1:
        raise ValueError(f"its {parts} are of {len(models)} models")
    return models.pop()


def _read_table(path: Path) -> CodeFile:
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
            table.validate(full=True)
            ids = table.column("id").to_pylist()
            packed = table.column("code").combine_chunks().cast(arrow.binary(-(-n_bits // 8)))
    except (arrow.ArrowException, OSError, KeyError) as error:
        raise ValueError(f"it cannot be read as Parquet: {error}") from error
    if packed.null_count or None in ids:
        raise ValueError("some of its ids or codes are missing")
    codes = np.frombuffer(b"".join(packed.to_pylist()), np.uint8).reshape(len(ids), -(-n_bits // 8))
    return CodeFile(ids, codes, n_bits, fingerprint)


def _read_npz(path: Path) -> CodeFile:
    check_archive(path)
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as content:
        arrays = {name: content[name] for name in ("ids", "codes", "n_bits", "fingerprint")}
    for name, kinds, n_dims in (("ids", "iuU", 1), ("n_bits", "iu", 0), ("fingerprint", "U", 0)):
        if (arrays[name].dtype.kind not in kinds and arrays[name].size) or arrays[name].ndim != n_dims:
            raise ValueError(f"{name} is of type {arrays[name].dtype} and shape {arrays[name].shape}")
    if arrays["n_bits"] < 1:
        raise ValueError(f"n_bits is {arrays['n_bits']}: expected 1 or more")
    return CodeFile(arrays["ids"].tolist(), arrays["codes"], int(arrays["n_bits"]), str(arrays["fingerprint"]))


def _read_jsonl(path: Path) -> CodeFile:
    ids: list[Id] = []
    codes, models = bytearray(), set[tuple[int, str]]()
    with open_bytes(path) as lines:
        for number, line in enumerate(lines_of(lines), 1):
            try:
                id, code = _id_and_code(line)
            except ValueError as error:
                raise ValueError(f"line {number} is no code, for {error}") from error
            ids.append(id)
            codes += code.packed.tobytes()
            models.add((code.n_bits, code.fingerprint))
    n_bits, fingerprint = _one_model(models, "lines")
    return CodeFile(ids, np.frombuffer(bytes(codes), np.uint8).reshape(len(ids), -1), n_bits, fingerprint)


def _id_and_code(line: bytes | None) -> tuple[Id, KnownCode]:
    if line is None:
        raise ValueError("it is too long")
    record = from_json(line)
    if not isinstance(record, dict):
        raise ValueError("it is no JSON object")
    if not isinstance(record["id"], str | int) or isinstance(record["id"], bool):
        raise ValueError("its id is neither a string nor a whole number")
    return record["id"], code_of(record)
