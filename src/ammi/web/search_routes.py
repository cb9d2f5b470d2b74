"""Addresses that find documents: by a text, a vector or a document, and at growing distance."""

from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import Response

from ammi.search.documents import Id
from ammi.search.filters import Where
from ammi.web import schemas
from ammi.web.guard import Refusal
from ammi.web.parameters import (
    PROBLEMS,
    Conditions,
    Distances,
    DocumentId,
    Length,
    Radius,
    Shortlist,
    distances_of,
    query_of,
    where_of,
)
from ammi.web.served import Served, answer


def search_routes(served: Served) -> APIRouter:
    """The router of a collection."""
    router = APIRouter(prefix="/api", tags=["search"], responses=PROBLEMS)
    collection, do, limits = served.collection, served.work.do, served.settings
    text_parameter = Query(
        max_length=limits.most_query, description="What to look for.", examples=["inverse of a matrix"]
    )
    k_parameter = Query(ge=1, le=limits.most_k, description="How many documents.")

    async def find(*request: Any) -> Response:
        if served.searchers.ready:
            return Response(await served.work.wait(served.searchers.ask(*request)), media_type="application/json")
        return await do(lambda: served.search(*request))

    def find_like(id: Id, k: int, radius: int | None, where: Where | None, length: int | None) -> Response:
        entry = served.entry(id)
        hits = collection.like(entry.id, k, where, radius=radius)
        near, own = served.hits(hits[:k], length), served.document(entry, length)
        return answer({"document": own, "hits": near, "total": len(hits)})

    def checked_k(k: int) -> int:
        if k > limits.most_k:
            raise Refusal(422, f"k is {k:,}, and {limits.most_k:,} is the most: ask for fewer documents")
        return k

    @router.get("/search", response_model=schemas.SearchAnswer)
    async def search(
        q: Annotated[str, text_parameter],
        k: Annotated[int, k_parameter] = 10,
        radius: Radius = None,
        where: Conditions = [],  # noqa: B006  # FastAPI makes a new one each time
        rank: Annotated[schemas.Rank | None, Query(description="What puts the hits in order.")] = None,
        shortlist: Shortlist = None,
        length: Length = None,
    ) -> Response:
        """Find the documents that answer a text best."""
        return await find(q, k, radius, where_of(where), rank, shortlist, length)

    @router.post("/search", response_model=schemas.SearchAnswer)
    async def search_long(request: schemas.SearchRequest) -> Response:
        """Find the documents that answer a text of any length, or a vector, best."""
        query = query_of(request.text, request.vector, limits.most_query)
        k = checked_k(request.k)
        return await find(query, k, request.radius, request.where, request.rank, request.shortlist, request.length)

    @router.post("/encode", response_model=schemas.Query)
    async def encode(request: schemas.QueryRequest) -> Response:
        """The code of a text or a vector, and the probability of each bit."""
        query = query_of(request.text, request.vector, limits.most_query)
        return await do(lambda: answer(served.query(query)))

    @router.get("/documents/{id}/like", response_model=schemas.Near)
    async def like(
        id: DocumentId,
        k: Annotated[int, k_parameter] = 10,
        radius: Radius = None,
        where: Conditions = [],  # noqa: B006
        length: Length = None,
    ) -> Response:
        """Find the documents nearest to one of the collection."""
        return await do(lambda: find_like(id, k, radius, where_of(where), length))

    @router.post("/like", response_model=schemas.Near)
    async def like_any(request: schemas.LikeRequest) -> Response:
        """Find the documents nearest to one of the collection, whose id may be any."""
        k = checked_k(request.k)
        return await do(lambda: find_like(request.id, k, request.radius, request.where, request.length))

    @router.get("/documents/{id}/drift", response_model=schemas.Drift)
    async def drift_of_document(id: DocumentId, distances: Distances = None, length: Length = None) -> Response:
        """Documents at growing distance from one of the collection."""

        def walk() -> Response:
            entry = served.entry(id)
            steps = collection.drift(entry.id, distances=distances_of(distances))
            return answer({"start": served.document(entry, length), "steps": served.hits(steps, length)})

        return await do(walk)

    def drift_from(query: Any, distances: list[int] | None, length: int | None) -> Response:
        steps = collection.drift(query=query, distances=distances)
        return answer({"start": served.query(query), "steps": served.hits(steps, length)})

    @router.get("/drift", response_model=schemas.Drift)
    async def drift(q: Annotated[str, text_parameter], distances: Distances = None, length: Length = None) -> Response:
        """Documents at growing distance from a text."""
        return await do(lambda: drift_from(q, distances_of(distances), length))

    @router.post("/drift", response_model=schemas.Drift)
    async def drift_long(request: schemas.DriftRequest) -> Response:
        """Documents at growing distance from a text of any length, or a vector."""
        query = query_of(request.text, request.vector, limits.most_query)
        return await do(lambda: drift_from(query, request.distances, request.length))

    return router
