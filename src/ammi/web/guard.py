"""The guard in front of the API: it refuses requests without the token, from other sites, or too large.

Every answer, a refusal too, has the headers that keep the page from loading or running anything of other hosts.
"""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import quote, unquote_to_bytes, urlsplit

from starlette.requests import ClientDisconnect

from ammi.web.settings import Settings

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [
    (b"content-security-policy", CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_OPEN = ("/", "/health", "/favicon.ico", "/api/openapi.json")  # addresses that return no document
_OPEN_FOLDER = "/page/"
_SAFE = {"GET", "HEAD", "OPTIONS"}


class Refusal(Exception):  # noqa: N818  # an answer rather than a failure
    """A status and a sentence to answer a request with."""

    def __init__(self, status: int, error: str, *headers: tuple[bytes, bytes]):
        super().__init__(error)
        self.status, self.error, self.headers = status, error, headers


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: App, settings: Settings):
        self._app, self._settings = app, settings
        self._bytes_held = 0  # of bodies of requests that are read or answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        private = not _is_open(scope["path"])
        headers = [(b"cache-control", b"no-store" if private else b"no-cache"), *HEADERS]
        send = _with_headers(send, headers, self._settings.seconds)
        body = bytearray()
        try:
            self._check(scope, private)
            if scope["method"] not in _SAFE:
                await self._read(scope, receive, body)
                receive = _replayed(bytes(body), receive)
            # HEAD is answered like GET; the HTTP server leaves out the body.
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            await self._app({**scope, "path": _path(scope), "method": method}, receive, send)
        except Refusal as refusal:
            await _answer(send, refusal)
        except ClientDisconnect:
            pass
        finally:
            self._bytes_held -= len(body)

    def _check(self, scope: Scope, private: bool) -> None:
        headers = {name: value.decode("latin-1") for name, value in reversed(scope["headers"])}
        host = headers.get(b"host", "")
        name = _host_name(host)
        if name is None or not self._settings.knows_host(name):
            raise Refusal(421, "this server is not known by the name in the address: use the one that it printed")
        if not private:
            return
        site, origin = headers.get(b"sec-fetch-site", "none"), headers.get(b"origin")
        if site not in ("none", "same-origin") or (origin is not None and _netloc(origin) != host):
            raise Refusal(403, "requests from the pages of other sites are refused")
        if self._settings.token is not None:
            scheme, _, given = headers.get(b"authorization", "").partition(" ")
            same = hmac.compare_digest(given.strip().encode(), self._settings.token.encode())
            if scheme.lower() != "bearer" or not same:
                raise Refusal(
                    401,
                    "the token is missing or wrong: send Authorization: Bearer TOKEN",
                    (b"www-authenticate", b"Bearer"),
                )

    async def _read(self, scope: Scope, receive: Receive, body: bytearray) -> None:
        """Read the body first, so that a slow client occupies no worker thread; refuse a large one."""
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._settings.most_body:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._settings.seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, "the request ended too early")
                    chunk = message.get("body", b"")
                    body += chunk
                    self._bytes_held += len(chunk)
                    if len(body) > self._settings.most_body:
                        raise self._too_large()
                    if self._bytes_held > self._settings.most_bodies:
                        raise Refusal(503, "the server is busy: try again in a second", (b"retry-after", b"1"))
                    if not message.get("more_body"):
                        return
        except TimeoutError:
            raise Refusal(408, f"the request did not arrive within {self._settings.seconds:g} seconds") from None

    def _too_large(self) -> Refusal:
        return Refusal(413, f"the request has more than {self._settings.most_body:,} bytes: send several smaller ones")


def _is_open(path: str) -> bool:
    return path in _OPEN or path.startswith(_OPEN_FOLDER)


def _host_name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


def _netloc(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


def _path(scope: Scope) -> str:
    """Return the path with every part quoted, so that an id may hold a slash; `DocumentId` unquotes it."""
    raw = scope.get("raw_path") or quote(scope["path"]).encode()
    return "/".join(quote(unquote_to_bytes(part), safe="") for part in raw.split(b"?")[0].decode("latin-1").split("/"))


def _with_headers(send: Send, headers: list[tuple[bytes, bytes]], seconds: float) -> Send:
    """Send with more headers, and end a long answer if the client does not read its next part in time."""

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", [])}
            message["headers"] = [*message.get("headers", []), *(pair for pair in headers if pair[0] not in there)]
        if not message.get("more_body"):
            await send(message)
            return
        async with asyncio.timeout(seconds):  # an unfinished answer holds a snapshot of the collection
            await send(message)

    return sending


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` for a body that was already read."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return left.pop() if left else await receive()

    return replay


async def _answer(send: Send, refusal: Refusal) -> None:
    body = json.dumps({"error": refusal.error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *refusal.headers]
    if refusal.status in (408, 413):
        headers.append((b"connection", b"close"))  # the rest of the body is not read
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
