"""Connections to the file of an embedded index: SQLite with a checksum on every page, a connection for every thread."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from threading import Lock
from typing import NamedTuple

import apsw
import apsw.sqlite_extra

from ammi.search.checks import DamagedError

FILE = "index.sqlite"
PATIENCE = 60  # seconds that a change waits for another process to finish its own
CHECKSUM_BYTES = 8  # that the checksums take at the end of every page
_IDLE = 8  # connections kept for the threads to come
_CACHE_KILOBYTES = 6_000  # of pages, a connection: those that are still there are not read and checked again
_DAMAGED = {apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_SHORT_READ, apsw.SQLITE_IOERR_READ, apsw.SQLITE_IOERR_CORRUPTFS}


@cache
def _checksummed() -> str:
    """The part of SQLite between it and its files that writes and checks a checksum for every page."""
    with apsw.Connection(":memory:") as any_database:
        apsw.sqlite_extra.load(any_database, "cksumvfs")
    return "cksmvfs"


def connect(file: Path, mode: str) -> apsw.Connection:
    """A connection to a file; mode is what a URI of SQLite says, such as mode=rw."""
    flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
    db = apsw.Connection(f"{file.as_uri()}?{mode}", flags=flags, vfs=_checksummed())
    db.set_busy_timeout(1000 * PATIENCE)
    db.pragma("cache_size", -_CACHE_KILOBYTES)
    return db


class _File(NamedTuple):
    """What tells a file from another that took its location: where it is on the disk."""

    device: int
    number: int


class _Version(NamedTuple):
    """What tells that a file was changed."""

    size: int
    time: int
    has_journal: bool


class Connections:
    """The connections to one file. Each serves one thread at a time, and those that nobody needs wait for the next.

    Where the file or its folder cannot be written, they read. SQLite then locks nothing and looks at the file alone,
    unless there is a journal, which others write: so a change of the file makes all connections old.
    """

    def __init__(self, folder: Path):
        self.folder = folder
        self.file = (folder / FILE).absolute()  # wherever the process goes later
        self._name = str(self.file)
        self._opened = self._now()
        self.writable = os.access(self.file, os.W_OK) and os.access(self.file.parent, os.W_OK)
        self._version = self._version_now()
        self._lock = Lock()
        self._idle: list[apsw.Connection] = []
        self._closed = False

    def take(self) -> apsw.Connection:
        """A connection for the caller alone."""
        with self._lock:
            if self._closed:
                raise ValueError(f"the index in {self.folder} was closed: open it again")
            if not self.writable and self._version != (now := self._version_now()):
                self._version = now
                self._close_idle()
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def give_back(self, db: apsw.Connection) -> None:
        """Let others have a connection."""
        with self._lock:
            if self._closed or len(self._idle) >= _IDLE or db.txn_state() != apsw.SQLITE_TXN_NONE:
                db.close()
            else:
                self._idle.append(db)

    def close(self) -> None:
        """Close all that wait, and from now on those that come back."""
        with self._lock:
            self._closed = True
            self._close_idle()

    def check_same_file(self) -> None:
        """Refuse a file that took the place of the one that was opened."""
        if self._now() != self._opened:
            raise FileNotFoundError(
                f"the index in {self.folder} was deleted or replaced after it was opened: open it again"
            )

    def size(self) -> int:
        """The bytes of the file and of its journal."""
        files = (self.file, Path(f"{self._name}-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    @contextmanager
    def unchanged(self) -> Iterator[None]:
        """Refuse what was read of a file without locks if somebody wrote it meanwhile."""
        before = None if self.writable else self._version_now()
        yield
        if before is not None and not before.has_journal and before != self._version_now():
            raise OSError(f"the index in {self.folder} was changed while it was read: try again")

    def connect(self) -> apsw.Connection:
        """A new connection, which is not one of these."""
        if self.writable:
            return connect(self.file, "mode=rw")
        return connect(self.file, "mode=ro" if self._version.has_journal else "mode=ro&immutable=1")

    def _connect(self) -> apsw.Connection:
        db = self.connect()
        if self.writable:
            db.execute("PRAGMA synchronous = FULL")  # a change is on the disk when its call returns
        return db

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def _now(self) -> _File | None:
        try:
            found = os.stat(self._name)
        except FileNotFoundError:
            return None
        return _File(found.st_dev, found.st_ino)

    def _version_now(self) -> _Version:
        found = os.stat(self._name)
        try:
            has_journal = os.stat(f"{self._name}-wal").st_size > 0
        except FileNotFoundError:
            has_journal = False
        return _Version(found.st_size, found.st_mtime_ns, has_journal)


@contextmanager
def explaining(folder: Path) -> Iterator[None]:
    """Say what went wrong with the file of an index in words that help."""
    try:
        yield
    except apsw.Error as error:
        raise _explained(error, folder) from error
    except UnicodeDecodeError as error:
        raise damaged(folder, str(error)) from error


def damaged(folder: Path, cause: str) -> DamagedError:
    return DamagedError(
        f"the index in {folder} is damaged ({cause}): restore a copy of the folder, or keep what is whole with "
        f"ammi index check {folder} --repair"
    )


def _explained(error: apsw.Error, folder: Path) -> Exception:
    cause = str(error)
    match error:
        case apsw.FullError() | apsw.IOError() if getattr(error, "extendedresult", 0) not in _DAMAGED:
            return OSError(
                f"the index in {folder} could not be written ({cause}) and is as it was: make space and try again"
            )
        case apsw.BusyError() | apsw.LockedError():
            return TimeoutError(
                f"another process has been writing to the index in {folder} for {PATIENCE} s: try again"
            )
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError():
            return PermissionError(f"the index in {folder} cannot be opened ({cause}): make the folder writable")
        case apsw.TooBigError():
            return ValueError(
                f"a text or a file is too long for the index in {folder} ({cause}): SQLite takes a billion bytes"
            )
        case apsw.SQLError() if "no such module" in cause:
            return ValueError(f"this SQLite has no word index ({cause}): create {folder} with text_index=False")
    wrong_page = getattr(error, "extendedresult", 0) == apsw.SQLITE_IOERR_DATA
    return damaged(folder, "a page does not have the checksum that was written with it" if wrong_page else cause)
