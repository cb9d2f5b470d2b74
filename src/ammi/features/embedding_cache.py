"""Embeddings that were made before, in an SQLite file: of each model and text one row of float32.

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
    """The embeddings that one model made of texts.

    Args:
        connection: of the file, which `open_cache` opens.
        file: its path, for messages.
        model: the fingerprint of the model.
        width: the number of columns of a row.
    """

    def __init__(self, connection: sqlite3.Connection, file: Path, model: str, width: int):
        self._connection, self._file, self._model, self._width = connection, file, model, width

    def get(self, texts: list[str]) -> dict[str, NDArray[np.float32]]:
        """The rows of those texts that are there."""
        found = {}
        with _naming(self._file):
            for text in texts:
                query = "SELECT row, checksum FROM embeddings WHERE key = ?"
                kept = self._connection.execute(query, (self._key(text),)).fetchone()
                if kept:
                    found[text] = self._row(*kept)
        return found

    def put(self, rows: Mapping[str, NDArray[np.float32]]) -> None:
        """Keep the rows of texts, all of them in one step."""
        contents = {text: row.astype("<f4").tobytes() for text, row in rows.items()}
        kept = [(self._key(text), content, zlib.crc32(content)) for text, content in contents.items()]
        with _naming(self._file), self._connection:
            self._connection.executemany("INSERT OR REPLACE INTO embeddings VALUES (?, ?, ?)", kept)

    def _key(self, text: str) -> bytes:
        return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16, key=self._model.encode()).digest()

    def _row(self, content: object, checksum: object) -> NDArray[np.float32]:
        if not isinstance(content, bytes) or zlib.crc32(content) != checksum or len(content) != 4 * self._width:
            raise sqlite3.DatabaseError("a row is not as it was written")
        return np.frombuffer(content, "<f4").astype(np.float32, copy=False)


@contextmanager
def open_cache(folder: str | os.PathLike[str], model: str, width: int) -> Iterator[EmbeddingCache]:
    """The cache in a folder, both made if need be, for the model of this fingerprint."""
    if Path(folder).exists() and not Path(folder).is_dir():
        raise NotADirectoryError(f"the cache {folder} is a file: name a folder")
    Path(folder).mkdir(parents=True, exist_ok=True)
    file = Path(folder, FILE)
    with _naming(file):
        connection = sqlite3.connect(file, timeout=SECONDS_TO_WAIT)
    with closing(connection):
        with _naming(file):
            _prepare(connection)
        yield EmbeddingCache(connection, file, model, width)


def _prepare(connection: sqlite3.Connection) -> None:
    """Make the table in a new file, unless another process does it first; refuse a file of another kind."""
    if _format(connection) == 0:
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            if _format(connection) == 0:
                connection.execute("CREATE TABLE embeddings (key BLOB PRIMARY KEY, row BLOB, checksum INTEGER)")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
    if _format(connection) != FORMAT:
        raise sqlite3.DatabaseError(f"it has format {_format(connection)}, expected {FORMAT}")


def _format(connection: sqlite3.Connection) -> int:
    return connection.execute("PRAGMA user_version").fetchone()[0]


@contextmanager
def _naming(file: Path) -> Iterator[None]:
    """Say which file cannot be used, whatever SQLite says of it."""
    try:
        yield
    except sqlite3.OperationalError as error:  # busy, full, not to be written
        raise OSError(f"the cache {file} cannot be used ({error}): name another folder, or none") from error
    except sqlite3.DatabaseError as error:
        raise ValueError(f"the cache {file} is damaged ({error}): delete it, or name another folder") from error
