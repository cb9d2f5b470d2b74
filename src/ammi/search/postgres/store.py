"""PostgresStore: documents in a schema of a PostgreSQL database, found by pgvector."""

import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ammi.search.documents import Entry, Id, Metadata, Record
from ammi.search.filters import Filter
from ammi.search.hamming import MOST_FOUND, Codes, too_many_within
from ammi.search.postgres.address import parsed_address
from ammi.search.postgres.jsonb_filters import to_sql
from ammi.search.postgres.recode import Recoding
from ammi.search.postgres.schema import create_schema, drop_old, has_hnsw, holds_index, make_hnsw
from ammi.search.postgres.server import Connections, Server
from ammi.search.postgres.tables import Positions, Tables, bits, read_codes
from ammi.search.postgres.values import read_id, stored_id, unescaped, word_number
from ammi.search.ranking import Candidates, KnownCounts, WordStatistics, most_told
from ammi.search.sql.translation import SqlCondition
from ammi.search.store import Store
from ammi.search.store_methods import About, Encode, Found, Location, Repaired
from ammi.search.vectors import Packed
from ammi.urls import shown

BLOCK = 1000
_MOST_APPROXIMATE = 250  # nearest documents that HNSW is asked for: it looks at four times as many, which may be 1000
_LEAST_LOOKED_AT = 400
_KINDS = """
SELECT key, kinds, count(*) FROM (
    SELECT key, CASE WHEN jsonb_typeof(value) <> 'array' THEN {of_value} ELSE (
        SELECT string_agg(DISTINCT kind, ' ' ORDER BY kind)
        FROM (SELECT {of_item} AS kind FROM jsonb_array_elements(value) AS item) AS kinds
    ) END AS kinds
    FROM documents, jsonb_each(metadata)
) AS found WHERE kinds IS NOT NULL GROUP BY key, kinds
"""
_KIND = (
    "CASE jsonb_typeof({}) WHEN 'string' THEN 'text' WHEN 'boolean' THEN 'bool' WHEN 'number' THEN 'number' "
    "WHEN 'null' THEN NULL ELSE 'other' END"
)

Near = list[tuple[list[int], list[int]]]  # for each query, the distances and the positions of its hits


