"""Addresses of documents: one, several, all as JSON Lines; and those that add, replace and delete."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, TypeVar

import numpy as np
from fastapi import Depends, Header, Query, Request
from pydantic import TypeAdapter, ValidationError
from starlette.responses import Response, StreamingResponse

from ammi.data import Document, documents_from
from ammi.data.exports import export_record
from ammi.search.documents import Id, id_key
from ammi.search.filters import Where
from ammi.search.store_methods import ChangeKey
from ammi.web import schemas
from ammi.web.guard import Refusal
from ammi.web.handlers import (
    JSON,
    Conditions,
    DocumentId,
    ListParameters,
    Routes,
    ServedHere,
    answer,
    filter_of,
    first_error,
)
from ammi.web.served import Served

T = TypeVar("T")

_READ_AT_ONCE = 100  # documents, to see early that an answer is too large
_SENT_AT_ONCE = 1 << 20  # bytes of an export
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


async def _change_key(
    request: Request,
    idempotency_key: Annotated[
        str | None,
        Header(
            min_length=1,
            max_length=200,
            description="A new random name for each change. The same request under the same name changes nothing again "
            "and gets the same answer, for a day or 10,000 changes.",
            examples=["8e03978e-40d5-43dd-bc93-6894a57f9324"],
        ),
    ] = None,
) -> ChangeKey | None:
    if idempotency_key is None:
        return None
    return ChangeKey.of(idempotency_key, f"{request.method} {request.url.path}\n".encode() + await request.body())


Key = Annotated[ChangeKey | None, Depends(_change_key)]
router = Routes("documents")
changes = Routes("changes", dependencies=[Depends(_must_be_writable)], changes=True)


@router.computed("GET", "/documents")
def documents(served: ServedHere, parameters: Annotated[ListParameters, Query()]) -> schemas.DocumentsPage:
    """Return documents in pages, in the order in which they were added."""
    ids = served.ids(filter_of(parameters.where))
    first, end = parameters.offset, parameters.offset + parameters.limit
    chosen = ids[first:end]
    codes = served.store.codes_of(chosen)
    there = [id for id, code in zip(chosen, codes, strict=True) if code is not None]  # some may just have been deleted
    page = schemas.DocumentsPage(
        documents=_read(served, there, parameters.length),
        total=len(ids),
        offset=first,
        next=end if end < len(ids) else None,
    )
    return page.with_only(parameters.fields, "documents")


@router.get("/all", response_class=StreamingResponse, responses={200: {"content": {_LINES[0]: {}}}})
async def all_documents(served: ServedHere, where: Conditions = []) -> Response:  # noqa: B006
    """Return all documents, one a line, as `ammi index export` writes them."""
    filter = filter_of(where)
    return await export_of(served, lambda: _lines(served, filter), _LINES[0])


@router.computed("GET", "/documents/{id}")
def document(
    served: ServedHere,
    id: DocumentId,
    q: Annotated[schemas.Text | None, Query(description="A text whose words are looked for in the document.")] = None,
    length: schemas.Length = None,
    fields: Annotated[schemas.DocumentFields, Query()] = None,
) -> schemas.Document:
    """Return a document, its code, and the probability of each bit."""
    probable = fields is None or "probabilities" in fields
    return served.document(served.entries([id])[0], length, probable=probable, q=q).with_only(fields)


@router.computed("POST", "/get")
def get(
    served: ServedHere,
    request: schemas.GetRequest,
    length: schemas.Length = None,
    fields: Annotated[schemas.DocumentFields, Query()] = None,
) -> schemas.Documents:
    """Return several documents, all of which must exist, without probabilities."""
    documents = _read(served, request.ids, length, vectors=request.vectors)
    return schemas.Documents(documents=documents).with_only(fields, "documents")


@router.computed("POST", "/known")
def known(served: ServedHere, request: schemas.Ids) -> schemas.Ids:
    """Return which of these documents exist."""
    codes = served.store.codes_of(request.ids)
    return schemas.Ids(ids=[id for id, code in zip(request.ids, codes, strict=True) if code is not None])


@changes.post("/documents", response_model=schemas.Added, openapi_extra=_BODY)
async def add(served: ServedHere, request: Request, key: Key) -> Response:
    """Add or replace documents, from JSON or from JSON Lines: all of them, or none if one is refused."""
    kind, body = request.headers.get("content-type", "").partition(";")[0].strip().lower(), await request.body()
    add = served.collection.add_once
    return await served.work.change(lambda: answer(schemas.Added(ids=add(_new(kind, body), key))))


@changes.computed("PUT", "/documents/{id}")
def replace(served: ServedHere, id: DocumentId, contents: schemas.Contents, key: Key) -> schemas.Added:
    """Add a document under an id, or replace the one that has it."""
    known = served.collection.get(id).id if id in served.collection else id  # 77 stays a number
    new = schemas.NewDocument(id=known, **dict(contents))
    return schemas.Added(ids=served.collection.add_once(_documents([new]), key))


@changes.computed("DELETE", "/documents/{id}")
def delete(served: ServedHere, id: DocumentId, key: Key) -> schemas.Deleted:
    """Delete a document."""
    return delete_several(served, schemas.Ids(ids=[id]), key)


@changes.computed("POST", "/delete")
def delete_several(served: ServedHere, request: schemas.Ids, key: Key) -> schemas.Deleted:
    """Delete documents; if one of them does not exist, delete none."""

    def delete() -> int:
        served.check_known(request.ids)
        served.collection.delete(request.ids)
        return len({id_key(id) for id in request.ids})

    return schemas.Deleted(deleted=served.store.once(key, delete))


@changes.computed("POST", "/metadata")
def set_metadata(served: ServedHere, request: schemas.MetadataRequest, key: Key) -> schemas.Ids:
    """Set metadata keys of documents; their other keys stay as they are."""

    def change() -> int:
        served.check_known(request.ids)
        served.collection.set_metadata(request.ids, request.metadata)
        return 0

    served.store.once(key, change)
    return schemas.Ids(ids=request.ids)


def _read(served: Served, ids: list[Id], length: int | None, *, vectors: bool = False) -> list[schemas.Document]:
    """Return documents without probabilities; refuse the request as soon as they are too many for an answer."""
    documents: list[schemas.Document] = []
    n_characters, most = 0, served.settings.most_answer
    for start in range(0, len(ids), _READ_AT_ONCE):
        for entry in served.entries(ids[start : start + _READ_AT_ONCE]):
            documents.append(served.document(entry, length, probable=False, vector=vectors))
            n_characters += len(documents[-1].text or "")
        if n_characters > most:
            raise Refusal(413, f"the answer has more than {most:,} bytes: ask for fewer documents")
    return documents


async def export_of(
    served: Served, lines: Callable[[], Iterator[bytes]], kind: str, headers: Mapping[str, str] | None = None
) -> Response:
    """Send lines as they are read, to so many clients at a time at most; fewer and larger parts than lines."""
    if len(served.exports) >= served.settings.most_exports:
        raise Refusal(503, "others read all documents now: try again in a minute", (b"retry-after", b"60"))
    blocks = _joined(lines())
    served.exports.add(blocks)
    first = await served.work.do(lambda: next(blocks, None))  # a wrong filter is refused before the answer starts
    return StreamingResponse(_stream(first, blocks), media_type=kind, headers=headers)


def _joined(lines: Iterator[bytes]) -> Iterator[bytes]:
    part = bytearray()
    for line in lines:
        part += line
        if len(part) > _SENT_AT_ONCE:
            yield bytes(part)
            part.clear()
    yield bytes(part)


def _new(kind: str, body: bytes) -> list[Document]:
    """Parse the documents of a body; a line may also be one of an export, or have metadata as further columns."""
    if kind == JSON:
        return _documents(_checked(lambda: schemas.NewDocuments.model_validate_json(body).documents))
    if kind not in _LINES:
        raise Refusal(415, f"the content type is {kind[:60] or 'missing'}: send {JSON} or {_LINES[0]}")
    lines = [(f"line {number}: ", line) for number, line in enumerate(body.splitlines(), 1) if line.strip()]
    if len(lines) > schemas.MOST_IDS:
        raise Refusal(413, f"the request has {len(lines):,} documents: send {schemas.MOST_IDS:,} at most at a time")
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
    """Yield documents, one a line."""
    n_bits, fingerprint = served.collection.n_bits, served.collection.fingerprint or ""

    for block in served.store.entries(where):
        for entry in block:
            yield json.dumps(export_record(entry, n_bits, fingerprint), ensure_ascii=False).encode() + b"\n"


async def _stream(first: bytes | None, blocks: Iterator[bytes]) -> AsyncIterator[bytes]:
    block = first
    while block is not None:
        yield block
        block = await asyncio.get_running_loop().run_in_executor(None, next, blocks, None)
