"""make_app: a collection as an ASGI application, with its page."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from ammi.collection import Collection
from ammi.version import __version__
from ammi.web import schemas
from ammi.web.document_routes import document_routes, writing_routes
from ammi.web.guard import App, Guard
from ammi.web.metrics import CONTENT_TYPE, Metrics
from ammi.web.parameters import PROBLEMS
from ammi.web.problems import add_handlers
from ammi.web.search_routes import search_routes
from ammi.web.served import Served, answer
from ammi.web.settings import Settings
from ammi.web.view_routes import view_routes

PAGE = Path(__file__).with_name("page")
_ABOUT = """Search a collection of documents by short binary codes.

A code is hexadecimal, two digits a byte; bit 0 is the highest bit of the first byte. Errors are `{"error": "..."}`, one
sentence. A server that listens to more than its own machine asks for a token, `Authorization: Bearer TOKEN`."""


def make_app(collection: Collection, settings: Settings | None = None) -> App:
    """The application that serves a collection, which the caller opens and closes."""
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
    app.openapi = lambda: _described(app)  # type: ignore[method-assign]
    metrics = Metrics(app)
    add_handlers(app, served)
    for router in (search_routes, document_routes, writing_routes, view_routes):
        app.include_router(router(served))
    app.include_router(_service_routes(served, metrics))
    app.mount("/page", StaticFiles(directory=PAGE), name="page")
    return Guard(metrics, served.settings)


def _described(app: FastAPI) -> dict[str, Any]:
    """The description, with the token that a request may have to bring: the guard asks for it, not its address."""
    description = FastAPI.openapi(app)
    description["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    return description | {"security": [{}, {"token": []}]}


def _service_routes(served: Served, metrics: Metrics) -> APIRouter:
    router = APIRouter(tags=["service"])

    @router.get("/health", response_model=schemas.Health, responses=PROBLEMS)
    async def health() -> Response:
        """Whether the collection can be read."""
        await served.work.do(lambda: len(served.collection))
        return answer({"status": "ok"})

    @router.get("/metrics", response_class=Response, responses={**PROBLEMS, 200: {"content": {"text/plain": {}}}})
    async def figures() -> Response:
        """Counts and times of requests, as Prometheus reads them."""
        metrics.documents.set(await served.work.do(lambda: len(served.collection)))
        return Response(metrics.text(), media_type=CONTENT_TYPE)

    @router.get("/", include_in_schema=False)
    async def page() -> Response:
        return FileResponse(PAGE / "index.html")

    return router
