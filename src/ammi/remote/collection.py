"""RemoteCollection: the same Collection, where another machine, or another process, has it."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self
from urllib.parse import quote

import numpy as np

from ammi.collection import Advance, Collection, Duplicates, Location
from ammi.plain import plain
from ammi.remote.server import Server
from ammi.search import Entry, Hit, Hits
from ammi.search.documents import Id
from ammi.search.filters import Where
from ammi.search.hamming import Codes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ammi.ingest import Block

_PAGE = 100  # groups of copies
_IDS_AT_ONCE = 1000
_SECONDS_BETWEEN = 0.5  # two questions whether the copies are found


class RemoteCollection(Collection):
    """A collection that `ammi serve` serves. A token stands in its address, http://TOKEN@HOST:PORT, or in AMMI_TOKEN.

    What belongs to the machine that has it, such as a rebuild, is refused.
    """

    def __init__(self, server: Server):
        """Not for callers, who have `Collection.open`."""
        self._server = server

    @classmethod
    def open(cls, location: Location) -> Self:
        collection = cls(Server(fspath(location)))
        try:
            about = collection._about()
            if not isinstance(about, dict) or "bits" not in about:
                raise ValueError(f"{collection.location} is no server of ammi: what it says is not of a collection")
        except BaseException:
            collection.close()
            raise
        return collection

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

    def add(
        self,
        documents: Any,
        *,
        ids: Iterable[Id] | None = None,
        text: str = "text",
        id: str = "id",
        vector: str = "vector",
        advance: Advance = lambda n_documents: None,
    ) -> list[Id]:
        from ammi.ingest import blocks_from

        most = self._about()["limits"]["body"]
        added: list[Id] = []
        for block in blocks_from(documents, ids=ids, text=text, id=id, vector=vector):
            added += self._add(_new_documents(block), most)
            advance(len(block.documents))
        return added

    def _add(self, new: list[dict[str, Any]], most: int) -> list[Id]:
        """Add documents, in halves where a request would be too large."""
        if len(new) > 1 and len(json.dumps(new)) > most - 100:
            half = len(new) // 2
            return self._add(new[:half], most) + self._add(new[half:], most)
        return self._server.ask("POST", "/api/documents", {"documents": new})["ids"]

    def add_codes(
        self, codes: Codes, ids: Sequence[Id], *, fingerprint: str, advance: Advance = lambda n_documents: None
    ) -> list[Id]:
        self._refuse("codes are added")

    def search_many(
        self,
        queries: Iterable[Any],
        k: int = 10,
        where: Where | None = None,
        rank: str | None = None,
        *,
        shortlist: int | None = None,
    ) -> list[Hits]:
        how = {"k": k, "where": _plain(where), "rank": rank, "shortlist": shortlist}
        return [_hits(self._server.ask("POST", "/api/search", {**_query(query), **how})["hits"]) for query in queries]

    def within(self, query: Any, radius: int, where: Where | None = None) -> Hits:
        asked = {**_query(query), "radius": radius, "where": _plain(where), "k": self._about()["limits"]["k"]}
        return self._all(self._server.ask("POST", "/api/search", asked))

    def like(self, id: Id, k: int = 10, where: Where | None = None, *, radius: int | None = None) -> Hits:
        if radius is not None:
            k = self._about()["limits"]["k"]
        answer = self._server.ask("POST", "/api/like", {"id": id, "k": k, "where": _plain(where), "radius": radius})
        return self._all(answer) if radius is not None else _hits(answer["hits"])

    def drift(self, id: Id | None = None, *, query: Any = None, distances: Sequence[int] | None = None) -> Hits:
        if (id is None) == (query is None):
            raise ValueError("drift starts from a document or from a query: give one of the two")
        steps = None if distances is None else [int(distance) for distance in distances]
        if id is None:
            answer = self._server.ask("POST", "/api/drift", {**_query(query), "distances": steps})
        else:
            spelled = None if steps is None else ",".join(map(str, steps))
            answer = self._server.ask("GET", f"/api/documents/{_quoted(id)}/drift", distances=spelled)
        return _hits(answer["steps"])

    def duplicates(
        self, threshold: float | None = None, *, advance: Advance = lambda n_documents: None
    ) -> list[Duplicates]:
        total, told, offset = 2 * len(self), 0, 0
        found: list[Duplicates] = []
        while True:
            page = self._server.ask("GET", "/api/duplicates", threshold=threshold, offset=offset, limit=_PAGE, length=0)
            done = int(total * page["progress"]) if "progress" in page else total
            advance(max(0, done - told))
            told = max(told, done)
            if "progress" in page:
                time.sleep(_SECONDS_BETWEEN)
                continue
            for group in page["groups"]:
                found.append(Duplicates(group["kept"], [(one["id"], one["similarity"]) for one in group["copies"]]))
            if page["next"] is None:
                return found
            offset = page["next"]

    def evaluate(self, labels: str = "labels", **more: Any) -> NoReturn:
        self._refuse("codes are evaluated")

    def get(self, ids: Any) -> Any:
        if isinstance(ids, str | int):
            return self._get([ids])[0]
        asked = list(ids)
        blocks = (asked[start : start + _IDS_AT_ONCE] for start in range(0, len(asked), _IDS_AT_ONCE))
        return [entry for block in blocks for entry in self._get(block)]

    def _get(self, ids: list[Id]) -> list[Entry]:
        found = self._server.ask("POST", "/api/get", {"ids": plain(ids), "vectors": True})["documents"]
        return [_entry(document) for document in found]

    def delete(self, ids: Id | Iterable[Id]) -> None:
        self._server.ask("POST", "/api/delete", {"ids": _ids(ids)})

    def set_metadata(self, ids: Id | Iterable[Id], metadata: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> None:
        new = metadata if isinstance(metadata, Mapping) else list(metadata)
        self._server.ask("POST", "/api/metadata", {"ids": _ids(ids), "metadata": plain(new)})

    def keys(self) -> dict[str, int]:
        return {key["name"]: key["documents"] for key in self._about()["keys"]}

    def fast_keys(self) -> list[str]:
        return [key["name"] for key in self._about()["keys"] if key["fast"]]

    def ranks(self) -> list[str]:
        return self._about()["ranks"]

    def encode(self, queries: Sequence[Any]) -> Codes:
        codes = [np.frombuffer(bytes.fromhex(self._encoded(query)["code"]), np.uint8) for query in queries]
        return np.array(codes, np.uint8).reshape(len(codes), -(-self.n_bits // 8))

    def bit_probabilities(self, queries: Sequence[Any]) -> "NDArray[np.floating]":
        found = [self._encoded(query)["probabilities"] for query in queries]
        if any(one is None for one in found):
            raise ValueError(f"the model of {self.location} does not tell how sure it is of a bit")
        return np.array(found, np.float64).reshape(len(found), self.n_bits)

    def knows(self, query: Any) -> bool:
        return self._encoded(query)["known"]

    def distinct_codes(self) -> int:
        return self._about()["distinct_codes"]

    def describe(self) -> dict[str, Any]:
        about = self._about()
        return {
            "kind": "collection",
            "documents": about["documents"],
            "bits": about["bits"],
            "different codes": about["distinct_codes"],
            "keys": self.keys(),
            "fast keys": self.fast_keys(),
            "reads": about["reads"],
            "writable": about["writable"],
            "fingerprint": about["fingerprint"],
        }

    def export(self, file: Location, *, advance: Advance = lambda n_documents: None) -> int:
        from ammi.data.exports import write_export

        def entries() -> Iterator[Entry]:
            for entry in self:
                yield entry
                advance(1)

        return write_export(Path(file), entries(), self.n_bits, self.fingerprint or "")

    @property
    def store(self) -> NoReturn:  # type: ignore[override]
        self._refuse("its index is")

    @property
    def model(self) -> NoReturn:
        self._refuse("its model is")

    def word_weights(self) -> NoReturn:
        self._refuse("its model is")

    def index_keys(self, keys: Iterable[str]) -> None:
        self._refuse("keys are indexed")

    def rebuild(self, model: Any, *, advance: Advance = lambda n_documents: None) -> None:
        self._refuse("it is rebuilt")

    def compact(self) -> tuple[int, int]:
        self._refuse("it is compacted")

    def close(self) -> None:
        self._server.close()

    def __len__(self) -> int:
        return self._about()["documents"]

    def __contains__(self, id: object) -> bool:
        if not isinstance(id, str | int) or isinstance(id, bool):
            return False
        return bool(self._server.ask("POST", "/api/known", {"ids": [id]})["ids"])

    def __iter__(self) -> Iterator[Entry]:
        from ammi.data.exports import exported, is_exported

        for line in self._server.lines("/api/documents"):
            if not isinstance(line, dict) or not is_exported(line):
                raise ValueError(f"{self.location} sends {line!r:.60}, which is no document: upgrade ammi there")
            document = exported(line)
            assert document.code is not None  # every line of an export has one
            yield Entry(document.id, document.code.packed, document.text, document.metadata, document.vector)

    def _about(self) -> dict[str, Any]:
        return self._server.ask("GET", "/api/collection")

    def _encoded(self, query: Any) -> dict[str, Any]:
        return self._server.ask("POST", "/api/encode", _query(query))

    def _all(self, answer: dict[str, Any]) -> Hits:
        """All documents within a radius, or none: a part would be taken for all."""
        if answer["total"] > len(answer["hits"]):
            raise ValueError(
                f"{answer['total']:,} documents are that near, and {self.location} gives {len(answer['hits']):,} at most: "
                "take a smaller radius"
            )
        return _hits(answer["hits"])

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(
            f"{what} where the collection is, not by {self.location}: open its folder, or the URL of its store"
        )


def _new_documents(block: "Block") -> list[dict[str, Any]]:
    rows = block.rows if block.rows is None or not hasattr(block.rows, "toarray") else block.rows.toarray()
    new = []
    for number, document in enumerate(block.documents):
        vector = document.vector if rows is None else rows[number]
        one: dict[str, Any] = {"metadata": plain(document.metadata)}
        if not document.numbered:
            one["id"] = plain(document.id)
        if document.text is not None:
            one["text"] = document.text
        if vector is not None:
            one["vector"] = np.asarray(vector).tolist()
        new.append(one)
    return new


def _query(query: Any) -> dict[str, Any]:
    if isinstance(query, str):
        return {"text": query}
    try:
        return {"vector": np.asarray(query, np.float64).tolist()}
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{query!r:.40} is neither a text nor a vector of numbers") from error


def _plain(where: Where | None) -> Any:
    return None if where is None else plain(where)


def _quoted(id: Id) -> str:
    return quote(str(id), safe="")


def _ids(ids: Id | Iterable[Id]) -> list[Id]:
    return plain([ids] if isinstance(ids, str | int) else list(ids))


def _hits(found: list[dict[str, Any]]) -> Hits:
    return Hits(Hit(one["id"], one["distance"], one["score"], one["text"], one["metadata"]) for one in found)


def _entry(document: dict[str, Any]) -> Entry:
    vector = document.get("vector")
    return Entry(
        document["id"],
        np.frombuffer(bytes.fromhex(document["code"]), np.uint8),
        document["text"],
        document["metadata"],
        None if vector is None else np.array(vector, np.float32),
    )
