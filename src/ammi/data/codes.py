"""Files of codes: `.npz` for numpy, or JSON lines of id, code (hexadecimal), bits, model. Each names the model."""

import json
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ammi.data.streams import BROKEN_COMPRESSION, open_bytes, replacing, write_jsonl

Id = str | int
Block = tuple[list[Id], NDArray[np.uint8]]  # ids and their packed codes (n, ceil(m / 8))


@dataclass(frozen=True)
class CodeFile:
    """Packed codes with the ids of their documents, their length, and the fingerprint of the model that made them."""

    ids: list[Id]
    codes: NDArray[np.uint8]
    n_bits: int
    fingerprint: str


def code_records(block: Block, n_bits: int, fingerprint: str) -> Iterator[dict[str, Any]]:
    """The lines of a file of codes."""
    for id, code in zip(*block, strict=True):
        yield {"id": id, "code": code.tobytes().hex(), "bits": n_bits, "model": fingerprint}


def write_codes(path: str | Path, blocks: Iterable[Block], n_bits: int, fingerprint: str) -> int:
    """Write codes to `.npz`, or to `.jsonl` plain or compressed, as a whole or not at all; return how many."""
    if ".jsonl" in Path(path).suffixes:
        return write_jsonl(path, (record for block in blocks for record in code_records(block, n_bits, fingerprint)))
    if Path(path).suffix != ".npz":
        raise ValueError(f"{path} is no name for a file of codes: expected the ending .npz or .jsonl")
    with replacing(Path(path)) as file:  # refuses the place before the blocks are made
        ids: list[Id] = []
        codes = [np.empty((0, -(-n_bits // 8)), np.uint8)]
        for more_ids, more_codes in blocks:
            ids += more_ids
            codes.append(more_codes)
        if len({type(id) for id in ids}) > 1:
            raise ValueError(f"some ids are numbers and some strings, which {path} cannot hold: write .jsonl instead")
        np.savez(file, ids=np.array(ids), codes=np.concatenate(codes), n_bits=n_bits, fingerprint=fingerprint)
    return len(ids)


def holds_codes(path: str | Path) -> bool:
    """Whether a file holds codes, rather than documents."""
    path = Path(path)
    if ".jsonl" not in path.suffixes or not path.is_file():
        return path.suffix == ".npz"
    with open_bytes(path) as file:
        try:
            first = json.loads(file.readline())
        except (ValueError, *BROKEN_COMPRESSION):
            return False
    return isinstance(first, dict) and {"code", "bits", "model"} <= set(first)


def read_codes(path: str | Path) -> CodeFile:
    """Read what `write_codes` wrote."""
    try:
        return _read_npz(path) if Path(path).suffix == ".npz" else _read_jsonl(path)
    except KeyError as error:
        raise ValueError(f"{path} is not a file of codes: it lacks {error}") from error
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile, *BROKEN_COMPRESSION) as error:
        raise ValueError(f"{path} is not a whole file of codes of one model: {error}") from error


def _read_npz(path: str | Path) -> CodeFile:
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as content:
        ids, codes = content["ids"].tolist(), content["codes"]
        n_bits, fingerprint = int(content["n_bits"]), str(content["fingerprint"])
    if codes.dtype != np.uint8 or codes.shape != (len(ids), -(-n_bits // 8)):
        raise ValueError(f"codes are {codes.dtype} of shape {codes.shape}, for {len(ids)} ids and {n_bits} bits")
    return CodeFile(ids, codes, n_bits, fingerprint)


def _read_jsonl(path: str | Path) -> CodeFile:
    ids, codes, models = [], bytearray(), set()
    with open_bytes(path) as lines:
        for number, line in enumerate(lines, 1):
            record = json.loads(line)
            code = bytes.fromhex(record["code"])
            if len(code) != -(-record["bits"] // 8):
                raise ValueError(f"line {number} has {len(code)} bytes of code for {record['bits']} bits")
            ids.append(record["id"])
            codes += code
            models.add((record["bits"], record["model"]))
    if len(models) != 1:
        raise ValueError(f"its lines are of {len(models)} models")
    ((n_bits, fingerprint),) = models
    return CodeFile(ids, np.frombuffer(bytes(codes), np.uint8).reshape(len(ids), -1), n_bits, fingerprint)
