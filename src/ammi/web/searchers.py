"""Processes that answer searches for a server: of one process only one thread at a time computes in Python.

`python -m ammi.web.searchers PLACE` reads what `Served.search` is asked from its input, and writes what it answers, or
raises, until the input ends, which is when the server does.
"""

import asyncio
import os
import pickle
import signal
import sys
from asyncio.subprocess import PIPE, Process
from pathlib import Path
from struct import Struct
from typing import Any, BinaryIO

_LENGTH = Struct("<I")


class Searchers:
    """Processes that answer one search at a time each, for a collection in a folder."""

    def __init__(self, place: str, n: int):
        self._place, self._n = place, n if Path(place).is_dir() else 0
        self._all: set[Process] = set()
        self._idle: asyncio.Queue[Process] = asyncio.Queue()
        self._starting: set[asyncio.Task[None]] = set()

    @property
    def ready(self) -> bool:
        """Whether there are such processes, and one of them has begun to answer."""
        return bool(self._all)

    def start(self) -> None:
        for _ in range(self._n):
            self._start_one()

    async def ask(self, *request: Any) -> bytes:
        """What `Served.search` answers to a request."""
        process = await self._idle.get()
        assert process.stdin
        assert process.stdout
        try:
            process.stdin.write(_framed(request))
            found = await _read(process.stdout)
        except (asyncio.IncompleteReadError, ConnectionError):
            self._all.discard(process)
            self._start_one()
            raise OSError(f"a process that answers searches has ended ({await process.wait()})") from None
        self._idle.put_nowait(process)
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None:
        for task in self._starting:
            task.cancel()
        for process in self._all:
            if process.stdin:
                process.stdin.close()

    def _start_one(self) -> None:
        task = asyncio.create_task(self._begin())
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _begin(self) -> None:
        command = (sys.executable, "-m", "ammi.web.searchers", self._place)
        process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
        assert process.stdout
        try:
            await _read(process.stdout)  # it says when it is ready
        except asyncio.IncompleteReadError:  # and on its error output why it is not
            return
        self._all.add(process)
        self._idle.put_nowait(process)


def _framed(content: Any) -> bytes:
    pickled = pickle.dumps(content)
    return _LENGTH.pack(len(pickled)) + pickled


async def _read(stream: asyncio.StreamReader) -> Any:
    (length,) = _LENGTH.unpack(await stream.readexactly(_LENGTH.size))
    return pickle.loads(await stream.readexactly(length))


def answer_all(place: str, requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests until there are no more."""
    from ammi.collection import Collection
    from ammi.search.hamming import alone
    from ammi.web.served import Served
    from ammi.web.settings import Settings

    alone()
    with Collection.open(place) as collection:
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
