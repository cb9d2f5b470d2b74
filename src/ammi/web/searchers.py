"""Processes that answer searches for a server: of one process only one thread at a time computes in Python.

`python -m ammi.web.searchers PLACE` reads what `Served.search` is asked from its input, and writes what it answers, or
raises, until the input ends, which is when the server does.
"""

import asyncio
import logging
import os
import pickle
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO

from ammi.web.guard import Refusal

_LENGTH = Struct("<I")
_SECONDS_TO_NEXT_TRY = 60.0  # to start a process where one did not start
_log = logging.getLogger("ammi.web")


class Searchers:
    """Processes that answer one search at a time each, for a collection in a folder."""

    def __init__(self, location: str, n: int):
        if n and not Path(location).is_dir():
            raise ValueError(f"{location} is in no folder, which is what searchers read: serve it without them")
        self._place, self._n = location, n
        self._all: set[Process] = set()
        self._idle: list[Process] = []
        self._turn = asyncio.Semaphore(0)  # whoever has waited longest is next, which a Queue does not see to
        self._watches: list[asyncio.Task[None]] = []

    @property
    def ready(self) -> bool:
        """Whether there are such processes, and one of them has begun to answer."""
        return bool(self._all)

    def start(self) -> None:
        self._watches = [asyncio.create_task(self._keep_one()) for _ in range(self._n)]

    async def ask(self, *request: Any) -> bytes:
        """What `Served.search` answers to a request."""
        process = await self._next()
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(_framed(request))
            found = await _read(process.stdout)
        except Exception as error:  # it has ended, or says what nobody understands
            _log.error("a process that answers searches is replaced: %r", error)
            with suppress(ProcessLookupError):
                process.kill()
            words = "a process that answers searches has ended: try again in a second"
            raise Refusal(503, words, (b"retry-after", b"1")) from None
        self._rest(process)
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        for watch in self._watches:
            watch.cancel()
        for process in self._all:
            if process.stdin:
                process.stdin.close()

    async def _next(self) -> Process:
        """One that is idle, and has not ended meanwhile."""
        while True:
            await self._turn.acquire()
            process = self._idle.pop()
            if process.returncode is None:
                return process

    def _rest(self, process: Process) -> None:
        self._idle.append(process)
        self._turn.release()

    async def _keep_one(self) -> None:
        """Start a process, and another one whenever it ends."""
        command = (sys.executable, "-m", "ammi.web.searchers", self._place)
        while True:
            process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
            assert process.stdout
            try:
                await _read(process.stdout)  # it says when it is ready
            except asyncio.IncompleteReadError:  # and on its error output why it is not
                await asyncio.sleep(_SECONDS_TO_NEXT_TRY)
                continue
            self._all.add(process)
            self._rest(process)
            await process.wait()
            self._all.discard(process)


def _framed(content: Any) -> bytes:
    pickled = pickle.dumps(content)
    return _LENGTH.pack(len(pickled)) + pickled


async def _read(stream: asyncio.StreamReader) -> Any:
    (length,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
    return pickle.loads(await stream.readexactly(length))


def answer_all(location: str, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    from ammi.collection import Collection
    from ammi.search.hamming import alone
    from ammi.web.served import Served
    from ammi.web.settings import Settings

    alone()
    with Collection.open(location) as collection:
        served = Served(collection, Settings())
        answers.write(_framed("ready"))
        answers.flush()
        while head := requests.read(_LENGTH.size):
            request = pickle.loads(requests.read(_LENGTH.unpack(head)[0]))
            try:
                answers.write(_framed(bytes(served.search(*request).body)))
            except Exception as error:
                answers.write(_framed(error))
            answers.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server is told, and ends the input
    own_output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else writes there
    answer_all(sys.argv[1], sys.stdin.buffer, own_output)
