"""The vectors of an embedded index: a row of SQLite for each, so that a shortlist reads its own and no others."""

import json

import numpy as np

from ammi.search.embedded.blocks import Positions
from ammi.search.embedded.database import Database
from ammi.search.vectors import KeptVectors, Packed, vector_checksum, vector_rows

_COLUMNS = "(position INTEGER PRIMARY KEY, vector BLOB NOT NULL, checksum INTEGER NOT NULL)"


def schema(kept: KeptVectors | None) -> tuple[str, ...]:
    """The tables of an index that keeps vectors in this way."""
    if kept is None:
        return ()
    about = f"INSERT INTO kept_vectors VALUES ('{kept.kind}', {kept.width})"
    return "CREATE TABLE kept_vectors (kind TEXT, width INTEGER)", about, f"CREATE TABLE vectors {_COLUMNS}"


class VectorTable:
    """The tables of vectors, which an index that keeps none does not have. It is used while reading or writing."""

    def __init__(self, store: Database):
        self._store = store

    def kept(self) -> KeptVectors | None:
        """How vectors are kept, or None where they are not."""
        if not self._store.execute("SELECT 1 FROM sqlite_master WHERE name = 'kept_vectors'").fetchone():
            return None
        return KeptVectors(*self._store.execute("SELECT kind, width FROM kept_vectors").fetchone())

    def append(self, positions: Positions, vectors: Packed) -> None:
        """Add vectors at new positions."""
        self._store.execute_each("INSERT INTO vectors VALUES (?, ?, ?)", vector_rows(positions.tolist(), vectors))

    def remove(self, positions: Positions) -> None:
        self._store.execute_each(
            "DELETE FROM vectors WHERE position = ?", ((position,) for position in positions.tolist())
        )

    def at(self, positions: Positions, kept: KeptVectors) -> Packed:
        """The vectors at sorted positions, all of which are there."""
        found = self._store.execute(
            "SELECT position, vector, checksum FROM vectors WHERE position IN (SELECT value FROM json_each(?)) "
            "ORDER BY position",
            (json.dumps(positions.tolist()),),
        ).fetchall()
        wrong = {position for position, vector, checksum in found if vector_checksum(position, vector) != checksum}
        wrong |= {*positions.tolist()} - {position for position, *_ in found}
        if wrong:
            ((id,),) = self._store.execute("SELECT id FROM documents WHERE position = ?", (min(wrong),))
            raise self._store.damaged(f"the vector of document {id!r} is not as it was written")
        return np.frombuffer(b"".join(row[1] for row in found), np.uint8).reshape(len(positions), kept.n_bytes)

    # New vectors of all documents wait in a temporary table, on the disk, until all are there.

    def renew(self, positions: Positions, vectors: Packed) -> None:
        """Remember new vectors; of two for one position the later counts."""
        self._store.execute(f"CREATE TEMP TABLE IF NOT EXISTS renewed {_COLUMNS}")
        rows = vector_rows(positions.tolist(), vectors)
        self._store.execute_each("INSERT OR REPLACE INTO renewed VALUES (?, ?, ?)", rows)

    def change_over(self, kept: KeptVectors) -> None:
        """Put the new vectors, of those documents that are still there, in the place of the old ones, if there are."""
        self._store.execute("UPDATE kept_vectors SET kind = ?, width = ?", kept)
        if self._store.execute("SELECT 1 FROM sqlite_temp_master WHERE name = 'renewed'").fetchone():
            self._store.execute("DELETE FROM vectors")
            self._store.execute("INSERT INTO vectors SELECT renewed.* FROM renewed JOIN documents USING (position)")

    def forget_renewed(self) -> None:
        self._store.execute("DROP TABLE IF EXISTS temp.renewed")
