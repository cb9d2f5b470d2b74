"""The vectors of an embedded index: a row of SQLite for each, so that a shortlist reads its own and no others."""

import json

import numpy as np
from numpy.typing import NDArray

from ammi.search.embedded.blocks import Positions
from ammi.search.embedded.database import SqliteDatabase
from ammi.search.vectors import KeptVectors, Packed, unpacked, vector_checksum, vector_rows


class VectorTable:
    """The table of vectors, which an index that keeps none does not have. It is used while reading or writing."""

    def __init__(self, database: SqliteDatabase):
        self._database = database

    def append(self, positions: Positions, vectors: Packed) -> None:
        """Add vectors at new positions."""
        self._database.execute_each("INSERT INTO vectors VALUES (?, ?, ?)", vector_rows(positions.tolist(), vectors))

    def at(self, positions: Positions, kept: KeptVectors) -> NDArray[np.float32]:
        """The vectors at sorted positions, all of which are there, (n, d)."""
        found = self._database.execute(
            "SELECT position, vector, checksum FROM vectors WHERE position IN (SELECT value FROM json_each(?)) "
            "ORDER BY position",
            (json.dumps(positions.tolist()),),
        ).fetchall()
        wrong = {position for position, vector, checksum in found if vector_checksum(position, vector) != checksum}
        wrong |= {*positions.tolist()} - {position for position, *_ in found}
        if wrong:
            ((id,),) = self._database.execute("SELECT id FROM documents WHERE position = ?", (min(wrong),))
            raise self._database.damaged(f"the vector of document {id!r} is not as it was written")
        rows = np.frombuffer(b"".join(row[1] for row in found), np.uint8).reshape(len(positions), kept.n_bytes)
        return unpacked(rows, kept)
