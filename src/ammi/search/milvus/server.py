"""Where a collection in Milvus is: on a server at an address, or in a file that a milvus-lite process serves."""

import os
import subprocess
import time
import weakref
from contextlib import ExitStack, suppress
from importlib.util import find_spec
from mmap import ACCESS_READ, mmap
from pathlib import Path
from socket import AF_UNIX, socket
from tempfile import TemporaryDirectory
from threading import RLock
from typing import NamedTuple, TextIO
from urllib.parse import unquote, urlsplit

from ammi.urls import cuts_password, shown

_PATIENCE = 5.0  # seconds to wait for another process to close a file
_TRIES = 3  # to start a server


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
    try:
        parts = urlsplit(location)
        host, port = parts.hostname, parts.port or 19530
    except ValueError:
        host = None
    if not host or cuts_password(location) or "/" in parts.path.strip("/") or parts.query not in ("", "secure=true"):
        raise ValueError(f"{shown(location)!r} is no address of Milvus: write milvus://HOST:PORT/DATABASE#NAME")
    token = ":".join(unquote(part) for part in (parts.username, parts.password) if part is not None)
    token = token or os.environ.get("MILVUS_TOKEN", "")
    uri = f"{'https' if parts.query else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"
    return Address(shown(location), None, uri, token, unquote(parts.path.strip("/")), unquote(parts.fragment) or "ammi")


class LiteServer:
    """The milvus-lite process of a file, which stops when nobody refers to this object any more.

    It is started here because milvus-lite's own Python part needs pkg_resources, which setuptools no longer has, takes
    few file names, and removes the lock while others wait for it.
    """

    def __init__(self, file: Path, location: str):
        program = milvus_program()
        file.parent.mkdir(parents=True, exist_ok=True)
        _check_file(file, location)
        with ExitStack() as parts:
            lock = parts.enter_context(open(file.parent / f".{file.name}.lock", "a"))
            _take(lock, location)
            home = parts.enter_context(TemporaryDirectory(prefix="ammi-milvus-"))  # for its socket and its log
            self.uri = f"unix:{home}/socket"
            libraries = dict.fromkeys(("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"), str(program.parent))
            environment = {**os.environ, **libraries, "TMPDIR": home, "HOME": home}
            # It stops by itself when nobody holds the lock.
            command = [program, file, self.uri, "ERROR", lock.name]
            for _ in range(_TRIES):
                self.process = _start(command, environment, f"{home}/socket")
                if self.process.poll() is None:
                    break
                time.sleep(0.5)  # the server of a process that was killed may still be at the file
            else:
                raise OSError(f"milvus-lite cannot serve {location}: see whether its folder can be written")
            parts.callback(self.process.wait)
            parts.callback(self.process.terminate)
            self.stop = weakref.finalize(self, parts.pop_all().close)


def _start(command: list[str | Path], environment: dict[str, str], path: str) -> "subprocess.Popen[bytes]":
    """Start a server, and wait until it takes calls at its socket, or has ended."""
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=environment["HOME"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the process that uses it
    )
    try:
        while not _takes_calls(path) and process.poll() is None:
            time.sleep(0.01)
    except BaseException:
        process.kill()
        process.wait()
        raise
    return process


_SERVERS: weakref.WeakValueDictionary[Path, LiteServer] = weakref.WeakValueDictionary()
_TURN = RLock()


def lite_server(file: Path, location: str) -> LiteServer:
    """Start, or share, the server of a file; one process at a time can have it."""
    file = file.resolve()
    with _TURN:
        server = _SERVERS.get(file)
        if server is None or server.process.poll() is not None:
            if server:
                server.stop()  # it died, and a new one needs its lock
            server = _SERVERS[file] = LiteServer(file, location)
        return server


def _takes_calls(path: str) -> bool:
    with socket(AF_UNIX) as probe:  # the file alone is there too early, and gRPC does not try a second time
        return probe.connect_ex(path) == 0


def milvus_program() -> Path:
    """Return the path of milvus-lite's server, without importing its package."""
    package = find_spec("milvus_lite")
    program = Path(package.origin or "").parent / "lib" / "milvus" if package else None
    if program is None or not program.is_file():
        raise ImportError("a milvus-lite file needs milvus-lite 2.5.1, which is missing: pip install 'ammi[milvus]'")
    return program


def _check_file(file: Path, location: str) -> None:
    """Refuse a file that is not milvus-lite's, which would add its tables to any database."""
    if file.exists() and file.stat().st_size:
        with open(file, "rb") as start, mmap(start.fileno(), 0, access=ACCESS_READ) as content:
            if content.find(b"collection_meta") < 0:  # one of its tables, in one of the first pages
                raise ValueError(f"{location} is no file of milvus-lite: name another file")


def _take(lock: TextIO, location: str) -> None:
    """Take the lock that milvus-lite itself takes: a POSIX lock, released when the process ends."""
    import fcntl  # which Windows does not have, nor milvus-lite

    for _ in range(round(_PATIENCE / 0.05)):
        with suppress(BlockingIOError):
            return fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        time.sleep(0.05)
    raise BlockingIOError(f"{location} is open in another process, and milvus-lite takes one at a time: close it there")
