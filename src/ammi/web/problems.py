"""Errors as answers: one sentence, and nothing of where the collection is or what the program was doing."""

import logging
from collections.abc import Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import Response

from ammi.plain import short
from ammi.search import DamagedError
from ammi.web.guard import Refusal
from ammi.web.served import Served, answer

_log = logging.getLogger("ammi.web")


def add_handlers(app: FastAPI, served: Served) -> None:
    """Let an application answer with a sentence whatever goes wrong."""

    @app.exception_handler(Refusal)
    async def refused(request: Request, error: Refusal) -> Response:
        headers = {name.decode(): value.decode() for name, value in error.headers}
        return answer({"error": error.error}, error.status, **headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return answer({"error": what_is_wrong(error.errors())}, 422)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        sentence = {
            404: "there is nothing at this address: /api/openapi.json lists all addresses",
            405: "this address does not take such requests: /api/openapi.json says which it takes",
        }.get(error.status_code, str(error.detail))
        return answer({"error": sentence}, error.status_code, **(error.headers or {}))

    @app.exception_handler(DamagedError)
    async def damaged(request: Request, error: DamagedError) -> Response:
        _log.error("%s", error)
        return answer({"error": "the collection is damaged: whoever runs the server finds more in its log"}, 500)

    @app.exception_handler(ValueError)
    async def wrong(request: Request, error: ValueError) -> Response:
        return answer({"error": served.without_place(" ".join(str(error).split()))}, 422)

    @app.exception_handler(OSError)
    async def unreadable(request: Request, error: OSError) -> Response:
        _log.error("%s", error)
        sentence = "the collection cannot be read or written now: whoever runs the server finds more in its log"
        return answer({"error": sentence}, 500)  # and not 503: a change may have been made, or not

    @app.exception_handler(Exception)
    async def fault(request: Request, error: Exception) -> Response:
        return answer({"error": "this is a fault of the server, whose log says more"}, 500)


def what_is_wrong(errors: Sequence[Any]) -> str:
    """The first of pydantic's complaints, in a sentence."""
    first = errors[0]
    if first["type"] == "json_invalid":
        return f"the request is no JSON: {first.get('ctx', {}).get('error', first['msg'])}"
    place = ".".join(str(part) for part in first["loc"] if part not in ("query", "path", "body"))
    message = str(first["msg"]).removeprefix("Value error, ")
    value = first.get("input")
    shown = f" (it is {short(value)})" if isinstance(value, str | int | float) and place else ""
    return f"{place or 'the request'}{shown}: {message[:1].lower()}{message[1:]}"
