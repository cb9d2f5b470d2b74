"""Addresses of documents: one, several, all as JSON Lines; and those that add, replace and delete."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import Any, TypeVar

import numpy as np
from fastapi import Depends, Request
from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response, StreamingResponse

from ammi.data import Document, documents_from
from ammi.data.exports import export_record
from ammi.search import Entry
from ammi.search.filters import Where
from ammi.web import schemas
from ammi.web.guard import Refusal
from ammi.web.handlers import Conditions, DocumentId, Routes, ServedHere, answer, filter_of, first_error
from ammi.web.served import Served

T = TypeVar("T")

_ROW = TypeAdapter(dict[str, Any])
_REQUEST_FIELDS = set(schemas.NewDocument.model_fields)
_LINES = ("application/x-ndjson", "application/jsonl", "application/jsonlines")
_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/NewDocuments"}},
            _LINES[0]: {"schema": {"type": "string"}, "example": '{"id": "n17", "text": "The inverse of a matrix."}\n'},
        },
    }
}


async def _must_be_writable(served: ServedHere) -> None:
    if not served.settings.writable:
        raise Refusal(403, "this server is read-only: start it with --writable to change documents")


router = Routes("documents")
changes = Routes("changes", dependencies=[Depends(_must_be_writable)])


@router.get("/documents", response_class=StreamingResponse, responses={200: {"content": {_LINES[0]: {}}}})
async def documents(served: ServedHere, where: Conditions = []) -> Response:  # noqa: B006
    """Return all documents, one a line, as `ammi index export` writes them."""
    if len(served.exports) >= served.settings.most_exports:
        raise Refusal(503, "others read all documents now: try again in a minute", (b"retry-after", b"60"))
    blocks = _lines(served, filter_of(where))
    served.exports.add(blocks)
    first = await served.work.do(lambda: next(blocks, None))  # a wrong filter is refused before the answer starts
    return StreamingResponse(_stream(first, blocks), media_type=_LINES[0])


@router.computed("GET", "/documents/{id}")
def document(served: ServedHere, id: DocumentId, length: schemas.Length = None) -> schemas.Document:
    """Return a document, its code, and the probability of each bit."""
    return served.document(served.entries([id])[0], length)


@router.computed("POST", "/get")
def get(served: ServedHere, request: schemas.GetRequest, length: schemas.Length = None) -> schemas.Documents:
    """Return several documents, all of which must exist, without probabilities."""
    found = served.entries(request.ids)
    documents = [served.document(entry, length, probable=False, vector=request.vectors) for entry in found]
    return schemas.Documents(documents=documents)


@router.computed("POST", "/known")
def known(served: ServedHere, request: schemas.Ids) -> schemas.Ids:
    """Return which of these documents exist."""
    codes = served.store.codes_of(request.ids)
    return schemas.Ids(ids=[id for id, code in zip(request.ids, codes, strict=True) if code is not None])


@changes.post("/documents", response_model=schemas.Added, openapi_extra=_BODY)
async def add(served: ServedHere, request: Request) -> Response:
    """Add or replace documents, from JSON or from JSON Lines; they are on disk when this is answered."""
    kind, body = request.headers.get("content-type", "").partition(";")[0].strip().lower(), await request.body()
    return await served.work.do(lambda: answer(schemas.Added(ids=served.collection.add(_new(kind, body)))))


@changes.computed("PUT", "/documents/{id}")
def replace(served: ServedHere, id: DocumentId, contents: schemas.Contents) -> schemas.Added:
    """Add a document under an id, or replace the one that has it."""
    known = served.collection.get(id).id if id in served.collection else id  # 77 stays a number
    new = schemas.NewDocument(id=known, **dict(contents))
    return schemas.Added(ids=served.collection.add(_documents([new])))


@changes.computed("DELETE", "/documents/{id}")
def delete(served: ServedHere, id: DocumentId) -> schemas.Deleted:
    """Delete a document."""
    return delete_several(served, schemas.Ids(ids=[id]))


@changes.computed("POST", "/delete")
def delete_several(served: ServedHere, request: schemas.Ids) -> schemas.Deleted:
    """Delete documents; if one of them does not exist, delete none."""
    before = served.entries(request.ids)
    served.collection.delete(request.ids)
    return schemas.Deleted(deleted=len({entry.id for entry in before}))


@changes.computed("POST", "/metadata")
def set_metadata(served: ServedHere, request: schemas.MetadataRequest) -> schemas.Ids:
    """Set metadata keys of documents; their other keys stay as they are."""
    served.entries(request.ids)
    served.collection.set_metadata(request.ids, request.metadata)
    return schemas.Ids(ids=request.ids)


def _new(kind: str, body: bytes) -> list[Document]:
    """Parse the documents of a body; a line may also be one of an export, or have metadata as further columns."""
    if kind == "application/json":
        return _documents(_checked(lambda: schemas.NewDocuments.model_validate_json(body).documents))
    if kind not in _LINES:
        raise Refusal(415, f"the content type is {kind[:60] or 'missing'}: send application/json or {_LINES[0]}")
    lines = [(f"line {number}: ", line) for number, line in enumerate(body.splitlines(), 1) if line.strip()]
    rows = [_checked(partial(_ROW.validate_json, line), at) for at, line in lines]
    if all(set(row) <= _REQUEST_FIELDS for row in rows):
        return _documents([_checked(partial(schemas.NewDocument.model_validate_json, line), at) for at, line in lines])
    return list(documents_from(rows))


def _checked(validate: Callable[[], T], at: str = "") -> T:
    try:
        return validate()
    except ValidationError as error:
        raise Refusal(422, at + first_error(error.errors())) from None


def _documents(new: list[schemas.NewDocument]) -> list[Document]:
    numbered = [fields.id is None for fields in new]
    if any(numbered) and not all(numbered):
        raise Refusal(422, "some documents have an id and others have none: give all of them one, or none")
    return [
        Document(
            number if fields.id is None else fields.id,
            fields.text,
            fields.metadata,
            numbered=fields.id is None,
            vector=None if fields.vector is None else np.array(fields.vector),
        )
        for number, fields in enumerate(new)
    ]


def _lines(served: Served, where: Where | None) -> Iterator[bytes]:
    """Yield blocks of documents, one document a line."""
    n_bits, fingerprint = served.collection.n_bits, served.collection.fingerprint or ""

    def line(entry: Entry) -> bytes:
        return json.dumps(export_record(entry, n_bits, fingerprint), ensure_ascii=False).encode() + b"\n"

    for block in served.store.entries(where):
        yield b"".join(map(line, block))


async def _stream(first: bytes | None, blocks: Iterator[bytes]) -> AsyncIterator[bytes]:
    block = first
    while block is not None:
        yield block
        block = await asyncio.get_running_loop().run_in_executor(None, next, blocks, None)
