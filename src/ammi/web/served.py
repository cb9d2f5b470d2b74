"""The collection that is served, and what every answer about it needs: codes, probabilities, texts cut short."""

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePath
from threading import Lock
from typing import Any
from weakref import WeakSet

from starlette.responses import Response

from ammi.collection import Collection
from ammi.explore.sample import MOST_POINTS
from ammi.search import Entry, Hit
from ammi.search.documents import Id
from ammi.search.filters import Where
from ammi.web.guard import Refusal
from ammi.web.searchers import Searchers
from ammi.web.settings import Settings
from ammi.web.views import Views
from ammi.web.work import Work

_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)
_REMEMBERED = 2048  # queries, with their codes and probabilities, and answers
_LONGEST_REMEMBERED = 1 << 15  # bytes of an answer


class Served:
    """A collection and how it is served. What it answers is as JSON holds it."""

    def __init__(self, collection: Collection, settings: Settings, most_points: int = MOST_POINTS):
        self.collection, self.settings = collection, settings
        self.name = PurePath(collection.location.rstrip("/")).name or "collection"
        self.work, self.views = Work(settings), Views(collection, most_points)
        self.searchers = Searchers(collection.location, settings.searchers)
        self._asked = lru_cache(_REMEMBERED)(self._ask)
        self._answers = _Answers()
        self.exports: WeakSet[Iterator[bytes]] = WeakSet()  # those that somebody still reads

    def query(self, query: Any) -> dict[str, Any]:
        """A text or a vector as the model sees it."""
        if isinstance(query, str):
            return dict(self._asked(self.collection.fingerprint, query))
        return self._ask(None, query)

    def _ask(self, fingerprint: str | None, query: Any) -> dict[str, Any]:
        text = query if isinstance(query, str) else None
        return {
            "text": text,
            "code": self.collection.encode([query])[0].tobytes().hex(),
            "probabilities": self.probabilities(query),
            "known": text is None or self.collection.knows(text),
        }

    def probabilities(self, content: Any) -> list[float] | None:
        """Of each bit of a text or a vector, None where the model does not tell it."""
        if (
            content is None
            or not self.collection.ranks()
            or isinstance(content, str) != (self.collection.reads == "text")
        ):
            return None
        try:
            return [round(p, 4) for p in self.collection.bit_probabilities([content])[0].tolist()]
        except ValueError:
            return None

    def entry(self, id: Id) -> Entry:
        """A document; a refusal where there is none of this id."""
        return self.entries([id])[0]

    def entries(self, ids: Sequence[Id]) -> list[Entry]:
        """Documents; a refusal where one is not there."""
        try:
            return self.collection.get(ids)
        except ValueError:
            for id in ids:
                if id not in self.collection:
                    words = f"no document has the id {id!r:.60}: GET /api/documents lists all of them"
                    raise Refusal(404, words) from None
            raise

    def document(self, entry: Entry, length: int | None = None, *, sure: bool = True) -> dict[str, Any]:
        """A document, with the probabilities of its bits where these are wanted."""
        return {
            "id": entry.id,
            "text": cut(entry.text, length),
            "metadata": entry.metadata,
            "code": entry.code.tobytes().hex(),
            "probabilities": self._probabilities_of(entry) if sure else None,
        }

    def _probabilities_of(self, entry: Entry) -> list[float] | None:
        """Of a document's bits, from its text or the vector that is kept, whichever the model reads."""
        ranks = self.collection.ranks()
        return self.probabilities(entry.text if ranks and self.collection.reads == "text" else entry.vector)

    def hits(self, hits: Iterable[Hit], length: int | None) -> list[dict[str, Any]]:
        """Hits with the codes of their documents."""
        found = list(hits)
        codes = self.collection.store.codes_of([hit.id for hit in found])
        return [
            {
                "id": hit.id,
                "distance": hit.distance,
                "score": hit.score,
                "text": cut(hit.text, length),
                "metadata": hit.metadata,
                "code": None if code is None else code.tobytes().hex(),  # it may have been deleted since
            }
            for hit, code in zip(found, codes, strict=True)
        ]

    def search(
        self,
        query: Any,
        k: int,
        radius: int | None,
        where: Where | None,
        rank: str | None,
        shortlist: int | None,
        length: int | None,
    ) -> Response:
        """The answer of /api/search."""

        def find() -> Response:
            asked, by = self.query(query), "distance"
            if radius is None:
                hits = self.collection.search(query, k, where, rank, shortlist=shortlist)
                by = rank or self.collection.ranks()[0]
            else:
                hits = self.collection.within(query, radius, where)
            return answer({"query": asked, "rank": by, "hits": self.hits(hits[:k], length), "total": len(hits)})

        with self.collection.store.snapshot():
            if not isinstance(query, str):
                return find()
            return self._remembered((query, k, radius, repr(where), rank, shortlist, length), find)

    def _remembered(self, key: Hashable, make: Callable[[], Response]) -> Response:
        """An answer that was given before, if no document has changed since; those that are often asked for stay."""
        state = self.collection.store.state()
        if state is None:
            return make()
        known = self._answers.get((state, key))
        if known is None:
            response = make()
            known = bytes(response.body)
            if len(known) <= _LONGEST_REMEMBERED:
                self._answers.keep((state, key), known)
            return response
        return Response(known, media_type="application/json")

    def without_place(self, sentence: str) -> str:
        """A sentence for strangers, to whom it is none of their business where the collection is."""
        return sentence.replace(self.collection.location, self.name)

    def start(self) -> None:
        """Begin what goes on beside the requests."""
        self.views.start()
        self.searchers.start()

    def close(self) -> None:
        self.work.close()
        self.searchers.close()
        self.views.close()


class _Answers:
    """The answers that were asked for last, for any number of threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Hashable) -> bytes | None:
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def keep(self, key: Hashable, content: bytes) -> None:
        with self._lock:
            self._kept[key] = content
            while len(self._kept) > _REMEMBERED:
                self._kept.popitem(last=False)


def cut(text: str | None, length: int | None) -> str | None:
    """At most so many characters of a text."""
    return text if text is None or length is None or len(text) <= length else text[:length]


def answer(content: Any, status: int = 200, **headers: str) -> Response:
    """JSON, written once and not checked again: all of it is made here."""
    body = _JSON.encode(content).encode("utf-8", "replace")
    return Response(
        body, status, {name.replace("_", "-"): value for name, value in headers.items()}, "application/json"
    )
