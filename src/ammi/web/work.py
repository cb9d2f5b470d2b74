"""Work of requests: a few at a time, in threads, with a limit on how many wait and on how long one may take."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from ammi.search.hamming import alone
from ammi.web.guard import Refusal
from ammi.web.settings import Settings

T = TypeVar("T")


class Work:
    """Threads that compute answers. FAISS and SQLite compute outside of Python's lock, so that several do more."""

    def __init__(self, settings: Settings):
        self._settings = settings
        self._threads = ThreadPoolExecutor(settings.threads, "ammi-serve", initializer=alone)
        self.at_once = 0  # computed or waiting

    async def do(self, job: Callable[[], T]) -> T:
        """What a job returns; a refusal where too many wait already, or when it takes too long."""

        async def in_thread() -> T:
            return await asyncio.get_running_loop().run_in_executor(self._threads, job)

        return await self.wait(in_thread())

    async def wait(self, job: Coroutine[Any, Any, T]) -> T:
        """The same of a job that computes elsewhere.

        One that takes too long goes on, and counts as long as it does.
        """
        if self.at_once >= self._settings.threads + self._settings.waiting:
            job.close()
            raise Refusal(503, "the server is busy: try again in a second", (b"retry-after", b"1"))
        self.at_once += 1
        future = asyncio.ensure_future(job)
        future.add_done_callback(self._done)
        done, _ = await asyncio.wait([future], timeout=self._settings.seconds)
        if not done:
            raise Refusal(504, f"this takes more than {self._settings.seconds:g} seconds: ask for less")
        return future.result()

    def _done(self, future: "asyncio.Future[Any]") -> None:
        self.at_once -= 1
        if not future.cancelled():
            future.exception()  # of a job that nobody waits for any more

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
