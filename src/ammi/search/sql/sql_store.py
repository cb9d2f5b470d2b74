"""SqlStore: the part of a store that is the same on every SQL database."""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Self

from ammi.search import word_counts
from ammi.search.documents import Entry, Id, Metadata, Record
from ammi.search.filters import Filter, matches
from ammi.search.hamming import Codes
from ammi.search.sql.sessions import SqlDatabase
from ammi.search.sql.sql_tables import SqlTables
from ammi.search.stopping import check_stopped
from ammi.search.store import Store
from ammi.search.store_methods import About, ChangeKey
from ammi.search.vectors import Packed


class SqlStore(Store):
    """Documents in the tables of a SQL database."""

    def __init__(self, database: SqlDatabase[Any, Any], tables: SqlTables):
        """Not for callers, who have `create` and `open`."""
        self.location = database.location
        self._database, self._tables = database, tables

    def close(self) -> None:
        self._database.close()

    def files(self) -> dict[str, bytes]:
        with self._reading():
            files = self._tables.files()
        files.pop(word_counts.FILE, None)
        return files

    def _word_counts(self) -> bytes | None:
        return self._tables.file(word_counts.FILE)

    def _keep_word_counts(self, content: bytes) -> None:
        self._tables.set_file(word_counts.FILE, content)

    def column(self, key: str) -> list[Any]:
        with self._reading():
            return [metadata.get(key) for block in self._tables.all_metadata() for _, metadata in block]

    def metadata_blocks(self) -> Iterator[list[tuple[Id, Metadata]]]:
        with self._reading():
            ids = iter(self.export()[0])
            for block in self._tables.all_metadata():
                yield [(next(ids), metadata) for _, metadata in block]

    def _matching_ids(self, filter: Filter) -> list[Id]:
        return [id for block in self.metadata_blocks() for id, metadata in block if matches(filter, metadata)]

    @property
    def indexed_keys(self) -> list[str]:
        with self._reading():
            return list(self._tables.indexed())

    def _index_keys(self, keys: list[str]) -> None:
        with self._writing():
            self._tables.index_keys(keys)

    def key_kinds(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        with self._reading():
            for name, kinds, documents in self._tables.kinds():
                found.setdefault(name, {})[kinds] = documents
        return found

    def _blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        snapshot = self._database.snapshot
        view = self if snapshot else self._beside()
        with view._reading():
            for block in view._read_blocks(filter):
                check_stopped()
                yield block
                now = self._database.snapshot
                if snapshot and now is not snapshot:
                    raise ValueError(
                        f"the block of reads that saw one snapshot of {self.location} has ended: read its documents "
                        "inside of the block"
                    )

    @abstractmethod
    def _beside(self) -> Self:
        """The same store for one job that may move from thread to thread, beside all others."""

    @abstractmethod
    def _read_blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        """Yield the documents that pass a filter as the snapshot of the caller has them."""

    def _reading(self) -> AbstractContextManager[None]:
        return self._database.reading()

    def _writing(self) -> AbstractContextManager[None]:
        return self._database.writing()

    def _about(self) -> About:
        return self._database.state.about

    def _words_with(self, stems: Collection[str]) -> Iterable[str]:
        return self._tables.words_among("stem", stems)

    def _words_from(self, prefix: str) -> Iterable[str]:
        return self._tables.words_from(prefix)

    def _set_language(self, language: str) -> None:
        self._tables.set_language(language)

    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        ids = [record.id for record in records]
        self._remove(ids)
        self._tables.append(self._database.take_positions(ids), records, codes, vectors)

    def _remove(self, ids: list[Id]) -> None:
        if positions := [position for position in self._tables.find(ids) if position is not None]:
            self._tables.remove(sorted(positions))

    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        found = zip(self._tables.find(metadata), metadata.values(), strict=True)
        if new := {position: keys for position, keys in found if position is not None}:
            self._tables.replace_metadata(new)

    def _remembered(self, name: int) -> tuple[int, int] | None:
        return self._tables.remembered(name)

    def _remember(self, key: ChangeKey, outcome: int) -> None:
        self._tables.remember(key, outcome)

    def _has(self, ids: list[Id]) -> list[bool]:
        return [position is not None for position in self._tables.find(ids)]

    def _fetch(self, ids: list[Id]) -> list[Entry | None]:
        positions = self._tables.find(ids)
        there = [position for position in positions if position is not None]
        entries = self._tables.entries(there) if there else {}
        for id, position in zip(ids, positions, strict=True):
            if position is not None and position not in entries:
                raise self._tables.damaged(f"document {id!r} has no code")
        return [None if position is None else entries[position] for position in positions]
