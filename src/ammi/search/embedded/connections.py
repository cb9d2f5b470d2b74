"""The file of an embedded store: SQLite connections with a checksum on every page, and errors in plain words."""

import ctypes
import os
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import apsw
import apsw.sqlite_extra

from ammi.search.checks import DamagedError
from ammi.search.sql.sessions import in_child
from ammi.search.stopping import StoppedError, is_stopped

Identity = tuple[int, int] | None  # where a file is on the disk, which tells it from another one of the same name

FILE = "index.sqlite"
PATIENCE = 60  # seconds that a writer waits for another process
_SECONDS_BETWEEN_TRIES = 0.01
_STEPS_UNTIL_ASKED = 1_000_000  # of SQLite, a few hundredths of a second, before it asks whether the work is stopped
CHECKSUM_BYTES = 8  # at the end of every page
_CACHE_KILOBYTES = 6_000  # pages that a connection keeps, so that it need not read and verify them again
_RUN_BY_A_FILE = (  # functions in its schema, triggers and views: a stranger may have made them
    apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA,
    apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER,
    apsw.SQLITE_DBCONFIG_ENABLE_VIEW,
)
_NO_MEMORY_FILE = {apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMMAP}  # as on a full disk
_DAMAGED = {apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_READ, apsw.SQLITE_IOERR_CORRUPTFS}


@cache
def _checksummed() -> str:
    """Return the name of SQLite's checksum VFS, which writes and verifies a checksum of every page."""
    with apsw.Connection(":memory:") as any_database:
        apsw.sqlite_extra.load(any_database, "cksumvfs")
    return "cksmvfs"


def connect(file: Path, mode: str) -> apsw.Connection:
    """Return a connection to a file; mode is a parameter of SQLite's URIs, such as mode=rw."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    db = apsw.Connection(f"{file.as_uri()}?{mode}", flags=flags, vfs=_checksummed())
    db.set_progress_handler(is_stopped, _STEPS_UNTIL_ASKED)
    db.set_busy_handler(wait_for_writer)
    for setting in _RUN_BY_A_FILE:
        db.config(setting, 0)
    db.pragma("cache_size", -_CACHE_KILOBYTES)
    return db


def wait_for_writer(tries: int) -> bool:
    """Wait a little for another process that writes; return whether to try again: not if this work was stopped."""
    time.sleep(_SECONDS_BETWEEN_TRIES if tries else 0.001)  # most changes take a few milliseconds
    return tries < PATIENCE / _SECONDS_BETWEEN_TRIES and not is_stopped()


def intact_pages(pages: Sequence[bytes]) -> list[bool]:
    """Return for each page whether its checksum is right; a page that was cut short has none."""
    with closing(apsw.Connection(":memory:", vfs=_checksummed())) as db:
        found = db.executemany("SELECT verify_checksum(?)", ((page,) for page in pages))
        return [intact == 1 for (intact,) in found]


_connections: weakref.WeakKeyDictionary[apsw.Connection, Identity] = weakref.WeakKeyDictionary()
_opening: list[Identity] = []  # files to which a thread is just making a connection
_inherited: set[Identity] = set()  # the files that were in use when this process was forked


def _leave_to_parent() -> None:
    """In a process that was forked, leave the connections that were in use to the parent.

    To close one here could take the parent's journal away, so none is ever freed. And while SQLite has one, it takes
    the parent's locks on the file for locks of this process: so the file is not opened again here.
    """
    _inherited.update(_opening)
    for db, file in list(_connections.items()):
        try:
            is_closed = not db.filename
        except (apsw.ConnectionClosedError, apsw.ThreadingViolationError) as error:
            is_closed = isinstance(error, apsw.ConnectionClosedError)
        if not is_closed:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(db))
            _inherited.add(file)


in_child.append(_leave_to_parent)


class _Version(NamedTuple):
    """Size and time of a file, which differ after a change."""

    size: int
    time: int
    has_journal: bool


class SqliteFile:
    """The file of a store: opens it, and checks that it is still the same file.

    If the file or its folder is read-only, or the disk is too full for the file that SQLite's processes share, SQLite
    takes no locks and reads the file alone. If there is a journal, which others write, every snapshot gets a new
    connection.
    """

    def __init__(self, folder: Path):
        if not (folder / FILE).is_file():
            raise FileNotFoundError(f"there is no collection in {folder}: create it first")
        self.folder = folder
        self.path = (folder / FILE).absolute()  # absolute, in case the process changes its folder
        self._name = str(self.path)
        self._opened = self._identity()
        allowed = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
        self.writable = allowed and bool(self.path.stat().st_mode & 0o222)  # without a bit not even for the superuser

    def connect(self) -> apsw.Connection:
        """Return a new connection, whose commits return when the change is on disk."""
        if self._opened in _inherited:
            raise ValueError(
                f"{self.folder} was in use when this process was forked, and cannot be opened here: "
                "fork while nothing reads or writes it, or start processes by spawn"
            )
        _opening.append(self._opened)
        try:
            db = self._connect()
            _connections[db] = self._opened
            return db
        finally:
            _opening.remove(self._opened)

    def _connect(self) -> apsw.Connection:
        if self.writable:
            try:
                db = connect(self.path, "mode=rw")
                db.execute("PRAGMA synchronous = FULL")
                return db
            except apsw.IOError as error:
                if _code(error) not in _NO_MEMORY_FILE or self._version().has_journal:
                    raise
        return connect(self.path, "mode=ro" if self._version().has_journal else "mode=ro&immutable=1")

    def is_reusable(self, db: apsw.Connection) -> bool:
        """Return whether another job can use the connection."""
        return not db.readonly("main") and db.txn_state() == apsw.SQLITE_TXN_NONE

    def check_same_file(self) -> None:
        """Refuse a file that replaced the opened one."""
        if self._identity() != self._opened:
            raise FileNotFoundError(f"{self.folder} was deleted or replaced after it was opened: open it again")

    def size(self) -> int:
        """Return the bytes of the file and of its journal."""
        return os.stat(self._name).st_size + self.journal_size()

    def journal_size(self) -> int:
        """Return the bytes of the journal, 0 without one."""
        try:
            return os.stat(f"{self._name}-wal").st_size
        except FileNotFoundError:
            return 0

    @contextmanager
    def unchanged(self, db: apsw.Connection) -> Iterator[None]:
        """Fail if somebody wrote the file while it was read without locks."""
        before = self._version() if db.readonly("main") else None
        yield
        if before is not None and not before.has_journal and before != self._version():
            raise OSError(f"{self.folder} was changed while it was read: try again")

    def _identity(self) -> Identity:
        try:
            found = os.stat(self._name)
        except FileNotFoundError:
            return None
        return found.st_dev, found.st_ino

    def _version(self) -> _Version:
        found = os.stat(self._name)
        return _Version(found.st_size, found.st_mtime_ns, self.journal_size() > 0)


@contextmanager
def explaining(folder: Path) -> Iterator[None]:
    """Turn SQLite's errors into sentences that say what to do."""
    try:
        yield
    except apsw.Error as error:
        raise _explained(error, folder) from error
    except UnicodeDecodeError as error:
        raise damaged(folder, str(error)) from error


