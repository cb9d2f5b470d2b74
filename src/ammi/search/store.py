"""The file of an embedded index: one SQLite database, so that every change is one transaction."""

import sqlite3
import weakref
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.search.documents import Id
from ammi.search.engine import About

FILE = "index.sqlite"
MAGIC = 0x616D6D69  # "ammi" in the header of the file, which tells it from the databases of other programs
FORMAT = 2
PATIENCE = 60  # seconds that a change waits for another process to finish its own

# Documents stand in the order of their positions, which only grow and are never used again. Codes and texts are kept
# apart from them: a million codes are read in a moment, and metadata without the texts.
SCHEMA = (
    "CREATE TABLE about (n_bits INTEGER, fingerprint TEXT)",
    "CREATE TABLE state (change INTEGER, code_change INTEGER, position INTEGER, number INTEGER)",
    "CREATE TABLE documents (position INTEGER PRIMARY KEY, id NOT NULL UNIQUE, id_is_text INTEGER NOT NULL, "
    "change INTEGER NOT NULL, for_python INTEGER NOT NULL, metadata TEXT NOT NULL)",
    "CREATE TABLE texts (position INTEGER PRIMARY KEY, text TEXT NOT NULL)",
    "CREATE TABLE blocks (block INTEGER PRIMARY KEY, slots BLOB NOT NULL, codes BLOB NOT NULL)",
    "CREATE TABLE key_kinds (name TEXT, kinds TEXT, documents INTEGER NOT NULL, PRIMARY KEY (name, kinds)) "
    "WITHOUT ROWID",
    "CREATE TABLE indexed_keys (key INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    "CREATE TABLE key_values (key INTEGER, value, position INTEGER, PRIMARY KEY (key, value, position)) WITHOUT ROWID",
    "CREATE TABLE files (name TEXT PRIMARY KEY, content BLOB NOT NULL)",
)


class State(NamedTuple):
    """The number of changes, the last of them that concerned codes, and the first position and number still free."""

    change: int
    code_change: int
    position: int
    number: int


