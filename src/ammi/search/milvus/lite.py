"""The milvus-lite process that serves a file to this process.

It is started here because milvus-lite's own Python part needs pkg_resources, which setuptools no longer has.
"""

import atexit
import os
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
from typing import TextIO

_PATIENCE = 5.0  # seconds to wait for another process to close a file
_START = 60.0  # seconds for milvus-lite to load its file


class LiteServer:
    """The milvus-lite process of a file. One process at a time can have it; all stores of that process share it."""

    _running: dict[Path, "LiteServer"] = {}  # noqa: RUF012  # shared on purpose
    _turn = RLock()  # reentrant: a garbage collection may close a store at any moment

    def __init__(self, file: Path, location: str):
        self._file, self._location = file, location
        self._users = 0
        self._lock = _locked(file.parent / f".{file.name}.lock", location)
        self._home = tempfile.mkdtemp(prefix="ammi-milvus-")  # for its socket and its log
        self.uri = f"unix:{self._home}/socket"
        try:
            self._process = self._start()
        except BaseException:
            self._clean_up()
            raise

    @classmethod
    def of(cls, file: Path, location: str) -> "LiteServer":
        """Start, or share, the server of a file; call `release` when done."""
        file = file.absolute().resolve()
        with cls._turn:
            server = cls._running.get(file)
            if server and server._process.poll() is not None:
                server.stop()
                server = None
            if server is None:
                _check_file(file, location)
                server = cls._running[file] = cls(file, location)
            server._users += 1
            return server

    def release(self) -> None:
        """Count one user less; the last one stops the server."""
        with self._turn:
            self._users -= 1
            if self._users == 0 and self._running.get(self._file) is self:
                self.stop()

    def stop(self) -> None:
        """Stop the server, whoever uses it."""
        self._running.pop(self._file, None)
        self._process.terminate()
        self._process.wait()
        self._clean_up()

    def _clean_up(self) -> None:
        shutil.rmtree(self._home, ignore_errors=True)
        self._lock.close()

    def _start(self) -> "subprocess.Popen[bytes]":
        program = milvus_program()
        libraries = dict.fromkeys(("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"), str(program.parent))
        process = subprocess.Popen(  # it stops by itself when nobody holds the lock, also if this process is killed
            [program, self._file, self.uri, "ERROR", self._lock.name],
            env={**os.environ, **libraries, "TMPDIR": self._home, "HOME": self._home},
            cwd=self._home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the process that uses it
        )
        end = time.monotonic() + _START
        with socket.socket(socket.AF_UNIX) as client:
            while client.connect_ex(f"{self._home}/socket"):
                if process.poll() is not None or time.monotonic() > end:
                    process.kill()
                    process.wait()
                    raise OSError(f"milvus-lite cannot serve {self._location}: see whether its folder can be written")
                time.sleep(0.01)
        return process


@atexit.register
def _stop_all() -> None:
    for server in list(LiteServer._running.values()):
        server.stop()


def milvus_program() -> Path:
    """Return the path of milvus-lite's server, without importing its package."""
    found = find_spec("milvus_lite")
    if found is None or not found.submodule_search_locations:
        raise ImportError("a milvus-lite file needs milvus-lite, which is not installed: pip install 'ammi[milvus]'")
    program = Path(found.submodule_search_locations[0]) / "lib" / "milvus"
    if not program.is_file():
        raise ImportError("this milvus-lite has no binary vectors, only 2.5.1 has: pip install 'ammi[milvus]'")
    return program


def has_row(file: Path, collection: str, key: str) -> bool:
    """Return whether a collection in a file has a row, also while another process has the file open."""
    with suppress(sqlite3.Error):
        return bool(_query(file, f'SELECT 1 FROM "{collection}" WHERE milvus_id = ?', key))
    return False


def _check_file(file: Path, location: str) -> None:
    """Refuse a file that is not milvus-lite's, which would add its tables to any database."""
    try:
        tables = _query(file, "SELECT name FROM sqlite_master WHERE type = ?", "table")
    except sqlite3.Error as error:
        raise ValueError(f"{location} is no file of milvus-lite ({error}): name another file") from error
    if tables and ("collection_meta",) not in tables:
        raise ValueError(f"{location} is a database of another program: name another file")


def _query(file: Path, statement: str, value: str) -> list[tuple[object]]:
    if not file.exists():
        return []
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as db:
        return db.execute(statement, (value,)).fetchall()


def _locked(path: Path, location: str) -> TextIO:
    """Take the lock that milvus-lite itself takes: a POSIX lock, released when the process ends."""
    import fcntl  # which Windows does not have, nor milvus-lite

    file = open(path, "a")  # noqa: SIM115  # `_clean_up` closes it
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        except BlockingIOError:
            if time.monotonic() > end:
                file.close()
                raise BlockingIOError(
                    f"{location} is open in another process, and a milvus-lite file takes one at a time: close it "
                    "there, or use a Milvus server"
                ) from None
        time.sleep(0.05)
