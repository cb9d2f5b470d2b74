"""Processes that answer searches for a server, since one Python process computes in one thread at a time."""

import asyncio
import logging
import os
import signal
import time
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from ammi.collection import Collection
from ammi.search.hamming import alone
from ammi.search.stopping import stoppable
from ammi.web.memory import return_memory
from ammi.web.settings import Settings

if TYPE_CHECKING:
    from ammi.web.schemas import SearchRequest
    from ammi.web.served import Served

_SECONDS_TO_NEXT_TRY = 60.0  # after the processes did not start
_log = logging.getLogger("ammi.web")
_served: "Served"  # of such a process


class Searchers:
    """A pool of processes, each answering one search at a time, for a collection in a folder."""

    def __init__(self, location: str, n: int):
        if n and not Path(location).is_dir():
            raise ValueError(f"{location} is not a folder, which searchers need: serve it without --searchers")
        self._location, self._n = location, n
        self._pool: ProcessPoolExecutor | None = None
        self.ready = False  # whether a process has started

    def restart(self) -> None:
        """Replace the processes after one of them has ended."""
        if self.ready:  # of several requests that fail, the first
            _log.error("a process that answers searches has ended: all of them are started again")
            self.start()

    def start(self) -> None:
        """Start the processes, in place of earlier ones."""
        self.close()
        if self._n:
            self._loop = asyncio.get_running_loop()
            context = get_context("spawn")
            pool = ProcessPoolExecutor(self._n, context, initializer=_open, initargs=(self._location,))
            self._pool = pool
            for _ in range(self._n):  # the pool starts a process for each job that finds none idle
                pool.submit(_warm_up).add_done_callback(lambda job: self._started(job, pool))

    def _started(self, job: "Future[None]", pool: ProcessPoolExecutor) -> None:
        if job.cancelled() or pool is not self._pool:
            return
        self.ready = job.exception() is None
        if not self.ready:  # stderr says why
            self._pool = None
            self._loop.call_soon_threadsafe(self._loop.call_later, _SECONDS_TO_NEXT_TRY, self.start)

    def ask(self, request: "SearchRequest", seconds: float) -> "Future[bytes]":
        """Begin to answer as `Served.search` does, for so long at most; BrokenProcessPool if a process has ended."""
        if self._pool is None:
            raise BrokenProcessPool
        return self._pool.submit(_search, request, seconds)

    def close(self) -> None:
        self.ready = False
        if self._pool:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _open(location: str) -> None:
    """Open the collection in a new process, which ignores Ctrl-C and ends with the server."""
    global _served
    from ammi.web.served import Served

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server handles it
    Thread(target=_end_with_server, daemon=True).start()
    alone()
    _served = Served(Collection.open(location), Settings())
    return_memory()


def _end_with_server() -> None:
    server = parent_process()
    assert server
    server.join()
    os._exit(0)  # a killed server leaves nobody to answer


def _warm_up() -> None:
    len(_served.collection)


def _search(request: "SearchRequest", seconds: float) -> bytes:
    end = time.monotonic() + seconds
    with stoppable(lambda: time.monotonic() > end):
        return _served.search(request)
