"""Mutated Arrow and Parquet files: each is read to its end, or refused with a sentence, and no process dies.

`python -m tests.torture.tables FOLDER FIRST LAST` reads the mutations of these numbers, and says what came of each.
"""

import resource
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

from ammi.data import read_codes, read_documents, write_codes
from tests.torture.judged import foreign
from tests.torture.outcome import Outcome

_MEMORY = 4 << 30  # bytes of a process: what a damaged file asks for beyond them is refused
_SECONDS = 60  # for one file
_NUMBERS = [0, 1, -1, 127, 255, 1 << 15, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 40, (1 << 63) - 1, -(1 << 63)]


def table() -> pa.Table:
    """Columns of most kinds that Arrow has, with missing values."""
    n = 40
    texts = [f"text {i} " * (i % 5) for i in range(n)]
    pairs = [[(f"k{j}", j) for j in range(i % 3)] for i in range(n)]
    columns = {
        "id": pa.array(range(n)),
        "text": pa.array(texts),
        "long": pa.array(texts, pa.large_string()),
        "word": pa.array([None if i % 7 == 0 else f"w{i % 3}" for i in range(n)]).dictionary_encode(),
        "vector": pa.array(np.ones((n, 4), np.float32).tolist(), pa.list_(pa.float32(), 4)),
        "numbers": pa.array([list(range(i % 4)) for i in range(n)]),
        "lists": pa.array([[["a"], None, ["b", "c"]][: i % 4] for i in range(n)]),
        "struct": pa.array([{"a": i, "b": texts[i], "c": [i, None]} for i in range(n)]),
        "map": pa.array(pairs, pa.map_(pa.string(), pa.int64())),
        "date": pa.array([date(2020, 1, 1)] * n),
        "time": pa.array([datetime(2020, 1, 1, tzinfo=UTC)] * n),
        "decimal": pa.array([Decimal(i) / 4 for i in range(n)]),
        "flag": pa.array([None if i % 5 == 0 else i % 2 == 0 for i in range(n)]),
        "bytes": pa.array([b"x" * (i % 6) for i in range(n)]),
    }
    return pa.table(columns)


def only_arrow() -> dict[str, pa.Array]:
    """Columns that Parquet cannot hold."""
    kinds, offsets = pa.array([0, 1] * 20, pa.int8()), pa.array([i // 2 for i in range(40)], pa.int32())
    children = [pa.array(range(20)), pa.array([f"u{i}" for i in range(20)])]
    return {
        "view": pa.array(["a word that is longer than twelve bytes", "short"] * 20, pa.string_view()),
        "union": pa.UnionArray.from_dense(kinds, offsets, children),
        "runs": pa.RunEndEncodedArray.from_arrays(pa.array([30, 40], pa.int32()), pa.array(["r", "s"])),
        "large": pa.array([[i] * (i % 3) for i in range(40)], pa.large_list(pa.int64())),
    }


def write_all(folder: Path) -> None:
    """Write the files that are mutated."""
    both = table()
    arrow = both
    for name, column in only_arrow().items():
        arrow = arrow.append_column(name, column)
    for name, new, packing in (
        ("file.arrow", ipc.new_file, None),
        ("stream.arrow", ipc.new_stream, None),
        ("packed.arrow", ipc.new_file, "zstd"),
        ("lz4.arrow", ipc.new_stream, "lz4"),
    ):
        with new(folder / name, arrow.schema, options=ipc.IpcWriteOptions(compression=packing)) as out:
            out.write_table(arrow, max_chunksize=25)
    pq.write_table(both, folder / "plain.parquet", compression=None, use_dictionary=False, row_group_size=25)
    pq.write_table(both, folder / "packed.parquet", compression="zstd", data_page_version="2.0", row_group_size=25)
    pq.write_table(both, folder / "checked.parquet", compression="snappy", write_page_checksum=True)
    codes = np.random.default_rng(0).integers(0, 256, (40, 4), np.uint8)
    write_codes(folder / "codes.parquet", [([f"document {i}" for i in range(40)], codes)], 32, "0" * 16)


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Change a few bits, bytes or numbers, or cut out, repeat or end at some place; often near the end or the start."""
    damaged = bytearray(content)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        if not damaged:
            break
        size = len(damaged)
        near = min(size, 2000)
        at = int(rng.choice([rng.integers(size), rng.integers(near), size - 1 - rng.integers(near)]))
        match rng.integers(8):
            case 0 | 1:
                damaged[at] ^= 1 << int(rng.integers(8))
            case 2:
                damaged[at] = int(rng.integers(256))
            case 3 | 4 | 5:
                width = int(rng.choice([2, 4, 8]))
                number = int(rng.choice(len(_NUMBERS)))
                start = at // width * width
                damaged[start : start + width] = (_NUMBERS[number] % (1 << 8 * width)).to_bytes(width, "little")
            case 6:
                length = int(rng.integers(1, 65))
                damaged[at : at + length] = bytes(length) if rng.random() < 0.5 else b""
            case _:
                if rng.random() < 0.3:
                    del damaged[at:]
                else:
                    damaged[at:at] = damaged[at : at + int(rng.integers(1, 65))]
    return bytes(damaged)


def read_mutations(folder: Path, first: int, last: int, say: Callable[[str], None]) -> None:
    """Read the files of these numbers, and say `begun` before and the outcome after each."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    warnings.simplefilter("ignore")
    sources = sorted(path for path in folder.iterdir() if path.stem != "mutated")
    for number in range(first, last):
        source = sources[number % len(sources)]
        path = folder / f"mutated{source.suffix}"
        path.write_bytes(mutated(source.read_bytes(), np.random.default_rng(number)))
        say(f"begun {number} {source.name}")
        problems: list[Exception] = []
        try:
            if source.name == "codes.parquet":
                read_codes(path)
            else:
                list(read_documents(path, on_error=problems.append))  # on and on, past each bad row
        except Exception as error:
            wrong = foreign(error)
            say(f"wrong {wrong!r}" if wrong else "refused")
        else:
            say("read in part" if problems else "read")


def attack(folder: Path, tries: int) -> Outcome:
    """Read mutated files, in a process that is started again where it dies."""
    write_all(folder)
    outcome, number = Outcome(), 0
    while number < tries:
        for line in _said(folder, number, tries):
            if line.startswith("begun"):
                current = line
                continue
            number += 1
            if line in ("read", "read in part", "refused"):
                outcome.good(line)
            else:
                outcome.bad(f"{current}: {line}")
    return outcome


def _said(folder: Path, first: int, last: int) -> Iterator[str]:
    """Yield what the process says, and how it ended, if that was by a signal."""
    command = [sys.executable, "-m", "tests.torture.tables", str(folder), str(first), str(last)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        output, errors = process.communicate(timeout=_SECONDS * (last - first))
    yield from output.splitlines()
    if process.returncode:
        yield f"died {process.returncode}: {errors[-300:]}"


if __name__ == "__main__":
    place, *numbers = sys.argv[1:]
    read_mutations(Path(place), int(numbers[0]), int(numbers[1]), lambda line: print(line, flush=True))
