"""Connections to a collection on a PostgreSQL server, and transactions on it.

Writers take turns by a lock on the one row of the table `ammi`. A reader sees one snapshot. It locks the
tables it reads before it takes the snapshot, so that they are not dropped while a rebuild replaces them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ammi.search.postgres.address import Address
from ammi.search.postgres.driver import Params, PostgresConnection, TupleRow, psycopg
from ammi.search.postgres.errors import explaining, no_connection
from ammi.search.postgres.values import escaped, unescaped
from ammi.search.sql.sessions import Pool, Session, SqlDatabase, SqlRows, SqlState, check_format

FORMAT = 4
CONVERTIBLE = (2, 3)  # with fewer words in the word index: none of titles and ids, no parts of identifiers
PATIENCE = 60  # seconds that a writer waits for another
LOWEST_PGVECTOR = (0, 8)


@dataclass(frozen=True)
class PostgresState(SqlState):
    """The one row of the table `ammi`."""

    format: int = FORMAT
    codes: int = 1  # the number of the table of codes, codes_1 and so on
    vectors: int = 1  # the number of the table of vectors

    def row(self) -> list[Any]:
        fingerprint = None if self.fingerprint is None else escaped(self.fingerprint)
        return [fingerprint if name == "fingerprint" else getattr(self, name) for name in self.columns()]

    @property
    def code_table(self) -> str:
        return f"codes_{self.codes}"

    @property
    def vector_table(self) -> str:
        return f"vectors_{self.vectors}"

    @property
    def tables(self) -> list[str]:
        """The tables that a rebuild replaces."""
        return [self.code_table, self.vector_table] if self.vector_kind else [self.code_table]


_SELECT_STATE = f"SELECT {', '.join(PostgresState.columns())} FROM ammi"


PostgresSession = Session[PostgresConnection, PostgresState]


class PostgresDatabase(SqlDatabase[PostgresConnection, PostgresState]):
    """The schema of one collection, for any number of threads."""

    def __init__(self, address: Address):
        super().__init__(address.shown, Pool(address.shown, partial(_connect, address), _is_idle))
        self.address = address
        self._pgvector: str | None = None
        self.reads: tuple[int, ...] = (FORMAT,)
        self._known: PostgresState | None = None  # the last one read, for the names of its tables

    def execute(self, statement: str, values: Params | None = None) -> SqlRows:
        """Return the rows of a statement in binary form, in which a code is its bytes."""
        return self.session.db.execute(statement, values, binary=True)

    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        with self.session.db.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)

    def explaining(self) -> AbstractContextManager[None]:
        return explaining(self.address)

    def _begin_reading(self, session: PostgresSession) -> PostgresState:
        return self._begin(session, self._read_state)

    def _begin_writing(self, session: PostgresSession) -> PostgresState:
        return self._begin(session, self._lock_state)

    def _commit(self, db: PostgresConnection) -> None:
        assignments = ", ".join(f"{name} = %s" for name in PostgresState.columns())
        db.execute(f"UPDATE ammi SET {assignments}", self.state.row())
        with explaining(self.address, commits=True):
            db.execute("COMMIT")

    def _roll_back(self, db: PostgresConnection) -> None:
        if not db.closed and not _is_idle(db):
            with suppress(psycopg.Error):  # the connection is lost, which ends the transaction
                db.execute("ROLLBACK")

    @contextmanager
    def alone(self) -> Iterator[PostgresConnection]:
        """Yield a connection outside any transaction."""
        with self.explaining(), self.held() as session:
            session.db.execute(self.settings(session.db).replace("SET LOCAL", "SET"))
            try:
                yield session.db
            finally:
                if not session.db.closed:
                    session.db.execute("RESET search_path; RESET jit")

    def _begin(self, session: PostgresSession, begin: Callable[[PostgresConnection], PostgresState]) -> PostgresState:
        """Begin a transaction; reconnect if the server closed an idle connection."""
        try:
            return begin(session.db)
        except psycopg.OperationalError:
            if not session.used or not session.db.closed:
                raise
        self._pool.clear()
        session.db, session.used = self._pool.connect(), False
        return begin(session.db)

    def _lock_state(self, db: PostgresConnection) -> PostgresState:
        begin = f"BEGIN; {self.settings(db)} SET LOCAL lock_timeout = '{PATIENCE}s';"
        return self._checked(_last(db, f"{begin} {_SELECT_STATE} FOR UPDATE"))

    def _read_state(self, db: PostgresConnection) -> PostgresState:
        begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {self.settings(db)}"
        known = self._known
        while True:
            lock = f" LOCK TABLE {', '.join(known.tables)} IN ACCESS SHARE MODE;" if known else ""
            try:
                state = self._checked(_last(db, f"{begin}{lock} {_SELECT_STATE}"))
            except psycopg.errors.UndefinedTable:
                if not known:
                    raise
                known = None
            else:
                if known and state.tables == known.tables:
                    self._known = state
                    return state
                known = state
            db.execute("ROLLBACK")

    def settings(self, db: PostgresConnection) -> str:
        """Return the settings of a transaction, in which table names mean those of this collection only."""
        self.schema_of_pgvector(db)
        return f'SET LOCAL search_path = "{self.address.schema}"; SET LOCAL jit = off;'

    @property
    def distance(self) -> str:
        """pgvector's operator for the distance, with its schema; call `settings` first."""
        return f'OPERATOR("{self._pgvector}".<~>)'

    def schema_of_pgvector(self, db: PostgresConnection) -> str:
        """Return the schema of the extension; refuse a database without it, or with one that is too old."""
        if self._pgvector is None:
            self._pgvector = self._find_pgvector(db)
        return self._pgvector

    def _find_pgvector(self, db: PostgresConnection) -> str:
        found = db.execute(
            "SELECT nspname, extversion, current_database() FROM pg_extension "
            "JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
        ).fetchone()
        if found is None:
            ((database,),) = db.execute("SELECT current_database()").fetchall()
            raise ValueError(
                f"the database {database!r} of {self.location} is without pgvector: its owner or a superuser runs "
                "CREATE EXTENSION vector there once, where the server has the package of pgvector"
            )
        if tuple(map(int, found[1].split(".")[:2])) < LOWEST_PGVECTOR:
            lowest = ".".join(map(str, LOWEST_PGVECTOR))
            raise ValueError(
                f"the database {found[2]!r} of {self.location} has pgvector {found[1]}, and {lowest} or later is "
                "needed: its owner or a superuser runs ALTER EXTENSION vector UPDATE there"
            )
        return found[0].replace('"', '""')

    def _checked(self, row: Sequence[Any] | None) -> PostgresState:
        if row is None:
            raise ValueError(f"the table ammi of {self.location} is empty: restore a copy of the schema")
        state = PostgresState(*row)
        if state.format not in self.reads:
            check_format(self.location, state.format, FORMAT, CONVERTIBLE)
        fingerprint = None if state.fingerprint is None else unescaped(state.fingerprint)
        return replace(state, fingerprint=fingerprint)


def _connect(address: Address) -> PostgresConnection:
    try:
        return psycopg.connect(**address.conninfo, client_encoding="UTF8", autocommit=True, prepare_threshold=None)
    except psycopg.Error as error:
        raise no_connection(address.shown, error) from None


def _is_idle(db: PostgresConnection) -> bool:
    return not db.closed and db.info.transaction_status == psycopg.pq.TransactionStatus.IDLE


def _last(db: PostgresConnection, statements: str) -> TupleRow | None:
    """Send several statements together, and return the first row of the last one."""
    cursor = db.execute(statements)
    while cursor.nextset():
        pass
    return cursor.fetchone()
