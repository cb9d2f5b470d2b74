"""SqlStore: the part of a store that is the same on every SQL database."""

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Id, Metadata, Record
from ammi.search.hamming import Codes
from ammi.search.sql.sessions import SqlDatabase, about_of
from ammi.search.store import Store
from ammi.search.store_methods import About
from ammi.search.vectors import Packed


class SqlStore(Store):
    """Documents in tables, in the order of their positions, which only grow and are never used again."""

    _database: SqlDatabase[Any, Any]

    def close(self) -> None:
        self._database.close()

    def _reading(self) -> AbstractContextManager[None]:
        return self._database.reading()

    def _writing(self) -> AbstractContextManager[None]:
        return self._database.writing()

    def _about(self) -> About:
        return about_of(self._database.state)

    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        ids = [record.id for record in records]
        self._remove(ids)
        self._append(self._database.take_positions(ids), codes, records, vectors)

    def _remove(self, ids: list[Id]) -> None:
        self._remove_at([position for position in self._find(ids) if position is not None])

    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        found = zip(self._find(metadata), metadata.values(), strict=True)
        self._replace_metadata_at({position: new for position, new in found if position is not None})

    def _has(self, ids: list[Id]) -> list[bool]:
        return [position is not None for position in self._find(ids)]

    def _fetch(self, ids: list[Id]) -> list[Entry | None]:
        positions = self._find(ids)
        entries = self._entries_at([position for position in positions if position is not None])
        for id, position in zip(ids, positions, strict=True):
            if position is not None and position not in entries:
                raise self._damaged(f"document {id!r} has no code")
        return [None if position is None else entries[position] for position in positions]

    @abstractmethod
    def _find(self, ids: Iterable[Id]) -> list[int | None]:
        """The position of each document; None where there is none."""

    @abstractmethod
    def _entries_at(self, positions: Sequence[int]) -> dict[int, Entry]:
        """The documents at those of the positions that hold one with a code, in insertion order."""

    @abstractmethod
    def _append(self, positions: range, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        """Add documents at new positions."""

    @abstractmethod
    def _remove_at(self, positions: Sequence[int]) -> None: ...

    @abstractmethod
    def _replace_metadata_at(self, metadata: Mapping[int, Metadata]) -> None: ...

    @abstractmethod
    def _damaged(self, cause: str) -> DamagedError: ...
