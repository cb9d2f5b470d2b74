"""RemoteCollection: a collection that `ammi serve` serves, in another process or on another machine."""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import fspath
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from ammi.any_collection import (
    Advance,
    AnyCollection,
    Duplicates,
    Location,
    Query,
    Topic,
    check_deletion,
    check_start,
    listed,
    no_progress,
)
from ammi.displays import Rows, facts, framed, note
from ammi.plain import plain
from ammi.remote.server import Json, Server, TooLargeError
from ammi.search import Entry, Hit, Hits
from ammi.search.checks import checked_k
from ammi.search.documents import Id, Why
from ammi.search.filters import Where
from ammi.search.hamming import Codes

if TYPE_CHECKING:
    from ammi.ingest import Block

S = TypeVar("S")
T = TypeVar("T")

_GROUPS_PER_PAGE = 100
_IDS_PER_REQUEST = 1000
_QUERIES_PER_REQUEST = 32
_HITS_PER_REQUEST = 10_000
_SECONDS_BETWEEN_POLLS = 0.5  # while the server searches for near-duplicates, or draws the map


class NotRemoteError(AttributeError, ValueError):
    """An operation on the store itself, which a server does not offer."""


class RemoteCollection(AnyCollection):
    """A collection behind an address of `ammi serve`. The token is part of it, http://TOKEN@HOST:PORT, or AMMI_TOKEN.

    Operations on the store itself, such as `rebuild` and `compact`, raise NotRemoteError.
    """

    def __init__(self, server: Server):
        """Use `Collection.open` instead."""
        self._server = server

    @classmethod
    def open(cls, location: Location) -> Self:
        """Connect to the server at an address."""
        collection = cls(Server(fspath(location)))
        try:
            about = collection._about()
            if not isinstance(about, dict) or "bits" not in about:
                raise ValueError(f"{collection.location} is no server of ammi: its answer describes no collection")
        except BaseException:
            collection.close()
            raise
        return collection

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):  # looked up by pickle, copy and notebooks, which expect a plain AttributeError
            raise AttributeError(name)
        raise self._not_remote(name)

    def _not_remote(self, name: str) -> NotRemoteError:
        return NotRemoteError(
            f"{name} is not possible through a server ({self.location}): open the collection's folder, or the URL of "
            "its store, instead"
        )

    @property
    def location(self) -> str:
        return self._server.address

    @property
    def n_bits(self) -> int:
        return self._about()["bits"]

    @property
    def fingerprint(self) -> str | None:
        return self._about()["fingerprint"]

    @property
    def reads(self) -> str:
        reads = self._about()["reads"]
        if reads is None:
            raise ValueError(
                f"{self.location} has no model to read a text or a vector with: search by the id of a document"
            )
        return reads

    def _add_blocks(self, blocks: "Iterator[Block]", advance: Advance) -> list[Id]:
        most_bytes = self._about()["limits"]["body"]
        added: list[Id] = []
        for block in blocks:
            added += self._add(_new_documents(block), most_bytes)
            advance(len(block.documents))
        return added

    def _add(self, new: list[Json], most_bytes: int) -> list[Id]:
        """Add documents, in halves if the request would be too large."""
        if len(new) > 1 and len(json.dumps(new)) > most_bytes - 100:
            half = len(new) // 2
            return self._add(new[:half], most_bytes) + self._add(new[half:], most_bytes)
        return self._server.change("/api/documents", {"documents": new})["ids"]

    def search_many(
        self,
        queries: Iterable[Query],
        k: int = 10,
        where: Where | None = None,
        rank: str | None = None,
        *,
        shortlist: int | None = None,
    ) -> list[Hits]:
        options = {"k": k, "where": plain(where), "rank": rank, "shortlist": shortlist}
        asked = [_as_json(query) for query in queries]
        n = max(1, min(_QUERIES_PER_REQUEST, _HITS_PER_REQUEST // checked_k(k)))

        def search(block: list[Json]) -> list[Hits]:
            answers = self._server.ask("POST", "/api/search_many", {"queries": block, **options})["answers"]
            found = [_hits(answer["hits"]) for answer in answers]
            for hits, answer in zip(found, answers, strict=True):
                hits.unknown, hits.corrected = answer["unknown"], answer["corrected"]
            return found

        return _in_parts(search, asked, n)

    def within(self, query: Query, radius: int, where: Where | None = None) -> Hits:
        options = {"radius": radius, "where": plain(where), "k": self._about()["limits"]["k"]}
        return self._all(self._server.ask("POST", "/api/search", {**_as_json(query), **options}))

    def like(
        self, id: Id, k: int = 10, where: Where | None = None, *, radius: int | None = None, distinct: bool = False
    ) -> Hits:
        if radius is not None:
            k = self._about()["limits"]["k"]
        asked = {"id": id, "k": k, "where": plain(where), "radius": radius, "distinct": distinct}
        answer = self._server.ask("POST", "/api/like", asked)
        return self._all(answer) if radius is not None else _hits(answer["hits"])

    def drift(
        self, id: Id | None = None, *, query: Query | None = None, distances: Sequence[int] | None = None
    ) -> Hits:
        check_start(id, query)
        steps = None if distances is None else [int(distance) for distance in distances]
        if query is not None:
            answer = self._server.ask("POST", "/api/drift", {**_as_json(query), "distances": steps})
        else:
            listed_steps = None if steps is None else ",".join(map(str, steps))
            path = f"/api/documents/{quote(str(id), safe='')}/drift"
            answer = self._server.ask("GET", path, distances=listed_steps)
        return _hits(answer["steps"])

    def duplicates(self, threshold: float | None = None, *, advance: Advance = no_progress) -> list[Duplicates]:
        total, reported, offset = 2 * len(self), 0, 0
        found: Rows[Duplicates] = Rows()
        while True:
            page = self._server.ask(
                "GET", "/api/duplicates", threshold=threshold, offset=offset, limit=_GROUPS_PER_PAGE, length=0
            )
            done = int(total * page["progress"]) if "progress" in page else total
            advance(max(0, done - reported))
            reported = max(reported, done)
            if "progress" in page:
                time.sleep(_SECONDS_BETWEEN_POLLS)
                continue
            for group in page["groups"]:
                found.append(
                    Duplicates(group["kept"], [(copy["id"], copy["similarity"]) for copy in group["duplicates"]])
                )
            if page["next"] is None:
                return found
            offset = page["next"]

    def topics(self, n: int = 24) -> list[Topic]:
        while "progress" in (answer := self._server.ask("GET", "/api/topics", n=n)):
            time.sleep(_SECONDS_BETWEEN_POLLS)
        return Rows(Topic(**topic) for topic in answer["topics"])

    def _get(self, ids: Iterable[Id]) -> list[Entry]:
        def get(some: list[Id]) -> list[Entry]:
            answer = self._server.ask("POST", "/api/get", {"ids": some, "vectors": True})
            return [_entry(document) for document in answer["documents"]]

        return _in_parts(get, plain(list(ids)), _IDS_PER_REQUEST)

    def delete(self, ids: Id | Iterable[Id] | None = None, *, where: Where | None = None) -> int:
        check_deletion(ids, where)
        if ids is None:
            raise self._not_remote("delete by a filter")
        return self._server.change("/api/delete", {"ids": plain(list(listed(ids)))})["deleted"]

    def set_metadata(self, ids: Id | Iterable[Id], metadata: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> None:
        new = metadata if isinstance(metadata, Mapping) else list(metadata)
        self._server.change("/api/metadata", {"ids": plain(list(listed(ids))), "metadata": plain(new)})

    def keys(self) -> dict[str, int]:
        return {key["name"]: key["documents"] for key in self._about()["keys"]}

    def key_kinds(self) -> dict[str, list[str]]:
        return {key["name"]: key["kinds"] for key in self._about()["keys"]}

    def indexed_keys(self) -> list[str]:
        return [key["name"] for key in self._about()["keys"] if key["indexed"]]

    def ranks(self) -> list[str]:
        return self._about()["ranks"]

    def encode(self, queries: Sequence[Query]) -> Codes:
        codes = [_code(self._encoded(query)["code"]) for query in queries]
        return np.array(codes, np.uint8).reshape(len(codes), -(-self.n_bits // 8))

    def bit_probabilities(self, queries: Sequence[Query]) -> NDArray[np.floating]:
        found = [self._encoded(query)["probabilities"] for query in queries]
        if None in found:
            raise ValueError(f"the model of {self.location} has no probabilities of bits")
        return np.array(found, np.float64).reshape(len(found), self.n_bits)

    def knows(self, query: Query) -> bool:
        return self._encoded(query)["known"]

    def distinct_codes(self) -> int:
        return self._about()["distinct_codes"]

    def describe(self) -> dict[str, Any]:
        about = self._about()
        return {
            "kind": "collection",
            "documents": about["documents"],
            "bits": about["bits"],
            "distinct_codes": about["distinct_codes"],
            "keys": self.keys(),
            "indexed_keys": self.indexed_keys(),
            "language": about["language"],
            "reads": about["reads"],
            "writable": about["writable"],
            "fingerprint": about["fingerprint"],
        }

    def close(self) -> None:
        self._server.close()

    def _repr_html_(self) -> str:
        try:
            return framed(facts(self.describe(), f"Collection on {self.location}"))
        except (ValueError, OSError) as error:  # the server cannot be reached
            return framed(note(str(error)))

    def __len__(self) -> int:
        return self._about()["documents"]

    def __contains__(self, id: object) -> bool:
        if not isinstance(id, str | int) or isinstance(id, bool):
            return False
        return bool(self._server.ask("POST", "/api/known", {"ids": [id]})["ids"])

    def __iter__(self) -> Iterator[Entry]:
        from ammi.data.exports import exported, is_exported

        for line in self._server.lines("/api/all"):
            if not isinstance(line, dict) or not is_exported(line):
                raise ValueError(f"{self.location} sends {line!r:.60}, which is no document: upgrade ammi there")
            document = exported(line)
            assert document.code is not None  # every line of an export has one
            yield Entry(document.id, document.code.packed, document.text, document.metadata, document.vector)

    def _about(self) -> Json:
        return self._server.ask("GET", "/api/collection")

    def _encoded(self, query: Query) -> Json:
        return self._server.ask("POST", "/api/encode", _as_json(query))

    def _all(self, answer: Json) -> Hits:
        """Return all documents within a radius, or fail: a part would be taken for all."""
        if answer["total"] > len(answer["hits"]):
            raise ValueError(
                f"{answer['total']:,} documents are that near, and {self.location} returns {len(answer['hits']):,} at "
                "most: use a smaller radius"
            )
        return _hits(answer["hits"])


def _in_parts(ask: Callable[[list[S]], list[T]], items: list[S], n: int) -> list[T]:
    """Return the answers for items, asked for n at a time, or in halves of that where too large for the server."""
    found: list[T] = []
    for start in range(0, len(items), n):
        part = items[start : start + n]
        try:
            found += ask(part)
        except TooLargeError:
            if len(part) == 1:
                raise
            found += _in_parts(ask, part, -(-len(part) // 2))
    return found


def _new_documents(block: "Block") -> list[Json]:
    rows = block.rows if block.rows is None or not hasattr(block.rows, "toarray") else block.rows.toarray()
    new = []
    for number, document in enumerate(block.documents):
        vector = document.vector if rows is None else rows[number]
        fields: Json = {"metadata": plain(document.metadata)}
        if not document.numbered:
            fields["id"] = plain(document.id)
        if document.text is not None:
            fields["text"] = document.text
        if vector is not None:
            fields["vector"] = np.asarray(vector).tolist()
        new.append(fields)
    return new


def _as_json(query: Query) -> Json:
    if isinstance(query, str):
        return {"text": query}
    try:
        return {"vector": np.asarray(query, np.float64).tolist()}
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{query!r:.40} is neither a text nor a vector of numbers") from error


def _hits(found: list[Json]) -> Hits:
    return Hits(
        Hit(hit["id"], hit["distance"], hit["score"], hit["text"], hit["metadata"], _why(hit["why"])) for hit in found
    )


def _why(why: Json | None) -> Why | None:
    return None if why is None else Why(**{**why, "words": [(start, end) for start, end in why["words"]]})


def _entry(document: Json) -> Entry:
    vector = document["vector"]
    array = None if vector is None else np.array(vector, np.float32)
    return Entry(document["id"], _code(document["code"]), document["text"], document["metadata"], array)


def _code(digits: str) -> Codes:
    return np.frombuffer(bytes.fromhex(digits), np.uint8)
