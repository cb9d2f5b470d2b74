"""Where Milvus is: a cluster by its address, or a file with the milvus-lite process that serves it to this process."""

import atexit
import os
import re
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import time
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, TextIO
from urllib.parse import unquote, urlsplit

from ammi.search.checks import DamagedError
from ammi.urls import cuts_password, shown

DEFAULT_NAME = "ammi"
_PORT = 19530
_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,199}")
_PATIENCE = 5.0  # seconds for another process to let go of a file
_START = 60.0  # seconds for a server to load its file
_LIBRARIES = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
_TABLE = "collection_meta"  # which every file of milvus-lite has


class Address(NamedTuple):
    """A location taken apart. The token is in no message: `location` is what those show."""

    location: str
    file: Path | None  # of milvus-lite
    uri: str  # of a cluster
    token: str
    database: str
    name: str  # of the index: its collections begin with it


def parsed_address(location: str) -> Address:
    """milvus-lite:FILE, or milvus://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?secure=true][#NAME]."""
    scheme, _, rest = location.partition(":")
    if scheme == "milvus-lite":
        if not rest or rest.startswith("//"):
            raise ValueError(f"{location!r} names no file: write milvus-lite:FILE")
        return Address(location, Path(rest), "", "", "", DEFAULT_NAME)
    known = shown(location)
    try:
        parts = urlsplit(location)
        host, port = parts.hostname, parts.port or _PORT
    except ValueError:
        host = None
    if not host or cuts_password(location) or "/" in parts.path.strip("/") or parts.query not in ("", "secure=true"):
        raise ValueError(f"{known!r} is no address of Milvus: write milvus://HOST:PORT/DATABASE#NAME")
    name = unquote(parts.fragment) or DEFAULT_NAME
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r:.60} cannot be the name of an index in Milvus: take letters, digits and _")
    token = ":".join(unquote(part) for part in (parts.username, parts.password) if part is not None)
    scheme = "https" if parts.query else "http"
    at = f"[{host}]" if ":" in host else host
    return Address(
        known,
        None,
        f"{scheme}://{at}:{port}",
        token or os.environ.get("MILVUS_TOKEN", ""),
        unquote(parts.path.strip("/")),
        name,
    )


def check_file(file: Path, location: str) -> None:
    """Refuse a file that is not milvus-lite's: it would add its tables to any database."""
    try:
        tables = _tables(file)
    except sqlite3.DatabaseError as error:
        if "malformed" in str(error):
            raise DamagedError(f"{location} is damaged ({error}): restore a copy") from error
        if "unable to open" in str(error):
            raise PermissionError(f"{location} cannot be opened ({error}): see who may read and write it") from error
        raise ValueError(f"{location} is no file of milvus-lite ({error}): name another file") from error
    if tables and _TABLE not in tables:
        raise ValueError(f"{location} is a database of another program: name another file")


def holds_index(file: Path, name: str) -> bool:
    """Whether the file has an index of this name; without a server, for another process may have the file open."""
    try:
        if name not in _tables(file):
            return False
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
            return db.execute(f'SELECT 1 FROM "{name}" LIMIT 1').fetchone() is not None
    except sqlite3.DatabaseError:
        return False


def _tables(file: Path) -> set[str]:
    if not file.exists() or not file.stat().st_size:
        return set()
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
        return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


class LiteServer:
    """The milvus-lite process of a file, which one process at a time can have; its own objects share it.

    It is started as milvus-lite itself does it, whose Python part needs a pkg_resources that is no more: the server
    ends by itself when nobody holds the lock, so that it does not outlive a process that is killed.
    """

    _running: dict[Path, "LiteServer"] = {}  # noqa: RUF012  # shared on purpose
    _turn = RLock()  # one that is forgotten may be closed at any moment

    def __init__(self, file: Path, location: str):
        self._file, self._place = file, location
        self.users = 0
        self.indexes: dict[str, Any] = {}  # what its users know of each index
        self._lock = _locked(file.parent / f".{file.name}.lock", location)
        self._home = tempfile.mkdtemp(prefix="ammi-milvus-")  # its socket and its log
        self.uri = f"unix:{self._home}/socket"
        try:
            self._process = self._start()
        except BaseException:
            self._tidy_up()
            raise

    @classmethod
    def of(cls, file: Path, location: str) -> "LiteServer":
        """The server of a file, for one more user, who calls `release` in the end."""
        file = file.absolute().resolve()
        with cls._turn:
            server = cls._running.get(file)
            if server and server._process.poll() is not None:
                server.stop()
                server = None
            if server is None:
                check_file(file, location)
                server = cls._running[file] = cls(file, location)
            server.users += 1
            return server

    def release(self) -> None:
        """Say that a user needs it no more; the last one stops it."""
        with self._turn:
            self.users -= 1
            if self.users == 0 and self._running.get(self._file) is self:
                self.stop()

    def stop(self) -> None:
        self._running.pop(self._file, None)
        self._process.terminate()
        self._process.wait()
        self._tidy_up()

    def kill(self) -> None:
        """End it as a fault would."""
        self._process.kill()
        self._process.wait()

    def _tidy_up(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)
        with suppress(OSError):
            os.unlink(self._lock.name)
        self._lock.close()

    def _start(self) -> "subprocess.Popen[bytes]":
        process = subprocess.Popen(
            [milvus_program(), self._file, self.uri, "ERROR", self._lock.name],
            env={
                **os.environ,
                **dict.fromkeys(_LIBRARIES, str(milvus_program().parent)),
                "TMPDIR": self._home,
                "HOME": self._home,
            },
            cwd=self._home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the process that uses it
        )
        end = time.monotonic() + _START
        while not _answers(f"{self._home}/socket"):
            if process.poll() is not None or time.monotonic() > end:
                process.kill()
                process.wait()
                raise OSError(f"milvus-lite cannot serve {self._place}: see whether its folder can be written")
            time.sleep(0.01)
        return process


@atexit.register
def _stop_all() -> None:
    for server in list(LiteServer._running.values()):
        server.stop()


def milvus_program() -> Path:
    """The server of milvus-lite; its package is not imported."""
    found = find_spec("milvus_lite")
    if found is None or not found.submodule_search_locations:
        raise ImportError("a milvus-lite file needs milvus-lite, which is not installed: pip install 'ammi[milvus]'")
    program = Path(found.submodule_search_locations[0]) / "lib" / "milvus"
    if not program.is_file():
        raise ImportError(
            "this milvus-lite has no binary vectors, 2.5.1 is the last that has: pip install 'ammi[milvus]'"
        )
    return program


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as asking:
        return asking.connect_ex(path) == 0


def _locked(path: Path, location: str) -> TextIO:
    """The lock that milvus-lite itself takes: of POSIX, and gone with the process."""
    import fcntl  # which Windows has not, nor milvus-lite

    end = time.monotonic() + _PATIENCE
    while True:
        try:
            file = open(path, "a")  # noqa: SIM115  # closed by whoever lets go
        except PermissionError as error:
            raise PermissionError(f"{location} cannot be opened where its folder cannot be written: copy it") from error
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.exists(path) and os.path.samestat(os.stat(path), os.fstat(file.fileno())):
                return file
        except BlockingIOError:
            if time.monotonic() > end:
                file.close()
                raise BlockingIOError(
                    f"{location} is open in another process, and a milvus-lite file takes one at a time: close it there, "
                    "or use a Milvus server"
                ) from None
        file.close()  # held by another, or deleted by the one who held it
        time.sleep(0.05)