class Store:
    """A connection to the file. Threads take turns on it; every process has its own."""

    def __init__(self, folder: Path, mode: str):
        self.folder = folder
        self._file = (folder / FILE).absolute()  # wherever the process goes later
        self._turn = RLock()
        self._depth = 0
        uri = f"{self._file.as_uri()}?mode={mode}"
        with self._explaining():
            self._db = sqlite3.connect(uri, uri=True, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
        self.close = weakref.finalize(self, self._db.close)  # also when the store is forgotten

    @classmethod
    def create(cls, folder: Path, about: About, keys: list[str], files: dict[str, bytes], *more: str) -> "Store":
        """Make the file, with these more tables."""
        folder.mkdir(parents=True, exist_ok=True)
        store = cls(folder, "rwc")
        try:
            with store.reading():
                store._check_blank()
            with store._explaining():
                store.execute("PRAGMA journal_mode = WAL")  # readers do not wait for a writer, nor it for them
            with store.writing():
                store._check_blank()  # another process may have been faster
                for statement in (*SCHEMA, *more):
                    store.execute(statement)
                store.execute("INSERT INTO about VALUES (?, ?)", (about.n_bits, about.fingerprint))
                store.execute("INSERT INTO state VALUES (0, 0, 0, 0)")
                store.execute_each("INSERT INTO indexed_keys (name) VALUES (?)", [(key,) for key in keys])
                store.set_files(files)
                store.execute(f"PRAGMA application_id = {MAGIC}")
                store.execute(f"PRAGMA user_version = {FORMAT}")
        finally:
            store.close()
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> "Store":
        if not (folder / FILE).is_file():
            raise FileNotFoundError(f"there is no index in {folder}: create it first")
        store = cls(folder, "rw")
        try:
            with store.reading():
                store._check_ours()
            with store._explaining():
                store.execute("PRAGMA synchronous = FULL")  # a change is on the disk when its call returns
        except BaseException:
            store.close()
            raise
        return store

    def again(self) -> "Store":
        """Another connection to the same file."""
        return Store.open(self._file.parent)

    def reading(self) -> AbstractContextManager[None]:
        """One view of the index for as long as the block lasts, whatever other processes change meanwhile."""
        return self._transaction("BEGIN")

    def writing(self) -> AbstractContextManager[None]:
        """A change that is made when the block ends, and not at all when it fails."""
        return self._transaction("BEGIN IMMEDIATE")

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[None]:
        with self._turn, self._explaining():
            if self._depth:  # what is called inside of a block belongs to it
                yield
                return
            self.execute(begin)
            self._depth += 1
            try:
                yield
                self.execute("COMMIT")
            finally:
                self._depth -= 1
                self._db.rollback()  # does nothing after the commit

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise _explained(error, self.folder) from error

    def _is_blank(self) -> bool:
        return self.execute("SELECT 1 FROM sqlite_master").fetchone() is None

    def _check_blank(self) -> None:
        if not self._is_blank():
            raise FileExistsError(f"{self.folder} holds an index: open it, or create the new one elsewhere")

    def _check_ours(self) -> None:
        if self._is_blank():
            raise FileNotFoundError(f"the making of the index in {self.folder} was cut short: create it again")
        ((magic,),) = self.execute("PRAGMA application_id")
        if magic != MAGIC:
            raise ValueError(f"{self.folder / FILE} belongs to another program: name the folder of an ammi index")
        ((version,),) = self.execute("PRAGMA user_version")
        if version != FORMAT:
            advice = "upgrade ammi" if version > FORMAT else "build it again from the documents"
            raise ValueError(
                f"the index in {self.folder} has format {version}, and this ammi reads format {FORMAT}: {advice}"
            )

    # What follows is called while reading() or writing().

    def execute(self, statement: str, values: Any = ()) -> sqlite3.Cursor:
        return self._db.execute(statement, values)

    def execute_each(self, statement: str, values: Iterable[Any]) -> None:
        self._db.executemany(statement, values)

    def codes_about(self) -> tuple[int, str | None]:
        """The length of the codes, and the fingerprint of their model."""
        return self.execute("SELECT n_bits, fingerprint FROM about").fetchone()

    def state(self) -> State:
        return State(*self.execute("SELECT * FROM state").fetchone())

    def count_change(self, *, of_codes: bool) -> int:
        """Number the change that is being made."""
        self.execute("UPDATE state SET change = change + 1")
        if of_codes:
            self.execute("UPDATE state SET code_change = change")
        return self.state().change

    def take_places(self, keys: Iterable[Id]) -> NDArray[np.int64]:
        """The positions for new documents of these ids, as `id_key` makes them; their numbers are used from now on."""
        keys = list(keys)
        state = self.state()
        number = max([state.number, *(key + 1 for key in keys if isinstance(key, int))])
        self.execute("UPDATE state SET position = ?, number = ?", (state.position + len(keys), number))
        return np.arange(state.position, state.position + len(keys))

    def files(self) -> dict[str, bytes]:
        return dict(self.execute("SELECT name, content FROM files ORDER BY rowid").fetchall())

    def set_about(self, about: About) -> None:
        self.execute("UPDATE about SET n_bits = ?, fingerprint = ?", (about.n_bits, about.fingerprint))

    def set_files(self, files: dict[str, bytes]) -> None:
        self.execute("DELETE FROM files")
        self.execute_each("INSERT INTO files VALUES (?, ?)", files.items())


def _explained(error: sqlite3.Error, folder: Path) -> Exception:
    """What went wrong with the file, in words that help; SQLite's own words tell the cases apart."""
    cause = str(error)
    if "full" in cause or "disk I/O" in cause:
        return OSError(
            f"the index in {folder} could not be written ({cause}) and is as it was: make space and try again"
        )
    if "locked" in cause:
        return TimeoutError(f"another process has been writing to the index in {folder} for {PATIENCE} s: try again")
    if "readonly" in cause or "unable to open" in cause:
        return PermissionError(f"the index in {folder} cannot be opened ({cause}): make the folder writable")
    if "no such module" in cause:
        return ValueError(f"this Python's SQLite has no word index ({cause}): create {folder} with text_index=False")
    if "closed" in cause:
        return ValueError(f"the index in {folder} was closed: open it again")
    if "too big" in cause:
        return ValueError(
            f"a text or a file is too long for the index in {folder} ({cause}): SQLite takes a billion bytes"
        )
    return ValueError(f"the index in {folder} is damaged ({cause}): build it again, or restore a copy of the folder")
