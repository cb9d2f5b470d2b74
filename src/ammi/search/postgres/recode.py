"""New codes of all documents on a PostgreSQL server, which take the place of the old ones in one step."""

from contextlib import suppress
from typing import Any

import numpy as np

from ammi.plain import as_json
from ammi.search.documents import Entry, checksums
from ammi.search.postgres.errors import psycopg
from ammi.search.postgres.schema import drop_old, has_hnsw, index_by_hnsw
from ammi.search.postgres.server import Server
from ammi.search.postgres.tables import VECTOR_COLUMNS, Tables, bits, code_columns
from ammi.search.postgres.values import escaped
from ammi.search.store_methods import About, Encode
from ammi.search.vectors import vector_rows

_AT_ONCE = 1000
# Whoever may read or change the old table may do so with the new one, and so may the owner of the old one.
_GRANTS = """
    SELECT format('GRANT %%s ON %%I TO %%s', privilege, %(new)s::text, COALESCE(quote_ident(rolname), 'PUBLIC')) FROM (
        SELECT grantee, privilege_type AS privilege FROM pg_class, aclexplode(relacl)
        WHERE oid = %(old)s::text::regclass
        UNION SELECT relowner, 'ALL' FROM pg_class WHERE oid = %(old)s::text::regclass
    ) AS granted LEFT JOIN pg_roles ON pg_roles.oid = grantee
    WHERE rolname IS DISTINCT FROM current_user
"""


class Recoding:
    """New codes and vectors wait in temporary tables until all are there; of two for one document the later counts."""

    def __init__(self, server: Server, encode: Encode, about: About):
        self._server, self._tables = server, Tables(server)
        self._encode, self._about = encode, about
        self._renews_vectors = False

    def run(self, files: dict[str, bytes]) -> None:
        with self._server.alone() as session:
            session.db.execute(f"CREATE TEMP TABLE new_codes {code_columns(self._about.n_bits)}")
            try:
                session.db.execute(f"CREATE TEMP TABLE new_vectors {VECTOR_COLUMNS}")
                self._run(files)
            finally:
                with suppress(psycopg.Error):  # a connection that is lost has none
                    session.db.execute("DROP TABLE IF EXISTS pg_temp.new_codes, pg_temp.new_vectors")
        drop_old(self._server)

    def _run(self, files: dict[str, bytes]) -> None:
        seen, before = -1, np.inf
        while True:
            with self._server.reading():
                change, late = self._server.state.change, self._changed_since(seen)
            if not late or len(late) >= before:  # others may change documents as fast as they are encoded
                break
            self._encode_at(late)
            seen, before = change, len(late)
        with self._server.writing():
            while late := self._changed_since(seen):
                seen = self._server.state.change
                self._encode_at(late)
            self._change_over(files)

    def _changed_since(self, change: int) -> list[int]:
        rows = self._server.execute("SELECT position FROM documents WHERE change > %s ORDER BY position", (change,))
        return [position for (position,) in rows]

    def _encode_at(self, positions: list[int]) -> None:
        """Encode what is at positions; others wait only if this is called while writing."""
        for start in range(0, len(positions), _AT_ONCE):
            with self._server.reading():
                entries = self._tables.entries(positions[start : start + _AT_ONCE])
            if entries:
                codes, vectors = self._encode(list(entries.values()))
                self._keep("new_codes", list(entries), self._code_rows(entries, codes))
                if vectors is not None:
                    self._renews_vectors = True
                    self._keep("new_vectors", list(entries), vector_rows(entries, vectors))

    def _code_rows(self, entries: dict[int, Entry], codes: Any) -> Any:
        found = list(entries.values())
        spelled = [as_json(entry.metadata) for entry in found]
        made = checksums([entry.id for entry in found], [entry.text for entry in found], spelled, codes)
        return zip(entries, bits(codes, self._about.n_bits), made, strict=True)

    def _keep(self, table: str, positions: list[int], rows: Any) -> None:
        self._server.execute(f"DELETE FROM pg_temp.{table} WHERE position = ANY(%s::bigint[])", (positions,))
        self._tables.copy(f"pg_temp.{table}", rows)

    def _change_over(self, files: dict[str, bytes]) -> None:
        """Make tables of what waits, for the documents that are still there, and change over to them."""
        had_hnsw, about = has_hnsw(self._server), self._about
        state = self._server.state
        old = state.code_table
        self._server.set_state(
            n_bits=about.n_bits,
            fingerprint=None if about.fingerprint is None else escaped(about.fingerprint),
            codes=state.codes + 1,
        )
        state = self._server.state
        self._make(state.code_table, code_columns(about.n_bits), "new_codes", old)
        if had_hnsw:
            index_by_hnsw(self._server)
        if about.vectors:
            self._server.set_state(vector_kind=about.vectors.kind, vector_width=about.vectors.width)
        if self._renews_vectors:
            self._server.set_state(vectors=state.vectors + 1)
            self._make(self._server.state.vector_table, VECTOR_COLUMNS, "new_vectors", state.vector_table)
        self._tables.set_files(files)

    def _make(self, table: str, columns: str, waiting: str, old: str) -> None:
        self._server.execute(f"CREATE TABLE {table} {columns}")
        for (grant,) in self._server.execute(_GRANTS, {"old": old, "new": table}).fetchall():
            self._server.execute(grant)
        self._server.execute(
            f"INSERT INTO {table} SELECT new.* FROM pg_temp.{waiting} AS new JOIN documents USING (position) "
            "ORDER BY position"
        )
