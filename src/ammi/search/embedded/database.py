"""The file of an embedded index: one SQLite database, so that every change is one transaction."""

import weakref
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from threading import Lock, local
from types import SimpleNamespace
from typing import Any, NamedTuple
from zlib import crc32

import apsw
import numpy as np
from numpy.typing import NDArray

from ammi.search.checks import DamagedError, change_in_view
from ammi.search.documents import Id
from ammi.search.embedded.acknowledged import Acknowledged, AcknowledgedFile, new_uid
from ammi.search.embedded.connections import CHECKSUM_BYTES, FILE, PATIENCE, Connections, connect, damaged, explaining
from ammi.search.store_methods import About

MAGIC = 0x616D6D69  # "ammi" in the header of the file, which tells it from the databases of other programs
FORMAT = 3
_MILLISECONDS_FOR_READERS = 1000  # who need old pages, before a file that could shrink leaves it to a later time

# Documents stand in the order of their positions, which only grow and are never used again. Codes and texts are kept
# apart from them: a million codes are read in a moment, and metadata without the texts. The state is altered by every
# change, so that every journal has it.
SCHEMA = (
    "CREATE TABLE state (uid BLOB, change INTEGER, code_change INTEGER, position INTEGER, number INTEGER)",
    "CREATE TABLE about (n_bits INTEGER, fingerprint TEXT, checksum INTEGER)",
    "CREATE TABLE documents (position INTEGER PRIMARY KEY, id NOT NULL UNIQUE, id_is_text INTEGER NOT NULL, "
    "change INTEGER NOT NULL, checksum INTEGER NOT NULL, for_python INTEGER NOT NULL, metadata TEXT NOT NULL)",
    "CREATE TABLE texts (position INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE blocks (block INTEGER PRIMARY KEY, change INTEGER NOT NULL, slots BLOB NOT NULL, "
    "codes BLOB NOT NULL)",
    "CREATE INDEX changed_blocks ON blocks (change)",
    "CREATE TABLE key_kinds (name TEXT, kinds TEXT, documents INTEGER NOT NULL, PRIMARY KEY (name, kinds)) "
    "WITHOUT ROWID",
    "CREATE TABLE indexed_keys (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE key_values (key INTEGER, value, position INTEGER, PRIMARY KEY (key, value, position)) WITHOUT ROWID",
    "CREATE TABLE files (name TEXT PRIMARY KEY, content BLOB NOT NULL)",
)


class State(NamedTuple):
    """The name of the index, its number of changes, the last of them that concerned codes, and the first position and
    number still free."""

    uid: bytes
    change: int
    code_change: int
    position: int
    number: int


class _Session:
    """A connection in use, and what is being done on it."""

    def __init__(self, db: apsw.Connection):
        self.db = db
        self.state: State | None = None  # while reading or writing
        self.writes = False


