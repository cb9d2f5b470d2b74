"""Processes that answer searches for a server, since one Python process computes in one thread at a time.

`python -m ammi.web.searchers LOCATION` reads requests from stdin and writes the answers of `Served.search`, or its
errors, to stdout, until stdin ends together with the server.
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
from typing import TYPE_CHECKING, BinaryIO

from ammi.web.guard import Refusal

if TYPE_CHECKING:
    from ammi.web.schemas import SearchRequest

_LENGTH = Struct("<I")
_SECONDS_TO_NEXT_TRY = 60.0  # after a process did not start
_log = logging.getLogger("ammi.web")


class Searchers:
    """A pool of processes, each answering one search at a time, for a collection in a folder."""

    def __init__(self, location: str, n: int):
        if n and not Path(location).is_dir():
            raise ValueError(f"{location} is not a folder, which searchers need: serve it without --searchers")
        self._location, self._n = location, n
        self._all: set[Process] = set()
        self._idle: list[Process] = []
        self._turn = asyncio.Semaphore(0)  # wakes the request that has waited longest
        self._watches: list[asyncio.Task[None]] = []

    @property
    def ready(self) -> bool:
        """Whether a process has started to answer."""
        return bool(self._all)

    def start(self) -> None:
        self._watches = [asyncio.create_task(self._keep_one()) for _ in range(self._n)]

    async def ask(self, request: "SearchRequest") -> bytes:
        """Return the answer of `Served.search`, as JSON."""
        process = await self._next()
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(_framed(request))
            found = await _read(process.stdout)
        except Exception as error:  # it has ended, or its answer is garbled
            _log.error("a process that answers searches is replaced: %r", error)
            with suppress(ProcessLookupError):
                process.kill()
            sentence = "a process that answers searches has ended: try again in a second"
            raise Refusal(503, sentence, (b"retry-after", b"1")) from None
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
        """Wait for an idle process that has not ended."""
        while True:
            await self._turn.acquire()
            process = self._idle.pop()
            if process.returncode is None:
                return process

    def _rest(self, process: Process) -> None:
        self._idle.append(process)
        self._turn.release()

    async def _keep_one(self) -> None:
        """Start a process, and a new one whenever it ends."""
        command = (sys.executable, "-m", "ammi.web.searchers", self._location)
        while True:
            process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
            assert process.stdout
            try:
                await _read(process.stdout)  # its first message: it is ready
            except asyncio.IncompleteReadError:  # stderr says why it failed to start
                await asyncio.sleep(_SECONDS_TO_NEXT_TRY)
                continue
            self._all.add(process)
            self._rest(process)
            await process.wait()
            self._all.discard(process)


def _framed(content: object) -> bytes:
    pickled = pickle.dumps(content)
    return _LENGTH.pack(len(pickled)) + pickled


async def _read(stream: asyncio.StreamReader) -> bytes | Exception:
    (length,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
    return pickle.loads(await stream.readexactly(length))


def answer_all(location: str, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until stdin ends."""
    from ammi.collection import Collection
    from ammi.search.hamming import alone
    from ammi.web.served import Served
    from ammi.web.settings import Settings

    alone()
    with Collection.open(location) as collection:
        served = Served(collection, Settings())
        answers.write(_framed(b"ready"))
        answers.flush()
        while head := requests.read(_LENGTH.size):
            request = pickle.loads(requests.read(_LENGTH.unpack(head)[0]))
            try:
                answers.write(_framed(served.search(request)))
            except Exception as error:
                answers.write(_framed(error))
            answers.flush()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles Ctrl-C, and closes stdin
    own_output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # so that other output does not mix with the answers
    answer_all(sys.argv[1], sys.stdin.buffer, own_output)
