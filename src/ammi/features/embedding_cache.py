"""A cache of embeddings in an SQLite file: for each model and text a row of float32.

Several processes may use a file at once. Each row has a checksum, since SQLite has none.
"""

import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

FILE = "embeddings.sqlite"
FORMAT = 1
SECONDS_TO_WAIT = 60.0  # while another process writes


class EmbeddingCache:
    """The embeddings that the model with this fingerprint made of texts, rows of this width; use `open_cache`."""

    def __init__(self, connection: sqlite3.Connection, model: str, width: int):
        self._connection, self._model, self._width = connection, model, width

    def get(self, texts: list[str]) -> dict[str, NDArray[np.float32]]:
        """Return the rows of those texts that are in the cache."""
        query = "SELECT row, checksum FROM embeddings WHERE key = ?"
        found = ((text, self._connection.execute(query, (self._key(text),)).fetchone()) for text in texts)
        return {text: self._row(*kept) for text, kept in found if kept}

    def put(self, rows: Mapping[str, NDArray[np.float32]]) -> None:
        """Add the rows of texts, all in one transaction."""
        contents = [(self._key(text), row.astype("<f4").tobytes()) for text, row in rows.items()]
        values = [(key, content, zlib.crc32(content)) for key, content in contents]
        with self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)", values)

    def _key(self, text: str) -> bytes:
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=self._model.encode()).digest()

    def _row(self, content: object, checksum: object) -> NDArray[np.float32]:
        if not isinstance(content, bytes) or zlib.crc32(content) != checksum or len(content) != 4 * self._width:
            raise sqlite3.DatabaseError("a row is not as it was written")
        return np.frombuffer(content, "<f4").astype(np.float32, copy=False)


@contextmanager
def open_cache(folder: str | os.PathLike[str], model: str, width: int) -> Iterator[EmbeddingCache]:
    """Open the cache in a folder, both made if need be; an error of SQLite in the block names its file."""
    if Path(folder).exists() and not Path(folder).is_dir():
        raise NotADirectoryError(f"the cache {folder} is a file: name a folder")
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = Path(folder, FILE)
    try:
        with closing(sqlite3.connect(file, timeout=SECONDS_TO_WAIT)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            _prepare(connection)
            yield EmbeddingCache(connection, model, width)
    except sqlite3.OperationalError as error:  # busy, full, read-only
        raise OSError(f"the cache {file} cannot be used ({error}): name another folder, or none") from error
    except sqlite3.DatabaseError as error:
        raise ValueError(f"the cache {file} is damaged ({error}): delete it, or name another folder") from error


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the table in a new file, unless another process does it first; refuse a file of another format."""
    if _format(connection) == 0:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS embeddings (key BLOB PRIMARY KEY, row BLOB, checksum INTEGER)"
            )
            connection.execute(f"PRAGMA user_version = {FORMAT}")
    if _format(connection) != FORMAT:
        raise sqlite3.DatabaseError(f"it has format {_format(connection)}, expected {FORMAT}")


def _format(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]
