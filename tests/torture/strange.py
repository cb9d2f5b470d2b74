"""Strategies for what nobody would write on purpose: texts, values, documents, and files of every format of them."""

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import scipy.sparse
import zstandard
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

ODD_TEXTS = ["", " ", "\0", "\ufeff", "\ud800", "a\nb", "\r", "\x1b[31m", "[bold]", "ship", "ship wave", "nan", "1e400"]
ODD_TEXTS += ["-1", "1" * 5000, "[" * 2000, '{"a":' * 500, "=", "a=1", "year>=1980", "!", 'a="', "x" * 10_000, "🚢"]
ODD_NUMBERS = [0, 1, -1, 2, 3, 7, 8, 16, 17, 63, 64, 1 << 31, (1 << 31) - 1, 1 << 63, (1 << 63) - 1, 1 << 64, 10**400]
ODD_FLOATS = [0.0, -0.0, 0.5, 1e-300, 1e300, float("nan"), float("inf"), float("-inf")]

texts = st.sampled_from(ODD_TEXTS) | st.text(max_size=20)
numbers = st.sampled_from(ODD_NUMBERS) | st.integers(-3, 100)
floats = st.sampled_from(ODD_FLOATS) | st.floats(-2, 2)
scalars = st.none() | st.booleans() | numbers | floats | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3), max_leaves=5
) | st.integers(1, 1500).map(lambda depth: nested(depth))
KEYS = ["id", "text", "vector", "label", "year", "code", "bits", "model", "ammi_export", "metadata", "", "\ud800"]
vectors = st.lists(floats | numbers, max_size=5) | st.lists(st.floats(-1, 1), min_size=4, max_size=4)
good_documents = st.fixed_dictionaries(
    {"id": st.integers(0, 50) | st.text("abc", max_size=3), "text": st.sampled_from(["ship wave", "wheat soil", ""])},
    optional={"vector": vectors, "label": scalars, "year": values},
)
documents = good_documents | st.dictionaries(st.sampled_from(KEYS), vectors | values, max_size=5)


def nested(depth: int) -> Any:
    value: Any = []
    for _ in range(depth):
        value = [value]
    return value


def json_lines(rows: list[Any]) -> bytes:
    return b"".join(spelled(row).encode("utf-8", "surrogatepass") + b"\n" for row in rows)


def spelled(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (RecursionError, ValueError):  # deep brackets, and numbers of thousands of digits
        return repr(value) if isinstance(value, int) else "[" * 5000


def table(rows: list[dict[str, Any]], delimiter: str) -> bytes:
    out = io.StringIO()
    header = sorted({key for row in rows for key in row})
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerow(header)
    writer.writerows([[spelled(row.get(key, "")) for key in header] for row in rows])
    return out.getvalue().encode("utf-8", "surrogatepass")


def saved(write: Callable[[io.BytesIO], object]) -> bytes:
    out = io.BytesIO()
    with suppress(pa.ArrowException):  # of what is nested too deep
        write(out)
    return out.getvalue()


def arrow_table(rows: list[dict[str, Any]]) -> pa.Table:
    """A table of what Arrow takes of the rows."""
    columns = {}
    for key in {key for row in rows for key in row}:
        try:
            columns[key] = pa.array([row.get(key) for row in rows])
        except (pa.ArrowException, UnicodeEncodeError, OverflowError, RecursionError, TypeError):
            columns[key] = pa.array([b"\xff"] * len(rows), pa.binary()).cast(pa.string(), safe=False)
    return pa.table({key.encode("utf-8", "replace").decode(): column for key, column in columns.items()})


any_array = arrays.arrays(
    st.sampled_from(["f2", "f4", "f8", "i1", "u1", "i8", "u8", "?", "U3", "S2", "M8[s]", "c8"]),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)
packed_codes = arrays.arrays("u1", st.tuples(st.integers(0, 6), st.sampled_from([0, 1, 2, 3, 8, 16])))
matrices = arrays.arrays(st.sampled_from(["f4", "f8"]), st.tuples(st.integers(0, 6), st.sampled_from([0, 1, 4, 5])))
npz_arrays = st.dictionaries(
    st.sampled_from(["vectors", "ids", "texts", "year", "codes", "n_bits", "fingerprint", "x"]),
    any_array | matrices | packed_codes,
    max_size=4,
)
sparse = st.fixed_dictionaries(
    {
        "format": st.sampled_from([np.array(b"csr"), np.array("csr"), np.array(b"coo"), np.array(7)]),
        "shape": st.lists(st.sampled_from([0, 1, 3, 1 << 40, -1]), max_size=3).map(np.array),
        "data": any_array,
        "indices": arrays.arrays("i4", st.integers(0, 4)),
        "indptr": arrays.arrays("i4", st.integers(0, 4)),
    }
)
rows = st.lists(documents, max_size=6)
good_rows = st.lists(good_documents, min_size=1, max_size=6)
json_files = (rows | good_rows | st.lists(values, max_size=4)).map(json_lines)

CONTENTS: dict[str, st.SearchStrategy[bytes]] = {
    ".jsonl": json_files | st.binary(max_size=40),
    ".csv": (rows | good_rows).map(lambda rows: table(rows, ",")) | st.binary(max_size=40),
    ".tsv": (rows | good_rows).map(lambda rows: table(rows, "\t")),
    ".txt": st.lists(texts, max_size=5).map(lambda lines: "\n".join(lines).encode("utf-8", "surrogatepass")),
    ".npy": (any_array | matrices).map(lambda array: saved(lambda out: np.save(out, array))),
    ".npz": (npz_arrays | sparse).map(lambda found: saved(lambda out: np.savez(out, **found)))
    | matrices.map(lambda X: saved(lambda out: scipy.sparse.save_npz(out, scipy.sparse.csr_matrix(X)))),
    ".parquet": (rows | good_rows).map(
        lambda rows: saved(lambda out: pyarrow.parquet.write_table(arrow_table(rows), out))
    ),
    ".arrow": (rows | good_rows).map(
        lambda rows: saved(lambda out: pyarrow.feather.write_feather(arrow_table(rows), out, "uncompressed"))
    ),
    ".json": st.builds(lambda method, value: spelled({"method": method, "parameters": value}).encode(
        "utf-8", "surrogatepass"), st.sampled_from(["lsh", "itq", 7, None]), values | st.dictionaries(texts, values)),
}  # fmt: skip
COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda content: content,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """A name and the content of a file, perhaps compressed, perhaps damaged, perhaps under another ending."""
    ending = draw(st.sampled_from(list(CONTENTS)))
    content = draw(CONTENTS[ending])
    compression = draw(st.sampled_from(["", "", "", *COMPRESSIONS]))
    content = COMPRESSIONS[compression](content)
    damage = draw(st.sampled_from(["none", "none", "none", "cut", "flip"]))
    if damage == "cut":
        content = content[: draw(st.integers(0, len(content)))]
    if damage == "flip" and content:
        at = draw(st.integers(0, len(content) - 1))
        content = content[:at] + bytes([content[at] ^ draw(st.integers(1, 255))]) + content[at + 1 :]
    name = draw(st.sampled_from([ending, ending, ending, *CONTENTS]))
    return f"input{name}{compression}", content