def damaged(folder: Path, cause: str) -> DamagedError:
    return DamagedError(
        f"{folder} is damaged ({cause}): restore a copy of the folder, or keep what is whole with "
        f"ammi index check {folder} --repair"
    )


def full(folder: Path, cause: str) -> OSError:
    return OSError(
        f"{folder} could not be written ({cause}) and has all changes before this one: make space and try again"
    )


def _code(error: apsw.Error) -> int:
    """SQLite's extended result code, which its types do not mention."""
    return getattr(error, "extendedresult", 0)


def is_damage(error: apsw.Error) -> bool:
    """Return whether an error of reading says that the file is damaged."""
    return _code(error) in _DAMAGED


def _explained(error: apsw.Error, folder: Path) -> Exception:
    cause, code = str(error), _code(error)
    if is_stopped() and isinstance(error, apsw.InterruptError | apsw.BusyError):
        return StoppedError()
    match error:
        case apsw.IOError() if code in _NO_MEMORY_FILE:
            return OSError(
                f"{folder} has a journal that cannot be read without 32 kB of space beside it "
                f"({cause}): make space and try again"
            )
        case apsw.FullError() | apsw.IOError() if not is_damage(error):
            return full(folder, cause)
        case apsw.BusyError() | apsw.LockedError():
            return TimeoutError(f"another process has been writing to {folder} for {PATIENCE} s: try again")
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return PermissionError(f"{folder} cannot be opened ({cause}): make the folder writable")
        case apsw.TooBigError():
            return ValueError(f"a text or a file is too long for {folder} ({cause}): SQLite takes a billion bytes")
        case apsw.SQLError() if "no such module" in cause:
            return ValueError(f"this SQLite has no word index ({cause}): create {folder} with text_index=False")
    wrong_page = code == apsw.SQLITE_IOERR_DATA
    return damaged(folder, "a page does not have the checksum that was written with it" if wrong_page else cause)
