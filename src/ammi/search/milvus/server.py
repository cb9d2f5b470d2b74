"""Where Milvus is: a server at an address, or a file with the milvus-lite process that serves it to this process."""

import os
import re
import sqlite3
import subprocess
import time
import weakref
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import NamedTuple, TextIO
from urllib.parse import unquote, urlsplit

from ammi.urls import cuts_password, shown

_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,199}")
_PATIENCE = 5.0  # seconds to wait for another process to close a file
_START = 60.0  # seconds for milvus-lite to load its file


class Address(NamedTuple):
    """A location taken apart. Messages show `location`, which has no password and no token."""

    location: str
    file: Path | None  # of milvus-lite
    uri: str = ""  # of a server
    token: str = ""
    database: str = ""
    name: str = "ammi"  # of the collection with the settings; the names of the others begin with it


def parsed_address(location: str) -> Address:
    """Parse milvus-lite:FILE, or milvus://[USER:PASSWORD@]HOST[:PORT][/DATABASE][?secure=true][#NAME]."""
    scheme, _, rest = location.partition(":")
    if scheme == "milvus-lite":
        if not rest or rest.startswith("//"):
            raise ValueError(f"{location!r} names no file: write milvus-lite:FILE")
        return Address(location, Path(rest))
    known = shown(location)
    try:
        parts = urlsplit(location)
        host, port = parts.hostname, parts.port or 19530
    except ValueError:
        host = None
    if not host or cuts_password(location) or "/" in parts.path.strip("/") or parts.query not in ("", "secure=true"):
        raise ValueError(f"{known!r} is no address of Milvus: write milvus://HOST:PORT/DATABASE#NAME")
    name = unquote(parts.fragment) or "ammi"
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r:.60} cannot be the name of a collection in Milvus: take letters, digits and _")
    token = ":".join(unquote(part) for part in (parts.username, parts.password) if part is not None)
    token = token or os.environ.get("MILVUS_TOKEN", "")
    uri = f"{'https' if parts.query else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
    return Address(known, None, uri, token, unquote(parts.path.strip("/")), name)


class LiteServer:
    """The milvus-lite process of a file, which stops when nobody refers to this object any more.

    It is started here because milvus-lite's own Python part needs pkg_resources, which setuptools no longer has, takes
    few file names, and removes the lock while others wait for it.
    """

    def __init__(self, file: Path, location: str):
        program = milvus_program()
        _check_file(file, location)
        lock = _locked(file.parent / f".{file.name}.lock", location)
        home = TemporaryDirectory(prefix="ammi-milvus-")  # for its socket and its log
        self.uri = f"unix:{home.name}/socket"
        libraries = dict.fromkeys(("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"), str(program.parent))
        self.process = subprocess.Popen(
            [program, file, self.uri, "ERROR", lock.name],  # it stops by itself when nobody holds the lock
            env={**os.environ, **libraries, "TMPDIR": home.name, "HOME": home.name},
            cwd=home.name,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the process that uses it
        )
        self.stop = weakref.finalize(self, _stop, self.process, home, lock)
        end = time.monotonic() + _START
        while not Path(home.name, "socket").exists():
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise OSError(f"milvus-lite cannot serve {location}: see whether its folder can be written")
            time.sleep(0.01)


_SERVERS: weakref.WeakValueDictionary[Path, LiteServer] = weakref.WeakValueDictionary()
_TURN = RLock()


def lite_server(address: Address) -> LiteServer | None:
    """Start, or share, the server of a file; one process at a time can have it."""
    if address.file is None:
        return None
    file = address.file.absolute().resolve()
    with _TURN:
        server = _SERVERS.get(file)
        if server and server.process.poll() is not None:
            server.stop()
            server = None
        if server is None:
            server = _SERVERS[file] = LiteServer(file, address.location)
        return server


def _stop(process: "subprocess.Popen[bytes]", home: "TemporaryDirectory[str]", lock: TextIO) -> None:
    process.terminate()
    process.wait()
    home.cleanup()
    lock.close()


def milvus_program() -> Path:
    """Return the path of milvus-lite's server, without importing its package."""
    package = find_spec("milvus_lite")
    program = Path(package.origin or "").parent / "lib" / "milvus" if package else None
    if program is None or not program.is_file():
        raise ImportError("a milvus-lite file needs milvus-lite 2.5.1, which is missing: pip install 'ammi[milvus]'")
    return program


def _check_file(file: Path, location: str) -> None:
    """Refuse a file that is not milvus-lite's, which would add its tables to any database."""
    if not file.exists():
        return
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as db:
            tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        cause = "a database of another program" if tables and "collection_meta" not in tables else ""
    except sqlite3.Error as error:
        cause = str(error)
    if cause:
        raise ValueError(f"{location} is no file of milvus-lite ({cause}): name another file")


def _locked(path: Path, location: str) -> TextIO:
    """Take the lock that milvus-lite itself takes: a POSIX lock, released when the process ends."""
    import fcntl  # which Windows does not have, nor milvus-lite

    file = open(path, "a")  # noqa: SIM115  # `_stop` closes it
    end = time.monotonic() + _PATIENCE
    while time.monotonic() < end:
        with suppress(BlockingIOError):
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        time.sleep(0.05)
    file.close()
    advice = "close it there, or use a Milvus server"
    raise BlockingIOError(f"{location} is open in another process, and milvus-lite takes one at a time: {advice}")
