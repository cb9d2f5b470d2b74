"""The served collection: its answers about documents and queries, and the worker threads that compute them."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from hashlib import blake2b
from threading import Event, Lock
from typing import Any, TypeVar, cast
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from ammi.collection import Collection
from ammi.explore.sample import MOST_POINTS
from ammi.search import Entry, Hit, Hits
from ammi.search.documents import Id
from ammi.search.filters import Where
from ammi.search.hamming import alone
from ammi.search.locations import name_of
from ammi.search.passages import explanation
from ammi.search.queries import parse
from ammi.search.stopping import StoppedError, check_stopped, stoppable
from ammi.web import schemas
from ammi.web.guard import Refusal, busy
from ammi.web.live import LiveExplorer
from ammi.web.searchers import Searchers
from ammi.web.settings import Settings
from ammi.web.tables import Tables

T = TypeVar("T")

_CACHED_BYTES = 4 << 20  # of answers
_LONGEST_CACHED = 1 << 15  # bytes of an answer
_BYTES_BESIDE = 300  # memory of a cached answer beside its bytes


class Served:
    """A collection, how it is served, and its answers as the models of `schemas`."""

    def __init__(self, collection: Collection, settings: Settings, most_points: int = MOST_POINTS):
        self.collection, self.store, self.settings = collection, collection.store, settings
        name = settings.title or name_of(collection.location)
        self.name = name.encode("utf-8", "replace").decode()  # a folder's name may not be UTF-8
        self.work, self.live = Work(settings), LiveExplorer(collection, most_points)
        self.searchers = Searchers(collection.location, settings.searchers)
        self.tables = Tables(collection, self.live)
        self.exports: WeakSet[Iterator[bytes]] = WeakSet()  # exports that a client still reads
        self._answers = _CachedAnswers()
        self._listed: tuple[str, list[Id]] = "", []

    def query(self, query: str | list[float]) -> schemas.Query:
        """Return a text or a vector as the model reads it."""
        text = query if isinstance(query, str) else None
        if text is not None and self.reads() == "vector":  # only its words are looked for
            code = "00" * -(-self.collection.n_bits // 8)
            return schemas.Query(text=text, code=code, probabilities=None, known=False)
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
            self.check_known(ids)
            raise

    def ids(self, where: Where | None) -> list[Id]:
        """Return the ids of the documents that pass a filter, in insertion order; those of the last filter are kept."""
        key = f"{self.store.state()} {where}"
        if self._listed[0] != key or self.store.state() is None:
            blocks = self.store.entries(where) if where else [[*self.store]]
            self._listed = key, [one.id if isinstance(one, Entry) else one for block in blocks for one in block]
        return self._listed[1]

    def check_known(self, ids: Sequence[Id]) -> None:
        """Refuse the request if one of the documents does not exist."""
        for id, code in zip(ids, self.store.codes_of(ids), strict=True):
            if code is None:
                sentence = f"no document has the id {id!r:.60}: GET /api/documents lists all of them"
                raise Refusal(404, sentence)

    def document(
        self,
        entry: Entry,
        length: int | None = None,
        *,
        probable: bool = True,
        vector: bool = False,
        q: str | None = None,
    ) -> schemas.Document:
        """Return a document, on demand with the probabilities of its bits, its kept vector, and the words of a text."""
        content = entry.text if self.reads() == "text" else entry.vector
        why = explanation(entry.text or "", q, self.store) if q else None
        return schemas.Document(
            id=entry.id,
            text=cut(entry.text, length),
            metadata=entry.metadata,
            code=entry.code.tobytes().hex(),
            probabilities=self._probabilities(content) if probable else None,
            vector=entry.vector.tolist() if vector and entry.vector is not None else None,
            why=why and schemas.Why(**why._asdict()),
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
                why=hit.why and schemas.Why(**hit.why._asdict()),
            )
            for hit, code in zip(found, codes, strict=True)
        ]

    def search(self, request: schemas.SearchRequest) -> bytes:
        """Return the answer to a search as JSON, from the cache if the documents have not changed since."""
        with self.store.snapshot():
            return (
                self._search(request) if request.text is None else self.cached(request, lambda: self._search(request))
            )

    def cached(self, request: schemas.Model, find: Callable[[], bytes]) -> bytes:
        """Return what `find` answers to a request, from the cache if the documents have not changed since."""
        state = self.store.state()
        if state is None:
            return find()
        asked = f"{type(request).__name__} {request.model_dump_json()}"
        key = blake2b(asked.encode(), digest_size=16, key=state.encode()[:64]).digest()
        found = self._answers.get(key)
        if found is None:
            found = find()
            self._answers.add(key, found)
        return found

    def _search(self, request: schemas.SearchRequest) -> bytes:
        query = request.query
        if request.radius is None:
            found = self.collection.search(
                query, request.offset + request.k, request.where, request.rank, shortlist=request.shortlist
            )
        else:
            found = self.collection.within(query, request.radius, request.where)
        return self.search_answer(query, found, request).as_json().encode()

    def search_answer(
        self, query: str | list[float], found: Hits, asked: schemas.SearchOptions
    ) -> schemas.SearchAnswer:
        """Return the wanted page of what a query has found."""
        rank: schemas.Rank = "distance"
        if asked.radius is None:
            of_words = isinstance(query, str) and self.reads() == "vector"
            rank = asked.rank or ("text" if of_words else self.ranks()[0])
        # The code of a text is that of its words without the excluded ones, as the search compares it.
        read = self.query(parse(query).text if isinstance(query, str) else query)
        answer = schemas.SearchAnswer(
            query=read.model_copy(update={"text": query}) if isinstance(query, str) else read,
            unknown=[*found.unknown],
            corrected={**found.corrected},
            rank=rank,
            **self.page(found, asked, is_whole=asked.radius is not None),
        )
        return answer.with_only(asked.fields, "hits")

    def page(self, found: Sequence[Hit], asked: schemas.Paged, *, is_whole: bool) -> dict[str, Any]:
        """Return the hits of a page, their total and the offset of the next page; `found` is all, or up to its end."""
        end = asked.offset + asked.k
        has_next = len(found) > end if is_whole else len(found) == end < schemas.MOST_K
        return {
            "hits": self.hits(found[asked.offset : end], asked.length),
            "total": len(found) if is_whole or len(found) < end else None,
            "next": end if has_next else None,
        }

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


class _CachedAnswers:
    """Answers by the digest of their question, up to a number of bytes; the one used longest ago goes first."""

    def __init__(self) -> None:
        self._answers: OrderedDict[bytes, bytes] = OrderedDict()
        self._room = _CACHED_BYTES
        self._lock = Lock()

    def get(self, key: bytes) -> bytes | None:
        """Return a cached answer; None if there is none."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
            return self._answers.get(key)

    def add(self, key: bytes, answer: bytes) -> None:
        """Cache an answer, unless it is long."""
        if len(answer) > _LONGEST_CACHED:
            return
        with self._lock:
            if key not in self._answers:
                self._answers[key] = answer
                self._room -= len(answer) + _BYTES_BESIDE
            while self._room < 0:
                _, oldest = self._answers.popitem(last=False)
                self._room += len(oldest) + _BYTES_BESIDE


