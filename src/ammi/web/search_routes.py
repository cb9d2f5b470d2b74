"""Addresses that find documents: by a text, a vector or a document, and at growing distance."""

from concurrent.futures.process import BrokenProcessPool
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from ammi.web import schemas
from ammi.web.handlers import (
    Conditions,
    Distances,
    DocumentId,
    Routes,
    SearchParameters,
    ServedHere,
    filter_of,
)
from ammi.web.served import Served

router = Routes("search")


@router.get("/search", response_model=schemas.SearchAnswer)
async def search(served: ServedHere, parameters: Annotated[SearchParameters, Query()]) -> Response:
    """Find the documents that answer a text best."""
    options = parameters.model_dump(exclude={"q", "where"})
    return await _search(served, schemas.SearchRequest(text=parameters.q, where=filter_of(parameters.where), **options))


@router.post("/search", response_model=schemas.SearchAnswer)
async def search_long(served: ServedHere, request: schemas.SearchRequest) -> Response:
    """Find the documents that answer a text of any length, or a vector, best."""
    return await _search(served, request)


async def _search(served: Served, request: schemas.SearchRequest) -> Response:
    found: bytes | None = None
    if served.searchers.ready:
        try:
            found = await served.work.wait(lambda: served.searchers.ask(request, served.settings.seconds))
        except BrokenProcessPool:  # one has ended: a thread answers until new ones have started
            served.searchers.restart()
    if found is None:
        found = await served.work.do(lambda: served.search(request))
    return Response(found, media_type="application/json")


@router.computed("POST", "/encode")
def encode(served: ServedHere, request: schemas.QueryRequest) -> schemas.Query:
    """Return the code of a text or a vector, and the probability of each bit."""
    return served.query(request.query)


@router.computed("GET", "/documents/{id}/like")
def like(
    served: ServedHere,
    id: DocumentId,
    k: schemas.K = 10,
    radius: schemas.Radius = None,
    distinct: schemas.Distinct = False,
    where: Conditions = [],  # noqa: B006  # FastAPI copies it for each request
    length: schemas.Length = None,
) -> schemas.Near:
    """Find the documents nearest to one of the collection."""
    request = schemas.LikeRequest(id=id, k=k, radius=radius, distinct=distinct, where=filter_of(where), length=length)
    return like_any(served, request)


@router.computed("POST", "/like")
def like_any(served: ServedHere, request: schemas.LikeRequest) -> schemas.Near:
    """Find the documents nearest to one of the collection, with any id."""
    (entry,) = served.entries([request.id])
    hits = served.collection.like(entry.id, request.k, request.where, radius=request.radius, distinct=request.distinct)
    near = served.hits(hits[: request.k], request.length)
    return schemas.Near(document=served.document(entry, request.length), hits=near, total=len(hits))


@router.computed("GET", "/documents/{id}/drift")
def drift_from_document(
    served: ServedHere, id: DocumentId, distances: Distances = None, length: schemas.Length = None
) -> schemas.Drift:
    """Find documents at growing distance from one of the collection."""
    (entry,) = served.entries([id])
    steps = served.collection.drift(entry.id, distances=_numbers(distances))
    return schemas.Drift(start=served.document(entry, length), steps=served.hits(steps, length))


@router.computed("GET", "/drift")
def drift(
    served: ServedHere, q: schemas.Text, distances: Distances = None, length: schemas.Length = None
) -> schemas.Drift:
    """Find documents at growing distance from a text."""
    return drift_long(served, schemas.DriftRequest(text=q, distances=_numbers(distances), length=length))


@router.computed("POST", "/drift")
def drift_long(served: ServedHere, request: schemas.DriftRequest) -> schemas.Drift:
    """Find documents at growing distance from a text of any length, or a vector."""
    steps = served.collection.drift(query=request.query, distances=request.distances)
    return schemas.Drift(start=served.query(request.query), steps=served.hits(steps, request.length))


def _numbers(distances: str | None) -> list[int] | None:
    return None if distances is None else [int(distance) for distance in distances.split(",")]
