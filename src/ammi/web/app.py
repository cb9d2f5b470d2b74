"""make_app: a collection as an ASGI application, with its page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from ammi.collection import Collection
from ammi.version import __version__
from ammi.web import document_routes, explore_routes, schemas, search_routes, table_routes
from ammi.web.guard import App, Guard
from ammi.web.handlers import Routes, ServedHere, add_error_handlers
from ammi.web.metrics import CONTENT_TYPE, Metrics
from ammi.web.served import Served
from ammi.web.settings import Settings

PAGE = Path(__file__).with_name("page")
_LEAST_COMPRESSED = 1000  # bytes of an answer
_ABOUT = """Search a collection of documents by short binary codes.

A code is hexadecimal, two digits a byte; bit 0 is the highest bit of the first byte. Errors are `{"error": "..."}`, one
sentence. A server that listens to more than its own machine asks for a token, `Authorization: Bearer TOKEN`."""

_service = Routes("service", prefix="")


def make_app(collection: Collection, settings: Settings | None = None) -> App:
    """Return the application that serves a collection, which the caller opens and closes."""
    served = Served(collection, settings or Settings())

    @asynccontextmanager
    async def running(app: FastAPI) -> AsyncIterator[None]:
        served.start()
        yield
        served.close()

    app = FastAPI(
        title="ammi",
        version=__version__,
        description=_ABOUT,
        lifespan=running,
        openapi_url="/api/openapi.json",
        docs_url=None,  # they would load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
        separate_input_output_schemas=False,
    )
    app.openapi = cache(lambda: _described(app))  # type: ignore[method-assign]
    metrics = Metrics(app)
    app.state.served, app.state.metrics = served, metrics
    add_error_handlers(app)
    rooms = (search_routes, document_routes, table_routes, explore_routes)
    for router in (*(room.router for room in rooms), document_routes.changes):
        app.include_router(router)
    app.include_router(_service)
    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    guard = GZipMiddleware(Guard(metrics, served.settings), minimum_size=_LEAST_COMPRESSED, compresslevel=1)
    if not served.settings.origins:
        return guard
    return CORSMiddleware(
        guard,
        allow_origins=served.settings.origins,
        allow_methods=["GET", "POST", "PUT", "DELETE"],
        allow_headers=["Authorization", "Content-Type", "Idempotency-Key"],
        expose_headers=["Retry-After"],
    )


def _described(app: FastAPI) -> dict[str, Any]:
    """Return the description with the token and the documents to add, which FastAPI does not know of."""
    description = FastAPI.openapi(app)
    new = schemas.NewDocuments.model_json_schema(ref_template="#/components/schemas/{model}")
    description["components"]["schemas"] |= new.pop("$defs") | {"NewDocuments": new}
    description["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return description | {"security": [{}, {"token": []}]}


@_service.computed("GET", "/health")
def health(served: ServedHere) -> schemas.Health:
    """Check that the collection can be read."""
    len(served.collection)
    return schemas.Health()


@_service.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def figures(served: ServedHere, request: Request) -> Response:
    """Return counts and times of requests, in the format of Prometheus."""
    metrics: Metrics = request.app.state.metrics
    metrics.documents.set(await served.work.do(lambda: len(served.collection)))
    return Response(metrics.text(), media_type=CONTENT_TYPE)


@_service.get("/", include_in_schema=False)
async def page() -> Response:
    return FileResponse(PAGE / "index.html")


@_service.get("/docs", include_in_schema=False)
async def documentation() -> Response:
    return FileResponse(PAGE / "docs.html")
