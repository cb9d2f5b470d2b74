"""The database of an embedded store: one SQLite file, so that every change is one transaction."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, replace
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any, Self
from zlib import crc32

import apsw

from ammi.search.checks import DamagedError
from ammi.search.embedded.acknowledged import Acknowledged, AcknowledgedFile, new_uid
from ammi.search.embedded.connections import (
    CHECKSUM_BYTES,
    FILE,
    SqliteFile,
    connect,
    damaged,
    explaining,
    full,
    wait_for_writer,
)
from ammi.search.sql.sessions import Pool, Session, SqlDatabase, SqlRows, SqlState, check_format
from ammi.search.sql.sql_tables import KEYED_CHANGES
from ammi.search.store_methods import About

MAGIC = 0x616D6D69  # "ammi" in the header of the file, unlike databases of other programs
FORMAT = 7
# From the row `state` of a format to that of the next, by column. Whatever else differs (words, counts, keys) is made
# anew from the documents, so that a step is all that a new format needs, as long as documents, texts, codes, vectors
# and files are where they were. tests/golden has a collection of each format.
STEPS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    4: lambda state: state | {"language": None},
    5: lambda state: state,  # the word index has the words of titles and ids, too
    6: lambda state: state,  # and the parts of identifiers
}
OLDEST = (1, 2, 3)  # which have other tables
_LONG_JOURNAL = 32 << 20  # bytes
_MILLISECONDS_FOR_JOURNAL = 50  # that a writer waits for readers, before it goes on with a long journal
_MILLISECONDS_FOR_READERS = 1000  # to wait for readers before the file shrinks; a later compact can do it

# Documents are ordered by position; positions only grow and are never used again. Codes and texts have tables of their
# own, so that a million codes, or all metadata, are read without the texts. Every change alters the state, so that each
# journal contains it.
SCHEMA = (
    "CREATE TABLE state (n_bits INTEGER, fingerprint TEXT, vector_kind TEXT, vector_width INTEGER, text_index INTEGER, "
    "language TEXT, texts INTEGER, characters INTEGER, change INTEGER, position INTEGER, number INTEGER, uid BLOB, "
    "code_change INTEGER, checksum INTEGER)",
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
    KEYED_CHANGES,
)
TOKENIZER = ("ascii", "tokenchars", "_+#")
_WORD_PAGE = 4046  # bytes that FTS5 fills of a page; with its own 4050, and checksums, each would take two pages
WORD_TABLES = (
    "CREATE VIRTUAL TABLE words USING fts5(text, content = '', contentless_delete = 1, detail = none, "
    f'tokenize = "{" ".join(map(repr, TOKENIZER))}")',
    f"INSERT INTO words (words, rank) VALUES ('pgsz', {_WORD_PAGE})",
    "CREATE VIRTUAL TABLE word_counts USING fts5vocab(words, row)",
    "CREATE TABLE vocabulary (word TEXT PRIMARY KEY, stem TEXT NOT NULL) WITHOUT ROWID",
    "CREATE INDEX words_by_stem ON vocabulary (stem)",
)
VECTOR_COLUMNS = "(position INTEGER PRIMARY KEY, vector BLOB NOT NULL, checksum INTEGER NOT NULL)"
VECTOR_TABLES = (f"CREATE TABLE vectors {VECTOR_COLUMNS}",)
_SELECT_SCHEMA = "SELECT type, name, sql FROM sqlite_master"


@dataclass(frozen=True)
class SqliteState(SqlState):
    """The one row of the table `state`."""

    uid: bytes  # the random name of the store
    code_change: int = 0  # the last change of codes
    checksum: int = 0  # of the settings, so that a repair can trust them on a damaged page

    def right_checksum(self) -> int:
        return crc32(repr(self.about[:5]).encode())


SqliteSession = Session[apsw.Connection, SqliteState]


class SqliteDatabase(SqlDatabase[apsw.Connection, SqliteState]):
    """The database, for any number of threads."""

    def __init__(self, file: SqliteFile):
        """Not for callers, who have `create` and `open`."""
        super().__init__(str(file.folder), Pool(str(file.folder), file.connect, file.is_reusable))
        self.file = file
        self._acknowledged = AcknowledgedFile(file.path.parent)
        self._journal_tried = 0  # its size when it was last to begin anew

    @classmethod
    def create(cls, folder: Path, about: About, keys: list[str], files: dict[str, bytes]) -> Self:
        """Create the file with its tables, and open it."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except ValueError:  # NUL, or a lone surrogate
            raise ValueError(f"{str(folder)!r} cannot be the name of a folder: choose another one") from None
        acknowledged, state = AcknowledgedFile(folder), SqliteState(**SqlState.first(about), uid=new_uid())
        with explaining(folder):
            db = connect((folder / FILE).absolute(), "mode=rwc")
            try:
                _check_blank(db, folder)
                db.reserve_bytes(None, CHECKSUM_BYTES)
                db.execute("PRAGMA journal_mode = WAL")  # readers and a writer do not wait for each other
                db.execute("BEGIN IMMEDIATE")
                _check_blank(db, folder)  # another process may have been faster
                words = WORD_TABLES if about.text_index else ()
                for statement in (*SCHEMA, *words, *(VECTOR_TABLES if about.vectors else ())):
                    db.execute(statement)
                row = replace(state, checksum=state.right_checksum()).row()
                db.execute(f"INSERT INTO state VALUES ({', '.join('?' * len(row))})", row)
                db.executemany("INSERT INTO indexed_keys VALUES (?, ?)", enumerate(keys))
                db.executemany("INSERT INTO files VALUES (?, ?)", files.items())
                db.execute(f"PRAGMA application_id = {MAGIC}")
                db.execute(f"PRAGMA user_version = {FORMAT}")
                acknowledged.path.unlink(missing_ok=True)  # left by a deleted store
                db.execute("COMMIT")
            finally:
                db.close()
        acknowledged.make(Acknowledged(state.uid, 0))
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> Self:
        database = cls(SqliteFile(folder))
        try:
            with explaining(folder), database.held() as session:
                check_ours(session.db, folder, database._acknowledged.path.exists())
                check_schema(session.db, folder)
            with database.reading():
                if database.file.writable and database._acknowledged.read() is None:  # only the database was copied
                    database._acknowledged.make(Acknowledged(database.state.uid, database.state.change))
        except BaseException:
            database.close()
            raise
        return database

    def compact(self) -> None:
        """Rewrite the file without its free space."""
        with self.explaining(), self.held() as session, self._turn:
            self.file.check_same_file()
            session.db.execute("VACUUM")
            session.db.set_busy_timeout(_MILLISECONDS_FOR_READERS)
            session.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            session.db.set_busy_handler(wait_for_writer)

    def execute(self, statement: str, values: "apsw.Bindings | None" = None) -> SqlRows:
        return self.session.db.execute(statement, values)

    def execute_each(self, statement: str, values: "Iterable[apsw.Bindings]") -> SqlRows:
        """Execute a statement with each of these values; returns all rows."""
        return self.session.db.executemany(statement, values)

    def insert(self, table: str, rows: "Iterable[Sequence[apsw.Binding]]") -> None:
        rows = iter(rows)
        if (first := next(rows, None)) is not None:
            values = ", ".join("?" * len(first))
            self.session.db.executemany(f"INSERT INTO {table} VALUES ({values})", chain([first], rows))

    def explaining(self) -> AbstractContextManager[None]:
        return explaining(self.file.folder)

    def count_code_change(self) -> int:
        """Record that the current change concerns codes; return its number."""
        self.set_state(code_change=self.state.change)
        return self.state.change

    def damaged(self, cause: str) -> DamagedError:
        return damaged(self.file.folder, cause)

    def _unchanged(self, session: SqliteSession) -> AbstractContextManager[None]:
        return self.file.unchanged(session.db)

    def _begin_reading(self, session: SqliteSession) -> SqliteState:
        return self._begin(session.db, "BEGIN")

    def _begin_writing(self, session: SqliteSession) -> SqliteState:
        if not self.file.writable:
            raise PermissionError(
                f"{self.location} can only be read: make the folder writable, or change a copy (ammi index copy)"
            )
        if session.db.readonly("main"):
            raise full(self.file.folder, "the disk is full")
        return self._begin(session.db, "BEGIN IMMEDIATE")

    def _begin(self, db: apsw.Connection, statement: str) -> SqliteState:
        try:
            acknowledged = self._acknowledged.read()  # before the snapshot, because others go on writing
        except ValueError as error:
            raise DamagedError(
                f"{error}: delete that file, if ammi index check {self.location} finds nothing else"
            ) from error
        db.execute(statement)
        self.file.check_same_file()
        state = read_state(db)
        if problem := acknowledged and problem_with(state, acknowledged):
            raise DamagedError(
                f"{self.location} is not as it was left: {problem}; restore all files of the folder "
                f"from one copy, or keep what is there with ammi index check {self.location} --repair"
            )
        return state

    def _commit(self, db: apsw.Connection) -> None:
        state = self.state
        assignments = ", ".join(f"{name} = ?" for name in state.columns())
        db.execute(f"UPDATE state SET {assignments}", replace(state, checksum=state.right_checksum()).row())
        db.execute("COMMIT")
        with suppress(OSError):  # the change is committed; the next one acknowledges it
            self._acknowledged.raise_to(Acknowledged(state.uid, state.change))
        self._shorten_journal(db)

    def _shorten_journal(self, db: apsw.Connection) -> None:
        """Begin the journal anew if it is long: SQLite does not while one reader after the other uses it."""
        size = self.file.journal_size()
        if size < max(_LONG_JOURNAL, self._journal_tried + _LONG_JOURNAL):
            self._journal_tried = min(size, self._journal_tried)
            return
        self._journal_tried = size
        with suppress(apsw.Error):  # some reader is slow, or the disk is full: later
            db.set_busy_timeout(_MILLISECONDS_FOR_JOURNAL)
            db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.set_busy_handler(wait_for_writer)

    def _roll_back(self, db: apsw.Connection) -> None:
        if db.in_transaction:
            db.execute("ROLLBACK")


