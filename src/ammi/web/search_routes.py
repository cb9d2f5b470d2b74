"""Addresses that find documents: by a text, a vector or a document, and at growing distance."""

from collections.abc import Iterable
from concurrent.futures.process import BrokenProcessPool
from typing import Annotated

from fastapi import Query
from starlette.responses import Response

from ammi.search import Hits
from ammi.web import schemas
from ammi.web.handlers import (
    Distances,
    DocumentId,
    LikeParameters,
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


@router.computed("POST", "/search_many")
def search_many(served: ServedHere, request: schemas.SearchManyRequest) -> schemas.SearchManyAnswer:
    """Find the documents that answer each of several texts or vectors best."""
    queries = [one.query for one in request.queries]
    if request.radius is None:
        n = request.offset + request.k
        found: Iterable[Hits] = served.collection.search_many(
            queries, n, request.where, request.rank, shortlist=request.shortlist
        )
    else:  # one after the other, since each may find many
        found = (served.collection.within(query, request.radius, request.where) for query in queries)
    answers = [served.search_answer(query, hits, request) for query, hits in zip(queries, found, strict=True)]
    return schemas.SearchManyAnswer(answers=answers).with_only(request.fields, "answers", "hits")


@router.computed("POST", "/encode")
def encode(served: ServedHere, request: schemas.QueryRequest) -> schemas.Query:
    """Return the code of a text or a vector, and the probability of each bit."""
    return served.query(request.query)


@router.computed("GET", "/documents/{id}/like")
def like(served: ServedHere, id: DocumentId, parameters: Annotated[LikeParameters, Query()]) -> schemas.Near:
    """Find the documents nearest to one of the collection."""
    options = parameters.model_dump(exclude={"where"})
    return like_any(served, schemas.LikeRequest(id=id, where=filter_of(parameters.where), **options))


@router.computed("POST", "/like")
def like_any(served: ServedHere, request: schemas.LikeRequest) -> schemas.Near:
    """Find the documents nearest to one of the collection, with any id."""
    (entry,) = served.entries([request.id])
    n, radius = request.offset + request.k, request.radius
    found = served.collection.like(entry.id, n, request.where, radius=radius, distinct=request.distinct)
    page = served.page(found, request, is_whole=radius is not None)
    return schemas.Near(document=served.document(entry, request.length), **page).with_only(request.fields, "hits")


@router.computed("GET", "/documents/{id}/drift")
def drift_from_document(
    served: ServedHere,
    id: DocumentId,
    distances: Distances = None,
    distinct: schemas.Distinct = False,
    length: schemas.Length = None,
) -> schemas.Drift:
    """Find documents at growing distance from one of the collection."""
    (entry,) = served.entries([id])
    steps = served.collection.drift(entry.id, distances=_numbers(distances), distinct=distinct)
    return schemas.Drift(start=served.document(entry, length), steps=served.hits(steps, length))


@router.computed("GET", "/drift")
def drift(
    served: ServedHere,
    q: schemas.Text,
    distances: Distances = None,
    distinct: schemas.Distinct = False,
    length: schemas.Length = None,
) -> schemas.Drift:
    """Find documents at growing distance from a text."""
    request = schemas.DriftRequest(text=q, distances=_numbers(distances), distinct=distinct, length=length)
    return drift_long(served, request)


@router.computed("POST", "/drift")
def drift_long(served: ServedHere, request: schemas.DriftRequest) -> schemas.Drift:
    """Find documents at growing distance from a text of any length, or a vector."""
    steps = served.collection.drift(query=request.query, distances=request.distances, distinct=request.distinct)
    return schemas.Drift(start=served.query(request.query), steps=served.hits(steps, request.length))


def _numbers(distances: str | None) -> list[int] | None:
    return None if distances is None else [int(distance) for distance in distances.split(",")]
