"""What the handlers of all addresses share: parameters, the served collection, worker threads, errors."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Annotated, Any, ParamSpec, TypeVar
from urllib.parse import unquote

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request, params
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict, Field
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ammi.plain import short
from ammi.search import DamagedError
from ammi.search.checks import UncertainError
from ammi.search.filter_text import from_text
from ammi.search.filters import Where
from ammi.web import schemas
from ammi.web.guard import Refusal
from ammi.web.served import Served

JSON = "application/json"
M = TypeVar("M", bound=BaseModel)
P = ParamSpec("P")

_log = logging.getLogger("ammi.web")
_REASONS = {
    400: "The request is broken.",
    401: "The token is missing or wrong.",
    403: "A page of another site asks, or the server is read-only.",
    404: "There is no such document, bit or key.",
    408: "The request took too long to arrive.",
    413: "The request is too large, or its answer is.",
    415: "The body has another content type.",
    421: "The server is not known by this name.",
    422: "A value is wrong; the sentence says which.",
    500: "An error of the server.",
    503: "Too many requests at once: try again after `Retry-After` seconds.",
    504: "The answer takes too long. A change was not made, and will not be.",
}
_SENTENCES = {
    404: "there is nothing at this address: /docs lists all addresses",
    405: "this address does not take such requests: /docs says which it takes",
}
PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": schemas.Problem, "description": reason} for status, reason in _REASONS.items()
}

CONDITIONS = (
    "Filter by metadata: KEY=VALUE, KEY=A,B (either), KEY!=VALUE, KEY>=VALUE (also <, <=, >), KEY (has it), !KEY (has "
    "it not). Documents must satisfy all conditions."
)
Conditions = Annotated[
    list[str],
    Query(
        max_length=100,
        description=CONDITIONS,
        examples=[["lang=en", "year>=1987"]],
    ),
]
Distances = Annotated[
    str | None,
    Query(
        pattern=r"^[0-9]{1,5}(,[0-9]{1,5}){0,4095}$",
        description="Least distances in bits, separated by commas; by default 0,1,5,10,20,50,90.",
        examples=["0,1,5,10"],
    ),
]


class SearchParameters(schemas.SearchOptions):
    """The query parameters of GET /api/search; `Routes` refuses unknown ones."""

    model_config = ConfigDict(extra="ignore")

    q: schemas.Text
    where: Conditions = Field(default_factory=list)


class LikeParameters(schemas.LikeOptions):
    """The query parameters of a search for near documents."""

    model_config = ConfigDict(extra="ignore")

    where: Conditions = Field(default_factory=list)


class ListParameters(schemas.Model):
    """The query parameters of a list of documents."""

    model_config = ConfigDict(extra="ignore")

    where: Conditions = Field(default_factory=list)
    offset: schemas.Offset = 0
    limit: schemas.Limit = 20
    length: schemas.Length = None
    fields: schemas.DocumentFields = None


async def _served(request: Request) -> Served:
    return request.app.state.served


async def _as_described(request: Request) -> None:
    """Refuse query parameters that the API's description does not name, and a body of another content type."""
    route, method = request.scope["route"], request.method
    if not route.include_in_schema:
        return
    described = request.app.openapi()["paths"][route.path_format][method.lower()]
    known = [one["name"] for one in described.get("parameters", ()) if one["in"] == "query"]
    if unknown := [name for name in request.query_params if name not in known]:
        takes = f"it takes {', '.join(known)}" if known else "it takes none"
        raise Refusal(422, f"{unknown[0]!r:.60} is no parameter of {method} {route.path_format}: {takes}")
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if [*described.get("requestBody", {}).get("content", ())] == [JSON] and kind != JSON:
        raise Refusal(415, f"the content type is {kind[:60] or 'missing'}: send the header Content-Type: {JSON}")


async def _id(id: Annotated[str, Path(min_length=1, description="The id of a document.", examples=["n17"])]) -> str:
    return unquote(id, errors="replace")  # the guard has quoted it, so that it may hold a slash


