"""HammingIndex: the tables of documents, codes, words and vectors as one Store."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ammi.search import hamming
from ammi.search.documents import Entry, Id, Record, checked_ids, each_code
from ammi.search.embedded.blocks import BLOCK, Blocks, CodeTable, Positions
from ammi.search.embedded.connections import FILE
from ammi.search.embedded.database import VECTOR_COLUMNS, SqliteDatabase
from ammi.search.embedded.embedded_tables import EmbeddedTables
from ammi.search.filters import Filter
from ammi.search.hamming import Codes
from ammi.search.ranking import Candidates
from ammi.search.sql.rebuild import NewRow, Rebuild
from ammi.search.sql.sql_store import SqlStore
from ammi.search.store_methods import About, Encode, Found, Location, Repaired, Upgraded
from ammi.search.wanted import Wanted, WordStatistics

FoundRows = Iterable[tuple[NDArray[np.int32], NDArray[np.int64]]]  # for each query, the distances and rows of its hits


class HammingIndex(SqlStore):
    """A Store in a folder: documents found by the Hamming distance of their codes, exactly.

    A change is on disk when its call returns. Any number of processes and threads may read while one writes; a search
    sees all changes made before it began. Reading verifies the checksum of every page and document. A read-only folder
    can be searched. `index_keys` costs some space, and makes a filter on those keys fast if few documents pass; a
    filter on another key reads the metadata of all documents, about a second for a million.
    """

    _database: SqliteDatabase
    _tables: EmbeddedTables

    def __init__(self, database: SqliteDatabase, newest: "_NewestTable | None" = None):
        super().__init__(database, EmbeddedTables(database))
        self._newest = newest or _NewestTable()

    @classmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes]) -> Self:
        return cls(SqliteDatabase.create(Path(location), about, keys, files))

    @classmethod
    def open(cls, location: Location) -> Self:
        return cls(SqliteDatabase.open(Path(location)))

    @classmethod
    def exists(cls, location: Location) -> bool:
        return (Path(location) / FILE).is_file()

    @classmethod
    def check(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> list[str]:
        from ammi.search.embedded.damage import find_damage

        return find_damage(Path(location), advance)

    @classmethod
    def repair(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> Repaired:
        from ammi.search.embedded.damage import repair

        return repair(Path(location), advance)

    @classmethod
    def upgrade(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> Upgraded:
        from ammi.search.embedded.upgrade import upgrade

        return upgrade(Path(location), advance)

    def state(self) -> str | None:
        with self._reading():
            state = self._database.state
            return f"{state.uid.hex()[:8]}-{state.change}"

    def optimize(self) -> None:
        """Merge the segments of the word index, if they are many and large."""
        with self._reading():
            wanted = self._database.state.text_index and self._tables.words.needs_merge()
        if wanted:
            with suppress(OSError), self._writing():  # without space, or beside another writer, a later call can do it
                self._tables.words.merge()

    def compact(self) -> tuple[int, int]:
        before = self._database.file.size()
        with self._writing():
            if self._database.state.text_index:
                self._tables.words.merge()
        self._database.compact()
        return before, self._database.file.size()

    def close(self) -> None:
        super().close()
        self._newest.table = None

    def _count(self) -> int:
        return self._tables.codes.count()

    def _nearest(self, queries: Codes, k: int, filter: Filter) -> Found:
        return self._search(lambda base: zip(*hamming.nearest(base, queries, k), strict=True), filter)

    def _within(self, queries: Codes, radius: int, filter: Filter) -> Found:
        return self._search(lambda base: hamming.within(base, queries, radius), filter)

    def _search(self, find: Callable[[Codes], FoundRows], filter: Filter) -> Found:
        table = self._table()
        if filter:
            kept = table.rows(self._tables.matching(filter))
            near = [(distances, kept[rows]) for distances, rows in find(table.codes[kept])]
        else:
            near = list(find(table.codes))
        all_rows = np.concatenate([np.empty(0, np.int64), *(rows for _, rows in near)])
        positions = table.positions(all_rows)
        found_rows = np.unique(all_rows)
        records = self._tables.records(table.positions(found_rows), table.codes[found_rows])
        found = iter(positions.tolist())
        return [
            list(zip(distances.tolist(), map(records.__getitem__, islice(found, len(rows))), strict=True))
            for distances, rows in near
        ]

    def _shortlists(
        self, queries: Codes, n: int, wanted: Sequence[Wanted], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        table = self._table()
        among = self._tables.matching(filter) if filter else None
        kept = None if among is None else table.rows(among)
        _, near = hamming.nearest(table.codes if kept is None else table.codes[kept], queries, n)
        for rows, query in zip(near, wanted, strict=True):
            positions, statistics = np.sort(table.positions(rows if kept is None else kept[rows])), None
            texts: dict[int, tuple[str, str]] = {}
            if query.terms:  # a text without any of the words has no lexical score, so it is not read
                positions, having, statistics = self._tables.words.shortlist(positions, query, n, among)
                texts = self._tables.texts_and_headings(having)
            found = [texts.get(position, (None, "")) for position in positions.tolist()] if query.terms else []
            read, headings = zip(*found, strict=True) if found else ((), ())
            vectors = self._tables.vectors(positions) if with_vectors else None
            codes = table.codes[table.rows(positions)]
            yield Candidates(codes, read, headings, vectors, statistics, partial(self._records_at, positions, codes))

    def _word_statistics(self, words: Sequence[str]) -> WordStatistics:
        return self._tables.words.statistics(words)

    def _records_at(self, positions: Positions, codes: Codes, rows: NDArray[np.int64]) -> list[Record]:
        """Return the documents at the positions, with the codes, in these rows."""
        records = self._tables.records(positions[rows], codes[rows])
        return [records[position] for position in positions[rows].tolist()]

    def _beside(self) -> Self:
        return type(self)(self._database.view(), self._newest)

    def _read_blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        positions = self._tables.matching(filter) if filter else self._table().positions()
        for start in range(0, len(positions), BLOCK):
            yield list(self._tables.entries(positions[start : start + BLOCK]).values())

    def export(self) -> tuple[list[Id], Codes]:
        with self._reading():
            return self._tables.ids(), self._table().codes

    def codes_of(self, ids: Iterable[Id]) -> list[Codes | None]:
        with self._reading():  # in memory, because every search needs those of its hits
            table, positions = self._table(), self._tables.find(checked_ids(ids))
            there = np.unique([position for position in positions if position is not None]).astype(np.int64)
            codes = dict(zip(there.tolist(), table.codes[table.rows(there)], strict=True))
            return [None if position is None else codes[position] for position in positions]

    def __iter__(self) -> Iterator[Id]:
        with self._reading():
            return iter(self._tables.ids())

    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        with self._database.held():  # temporary tables belong to one connection
            try:
                _EmbeddedRebuild(self, encode, about, files).run()
            finally:
                for table in ("new_codes", "new_vectors"):
                    self._database.execute(f"DROP TABLE IF EXISTS temp.{table}")

    def _table(self) -> CodeTable:
        """Return the codes as they are now."""
        uncommitted = self._database.writes  # which is not cached
        return self._newest.renewed(self._tables.codes, keep=not uncommitted)


class _NewestTable:
    """The newest codes that any thread read."""

    def __init__(self) -> None:
        self.table: CodeTable | None = None
        self._lock = Lock()

    def renewed(self, codes: Blocks, *, keep: bool) -> CodeTable:
        """Return the codes of the caller's snapshot."""
        with self._lock:
            table = codes.table(self.table)
            if keep and (self.table is None or table.change > self.table.change):
                self.table = table
            return table