class Work:
    """Threads that compute answers, with a limit on how many requests wait and how long one may take.

    FAISS and SQLite release Python's lock, so that several threads do more than one. Changes are made by a thread of
    their own, one after the other, so that one that has to wait for another process delays no search.
    """

    def __init__(self, settings: Settings):
        self._settings = settings
        self._threads = ThreadPoolExecutor(settings.threads, "ammi-serve", initializer=alone)
        self._changes = ThreadPoolExecutor(1, "ammi-change", initializer=alone)
        self._lock = Lock()
        self._unfinished = 0  # jobs that run or wait

    async def do(self, job: Callable[[], T]) -> T:
        """Return the result of a job; refuse it if too many wait already, or if it takes too long.

        A job that takes too long, or whose client has gone, is not begun or is stopped where it can be.
        """
        stop = Event()
        return await self.wait(lambda: self._threads.submit(_stoppable, stop, job), stop)

    async def wait(self, submit: Callable[[], "Future[T]"], stop: Event | None = None) -> T:
        """Do the same for a job that runs elsewhere, such as in another process."""
        with self._begun(submit, stop) as job:
            done, _ = await asyncio.wait([future := _awaitable(job)], timeout=self._settings.seconds)
            try:
                if not done:
                    raise StoppedError
                return future.result()
            except StoppedError:
                sentence = f"this takes more than {self._settings.seconds:g} seconds"
                raise Refusal(504, f"{sentence}: ask for less") from None

    async def change(self, change: Callable[[], T]) -> T:
        """Return the result of a change, which is made or not made when this ends, and never later.

        One that takes too long is stopped, and this waits until that is so: it may have been made just before.
        """
        stop = Event()
        with self._begun(lambda: self._changes.submit(_stoppable, stop, change), stop) as job:
            done, _ = await asyncio.wait([future := _awaitable(job)], timeout=self._settings.seconds)
            try:
                if not done:
                    stop.set()
                    if job.cancel():  # it has not begun
                        raise StoppedError
                return await future
            except StoppedError:
                sentence = f"the change was not made, since it took more than {self._settings.seconds:g} seconds"
                raise Refusal(504, f"{sentence}: try again, or send less at a time") from None

    @contextmanager
    def _begun(self, submit: Callable[[], "Future[T]"], stop: Event | None) -> Iterator["Future[T]"]:
        """Begin a job; at the end of the block, stop it if it has not ended."""
        with self._lock:
            if self._unfinished >= self._settings.threads + self._settings.waiting:
                raise busy()
            self._unfinished += 1
        try:
            job = submit()
        except BaseException:
            self._ended()
            raise
        job.add_done_callback(lambda _: self._ended())
        try:
            yield job
        finally:
            if stop is not None:
                stop.set()
            job.cancel()

    def _ended(self) -> None:
        with self._lock:
            self._unfinished -= 1

    def close(self) -> None:
        for threads in (self._threads, self._changes):
            threads.shutdown(wait=False, cancel_futures=True)


def _stoppable(stop: Event, job: Callable[[], T]) -> T:
    with stoppable(stop.is_set):
        check_stopped()
        return job()


def _awaitable(job: "Future[T]") -> "asyncio.Future[T]":
    """Return a job as asyncio waits for it; the error of an abandoned one is marked as seen."""
    future = asyncio.wrap_future(job)
    future.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
    return future


def cut(text: str | None, length: int | None) -> str | None:
    """Return at most `length` characters of a text."""
    return text if text is None or length is None else text[:length]
