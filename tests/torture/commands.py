"""Commands as an attack runs them: in a process of their own that imports nothing, until they end or are killed."""

import io
import os
import sys
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from typing import NamedTuple

from ammi.cli import app, main  # noqa: F401

FORK = get_context("fork")
KILLED = -9


class Ended(NamedTuple):
    """How a command ended, and what it said."""

    code: int
    said: str

    @property
    def cleanly(self) -> bool:
        """With its work done, or with a sentence."""
        return "Traceback" not in self.said and self.code in (0, 1, 2, KILLED)


def run(arguments: Sequence[object], seconds: float | None = None) -> Ended:
    """Run a command; after some seconds it is killed."""
    receiving, sending = FORK.Pipe(duplex=False)
    process = FORK.Process(target=_command, args=([*map(str, arguments)], sending))
    process.start()
    sending.close()
    if seconds is not None:
        wait([process.sentinel], timeout=seconds)
        process.kill()
    try:
        ended = Ended(*receiving.recv())
    except EOFError:
        ended = Ended(KILLED, "")
    process.join()
    return ended


def _command(arguments: list[str], sending: Connection) -> None:
    os.environ["COLUMNS"] = "200"
    sys.argv = ["ammi", *arguments]
    out, code = io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(out):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException as error:
            out.write(f"Traceback: {error!r}")
            code = 1
    sending.send((code, out.getvalue()))
