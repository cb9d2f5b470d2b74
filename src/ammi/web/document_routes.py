"""Addresses of documents: one, several, all as JSON Lines; and those that add, replace and delete."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, TypeVar

from fastapi import APIRouter, Depends, Request
from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response, StreamingResponse

from ammi.data import Document, documents_from
from ammi.data.exports import export_record
from ammi.search import Entry
from ammi.search.documents import Id
from ammi.web import schemas
from ammi.web.guard import Refusal
from ammi.web.parameters import PROBLEMS, Conditions, DocumentId, Length, where_of
from ammi.web.problems import what_is_wrong
from ammi.web.served import Served, answer

T = TypeVar("T")

_ROW = TypeAdapter(dict[str, Any])
_REQUEST_FIELDS = set(schemas.NewDocument.model_fields)
_LINES = ("application/x-ndjson", "application/jsonl", "application/jsonlines")
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/NewDocuments"}},
            **{
                kind: {"schema": {"type": "string"}, "example": '{"id": "n17", "text": "The inverse of a matrix."}\n'}
                for kind in _LINES[:1]
            },
        },
    }
}


def document_routes(served: Served) -> APIRouter:
    """The router that reads."""
    router = APIRouter(prefix="/api", tags=["documents"], responses=PROBLEMS)
    do = served.work.do

    @router.get("/documents", response_class=StreamingResponse, responses={200: {"content": {_LINES[0]: {}}}})
    async def documents(where: Conditions = []) -> Response:  # noqa: B006
        """All documents, one a line, as `ammi index export` writes them."""
        if len(served.exports) >= served.settings.most_exports:
            raise Refusal(503, "others read all documents now: try again in a minute", (b"retry-after", b"60"))
        blocks = _lines(served, where)
        served.exports.add(blocks)
        first = await do(lambda: next(blocks, None))
        return StreamingResponse(_stream(served, first, blocks), media_type=_LINES[0])

    @router.get("/documents/{id}", response_model=schemas.Document)
    async def document(id: DocumentId, length: Length = None) -> Response:
        """A document, its code, and the probability of each bit."""
        return await do(lambda: answer(served.document(served.entry(id), length)))

    @router.post("/get", response_model=schemas.Documents)
    async def get(request: schemas.GetRequest, length: Length = None) -> Response:
        """Several documents, all of which must be there; without probabilities."""

        def found() -> Response:
            entries = served.entries(request.ids)
            documents = [served.document(entry, length, sure=False) for entry in entries]
            for document, entry in zip(documents, entries, strict=True) if request.vectors else ():
                document["vector"] = None if entry.vector is None else entry.vector.tolist()
            return answer({"documents": documents})

        return await do(found)

    @router.post("/known", response_model=schemas.Ids)
    async def known(request: schemas.Ids) -> Response:
        """Which of these documents there are."""

        def there() -> list[Id]:
            codes = served.collection.store.codes_of(request.ids)
            return [id for id, code in zip(request.ids, codes, strict=True) if code is not None]

        return await do(lambda: answer({"ids": there()}))

    return router


def writing_routes(served: Served) -> APIRouter:
    """The router that changes documents; it refuses to where the server is read-only."""

    def must_be_writable() -> None:
        if not served.settings.writable:
            raise Refusal(403, "this server is read-only: start it with --writable to change documents")

    router = APIRouter(prefix="/api", tags=["changes"], responses=PROBLEMS, dependencies=[Depends(must_be_writable)])
    collection, do = served.collection, served.work.do

    @router.post("/documents", response_model=schemas.Added, openapi_extra=_BODY)
    async def add(request: Request) -> Response:
        """Add or replace documents, from JSON or from JSON Lines; they are on the disk when this is answered."""
        kind, body = request.headers.get("content-type", "").partition(";")[0].strip().lower(), await request.body()
        return await do(lambda: answer({"ids": collection.add(_new(kind, body))}))

    @router.put("/documents/{id}", response_model=schemas.Added)
    async def replace(id: DocumentId, contents: schemas.Contents) -> Response:
        """Add a document under an id, or replace the one that is there."""

        def put() -> Response:
            known = collection.get(id).id if id in collection else id  # 77 stays a number
            return answer({"ids": collection.add(_documents([schemas.NewDocument(id=known, **dict(contents))]))})

        return await do(put)

    @router.delete("/documents/{id}", response_model=schemas.Deleted)
    async def delete(id: DocumentId) -> Response:
        """Delete a document."""
        return await do(lambda: remove([id]))

    @router.post("/delete", response_model=schemas.Deleted)
    async def delete_several(request: schemas.Ids) -> Response:
        """Delete documents: all of them, or none where one is not there."""
        return await do(lambda: remove(request.ids))

    def remove(ids: list[Id]) -> Response:
        before = served.entries(ids)
        collection.delete(ids)
        return answer({"deleted": len({entry.id for entry in before})})

    @router.post("/metadata", response_model=schemas.Ids)
    async def set_metadata(request: schemas.MetadataRequest) -> Response:
        """Set metadata keys of documents, and leave their other keys as they are."""

        def change() -> Response:
            served.entries(request.ids)
            collection.set_metadata(request.ids, request.metadata)
            return answer({"ids": request.ids})

        return await do(change)

    return router


def _new(kind: str, body: bytes) -> list[Document]:
    """The documents of a body. Lines may also be those of an export, or have their metadata as further columns."""
    if kind == "application/json":
        return _documents(_checked(lambda: schemas.NewDocuments.model_validate_json(body).documents))
    if kind not in _LINES:
        raise Refusal(415, f"the body is {kind[:60] or 'of no kind'}: send application/json or {_LINES[0]}")
    lines = [(f"line {number}: ", line) for number, line in enumerate(body.splitlines(), 1) if line.strip()]
    rows = [_checked(partial(_ROW.validate_json, line), place) for place, line in lines]
    if all(set(row) <= _REQUEST_FIELDS for row in rows):
        return _documents([_checked(partial(schemas.NewDocument.model_validate_json, line), at) for at, line in lines])
    return list(documents_from(rows))


def _checked(validate: Callable[[], T], place: str = "") -> T:
    try:
        return validate()
    except ValidationError as error:
        raise Refusal(422, place + what_is_wrong(error.errors())) from None


def _documents(new: list[schemas.NewDocument]) -> list[Document]:
    import numpy as np

    numbered = [one.id is None for one in new]
    if any(numbered) and not all(numbered):
        raise Refusal(422, "some documents have an id and others have none: give all of them one, or none")
    return [
        Document(
            number if one.id is None else one.id,
            one.text,
            one.metadata,
            numbered=one.id is None,
            vector=None if one.vector is None else np.array(one.vector),
        )
        for number, one in enumerate(new)
    ]


def _lines(served: Served, where: list[str]) -> Iterator[bytes]:
    """Blocks of documents, a line each."""
    collection = served.collection
    n_bits, fingerprint = collection.n_bits, collection.fingerprint or ""

    def lines(block: list[Entry]) -> bytes:
        records: list[dict[str, Any]] = [export_record(entry, n_bits, fingerprint) for entry in block]
        return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)

    for block in collection.store.entries(where_of(where)):
        yield lines(block)


async def _stream(served: Served, first: bytes | None, blocks: Iterator[bytes]) -> AsyncIterator[bytes]:
    block = first
    while block is not None:
        yield block
        block = await asyncio.get_running_loop().run_in_executor(None, next, blocks, None)
