"""The guard in front of the API: it refuses requests without the token, from other sites, or too large.

Every answer, a refusal too, has the headers that keep the page from loading or running anything of other hosts.
"""

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, MutableMapping
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
END_CONNECTION = "end_connection"  # in the state of a request: ends the connection of its client
_OPEN = ("/", "/docs", "/health", "/favicon.ico", "/api/openapi.json")  # addresses that return no document
_OPEN_FOLDER = "/page/"
_LARGE = ("/api/documents", "/api/metadata", "/api/delete")  # addresses that take large requests
_SMALL = 1 << 16  # bytes of a request or an answer that never has to wait for room
_LEAST_BYTES_A_SECOND = 100_000  # that the client of a large answer must read


class Refusal(Exception):  # noqa: N818  # an answer rather than a failure
    """A status and a sentence to answer a request with."""

    def __init__(self, status: int, error: str, *headers: tuple[bytes, bytes]):
        super().__init__(error)
        self.status, self.error, self.headers = status, error, headers


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: App, settings: Settings):
        self._app, self.settings = app, settings
        self._bytes_held = 0  # of requests and answers that are read, computed or sent

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        private = not _is_open(scope["path"])
        headers = [(b"cache-control", b"no-store" if private else b"no-cache"), *HEADERS]
        answer, body = _Answer(scope, send, headers, self), bytearray()
        try:
            self._check(scope, private)
            path = _path(scope)
            await self._read(scope, path, receive, body)
            # HEAD is answered like GET; the HTTP server leaves out the body.
            method = "GET" if scope["method"] == "HEAD" else scope["method"]
            request = {**scope, "path": path, "method": method}
            await _while_connected(self._app(request, _replayed(bytes(body), receive), answer), receive)
        except Refusal as refusal:
            await answer.refuse(refusal)
        except ClientDisconnect:
            pass
        finally:
            self.hold(-len(body))
            answer.end_if_unfinished()

    def hold(self, n: int) -> bool:
        """Count n more bytes that are held in memory, or fewer; return whether there is room for them."""
        self._bytes_held += n
        return self._bytes_held <= self.settings.most_held

    def _check(self, scope: Scope, private: bool) -> None:
        headers = {name: value.decode("latin-1") for name, value in reversed(scope["headers"])}
        if b"content-length" in headers and b"transfer-encoding" in headers:
            raise Refusal(400, "the request has two lengths, Content-Length and Transfer-Encoding: send one of them")
        host = headers.get(b"host", "")
        name = _host_name(host)
        if name is None or not self.settings.knows_host(name):
            raise Refusal(421, "this server is not known by the name in the address: use the one that it printed")
        if not private:
            return
        site, origin = headers.get(b"sec-fetch-site", "none"), headers.get(b"origin")
        is_own = site in ("none", "same-origin") and (origin is None or _netloc(origin) == host)
        if not is_own and origin not in self.settings.origins:
            raise Refusal(403, "requests from the pages of other sites are refused: --origin allows those of one")
        if self.settings.token is not None:
            scheme, _, given = headers.get(b"authorization", "").partition(" ")
            same = hmac.compare_digest(given.strip().encode(), self.settings.token.encode())
            if scheme.lower() != "bearer" or not same:
                raise Refusal(
                    401,
                    "the token is missing or wrong: send Authorization: Bearer TOKEN",
                    (b"www-authenticate", b"Bearer"),
                )

    async def _read(self, scope: Scope, path: str, receive: Receive, body: bytearray) -> None:
        """Read the body first, so that a slow client occupies no worker thread; refuse a large one."""
        most = self.settings.most_body if path in _LARGE else self.settings.most_query
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) > most:
            raise _too_large(most)
        try:
            async with asyncio.timeout(self.settings.seconds):
                while True:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refusal(400, "the request ended too early")
                    chunk = message.get("body", b"")
                    body += chunk
                    if len(body) > most:
                        self.hold(len(chunk))
                        raise _too_large(most)
                    if not self.hold(len(chunk)) and len(body) > _SMALL:
                        raise busy()
                    if not message.get("more_body"):
                        return
        except TimeoutError:
            raise Refusal(408, f"the request did not arrive within {self.settings.seconds:g} seconds") from None