def read_state(db: apsw.Connection) -> SqliteState:
    return SqliteState(*next(db.execute("SELECT * FROM state")))


def problem_with(state: SqliteState, acknowledged: Acknowledged) -> str | None:
    """Return why the state is not that of the acknowledged changes, or None."""
    if state.uid != acknowledged.uid:
        return f"{FILE}, or its journal {FILE}-wal, is of another collection"
    if state.change < acknowledged.change:
        return f"{FILE} ends with change {state.change}, but {acknowledged.change} were acknowledged"
    return None


def _is_blank(db: apsw.Connection) -> bool:
    return db.execute("SELECT 1 FROM sqlite_master").fetchone() is None


def _check_blank(db: apsw.Connection, folder: Path) -> None:
    if not _is_blank(db):
        raise FileExistsError(f"{folder} holds a collection: open it, or create the new one elsewhere")


def check_ours(db: apsw.Connection, folder: Path, was_made: bool, older: bool = False) -> None:
    """Refuse a file of another program, or of another format; `older` ones pass if they can be converted."""
    if _is_blank(db):
        if was_made:
            raise damaged(folder, f"{FILE} is empty")
        raise FileNotFoundError(f"the creation of {folder} was interrupted: delete the folder, and create it again")
    if db.pragma("application_id") != MAGIC:
        raise ValueError(f"{folder / FILE} belongs to another program: name the folder of a collection")
    found = db.pragma("user_version")
    if not (older and found in (*OLDEST, *STEPS)):
        check_format(str(folder), found, FORMAT, (*OLDEST, *STEPS))
    if found not in OLDEST and db.reserve_bytes() != CHECKSUM_BYTES:
        raise damaged(folder, "its pages have no checksums")


def check_schema(db: apsw.Connection, folder: Path) -> None:
    """Refuse views, triggers, and any table or index that ammi did not make in this way."""
    ours = _schema()
    for kind, name, sql in db.execute(_SELECT_SCHEMA):
        if (kind, name) not in ours or sql != (ours[kind, name] or sql):
            raise ValueError(
                f"{folder / FILE} has the {kind} {name!r:.60}, which ammi did not make, and is not opened: ask for an "
                "export of the collection (ammi index export)"
            )


@cache
def _schema() -> dict[tuple[str, str], str | None]:
    """Return the SQL of all that a file may hold by kind and name; None for FTS5's own tables, which it may change."""
    with closing(apsw.Connection(":memory:")) as db:
        for statement in (*SCHEMA, *WORD_TABLES, *VECTOR_TABLES):
            db.execute(statement)
        found = db.execute(_SELECT_SCHEMA)
        return {(kind, name): None if name.startswith("words_") else sql for kind, name, sql in found}
