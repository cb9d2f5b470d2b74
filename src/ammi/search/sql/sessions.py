"""Sessions on a SQL database: connections that threads use in turn, snapshots for readers, transactions for writers.

A connection belongs to the process that made it. Idle ones are closed before a fork, and what a child process inherits
is refused there: SQLite would take the parent's locks for its own, and a server mix up the questions of both.
"""

import os
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from threading import Lock, local
from types import SimpleNamespace
from typing import Any, Generic, Protocol, Self, TypeVar

from ammi.search.checks import change_in_snapshot
from ammi.search.documents import Id, id_key
from ammi.search.stopping import check_stopped
from ammi.search.store_methods import About
from ammi.search.vectors import KeptVectors

_IDLE = 8  # connections kept for the threads to come
_SECONDS_UNTIL_ASKED = 0.1  # whether a writer that waits has been stopped


class Connection(Protocol):
    """What a pool knows of a connection."""

    def close(self) -> None: ...


class SqlRows(Protocol):
    """The rows of a query; the caller alone knows their types."""

    def fetchone(self) -> Any: ...
    def fetchall(self) -> list[Any]: ...
    def __iter__(self) -> Iterator[Any]: ...


@dataclass(frozen=True)
class SqlState:
    """The one row that says what the codes are and where the collection stands; every change alters it."""

    n_bits: int
    fingerprint: str | None
    vector_kind: str | None
    vector_width: int | None
    text_index: bool
    language: str | None  # of the texts' words
    texts: int  # in the word index
    characters: int  # of these texts
    change: int  # the number of the last change
    position: int  # the first still free
    number: int  # the next that is given as an id

    @cached_property
    def about(self) -> About:
        """The settings of the store."""
        kept = KeptVectors(self.vector_kind, self.vector_width or 0) if self.vector_kind else None
        return About(self.n_bits, self.fingerprint, kept, bool(self.text_index), self.language, self.number)

    @classmethod
    def columns(cls) -> list[str]:
        """The columns of the row, in order."""
        return [field.name for field in fields(cls)]

    def row(self) -> list[Any]:
        """The values of the columns."""
        return [getattr(self, name) for name in self.columns()]

    @staticmethod
    def first(about: About) -> dict[str, Any]:
        """The fields of the state of an empty collection."""
        kind, width = about.vectors or (None, None)
        settings = {"n_bits": about.n_bits, "fingerprint": about.fingerprint}
        settings |= {"text_index": about.text_index, "language": about.language}
        counters = ("texts", "characters", "change", "position", "number")
        return settings | {"vector_kind": kind, "vector_width": width} | dict.fromkeys(counters, 0)


C = TypeVar("C", bound=Connection)
S = TypeVar("S", bound=SqlState)


_pools: "weakref.WeakSet[Pool[Any]]" = weakref.WeakSet()
_forking = Lock()
_locked: "list[Pool[Any]]" = []  # while a process forks
in_child: list[Callable[[], None]] = []  # what else is done in a process that was forked


class Pool(Generic[C]):
    """Open connections. Each serves one job at a time, and idle ones wait for the next."""

    def __init__(self, location: str, connect: Callable[[], C], is_reusable: Callable[[C], bool]):
        self.connect = connect
        self._location, self._is_reusable = location, is_reusable
        self._lock = Lock()
        self._idle: list[C] = []
        self._closed = False
        self._process = os.getpid()
        _pools.add(self)

    @property
    def is_inherited(self) -> bool:
        """Whether this process is a child of the one that opened the collection."""
        return os.getpid() != self._process

    def check_process(self) -> None:
        """Refuse to work in a child of the process that opened the collection."""
        if self.is_inherited:
            raise ValueError(
                f"{self._location} was opened before this process was forked, and only its parent "
                "can use it: open it again here"
            )

    def take(self) -> tuple[C, bool]:
        """A connection for the caller alone, and whether it was used before."""
        self.check_process()
        with self._lock:
            if self._closed:
                raise ValueError(f"{self._location} was closed: open it again")
            if self._idle:
                return self._idle.pop(), True
        return self.connect(), False

    def give_back(self, connection: C) -> None:
        """Let others have a connection, if it is of any use to them."""
        if self.is_inherited:
            return
        with self._lock:
            if not self._closed and len(self._idle) < _IDLE and self._is_reusable(connection):
                self._idle.append(connection)
            else:
                connection.close()

    def clear(self) -> None:
        """Close the idle connections."""
        if self.is_inherited:
            return
        with self._lock:
            self._close_idle()

    def _close_idle(self) -> None:
        while self._idle:
            self._idle.pop().close()

    def close(self) -> None:
        """Close the idle connections, and from now on those that are given back."""
        self._closed = True
        self.clear()


def _before_fork() -> None:
    """Close the idle connections, and let no thread take or give back one until the process has forked."""
    _forking.acquire()
    for pool in list(_pools):
        if not pool.is_inherited:
            pool._lock.acquire()
            _locked.append(pool)
            pool._close_idle()


def _after_fork() -> None:
    while _locked:
        _locked.pop()._lock.release()
    _forking.release()


def _after_fork_in_child() -> None:
    _after_fork()
    for leave in in_child:
        leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)