class _Answer:
    """An answer on its way to the client, who must read it in time; one that is too large is refused instead.

    A large answer is sent in parts, each when the one before was read, so that its bytes are counted for as long as
    they are held. A stream, such as an export, is sent as it comes.
    """

    def __init__(self, scope: Scope, send: Send, headers: list[tuple[bytes, bytes]], guard: Guard):
        self._scope, self._send, self._headers, self._guard = scope, send, headers, guard
        self._start: Message | None = None  # sent with the first part of the body
        self._is_begun = self._is_ended = False

    async def __call__(self, message: Message) -> None:
        if self._is_ended:
            return
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", [])}
            more = [pair for pair in self._headers if pair[0] not in there]
            self._start = {**message, "headers": [*message.get("headers", []), *more]}
            return
        body, settings = message.get("body", b""), self._guard.settings
        if self._is_begun or message.get("more_body"):  # an unfinished stream holds a snapshot of the collection
            await self._send_parts([message], settings.seconds)
            return
        has_room = self._guard.hold(len(body))
        try:
            if len(body) > settings.most_answer:
                sentence = f"the answer has {len(body):,} bytes, and {settings.most_answer:,} at most are sent"
                advice = "ask for fewer documents, or cut their texts with length"
                await self.refuse(Refusal(413, f"{sentence}: {advice}"))
            elif len(body) > _SMALL and not has_room:
                await self.refuse(busy())
            else:
                await self._send_parts(_parts(body), settings.seconds + len(body) / _LEAST_BYTES_A_SECOND)
        finally:
            self._guard.hold(-len(body))

    async def refuse(self, refusal: Refusal) -> None:
        """Answer with a refusal."""
        body = json.dumps({"error": refusal.error}).encode()
        about = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        if refusal.status in (400, 408, 413):
            about.append((b"connection", b"close"))  # the rest of the body is not read
        headers = [*about, *refusal.headers, *self._headers]
        self._start = {"type": "http.response.start", "status": refusal.status, "headers": headers}
        await self._send_parts(_parts(body), self._guard.settings.seconds)

    async def _send_parts(self, parts: Iterable[Message], seconds: float) -> None:
        """Send parts of the answer; end the connection if the client does not read them in time."""
        try:
            async with asyncio.timeout(seconds):
                if self._start is not None:
                    self._is_begun = True
                    await self._send(self._start)
                    self._start = None
                for part in parts:
                    await self._send(part)
                    self._is_ended = not part.get("more_body")
        except TimeoutError:
            self.end_if_unfinished()
            raise asyncio.CancelledError from None

    def end_if_unfinished(self) -> None:
        """End the connection, unless the whole answer was sent: uvicorn would wait for the client to read the rest."""
        if self._is_begun and not self._is_ended:
            self._scope.get("state", {}).get(END_CONNECTION, lambda: None)()


def _parts(body: bytes) -> Iterator[Message]:
    """Yield a body in parts, each of which is sent when the one before was read."""
    for start in range(0, max(len(body), 1), _SMALL):
        end = start + _SMALL
        yield {"type": "http.response.body", "body": body[start:end], "more_body": end < len(body)}


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


async def _while_connected(answering: Awaitable[None], receive: Receive) -> None:
    """Wait for an answer, and cancel it as soon as its client has gone."""

    async def gone() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass

    answer, end = asyncio.ensure_future(answering), asyncio.ensure_future(gone())
    try:
        await asyncio.wait((answer, end), return_when=asyncio.FIRST_COMPLETED)
        if answer.done() and not answer.cancelled():
            answer.result()  # raises its error
    finally:
        end.cancel()
        answer.cancel()
        await asyncio.wait((answer,))


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` for a body that was already read."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return left.pop() if left else await receive()

    return replay


def busy() -> Refusal:
    """Return the refusal of a request that would be one too many."""
    return Refusal(503, "the server is busy: try again in a second", (b"retry-after", b"1"))


def _too_large(most: int) -> Refusal:
    return Refusal(413, f"the request has more than {most:,} bytes: send several smaller ones")
