"""Files of codes: `.npz` for numpy, JSON lines of id, code (hexadecimal), bits, model, or `.parquet`: code_tables.py.

Each names the model.
"""

import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.data.code_tables import (
    about_code_table,
    finished_tables,
    holds_code_tables,
    read_code_table,
    write_code_table,
)
from ammi.data.streams import BROKEN_ARCHIVE, BROKEN_COMPRESSION, check_archive, lines_of, open_bytes, write_jsonl
from ammi.files import replacing_file
from ammi.plain import from_json

EXPORT = "ammi_export"  # the column that tells the documents of a collection, which have codes too: see exports.py

Id = str | int
CodeBlock = tuple[list[Id], NDArray[np.uint8]]  # ids and their packed codes (n, ceil(m / 8))


class KnownCode(NamedTuple):
    """The code of one document, and the fingerprint of the model that made it."""

    packed: NDArray[np.uint8]  # (ceil(m / 8),)
    n_bits: int
    fingerprint: str


@dataclass(frozen=True)
class CodeFile:
    """Packed codes with the ids of their documents, their length, and the fingerprint of the model that made them."""

    ids: list[Id]
    codes: NDArray[np.uint8]
    n_bits: int
    fingerprint: str


def code_columns(code: NDArray[np.uint8], n_bits: int, fingerprint: str) -> dict[str, str | int]:
    """A code as files of JSON lines and Parquet write it."""
    return {"code": code.tobytes().hex(), "bits": n_bits, "model": fingerprint}


def code_of(columns: Mapping[str, Any]) -> KnownCode:
    """The code that `code_columns` wrote."""
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
    """The lines of a file of codes."""
    for id, code in zip(*block, strict=True):
        yield {"id": id, **code_columns(code, n_bits, fingerprint)}


def write_codes(path: str | Path, blocks: Iterable[CodeBlock], n_bits: int, fingerprint: str) -> int:
    """Write codes to `.npz`, `.parquet` or `.jsonl`, plain or compressed, as a whole or not at all; return how many."""
    if Path(path).suffix == ".parquet":
        return write_code_table(Path(path), blocks, n_bits, fingerprint)
    if ".jsonl" in Path(path).suffixes:
        return write_jsonl(path, (record for block in blocks for record in code_records(block, n_bits, fingerprint)))
    if Path(path).suffix != ".npz":
        raise ValueError(f"{path} is no name for a file of codes: expected the ending .npz, .parquet or .jsonl")
    with replacing_file(Path(path)) as file:  # refuses the place before the blocks are made
        ids: list[Id] = []
        codes = [np.empty((0, -(-n_bits // 8)), np.uint8)]
        for more_ids, more_codes in blocks:
            if more_codes.dtype != np.uint8 or more_codes.shape != (len(more_ids), codes[0].shape[1]):
                shape = f"{more_codes.dtype} of shape {more_codes.shape}"
                raise ValueError(
                    f"codes are {shape}, for {len(more_ids)} ids and {n_bits} bits: pass a row for each id"
                )
            ids += more_ids
            codes.append(more_codes)
        if len({type(id) for id in ids}) > 1:
            raise ValueError(f"some ids are numbers and some strings, which {path} cannot hold: write .jsonl instead")
        np.savez(file, ids=np.array(ids), codes=np.concatenate(codes), n_bits=n_bits, fingerprint=fingerprint)
    return len(ids)


def holds_codes(path: str | Path) -> bool:
    """Whether a file, or a folder of Parquet files, holds codes, rather than documents."""
    path = Path(path)
    if path.is_dir():
        return holds_code_tables(path)
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


def read_codes(path: str | Path) -> CodeFile:
    """Read what `write_codes` wrote."""
    try:
        if Path(path).is_dir():
            return _read_folder(Path(path))
        if Path(path).suffix == ".parquet":
            return CodeFile(*read_code_table(Path(path)))
        return _read_npz(path) if Path(path).suffix == ".npz" else _read_jsonl(path)
    except KeyError as error:
        raise ValueError(f"{path} is not a file of codes: it lacks {error}") from error
    except (ValueError, *BROKEN_ARCHIVE) as error:
        raise ValueError(f"{path} is not a whole file of codes of one model: {error}") from error


def _read_folder(folder: Path) -> CodeFile:
    files = [read_codes(path) for path in finished_tables(folder)]
    models = {(file.n_bits, file.fingerprint) for file in files}
    if len(models) != 1:
        raise ValueError(f"its shards are of {len(models)} models")
    ((n_bits, fingerprint),) = models
    ids = [id for file in files for id in file.ids]
    return CodeFile(ids, np.concatenate([file.codes for file in files]), n_bits, fingerprint)


def _read_npz(path: str | Path) -> CodeFile:
    check_archive(path)
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as content:
        arrays = {name: content[name] for name in ("ids", "codes", "n_bits", "fingerprint")}
    for name, kinds, n_dims in (("ids", "iuU", 1), ("n_bits", "iu", 0), ("fingerprint", "U", 0)):
        if (arrays[name].dtype.kind not in kinds and arrays[name].size) or arrays[name].ndim != n_dims:
            raise ValueError(f"{name} is of type {arrays[name].dtype} and shape {arrays[name].shape}")
    ids, codes = arrays["ids"].tolist(), arrays["codes"]
    n_bits, fingerprint = int(arrays["n_bits"]), str(arrays["fingerprint"])
    if n_bits < 1 or codes.dtype != np.uint8 or codes.shape != (len(ids), -(-n_bits // 8)):
        raise ValueError(f"codes are {codes.dtype} of shape {codes.shape}, for {len(ids)} ids and {n_bits} bits")
    return CodeFile(ids, codes, n_bits, fingerprint)


def _record(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise ValueError("it is too long")
    record = from_json(line)
    if not isinstance(record, dict):
        raise ValueError("it is no JSON object")
    id = record["id"]
    if not isinstance(id, str | int) or isinstance(id, bool):
        raise ValueError("its id is neither a string nor a whole number")
    return record


def _read_jsonl(path: str | Path) -> CodeFile:
    ids: list[Id] = []
    codes, models = bytearray(), set[tuple[int, str]]()
    with open_bytes(path) as lines:
        for number, line in enumerate(lines_of(lines), 1):
            try:
                record = _record(line)
                code = code_of(record)
            except ValueError as error:
                raise ValueError(f"line {number} is no code, for {error}") from error
            ids.append(record["id"])
            codes += code.packed.tobytes()
            models.add((code.n_bits, code.fingerprint))
    if len(models) != 1:
        raise ValueError(f"its lines are of {len(models)} models")
    ((n_bits, fingerprint),) = models
    return CodeFile(ids, np.frombuffer(bytes(codes), np.uint8).reshape(len(ids), -1), n_bits, fingerprint)
