"""Rebuild on a PostgreSQL server: new tables of codes and vectors replace the old ones in one step."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from ammi.search.hamming import Codes
from ammi.search.postgres.driver import psycopg
from ammi.search.postgres.postgres_database import PostgresDatabase
from ammi.search.postgres.postgres_tables import VECTOR_COLUMNS, PostgresTables, bit_strings, code_columns
from ammi.search.postgres.schema import drop_old, has_hnsw, index_by_hnsw
from ammi.search.sql.rebuild import NewRow, Rebuild
from ammi.search.store_methods import About, Encode

# Whoever may read or change the old table may do so with the new one, and so may the owner of the old one.
_GRANTS = """
    SELECT format('GRANT %%s ON %%I TO %%s', privilege, %(new)s::text, COALESCE(quote_ident(rolname), 'PUBLIC')) FROM (
        SELECT grantee, privilege_type AS privilege FROM pg_class, aclexplode(relacl)
        WHERE oid = %(old)s::text::regclass
        UNION SELECT relowner, 'ALL' FROM pg_class WHERE oid = %(old)s::text::regclass
    ) AS granted LEFT JOIN pg_roles ON pg_roles.oid = grantee
    WHERE rolname IS DISTINCT FROM current_user
"""


def rebuild(database: PostgresDatabase, encode: Encode, about: About, files: Mapping[str, bytes]) -> None:
    """Give every document a new code, also documents that others change meanwhile."""
    with database.alone() as db:
        try:
            db.execute(f"CREATE TEMP TABLE new_codes {code_columns(about.n_bits)}")
            db.execute(f"CREATE TEMP TABLE new_vectors {VECTOR_COLUMNS}")
            _PostgresRebuild(database, encode, about, files).run()
        finally:
            with suppress(psycopg.Error):  # a lost connection has none
                db.execute("DROP TABLE IF EXISTS pg_temp.new_codes, pg_temp.new_vectors")
    drop_old(database)


class _PostgresRebuild(Rebuild):
    _database: PostgresDatabase

    def __init__(self, database: PostgresDatabase, encode: Encode, about: About, files: Mapping[str, bytes]):
        super().__init__(database, PostgresTables(database), encode, about)
        self._files = files

    def _code_values(self, codes: Codes) -> Iterable[str]:
        return bit_strings(codes, self._about.n_bits)

    def _keep(self, table: str, rows: Sequence[NewRow]) -> None:
        positions = [position for position, *_ in rows]
        self._database.execute(f"DELETE FROM pg_temp.{table} WHERE position = ANY(%s::bigint[])", (positions,))
        self._database.insert(f"pg_temp.{table}", rows)

    def _change_over(self) -> None:
        database, about, old = self._database, self._about, self._database.state
        had_hnsw = has_hnsw(database)
        database.set_state(n_bits=about.n_bits, fingerprint=about.fingerprint, codes=old.codes + 1)
        self._make(database.state.code_table, code_columns(about.n_bits), "new_codes", old.code_table)
        if had_hnsw:
            index_by_hnsw(database)
        if about.vectors:
            database.set_state(vector_kind=about.vectors.kind, vector_width=about.vectors.width)
        if self._has_vectors:
            database.set_state(vectors=old.vectors + 1)
            self._make(database.state.vector_table, VECTOR_COLUMNS, "new_vectors", old.vector_table)
        self._tables.set_files(self._files)

    def _make(self, table: str, columns: str, waiting: str, old: str) -> None:
        self._database.execute(f"CREATE TABLE {table} {columns}")
        for (grant,) in self._database.execute(_GRANTS, {"old": old, "new": table}).fetchall():
            self._database.execute(grant)
        self._database.execute(
            f"INSERT INTO {table} SELECT new.* FROM pg_temp.{waiting} AS new JOIN documents USING (position) "
            "ORDER BY position"
        )
