"""The files that an index in Milvus keeps beside its documents, in pieces that fit into rows."""

from base64 import b64decode, b64encode
from dataclasses import replace
from itertools import accumulate
from zlib import crc32

from ammi.search.milvus.client import Row
from ammi.search.milvus.state import Head
from ammi.search.milvus.store import NO_CODE, PIECES, Tables

_BYTES = 48_000  # in a row, 64,000 in base64; Milvus takes 65,535
_AT_ONCE = 100


def put_files(store: Tables, head: Head, generation: int, files: dict[str, bytes]) -> Head:
    """Keep files beside the documents of a generation; returns the head that says so."""
    content = b"".join(files.values())
    pieces = [b64encode(content[start : start + _BYTES]).decode() for start in range(0, len(content), _BYTES)]
    first = -(generation + 1) * PIECES
    store.client.insert(
        store.pieces,
        [{"row": first + n, "code": NO_CODE, "of": -1 - generation, "piece": piece} for n, piece in enumerate(pieces)],
    )
    sizes = tuple((name, len(one)) for name, one in files.items())
    return replace(head, files=sizes, files_checksum=crc32(content))


def read_files(store: Tables, head: Head) -> dict[str, bytes]:
    first, size = -(head.generation + 1) * PIECES, sum(size for _, size in head.files)
    pieces: list[Row] = []
    for start in range(first, first - (-size // _BYTES), _AT_ONCE):
        pieces += store.client.query(store.pieces, f"row >= {start} and row < {start + _AT_ONCE}", ["row", "piece"])
    damaged = store.damaged("the files of the model are not as they were written")
    try:
        content = b"".join(b64decode(row["piece"], validate=True) for row in sorted(pieces, key=lambda row: row["row"]))
    except ValueError as error:
        raise damaged from error
    if len(content) != size or crc32(content) != head.files_checksum:
        raise damaged
    ends = accumulate(size for _, size in head.files)
    return {name: content[end - size : end] for (name, size), end in zip(head.files, ends, strict=True)}
