"""PostgresStore: documents in a schema of a PostgreSQL database, found by pgvector."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Self

import numpy as np

from ammi.search.documents import Entry, Id, Record
from ammi.search.filters import Filter
from ammi.search.hamming import MOST_FOUND, Codes, too_many_within
from ammi.search.postgres.address import parsed_address
from ammi.search.postgres.jsonb_filters import to_sql
from ammi.search.postgres.postgres_database import CONVERTIBLE, FORMAT, PostgresDatabase
from ammi.search.postgres.postgres_rebuild import rebuild
from ammi.search.postgres.postgres_tables import Positions, PostgresTables, bit_strings, read_codes
from ammi.search.postgres.schema import create_schema, drop_old, has_hnsw, holds_index, make_hnsw
from ammi.search.postgres.values import read_id, word_number
from ammi.search.ranking import Candidates, best_by_terms
from ammi.search.sql.sql_store import SqlStore
from ammi.search.sql.translation import SqlCondition, SqlValue
from ammi.search.store_methods import About, Encode, Found, Location, Repaired, Upgraded
from ammi.search.wanted import KnownCounts, Wanted, WordStatistics
from ammi.urls import shown

BLOCK = 1000
_MOST_APPROXIMATE = 250  # largest k for HNSW: it looks at four times as many, at most 1000
_LEAST_LOOKED_AT = 400
_numbers = count()  # of cursors, which one transaction may have several of
FoundPositions = list[tuple[list[int], list[int]]]  # for each query, the distances and the positions of its hits


class PostgresStore(SqlStore):
    """A Store on a PostgreSQL server: postgresql://USER@HOST:PORT/DATABASE#COLLECTION, a schema for each collection.

    A change is on the server's disk when its call returns. Any number of processes and threads may read while one
    writes; a search sees all that was changed before it began. Reading a document verifies its checksum.
    `?approximate=hnsw` in the URL lets pgvector's HNSW answer a search without a filter, fast and nearly exactly.
    """

    shared = True

    _database: PostgresDatabase
    _tables: PostgresTables

    def __init__(self, database: PostgresDatabase):
        super().__init__(database, PostgresTables(database))
        self._counts = KnownCounts()

    @classmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes]) -> Self:
        create_schema(parsed_address(location), about, keys, files)
        return cls.open(location)

    @classmethod
    def open(cls, location: Location) -> Self:
        index = cls(PostgresDatabase(parsed_address(location)))
        try:
            if not holds_index(index._database):
                raise FileNotFoundError(f"there is no collection in {index.location}: create it first")
            with index._reading():
                pass
        except BaseException:
            index.close()
            raise
        return index

    @classmethod
    def exists(cls, location: Location) -> bool:
        database = PostgresDatabase(parsed_address(location))
        try:
            return holds_index(database)
        finally:
            database.close()

    @classmethod
    def upgrade(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> Upgraded:
        index = cls(PostgresDatabase(parsed_address(location)))
        database, n_documents = index._database, 0
        database.reads = (*CONVERTIBLE, FORMAT)
        try:
            with database.writing():
                before = database.state.format
                if before != FORMAT and database.state.text_index:
                    database.execute("DELETE FROM words")
                for block in index._tables.all_metadata():
                    if before != FORMAT and database.state.text_index:
                        found = index._tables.entries([position for position, _ in block])
                        index._tables.add_words((position, entry.record) for position, entry in found.items())
                    n_documents += len(block)
                    advance(len(block))
                database.set_state(format=FORMAT)
            return Upgraded(before, FORMAT, n_documents, None)
        finally:
            index.close()

    @classmethod
    def repair(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> Repaired:
        raise ValueError(
            f"{shown(location)} is on a PostgreSQL server, which has no repair: restore the schema from a "
            "backup of the database"
        )

    def state(self) -> str | None:
        with self._reading():  # a schema that was dropped and created again has other tables
            ((table,),) = self._database.execute("SELECT 'ammi'::regclass::oid").fetchall()
            return f"{table}-{self._database.state.change}"

    def compact(self) -> tuple[int, int]:
        """Free the space of deleted rows; return the bytes of the tables before and after.

        The server reuses this space, and gives the end of a table back to the disk. Others read and write meanwhile.
        """
        with self._reading():
            ((may,),) = self._database.execute("SELECT has_table_privilege('ammi', 'UPDATE')").fetchall()
            if not may:
                raise PermissionError(
                    f"{self.location} can only be read by this user: let one who may change it compact it"
                )
            before, tables = self._size()
        drop_old(self._database)
        with self._database.alone() as db:
            db.execute(f"VACUUM (ANALYZE) {', '.join(tables)}")
        self.optimize()
        with self._reading():
            return before, self._size()[0]

    def optimize(self) -> None:
        """Build the HNSW index if the URL asks for it and it does not exist."""
        if self._database.address.approximate:
            make_hnsw(self._database)

    def _size(self) -> tuple[int, list[str]]:
        rows = self._database.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = %s::regnamespace",
            (f'"{self._database.address.schema}"',),
        ).fetchall()
        old = {name for name, _ in rows if name.startswith(("codes_", "vectors_"))} - {*self._database.state.tables}
        return sum(size for _, size in rows), [name for name, _ in rows if name not in old]

    def _count(self) -> int:
        return self._database.execute(f"SELECT count(*) FROM {self._database.state.code_table}").fetchone()[0]

    def _nearest(self, queries: Codes, k: int, filter: Filter) -> Found:
        return self._with_records(self._near(queries, k, filter))

    def _within(self, queries: Codes, radius: int, filter: Filter) -> Found:
        radius = min(radius, self._database.state.n_bits)
        near: FoundPositions = []
        left = MOST_FOUND
        for query in queries:
            near += self._ask(query[None], left + 1, filter, f"WHERE distance <= {radius}")
            left -= len(near[-1][0])
            if left < 0:
                raise too_many_within(radius)
        return self._with_records(near)

    def _near(self, queries: Codes, k: int, filter: Filter) -> FoundPositions:
        """Return the k nearest documents that pass a filter, ties in insertion order."""
        if not filter and k <= _MOST_APPROXIMATE and self._database.address.approximate and has_hnsw(self._database):
            near = self._ask_hnsw(queries, k)
            fewest = min([k, *(len(positions) for _, positions in near)])  # after many deletions it may find too few
            if fewest == k or fewest == self._count():
                return near
        return self._ask(queries, min(k, 2**63 - 1), filter)

    def _ask(self, queries: Codes, k: int, filter: Filter, where: str = "") -> FoundPositions:
        state, sql, distance = self._database.state, self._sql(filter), self._database.distance
        documents = f"JOIN documents USING (position) WHERE {sql.text}" if filter else ""
        # The cast keeps PostgreSQL from using the HNSW index, so that this search is exact.
        near = (
            f"SELECT * FROM (SELECT position, (code {distance} queries.code)::int AS distance FROM {state.code_table} "
            f"{documents}) AS near {where} ORDER BY distance, position LIMIT %(k)s"
        )
        return self._rows_of(near, queries, {**sql.values, "k": k})

    def _ask_hnsw(self, queries: Codes, k: int) -> FoundPositions:
        self._database.execute(f"SET LOCAL hnsw.ef_search = {max(4 * k, _LEAST_LOOKED_AT)}")
        self._database.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
        table, distance = self._database.state.code_table, self._database.distance
        near = (
            f"SELECT position, distance::int FROM (SELECT position, code {distance} queries.code AS distance "
            f"FROM {table} ORDER BY distance LIMIT %(k)s) AS near ORDER BY distance, position"
        )
        return self._rows_of(near, queries, {"k": k})

    def _rows_of(self, near: str, queries: Codes, values: dict[str, SqlValue]) -> FoundPositions:
        n_bits = self._database.state.n_bits
        rows = self._database.execute(
            f"SELECT n, distance, position FROM unnest(%(queries)s::text[]::bit({n_bits})[]) WITH ORDINALITY "
            f"AS queries (code, n), LATERAL ({near}) AS near ORDER BY n, distance, position",
            {**values, "queries": [*bit_strings(queries, n_bits)]},
        ).fetchall()
        found: FoundPositions = [([], []) for _ in queries]
        for n, distance, position in rows:
            found[n - 1][0].append(distance)
            found[n - 1][1].append(position)
        return found

    def _with_records(self, near: FoundPositions) -> Found:
        records = self._records({position for _, positions in near for position in positions})
        return [
            [(distance, records[position]) for distance, position in zip(distances, positions, strict=True)]
            for distances, positions in near
        ]

    def _records(self, positions: Iterable[int]) -> dict[int, Record]:
        """Return the documents at positions, all of which must be there."""
        wanted = [*positions]
        entries = self._tables.entries(wanted)
        if len(entries) < len(wanted):
            raise self._tables.damaged(f"the document at position {min({*wanted} - {*entries})} is missing")
        return {position: entry.record for position, entry in entries.items()}

    def _shortlists(
        self, queries: Codes, n: int, wanted: Sequence[Wanted], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        for (_, near), query in zip(self._near(queries, n, filter), wanted, strict=True):
            positions, statistics = np.sort(np.array(near, np.int64)), None
            if query.terms:
                statistics = self._word_statistics(query.words)
                positions = np.union1d(positions, self._having(statistics, query, n, filter))
            entries = list(self._tables.entries(positions.tolist()).values())
            kept = self._about().vectors if with_vectors else None
            yield Candidates.of_entries(entries, queries.shape[1], kept, statistics)

    def _having(self, statistics: WordStatistics, wanted: Wanted, n: int, filter: Filter) -> Positions:
        sql = self._sql(filter)
        documents = f"JOIN documents USING (position) WHERE {sql.text} AND" if filter else "WHERE"
        select = f"SELECT position FROM words {documents} words @> ARRAY[%(word)s::bigint] ORDER BY position"

        def positions(word: str, among: Positions | None) -> Positions:
            rows = self._database.execute(select, {**sql.values, "word": word_number(word)}).fetchall()
            return np.array([position for (position,) in rows], np.int64)

        return best_by_terms(statistics, wanted, positions, n)

    def _word_statistics(self, words: Sequence[str]) -> WordStatistics:
        state = self._database.state
        known = {} if self._database.writes else self._counts.after(state.change)  # uncommitted state is not cached
        numbers = {word: word_number(word) for word in words}
        if new := [number for number in numbers.values() if number not in known]:
            rows = self._database.execute(
                "SELECT number, (SELECT count(*) FROM words WHERE words @> ARRAY[number]) "
                "FROM unnest(%s::bigint[]) AS number",
                (new,),
            ).fetchall()
            known.update(rows)
        having = {word: known[number] for word, number in numbers.items()}
        return WordStatistics(state.texts, state.characters, having)

    def _sql(self, filter: Filter) -> SqlCondition:
        return to_sql(filter, self._tables.indexed() if filter else {})

    def _beside(self) -> Self:
        return type(self)(self._database.view())

    def _read_blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        sql, n, cursor = self._sql(filter), 0, f"entries_{next(_numbers)}"  # it ends with the transaction
        select = self._tables.select_entries(sql.text)
        self._database.execute(f"DECLARE {cursor} NO SCROLL CURSOR FOR {select}", sql.values)
        while rows := self._database.execute(f"FETCH {BLOCK} FROM {cursor}").fetchall():
            n += len(rows)
            yield list(self._tables.read(rows).values())
        if not filter and n != (written := self._count()):
            raise self._tables.damaged(f"{written} documents were written, and {n} are there")

    def export(self) -> tuple[list[Id], Codes]:
        with self._reading():
            rows = self._database.execute(
                f"SELECT id, id_is_text, code FROM {self._tables.joined()} ORDER BY position"
            ).fetchall()
            width = -(-self._database.state.n_bits // 8)
        codes = read_codes([code for *_, code in rows], width)
        return [read_id(id, is_text) for id, is_text, _ in rows], codes

    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        rebuild(self._database, encode, about, files)
