"""A collection on a PostgreSQL server: its connections, and transactions on it.

Writers take turns by a lock on the one row of the table `ammi`. A reader sees one snapshot. What a reader needs is
locked before its snapshot is taken, so that a table which a recode leaves behind is not dropped under it.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Lock, local
from types import SimpleNamespace
from typing import Any, NamedTuple

from ammi.search.checks import change_in_view
from ammi.search.postgres.address import Address
from ammi.search.postgres.errors import explaining, no_connection, psycopg

FORMAT = 1
PATIENCE = 60  # seconds that a change waits for another to finish its own
LOWEST_PGVECTOR = (0, 8)

_IDLE = 8  # connections kept for the threads to come


class State(NamedTuple):
    """The one row of the table `ammi`: what the codes are, and where the collection stands."""

    format: int
    n_bits: int
    fingerprint: str | None
    vector_kind: str | None
    vector_width: int | None
    text_index: bool
    codes: int  # the number of the table of codes, codes_1 and so on
    vectors: int  # and of that of vectors
    change: int
    position: int  # the first still free
    number: int  # the next that is given as an id
    texts: int
    characters: int

    @property
    def code_table(self) -> str:
        return f"codes_{self.codes}"

    @property
    def vector_table(self) -> str:
        return f"vectors_{self.vectors}"

    @property
    def tables(self) -> str:
        """Those which a recode replaces."""
        return f"{self.code_table}, {self.vector_table}" if self.vector_kind else self.code_table


class Connections:
    """The connections to one server. Each serves one job at a time, and those that nobody needs wait for the next."""

    def __init__(self, address: Address):
        self.address = address
        self._lock = Lock()
        self._idle: list[Any] = []
        self._closed = False

    def take(self) -> tuple[Any, bool]:
        """A connection for the caller alone, and whether it was used before."""
        with self._lock:
            if self._closed:
                raise ValueError(f"the index in {self.address.shown} was closed: open it again")
            if self._idle:
                return self._idle.pop(), True
        return self.connect(), False

    def connect(self) -> Any:
        """A new connection."""
        try:
            return psycopg.connect(
                **self.address.conninfo, client_encoding="UTF8", autocommit=True, prepare_threshold=None
            )
        except psycopg.Error as error:
            raise no_connection(self.address.shown, error) from None

    def give_back(self, db: Any) -> None:
        """Let others have a connection, if it is of any use to them."""
        with self._lock:
            is_idle = not db.closed and db.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
            if is_idle and not self._closed and len(self._idle) < _IDLE:
                self._idle.append(db)
            else:
                db.close()

    def forget(self) -> None:
        """Close all that wait."""
        with self._lock:
            while self._idle:
                self._idle.pop().close()

    def close(self) -> None:
        """Close all that wait, and from now on those that come back."""
        self._closed = True
        self.forget()


class Session:
    """A connection in use, and what is being done on it."""

    def __init__(self, db: Any, used: bool):
        self.db = db
        self.used = used  # before: the server may have closed it since
        self.state: State | None = None  # while reading or writing
        self.writes = False


class Server:
    """Transactions on one collection, for any number of threads."""

    def __init__(self, connections: Connections):
        self.address = connections.address
        self._connections = connections
        self._here: Any = local()  # the session of each thread
        self._pgvector: str | None = None
        self._known: State | None = None  # the last that was seen, for the names of its tables

    def view(self) -> "Server":
        """The same collection, for one job that may go from thread to thread, beside all others."""
        view = Server(self._connections)
        view._here, view._pgvector, view._known = SimpleNamespace(), self._pgvector, self._known
        return view

    @property
    def session(self) -> Session:
        return self._here.session

    @property
    def state(self) -> State:
        state = self.session.state
        assert state
        return state

    def set_state(self, **values: Any) -> None:
        """Change the state; it is written when the change is made."""
        self.session.state = self.state._replace(**values)

    def execute(self, statement: str, values: Any = None) -> Any:
        """A statement with its values; rows come in their binary form, in which a code is its bytes."""
        return self.session.db.execute(statement, values, binary=True)

    @contextmanager
    def held(self) -> Iterator[Session]:
        """One connection for all that this thread does as long as the block lasts, with its temporary tables."""
        session = getattr(self._here, "session", None)
        if session:
            yield session
            return
        self._here.session = session = Session(*self._connections.take())
        try:
            yield session
        finally:
            self._here.session = None
            self._connections.give_back(session.db)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """One snapshot for as long as the block lasts."""
        with explaining(self.address.shown, self.address.schema), self.held() as session:
            if session.state:  # what is called inside of a block belongs to it
                yield
                return
            try:
                session.state = self._begin(session, self._begin_reading)
                yield
            finally:
                _end(session)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A change that is made when the block ends, and not at all when it fails."""
        with explaining(self.address.shown, self.address.schema) as explained, self.held() as session:
            if session.writes:
                yield
                return
            if session.state:
                raise change_in_view(f"the index in {self.address.shown}")
            try:
                session.state = state = self._begin(session, self._begin_writing)
                session.writes = True
                self.set_state(change=state.change + 1)
                yield
                assignments = ", ".join(f"{name} = %s" for name in State._fields)
                session.db.execute(f"UPDATE ammi SET {assignments}", self.state)
                explained.commits = True
                session.db.execute("COMMIT")
                explained.commits = False
            finally:
                _end(session)

    @contextmanager
    def alone(self) -> Iterator[Session]:
        """A connection outside of all transactions."""
        with explaining(self.address.shown, self.address.schema), self.held() as session:
            session.db.execute(self.settings(session.db).replace("SET LOCAL", "SET"))
            try:
                yield session
            finally:
                if not session.db.closed:
                    session.db.execute("RESET search_path; RESET jit")

    def _begin(self, session: Session, begin: Callable[[Any], State]) -> State:
        """Begin a transaction, on another connection where the server has closed this one while it waited."""
        try:
            return begin(session.db)
        except psycopg.OperationalError:
            if not session.used or not session.db.closed:
                raise
        self._connections.forget()
        session.db, session.used = self._connections.connect(), False
        return begin(session.db)

    def _begin_writing(self, db: Any) -> State:
        begin = f"BEGIN; {self.settings(db)} SET LOCAL lock_timeout = '{PATIENCE}s';"
        return self._checked(_last(db, f"{begin} SELECT {', '.join(State._fields)} FROM ammi FOR UPDATE"))

    def _begin_reading(self, db: Any) -> State:
        begin = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {self.settings(db)}"
        select = f"SELECT {', '.join(State._fields)} FROM ammi"
        known = self._known
        while True:
            lock = f" LOCK TABLE {known.tables} IN ACCESS SHARE MODE;" if known else ""
            try:
                state = self._checked(_last(db, f"{begin}{lock} {select}"))
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

    def settings(self, db: Any) -> str:
        """The settings of a transaction, with which names are those of the collection's tables, and of no others."""
        self.schema_of_pgvector(db)
        return f'SET LOCAL search_path = "{self.address.schema}"; SET LOCAL jit = off;'

    @property
    def distance(self) -> str:
        """pgvector's operator, wherever the extension is; known once there are `settings`."""
        return f'OPERATOR("{self._pgvector}".<~>)'

    def schema_of_pgvector(self, db: Any) -> str:
        """Where the extension is; it is refused where it is missing or too old."""
        if self._pgvector is None:
            self._pgvector = self._find_pgvector(db)
        return self._pgvector

    def _find_pgvector(self, db: Any) -> str:
        found = db.execute(
            "SELECT nspname, extversion, current_database() FROM pg_extension "
            "JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
        ).fetchone()
        if found is None:
            ((database,),) = db.execute("SELECT current_database()").fetchall()
            raise ValueError(
                f"the database {database!r} of {self.address.shown} is without pgvector: its owner or a superuser runs "
                "CREATE EXTENSION vector there once, where the server has the package of pgvector"
            )
        if tuple(map(int, found[1].split(".")[:2])) < LOWEST_PGVECTOR:
            lowest = ".".join(map(str, LOWEST_PGVECTOR))
            raise ValueError(
                f"the database {found[2]!r} of {self.address.shown} has pgvector {found[1]}, and {lowest} or later is "
                "needed: its owner or a superuser runs ALTER EXTENSION vector UPDATE there"
            )
        return found[0].replace('"', '""')

    def _checked(self, row: tuple[Any, ...] | None) -> State:
        if row is None:
            raise ValueError(f"the table ammi of {self.address.shown} is empty: restore a copy of the schema")
        state = State(*row)
        if state.format != FORMAT:
            advice = "upgrade ammi" if state.format > FORMAT else "build it again from the documents"
            raise ValueError(
                f"the index in {self.address.shown} has format {state.format}, and this ammi reads format {FORMAT}: "
                f"{advice}"
            )
        return state


def _last(db: Any, statements: str) -> Any:
    """The first row of the last of several statements, which go to the server together."""
    cursor = db.execute(statements)
    while cursor.nextset():
        pass
    return cursor.fetchone()


def _end(session: Session) -> None:
    session.state, session.writes = None, False
    if not session.db.closed and session.db.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
        with suppress(psycopg.Error):  # then the connection is lost, and the server has ended the transaction
            session.db.execute("ROLLBACK")