class _EmbeddedRebuild(Rebuild):
    _database: SqliteDatabase
    _tables: EmbeddedTables

    def __init__(self, store: HammingIndex, encode: Encode, about: About, files: dict[str, bytes]):
        super().__init__(store._database, store._tables, encode, about)
        self._files = files
        self._database.execute(f"CREATE TEMP TABLE new_codes {VECTOR_COLUMNS.replace('vector', 'code')}")
        self._database.execute(f"CREATE TEMP TABLE new_vectors {VECTOR_COLUMNS}")

    def _code_values(self, codes: Codes) -> list[bytes]:
        return each_code(codes)

    def _keep(self, table: str, rows: Sequence[NewRow]) -> None:
        with self._database.session.db:  # in one transaction
            self._database.execute_each(f"INSERT OR REPLACE INTO temp.{table} VALUES (?, ?, ?)", rows)

    def _change_over(self) -> None:
        database, about = self._database, self._about
        database.set_state(n_bits=about.n_bits, fingerprint=about.fingerprint)
        self._tables.set_files(self._files)
        codes = "SELECT position, code FROM temp.new_codes JOIN documents USING (position) ORDER BY position"
        self._tables.codes.replace(database.execute(codes))
        database.execute(
            "UPDATE documents SET checksum = new.checksum FROM temp.new_codes AS new "
            "WHERE new.position = documents.position"
        )
        if about.vectors:
            database.set_state(vector_kind=about.vectors.kind, vector_width=about.vectors.width)
        if self._has_vectors:
            database.execute("DELETE FROM vectors")
            database.execute(
                "INSERT INTO vectors SELECT new.* FROM temp.new_vectors AS new JOIN documents USING (position)"
            )
