"""New codes of all documents of a SQL database, which take the place of the old ones in one step."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from ammi.search.hamming import Codes
from ammi.search.sql.sessions import SqlDatabase
from ammi.search.sql.sql_tables import SqlTables, checksums_of
from ammi.search.store_methods import About, Encode
from ammi.search.vectors import vector_rows

_AT_ONCE = 1024  # documents: the embedded store keeps as many codes in a block

NewRow = tuple[int, bytes | str, int]  # a position, a code or a vector, and the checksum


class Rebuild(ABC):
    """One rebuild. New codes and vectors wait in the temporary tables new_codes and new_vectors until all are there."""

    def __init__(self, database: SqlDatabase[Any, Any], tables: SqlTables, encode: Encode, about: About):
        self._database, self._tables = database, tables
        self._encode, self._about = encode, about
        self._has_vectors = False  # new ones

    def run(self) -> None:
        """Encode all documents while others read and write, then their late changes while they wait; change over."""
        seen, before = -1, inf
        while True:
            with self._database.reading():
                change, late = self._database.state.change, self._changed_since(seen)
            if not late or len(late) >= before:  # others may change documents as fast as they are encoded
                break
            self._encode_at(late)
            seen, before = change, len(late)
        with self._database.writing():
            self._encode_at(self._changed_since(seen))
            self._change_over()

    def _changed_since(self, change: int) -> list[int]:
        """The positions of the documents that were added or altered after a change."""
        rows = self._database.execute(f"SELECT position FROM documents WHERE change > {change} ORDER BY position")
        return [position for (position,) in rows]

    def _encode_at(self, positions: Sequence[int]) -> None:
        for start in range(0, len(positions), _AT_ONCE):
            with self._database.reading():
                by_position = self._tables.entries(positions[start : start + _AT_ONCE])
            if not by_position:
                continue
            entries = list(by_position.values())
            codes, vectors = self._encode(entries)
            made = checksums_of([entry.record for entry in entries], codes)
            self._keep("new_codes", list(zip(by_position, self._code_values(codes), made, strict=True)))
            if vectors is not None:
                self._has_vectors = True
                self._keep("new_vectors", list(vector_rows(by_position, vectors)))

    @abstractmethod
    def _code_values(self, codes: Codes) -> Iterable[bytes | str]:
        """Codes as the database takes them."""

    @abstractmethod
    def _keep(self, table: str, rows: Sequence[NewRow]) -> None:
        """Add rows to a temporary table, in place of those of the same positions."""

    @abstractmethod
    def _change_over(self) -> None:
        """Put what waits in the place of the old codes and vectors, for the documents that are still there."""