ServedHere = Annotated[Served, Depends(_served)]
DocumentId = Annotated[str, Depends(_id)]


class Routes(APIRouter):
    """Addresses of one kind, with the errors that all of them may answer."""

    def __init__(
        self, kind: str, *, prefix: str = "/api", dependencies: Sequence[params.Depends] = (), changes: bool = False
    ):
        checks = [Depends(_as_described), *dependencies]
        super().__init__(prefix=prefix, tags=[kind], responses=PROBLEMS, dependencies=checks)
        self._changes = changes

    def computed(self, method: str, path: str) -> Callable[[Callable[P, M]], Callable[P, M]]:
        """Serve a handler, which has a parameter `served`, in a worker thread; for callers it stays as it is."""

        def add(handler: Callable[P, M]) -> Callable[P, M]:
            @wraps(handler)
            async def run(*arguments: P.args, **parameters: P.kwargs) -> Response:
                served = parameters["served"]
                assert isinstance(served, Served)
                do = served.work.change if self._changes else served.work.do
                return await do(lambda: answer(handler(*arguments, **parameters)))

            self.add_api_route(path, run, methods=[method])
            return handler

        return add


def answer(content: BaseModel, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """Make a JSON response; FastAPI sends it without validating it a second time."""
    written = content.as_json() if isinstance(content, schemas.Model) else content.model_dump_json()
    return Response(written, status, headers, JSON)


def filter_of(conditions: list[str]) -> Where | None:
    """Parse the conditions of an address."""
    return from_text(conditions) or None


def add_error_handlers(app: FastAPI) -> None:
    """Answer every error with one sentence, without the collection's location or a traceback."""
    for kind in (Refusal, RequestValidationError, HTTPException, DamagedError, ValueError, OSError, Exception):
        app.add_exception_handler(kind, _answer_error)


async def _answer_error(request: Request, error: Exception) -> Response:
    match error:
        case Refusal():
            return _problem(error.status, error.error, {name.decode(): text.decode() for name, text in error.headers})
        case RequestValidationError():
            return _problem(422, first_error(error.errors()))
        case HTTPException():
            sentence = _SENTENCES.get(error.status_code, str(error.detail))
            return _problem(error.status_code, sentence, error.headers)
        case DamagedError():
            _log.error("%s", error)
            return _problem(500, "the collection is damaged: the log of the server says more")
        case ValueError():
            served: Served = request.app.state.served
            return _problem(422, served.without_location(" ".join(str(error).split())))
        case UncertainError():
            _log.error("%s", error)
            sentence = "the store of the collection broke off, and may have made the change, or a part of it"
            return _problem(500, f"{sentence}: send it again with the same Idempotency-Key")
        case OSError() if "changes" in getattr(request.scope.get("route"), "tags", ()):
            _log.error("%s", error)
            return _problem(500, "the change was not made: the log of the server says why the collection refuses it")
        case OSError():
            _log.error("%s", error)
            return _problem(500, "the collection cannot be read now: the log of the server says more")
    return _problem(500, "this is an error of the server: its log says more")


def _problem(status: int, sentence: str, headers: Mapping[str, str] | None = None) -> Response:
    valid = sentence.encode("utf-8", "replace").decode()  # a sentence may quote half a character
    return answer(schemas.Problem(error=valid), status, headers)


def first_error(errors: Sequence[Any]) -> str:
    """Return the first of pydantic's complaints as a sentence."""
    first = errors[0]
    if first["type"] == "json_invalid":
        return f"the request is no JSON: {first.get('ctx', {}).get('error', first['msg'])}"
    field = ".".join(str(part) for part in first["loc"] if part not in ("query", "path", "body"))
    message = str(first["msg"]).removeprefix("Value error, ")
    value = first.get("input")
    shown = f" (it is {short(value)})" if isinstance(value, str | int | float) and field else ""
    return f"{field or 'the request'}{shown}: {message[:1].lower()}{message[1:]}"