class PostgresStore(Store):
    """A Store on a PostgreSQL server: postgresql://USER@HOST:PORT/DATABASE#COLLECTION, a schema for each collection.

    A change is on the server's disk when its call returns. Any number of processes and threads may read while one
    writes; a search sees all that was changed before it began. Every document is held to its checksum when it is read.
    `?approximate=hnsw` in the URL lets pgvector's HNSW answer a search without a filter, fast and nearly exactly.
    """

    shared = True

    def __init__(self, server: Server):
        """Not for callers, who have `create` and `open`."""
        self.location = server.address.shown
        self._server = server
        self._tables = Tables(server)
        self._counts = KnownCounts()

    @classmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes], text_index: bool) -> Self:
        create_schema(parsed_address(location), about, keys, files, text_index)
        return cls.open(location)

    @classmethod
    def open(cls, location: Location) -> Self:
        address = parsed_address(location)
        connections = Connections(address)
        index = cls(Server(connections))
        index.close = weakref.finalize(index, connections.close)  # type: ignore[method-assign]  # also when forgotten
        try:
            if not holds_index(index._server):
                raise FileNotFoundError(f"there is no index in {index.location}: create it first")
            with index._reading():
                pass
        except BaseException:
            index.close()
            raise
        return index

    @classmethod
    def exists(cls, location: Location) -> bool:
        connections = Connections(parsed_address(location))
        try:
            return holds_index(Server(connections))
        finally:
            connections.close()

    @classmethod
    def repair(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> Repaired:
        raise ValueError(
            f"{shown(location)} is on a PostgreSQL server, which keeps its own copies: restore the schema from a backup "
            "of the database"
        )

    def state(self) -> str | None:
        with self._reading():  # a schema that was dropped and made again has other tables
            ((table,),) = self._server.execute("SELECT 'ammi'::regclass::oid").fetchall()
            return f"{table}-{self._server.state.change}"

    def compact(self) -> tuple[int, int]:
        """Let the tables use the space of what was deleted again; returns their bytes before and after.

        The server gives back to the disk what is at the end of a table. Others may read and write meanwhile.
        """
        with self._reading():
            ((may,),) = self._server.execute("SELECT has_table_privilege('ammi', 'UPDATE')").fetchall()
            if not may:
                raise PermissionError(
                    f"{self.location} can only be read by this user: let one who may change it compact it"
                )
            before, tables = self._size()
        drop_old(self._server)
        with self._server.alone() as session:
            session.db.execute(f"VACUUM (ANALYZE) {', '.join(tables)}")
        self.optimize()
        with self._reading():
            return before, self._size()[0]

    def optimize(self) -> None:
        """Make the index for approximate search, where the URL asks for it and it is not there."""
        if self._server.address.approximate:
            make_hnsw(self._server)

    def _size(self) -> tuple[int, list[str]]:
        rows = self._server.execute(
            "SELECT relname, pg_total_relation_size(oid) FROM pg_class "
            "WHERE relkind = 'r' AND relnamespace = %s::regnamespace",
            (f'"{self._server.address.schema}"',),
        ).fetchall()
        state = self._server.state
        old = {name for name, _ in rows if name.startswith(("codes_", "vectors_"))} - {*state.tables.split(", ")}
        return sum(size for _, size in rows), [name for name, _ in rows if name not in old]

    def close(self) -> None:
        """Let go of the server."""

    def _reading(self) -> AbstractContextManager[object]:
        return self._server.reading()

    def _writing(self) -> AbstractContextManager[object]:
        return self._server.writing()

    def _about(self) -> About:
        return self._tables.about()

    def _count(self) -> int:
        return self._server.execute(f"SELECT count(*) FROM {self._server.state.code_table}").fetchone()[0]

    def _next_number(self) -> int:
        return self._server.state.number

    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        self._remove([record.id for record in records])
        self._tables.append(records, codes, vectors)

    def _remove(self, ids: list[Id]) -> None:
        self._tables.remove(list(self._tables.find(ids).values()))

    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        found = self._tables.find(metadata)
        self._tables.replace_metadata({found[stored_id(id)]: new for id, new in metadata.items()})

    def _has(self, ids: list[Id]) -> list[bool]:
        found = self._tables.find(ids)
        return [stored_id(id) in found for id in ids]

    def _fetch(self, ids: list[Id]) -> list[Entry | None]:
        found = self._tables.find(ids)
        entries = self._tables.entries(found.values())
        return [entries[found[key]] if (key := stored_id(id)) in found else None for id in ids]

    def _nearest(self, queries: Codes, k: int, filter: Filter) -> Found:
        return self._with_records(self._near(queries, k, filter))

    def _within(self, queries: Codes, radius: int, filter: Filter) -> Found:
        radius = min(radius, self._server.state.n_bits)
        near: Near = []
        left = MOST_FOUND
        for query in queries:
            near += self._ask(query[None], left + 1, filter, f"WHERE distance <= {radius}")
            left -= len(near[-1][0])
            if left < 0:
                raise too_many_within(radius)
        return self._with_records(near)

    def _near(self, queries: Codes, k: int, filter: Filter) -> Near:
        """The k nearest documents of those that a filter keeps, ties in insertion order."""
        if not filter and k <= _MOST_APPROXIMATE and self._server.address.approximate and has_hnsw(self._server):
            near = self._ask_hnsw(queries, k)
            fewest = min([k, *(len(places) for _, places in near)])  # where many were deleted it may find too few
            if fewest == k or fewest == self._count():
                return near
        return self._ask(queries, min(k, 2**63 - 1), filter)

    def _ask(self, queries: Codes, k: int, filter: Filter, where: str = "") -> Near:
        state, sql, distance = self._server.state, self._sql(filter), self._server.distance
        documents = f"JOIN documents USING (position) WHERE {sql.text}" if filter else ""
        # A distance that was made a whole number is none that an index has: the search is exact where there is HNSW.
        near = (
            f"SELECT * FROM (SELECT position, (code {distance} queries.code)::int AS distance FROM {state.code_table} "
            f"{documents}) AS near {where} ORDER BY distance, position LIMIT %(k)s"
        )
        return self._rows_of(near, queries, {**sql.values, "k": k})

    def _ask_hnsw(self, queries: Codes, k: int) -> Near:
        self._server.execute(f"SET LOCAL hnsw.ef_search = {max(4 * k, _LEAST_LOOKED_AT)}")
        self._server.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
        table, distance = self._server.state.code_table, self._server.distance
        near = (
            f"SELECT position, distance::int FROM (SELECT position, code {distance} queries.code AS distance "
            f"FROM {table} ORDER BY distance LIMIT %(k)s) AS near ORDER BY distance, position"
        )
        return self._rows_of(near, queries, {"k": k})

    def _rows_of(self, near: str, queries: Codes, values: dict[str, Any]) -> Near:
        n_bits = self._server.state.n_bits
        rows = self._server.execute(
            f"SELECT n, distance, position FROM unnest(%(queries)s::text[]::bit({n_bits})[]) WITH ORDINALITY "
            f"AS queries (code, n), LATERAL ({near}) AS near ORDER BY n, distance, position",
            {**values, "queries": [*bits(queries, n_bits)]},
        ).fetchall()
        found: Near = [([], []) for _ in queries]
        for n, distance, position in rows:
            found[n - 1][0].append(distance)
            found[n - 1][1].append(position)
        return found

    def _with_records(self, near: Near) -> Found:
        records = self._records({location for _, places in near for location in places})
        return [
            [(distance, records[position]) for distance, position in zip(distances, places, strict=True)]
            for distances, places in near
        ]

    def _records(self, positions: Iterable[int]) -> dict[int, Record]:
        """The documents at positions, all of which must be there."""
        wanted = [*positions]
        entries = self._tables.entries(wanted)
        if len(entries) < len(wanted):
            raise self._tables.damaged(f"the document at position {min({*wanted} - {*entries})} is missing")
        return {location: Record(entry.id, entry.text, entry.metadata) for location, entry in entries.items()}

    def _shortlists(
        self, queries: Codes, n: int, words: Sequence[Sequence[str]], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        for (_, near), spoken in zip(self._near(queries, n, filter), words, strict=True):
            places = np.sort(np.array(near, np.int64))
            if spoken:
                places = np.union1d(places, self._having(spoken, n, filter))
            entries = self._tables.entries(places.tolist())
            chosen = list(entries.values())
            codes = np.array([entry.code for entry in chosen], np.uint8).reshape(len(chosen), queries.shape[1])
            kept = self._about().vectors if with_vectors else None
            rows = np.array([entry.vector for entry in chosen], np.float32).reshape(-1, kept.width) if kept else None
            yield Candidates(places, codes, [entry.text for entry in chosen] if spoken else [], rows)

    def _having(self, words: Sequence[str], n: int, filter: Filter) -> Positions:
        statistics, sql = self._word_statistics(words), self._sql(filter)
        assert statistics
        documents = f"JOIN documents USING (position) WHERE {sql.text} AND" if filter else "WHERE"
        select = f"SELECT position FROM words {documents} words @> ARRAY[%(word)s::bigint] ORDER BY position"

        def positions(word: str) -> Positions:
            rows = self._server.execute(select, {**sql.values, "word": word_number(word)}).fetchall()
            return np.array([position for (position,) in rows], np.int64)

        return most_told(statistics, positions, n)

    def _at(self, places: NDArray[np.int64]) -> list[Record]:
        records = self._records(places.tolist())
        return [records[position] for position in places.tolist()]

    def _word_statistics(self, words: Sequence[str]) -> WordStatistics | None:
        state = self._server.state
        if not state.text_index:
            return None
        known = {} if self._server.session.writes else self._counts.after(state.change)  # what may not come to pass
        if new := {word_number(word): word for word in words if word not in known}:
            rows = self._server.execute(
                "SELECT number, (SELECT count(*) FROM words WHERE words @> ARRAY[number]) "
                "FROM unnest(%s::bigint[]) AS number",
                ([*new],),
            ).fetchall()
            known |= {new[number]: count for number, count in rows}
        return WordStatistics(state.texts, state.characters, {word: known[word] for word in words})

    def _sql(self, filter: Filter) -> SqlCondition:
        return to_sql(filter, self._tables.indexed() if filter else {})

    def _blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        view = PostgresStore(self._server.view())
        with view._reading():
            sql = view._sql(filter)
            with view._server.session.db.cursor("entries", binary=True) as cursor:
                cursor.execute(view._tables.select_entries(sql.text), sql.values)
                n = 0
                while rows := cursor.fetchmany(BLOCK):
                    n += len(rows)
                    yield list(view._tables.read(rows).values())
            if not filter and n != (written := view._count()):
                raise self._tables.damaged(f"{written} documents were written, and {n} are there")

    def export(self) -> tuple[list[Id], Codes]:
        with self._reading():
            rows = self._server.execute(
                f"SELECT id, id_is_text, code FROM {self._tables.joined()} ORDER BY position"
            ).fetchall()
            width = -(-self._server.state.n_bits // 8)
        codes = read_codes([code for *_, code in rows], width)
        return [read_id(id, is_text) for id, is_text, _ in rows], codes

    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        Recoding(self._server, encode, about).run(files)

    def files(self) -> dict[str, bytes]:
        with self._reading():
            return self._tables.files()

    @property
    def keys_indexed(self) -> list[str]:
        with self._reading():
            return list(self._tables.indexed())

    def _index_keys(self, keys: list[str]) -> None:
        with self._writing():
            self._tables.index_keys(keys)

    def _kinds(self) -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {}
        with self._reading():
            select = _KINDS.format(of_value=_KIND.format("value"), of_item=_KIND.format("item"))
            for key, kinds, n in self._server.execute(select):
                found.setdefault(unescaped(key), {})[kinds] = n
        return found
