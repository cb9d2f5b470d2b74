"""The served collection: its answers about documents and queries, and the worker threads that compute them."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePath
from threading import Lock
from typing import Any, TypeVar, cast
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from ammi.collection import Collection
from ammi.explore.sample import MOST_POINTS
from ammi.search import Entry, Hit
from ammi.search.documents import Id
from ammi.search.hamming import alone
from ammi.web import schemas
from ammi.web.guard import Refusal
from ammi.web.live import LiveExplorer
from ammi.web.searchers import Searchers
from ammi.web.settings import Settings

T = TypeVar("T")

_CACHED = 2048  # answers
_LONGEST_CACHED = 1 << 15  # bytes of an answer


class Served:
    """A collection, how it is served, and its answers as the models of `schemas`."""

    def __init__(self, collection: Collection, settings: Settings, most_points: int = MOST_POINTS):
        self.collection, self.store, self.settings = collection, collection.store, settings
        name = PurePath(collection.location.rstrip("/")).name or "collection"
        self.name = name.encode("utf-8", "replace").decode()  # a folder's name may not be UTF-8
        self.work, self.live = Work(settings), LiveExplorer(collection, most_points)
        self.searchers = Searchers(collection.location, settings.searchers)
        self.exports: WeakSet[Iterator[bytes]] = WeakSet()  # exports that a client still reads
        self._cached_answers: OrderedDict[tuple[str, str], bytes] = OrderedDict()
        self._lock = Lock()

    def query(self, query: str | list[float]) -> schemas.Query:
        """Return a text or a vector as the model reads it."""
        text = query if isinstance(query, str) else None
        return schemas.Query(
            text=text,
            code=self.collection.encode([query])[0].tobytes().hex(),
            probabilities=self._probabilities(query),
            known=text is None or self.collection.knows(text),
        )

    def _probabilities(self, content: str | list[float] | NDArray[np.float32] | None) -> list[float] | None:
        """Return the probability of each bit of a text or a vector; None if the model has no probabilities."""
        if content is None or self.reads() != ("text" if isinstance(content, str) else "vector"):
            return None
        try:
            return self.collection.bit_probabilities([content])[0].tolist()
        except ValueError:
            return None

    def ranks(self) -> list[schemas.Rank]:
        """Return the scores that a search can use, the default first."""
        return cast(list[schemas.Rank], self.collection.ranks())

    def reads(self) -> schemas.Reads | None:
        """Return the kind of a query; None without a model."""
        return cast(schemas.Reads, self.collection.reads) if self.ranks() else None

    def entries(self, ids: Sequence[Id]) -> list[Entry]:
        """Return documents; refuse the request if one does not exist."""
        try:
            return self.collection.get(ids)
        except ValueError:
            for id in ids:
                if id not in self.collection:
                    sentence = f"no document has the id {id!r:.60}: GET /api/documents lists all of them"
                    raise Refusal(404, sentence) from None
            raise

    def document(
        self, entry: Entry, length: int | None = None, *, probable: bool = True, vector: bool = False
    ) -> schemas.Document:
        """Return a document, on demand with the probabilities of its bits and its kept vector."""
        content = entry.text if self.reads() == "text" else entry.vector
        return schemas.Document(
            id=entry.id,
            text=cut(entry.text, length),
            metadata=entry.metadata,
            code=entry.code.tobytes().hex(),
            probabilities=self._probabilities(content) if probable else None,
            vector=entry.vector.tolist() if vector and entry.vector is not None else None,
        )

    def hits(self, hits: Iterable[Hit], length: int | None) -> list[schemas.Hit]:
        """Return hits with the codes of their documents."""
        found = list(hits)
        codes = self.store.codes_of([hit.id for hit in found])
        return [
            schemas.Hit(
                id=hit.id,
                distance=hit.distance,
                score=hit.score,
                text=cut(hit.text, length),
                metadata=hit.metadata,
                code=None if code is None else code.tobytes().hex(),  # it may have been deleted since
            )
            for hit, code in zip(found, codes, strict=True)
        ]

    def search(self, request: schemas.SearchRequest) -> bytes:
        """Return the answer to a search as JSON, from the cache if the documents have not changed since."""
        with self.store.snapshot():
            state = self.store.state()
            if state is None or request.text is None:
                return self._search(request)
            key = state, request.model_dump_json()
            with self._lock:
                if key in self._cached_answers:
                    self._cached_answers.move_to_end(key)
                    return self._cached_answers[key]
            found = self._search(request)
        if len(found) <= _LONGEST_CACHED:
            with self._lock:
                self._cached_answers[key] = found
                while len(self._cached_answers) > _CACHED:
                    self._cached_answers.popitem(last=False)  # the one that was used longest ago
        return found

    def _search(self, request: schemas.SearchRequest) -> bytes:
        query, k = request.query, request.k
        rank: schemas.Rank = "distance"
        if request.radius is None:
            hits = self.collection.search(query, k, request.where, request.rank, shortlist=request.shortlist)
            rank = request.rank or self.ranks()[0]
        else:
            hits = self.collection.within(query, request.radius, request.where)
        found = self.hits(hits[:k], request.length)
        answer = schemas.SearchAnswer(query=self.query(query), rank=rank, hits=found, total=len(hits))
        return answer.model_dump_json().encode()

    def without_location(self, sentence: str) -> str:
        """Return a sentence with the collection's name in place of its location, which clients need not know."""
        return sentence.replace(self.collection.location, self.name)

    def start(self) -> None:
        """Start the work beside the requests."""
        self.live.start()
        self.searchers.start()

    def close(self) -> None:
        self.work.close()
        self.searchers.close()
        self.live.close()


class Work:
    """Threads that compute answers, with a limit on how many requests wait and how long one may take.

    FAISS and SQLite release Python's lock, so that several threads do more than one.
    """

    def __init__(self, settings: Settings):
        self._settings = settings
        self._threads = ThreadPoolExecutor(settings.threads, "ammi-serve", initializer=alone)
        self._unfinished = 0  # jobs that run or wait

    async def do(self, job: Callable[[], T]) -> T:
        """Return the result of a job; refuse it if too many wait already, or if it takes too long."""

        async def in_thread() -> T:
            return await asyncio.get_running_loop().run_in_executor(self._threads, job)

        return await self.wait(in_thread())

    async def wait(self, job: Coroutine[Any, Any, T]) -> T:
        """Do the same for a job that runs in another process.

        A job that takes too long goes on, and counts until it ends.
        """
        if self._unfinished >= self._settings.threads + self._settings.waiting:
            job.close()
            raise Refusal(503, "the server is busy: try again in a second", (b"retry-after", b"1"))
        self._unfinished += 1
        future = asyncio.ensure_future(job)
        future.add_done_callback(self._done)
        done, _ = await asyncio.wait([future], timeout=self._settings.seconds)
        if not done:
            raise Refusal(504, f"this takes more than {self._settings.seconds:g} seconds: ask for less")
        return future.result()

    def _done(self, future: "asyncio.Future[T]") -> None:
        self._unfinished -= 1
        if not future.cancelled():
            future.exception()  # marks the error of an abandoned job as seen

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


def cut(text: str | None, length: int | None) -> str | None:
    """Return at most `length` characters of a text."""
    return text if text is None or length is None else text[:length]