class Database:
    """The file, for any number of threads: those that read do so at the same time, those that write take turns."""

    def __init__(self, connections: Connections):
        """Not for callers, who have `create` and `open`."""
        self.folder = connections.folder
        self._connections = connections
        self._acknowledged = AcknowledgedFile(connections.file.parent)
        self._turn = Lock()
        self._here: Any = local()  # the session of each thread

    @classmethod
    def create(cls, folder: Path, about: About, keys: list[str], files: dict[str, bytes], *more: str) -> "Database":
        """Make the file, with these more tables."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except ValueError:  # a character 0, or half of a surrogate pair
            raise ValueError(f"{str(folder)!r} cannot be the name of a folder: choose another one") from None
        uid, acknowledged = new_uid(), AcknowledgedFile(folder)
        with explaining(folder):
            db = connect((folder / FILE).absolute(), "mode=rwc")
            try:
                _check_blank(db, folder)
                db.reserve_bytes(None, CHECKSUM_BYTES)
                db.execute("PRAGMA journal_mode = WAL")  # readers do not wait for a writer, nor it for them
                db.execute("BEGIN IMMEDIATE")
                _check_blank(db, folder)  # another process may have been faster
                for statement in (*SCHEMA, *more):
                    db.execute(statement)
                db.execute("INSERT INTO about VALUES (?, ?, ?)", _row_about(about))
                db.execute("INSERT INTO state VALUES (?, 0, 0, 0, 0)", (uid,))
                db.executemany("INSERT INTO indexed_keys (name) VALUES (?)", [(key,) for key in keys])
                db.executemany("INSERT INTO files VALUES (?, ?)", files.items())
                db.execute(f"PRAGMA application_id = {MAGIC}")
                db.execute(f"PRAGMA user_version = {FORMAT}")
                acknowledged.path.unlink(missing_ok=True)  # that of an index which is no more
                db.execute("COMMIT")
            finally:
                db.close()
        acknowledged.make(Acknowledged(uid, 0))
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> "Database":
        if not (folder / FILE).is_file():
            raise FileNotFoundError(f"there is no index in {folder}: create it first")
        connections = Connections(folder)
        store = cls(connections)
        store.close = weakref.finalize(store, connections.close)  # type: ignore[method-assign]  # also when forgotten
        try:
            with explaining(folder), store.held() as session:
                check_ours(session.db, folder, store._acknowledged.path.exists())
            with store.reading():
                if connections.writable and store._acknowledged.read() is None:  # a copy of the database alone
                    store._acknowledged.make(Acknowledged(*store.state()[:2]))
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Let go of the file."""

    def view(self) -> "Database":
        """The same file, for one job that may go from thread to thread, beside all others."""
        view = Database(self._connections)
        view._here = SimpleNamespace()
        return view

    @contextmanager
    def held(self) -> Iterator[_Session]:
        """One connection for all that this thread does as long as the block lasts, with the temporary tables of it."""
        session = getattr(self._here, "session", None)
        if session:
            yield session
            return
        self._here.session = session = _Session(self._connections.take())
        try:
            yield session
        finally:
            self._here.session = None
            self._connections.give_back(session.db)

    def reading(self) -> AbstractContextManager[None]:
        """One view of the index for as long as the block lasts, whatever others change meanwhile."""
        session = getattr(self._here, "session", None)
        return nullcontext() if session and session.state else self._view_of_all()  # inside of a block it is there

    @contextmanager
    def _view_of_all(self) -> Iterator[None]:
        with (
            explaining(self.folder),
            self.held() as session,
            self._connections.unchanged(),
            self._transaction(session, "BEGIN"),
        ):
            yield

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A change that is made when the block ends, and not at all when it fails."""
        with explaining(self.folder), self.held() as session:
            if session.writes:
                yield
                return
            if session.state:
                raise change_in_view(f"the index in {self.folder}")
            if not self._connections.writable:
                raise PermissionError(f"the index in {self.folder} can only be read: make the folder writable")
            with self._turn:
                with self._transaction(session, "BEGIN IMMEDIATE") as state:
                    session.writes = True
                    self._set_state(change=state.change + 1)
                    yield
                with suppress(OSError):  # the change is made: the next one acknowledges it, too
                    self._acknowledged.raise_to(Acknowledged(state.uid, state.change + 1))

    def compact(self) -> None:
        """Write the file anew without the space that nothing uses."""
        with explaining(self.folder), self.held() as session, self._turn:
            self._connections.check_same_file()
            session.db.execute("VACUUM")
            session.db.set_busy_timeout(_MILLISECONDS_FOR_READERS)
            session.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            session.db.set_busy_timeout(1000 * PATIENCE)

    def size(self) -> int:
        """The bytes of the file and of its journal."""
        return self._connections.size()

    @contextmanager
    def _transaction(self, session: _Session, begin: str) -> Iterator[State]:
        acknowledged = self._read_acknowledged()  # first, since others go on
        session.db.execute(begin)
        try:
            self._connections.check_same_file()
            state = State(*next(session.db.execute("SELECT * FROM state")))
            self._check_acknowledged(state, acknowledged)
            session.state = state
            yield state
            session.db.execute("COMMIT")
        finally:
            session.state, session.writes = None, False
            if session.db.in_transaction:
                session.db.execute("ROLLBACK")

    def _read_acknowledged(self) -> Acknowledged | None:
        try:
            return self._acknowledged.read()
        except ValueError as error:
            raise DamagedError(
                f"{error}: delete that file, if ammi index check {self.folder} finds nothing else"
            ) from error

    def _check_acknowledged(self, state: State, acknowledged: Acknowledged | None) -> None:
        if problem := acknowledged and problem_with(state, acknowledged):
            raise DamagedError(
                f"the index in {self.folder} is not as it was left: {problem}; restore all files of the folder from "
                f"one copy, or keep what is there with ammi index check {self.folder} --repair"
            )

    # What follows is called while reading() or writing().

    @property
    def _session(self) -> _Session:
        return self._here.session

    @property
    def writes(self) -> bool:
        return self._session.writes

    def execute(self, statement: str, values: Any = ()) -> Any:
        """The cursor of a statement; which types its rows have is known to the caller alone."""
        return self._session.db.execute(statement, values)

    def execute_each(self, statement: str, values: Iterable[Any]) -> Any:
        """The cursor of a statement that is executed with each of these values."""
        return self._session.db.executemany(statement, values)

    def codes_about(self) -> tuple[int, str | None]:
        """The length of the codes, and the fingerprint of their model."""
        return self.execute("SELECT n_bits, fingerprint FROM about").fetchone()

    def state(self) -> State:
        state = self._session.state
        assert state
        return state

    def _set_state(self, **values: Any) -> None:
        self._session.state = self.state()._replace(**values)
        self.execute(f"UPDATE state SET {', '.join(f'{name} = :{name}' for name in values)}", values)

    def count_code_change(self) -> int:
        """Say that the change that is being made concerns codes; returns its number."""
        state = self.state()
        if state.code_change != state.change:
            self._set_state(code_change=state.change)
        return state.change

    def take_places(self, keys: Iterable[Id]) -> NDArray[np.int64]:
        """The positions for new documents of these ids, as `id_key` makes them; their numbers are used from now on."""
        keys = list(keys)
        state = self.state()
        number = max([state.number, *(key + 1 for key in keys if isinstance(key, int))])
        self._set_state(position=state.position + len(keys), number=number)
        return np.arange(state.position, state.position + len(keys))

    def use_numbers_before(self, number: int) -> None:
        """Give no number below this one to a document that comes without an id."""
        self._set_state(number=max(number, self.state().number))

    def files(self) -> dict[str, bytes]:
        return dict(self.execute("SELECT name, content FROM files ORDER BY rowid").fetchall())

    def set_about(self, about: About) -> None:
        self.execute("UPDATE about SET n_bits = ?, fingerprint = ?, checksum = ?", _row_about(about))

    def set_files(self, files: dict[str, bytes]) -> None:
        self.execute("DELETE FROM files")
        self.execute_each("INSERT INTO files VALUES (?, ?)", files.items())

    def damaged(self, cause: str) -> DamagedError:
        return damaged(self.folder, cause)


def _row_about(about: About) -> tuple[int, str | None, int]:
    return about.n_bits, about.fingerprint, about_checksum(about.n_bits, about.fingerprint)


def about_checksum(n_bits: int, fingerprint: str | None) -> int:
    return crc32(f"{n_bits} {fingerprint}".encode())


def problem_with(state: State, acknowledged: Acknowledged) -> str | None:
    """Why this is not the state of the index that acknowledged changes, or None."""
    if state.uid != acknowledged.uid:
        return f"{FILE}, or its journal {FILE}-wal, is of another index"
    if state.change < acknowledged.change:
        return f"{FILE} ends with change {state.change}, but {acknowledged.change} were acknowledged"
    return None


def _is_blank(db: apsw.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _check_blank(db: apsw.Connection, folder: Path) -> None:
    if not _is_blank(db):
        raise FileExistsError(f"{folder} holds an index: open it, or create the new one elsewhere")


def check_ours(db: apsw.Connection, folder: Path, was_made: bool) -> None:
    if _is_blank(db):
        if was_made:
            raise damaged(folder, f"{FILE} is empty")
        raise FileNotFoundError(f"the making of the index in {folder} was cut short: create it again")
    if db.pragma("application_id") != MAGIC:
        raise ValueError(f"{folder / FILE} belongs to another program: name the folder of an ammi index")
    version = db.pragma("user_version")
    if version != FORMAT:
        advice = "upgrade ammi" if version > FORMAT else "build it again from the documents"
        raise ValueError(f"the index in {folder} has format {version}, and this ammi reads format {FORMAT}: {advice}")
    if db.reserve_bytes() != CHECKSUM_BYTES:
        raise damaged(folder, "its pages have no checksums")