class Session(Generic[C, S]):
    """A connection in use by one job."""

    def __init__(self, db: C, used: bool):
        self.db = db
        self.used = used  # before: a server may have closed it since
        self.state: S | None = None  # while reading or writing
        self.writes = False


class SqlDatabase(ABC, Generic[C, S]):
    """Transactions on one collection, for any number of threads: readers run side by side, writers take turns."""

    def __init__(self, location: str, pool: Pool[C]):
        self.location = location
        self._pool = pool
        self.close: Callable[[], object] = weakref.finalize(self, pool.close)  # also when this is forgotten
        self._turn = Lock()
        self._thread: Any = local()  # the session of each thread
        self.undone = 0  # changes that failed, so that nobody caches what was part of them

    def view(self) -> Self:
        """The same database for one job that may move from thread to thread, beside all others."""
        view = copy(self)
        view._thread = SimpleNamespace()
        return view

    @contextmanager
    def held(self) -> Iterator[Session[C, S]]:
        """One connection for all that this thread does inside of the block, with its temporary tables."""
        self._pool.check_process()
        session = getattr(self._thread, "session", None)
        if session:
            yield session
            return
        self._thread.session = session = Session(*self._take())
        try:
            yield session
        finally:
            self._thread.session = None
            self._pool.give_back(session.db)

    def reading(self) -> AbstractContextManager[None]:
        """One snapshot for as long as the block lasts, whatever others change; an inner block sees the outer one's."""
        self._pool.check_process()
        session = getattr(self._thread, "session", None)
        return nullcontext() if session and session.state else self._snapshot()

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        with self.explaining(), self.held() as session, self._unchanged(session):
            try:
                session.state = self._begin_reading(session)
                yield
            finally:
                self._leave(session)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """A change that is made when the block ends, and not at all when it fails."""
        with self.explaining(), self.held() as session:
            if session.writes:
                yield
                return
            if session.state:
                raise change_in_snapshot(self.location)
            with self._take_turn():
                try:
                    session.state = state = self._begin_writing(session)
                    session.writes = True
                    self.set_state(change=state.change + 1)
                    yield
                    self._pool.check_process()
                    check_stopped()
                    self._commit(session.db)
                except BaseException:
                    self.undone += 1
                    raise
                finally:
                    self._leave(session)

    @contextmanager
    def _take_turn(self) -> Iterator[None]:
        """Wait for the other writers among the threads of this process."""
        while not self._turn.acquire(timeout=_SECONDS_UNTIL_ASKED):
            check_stopped()
        try:
            yield
        finally:
            self._turn.release()

    def _leave(self, session: Session[C, S]) -> None:
        session.state, session.writes = None, False
        if not self._pool.is_inherited:
            self._roll_back(session.db)

    @property
    def snapshot(self) -> S | None:
        """The state that the reads of this thread see, inside of a block of them; None outside."""
        self._pool.check_process()
        session = getattr(self._thread, "session", None)
        return session.state if session and not session.writes else None

    # The following is for use inside of reading() or writing().

    @property
    def session(self) -> Session[C, S]:
        self._pool.check_process()
        return self._thread.session

    @property
    def writes(self) -> bool:
        return self.session.writes

    @property
    def state(self) -> S:
        state = self.session.state
        assert state
        return state

    def set_state(self, **values: Any) -> None:
        """Change the state, which is written when the change is made."""
        self.session.state = replace(self.state, **values)

    def take_positions(self, ids: Sequence[Id]) -> range:
        """Take the next positions for new documents; numbers among their ids are not given to others from now on."""
        state = self.state
        numbers = [key + 1 for id in ids if isinstance(key := id_key(id), int)]
        end = state.position + len(ids)
        self.set_state(position=end, number=max([state.number, *numbers]))
        return range(state.position, end)

    # The following differs from database to database.

    @abstractmethod
    def execute(self, statement: str, values: Any = ()) -> SqlRows:
        """The rows of a statement with its parameters."""

    @abstractmethod
    def insert(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows to a table."""

    @abstractmethod
    def explaining(self) -> AbstractContextManager[None]:
        """Turn the database's errors into sentences that help."""

    @abstractmethod
    def _begin_reading(self, session: Session[C, S]) -> S: ...

    @abstractmethod
    def _begin_writing(self, session: Session[C, S]) -> S: ...

    @abstractmethod
    def _commit(self, db: C) -> None:
        """Write the state, and make the change final."""

    @abstractmethod
    def _roll_back(self, db: C) -> None:
        """End the transaction, if there is one."""

    def _take(self) -> tuple[C, bool]:
        return self._pool.take()

    def _unchanged(self, session: Session[C, S]) -> AbstractContextManager[None]:
        """Refuse a snapshot that the database does not keep by itself, if it did not stay one."""
        return nullcontext()


def check_format(location: str, found: int, expected: int, convertible: Container[int] = ()) -> None:
    """Refuse a collection whose tables are of another version of ammi."""
    if found == expected:
        return
    if found in convertible:
        advice = f"convert it with ammi index upgrade {location}"
    elif found > expected:
        advice = "upgrade ammi"
    else:
        advice = "export its documents with the ammi that wrote it, and build it again from them"
    raise ValueError(f"{location} has format {found}, and this ammi reads format {expected}: {advice}")
