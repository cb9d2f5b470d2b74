"""Requests to `ammi serve`; its errors are raised as those that a collection on this machine would raise."""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from io import BufferedReader
from threading import local
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit
from uuid import uuid4

from ammi.urls import shown

TOKEN = "AMMI_TOKEN"
Json = dict[str, Any]

_TIMEOUT = 120.0  # seconds
_WAITS_AFTER_BREAK = (0.1, 1.0, 2.0, 4.0)  # seconds after each try of a change whose connection breaks
_TRIES = 6  # while the server is busy
_LONGEST_WAIT = 10.0  # seconds between two tries
_MOST_BYTES = 1 << 30  # of an answer, or of one line of it


class NotConnectedError(ConnectionError):
    """Nobody answers at the address."""


class TooLargeError(ValueError):
    """The request, or its answer, is too large for the server."""


class Server:
    """A connection to a server for each thread.

    The token comes from the address or from AMMI_TOKEN; no message shows it.
    """

    def __init__(self, address: str):
        try:
            parts = urlsplit(address)
            self._port = parts.port
        except ValueError:  # unbalanced brackets, or a port that is not a number
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{shown(address)} is no address of a server: write http://HOST:PORT")
        self._secure, self._host = parts.scheme == "https", parts.hostname
        self._path = parts.path.rstrip("/")
        self._token = unquote(parts.password or parts.username or "") or os.environ.get(TOKEN)
        self.address = shown(address)
        self._here = local()

    def ask(self, method: str, path: str, body: Json | None = None, **parameters: str | float | None) -> Json:
        """Send a request and return its answer; send it again while the server is too busy to accept it."""
        given = {name: value for name, value in parameters.items() if value is not None}
        return self._ask(method, f"{path}?{urlencode(given)}" if given else path, body)

    def change(self, path: str, body: Json) -> Json:
        """Send a change and return its answer; if the connection breaks, ask again under the key of the change.

        The server makes a change once under a key, and answers the same again.
        """
        key, broken = str(uuid4()), None
        for seconds in _WAITS_AFTER_BREAK:
            try:
                return self._ask("POST", path, body, key)
            except ConnectionError as error:
                if broken is None and isinstance(error, NotConnectedError):
                    raise  # nothing was sent
                broken = broken or error
                time.sleep(seconds)
        raise ConnectionError(f"{broken}; whether the change was made is not known") from broken

    def _ask(self, method: str, target: str, body: Json | None, key: str | None = None) -> Json:
        try:
            content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise ValueError(
                f"the request to {self.address} holds half a character (a lone surrogate): decode it again"
            ) from None
        tries = 1
        while True:
            response = self._send(method, target, content, key)
            answer = self._read(response)
            if response.status != 503 or tries == _TRIES:
                return self._checked(response.status, answer)
            seconds = response.headers.get("Retry-After", "")
            time.sleep(min(_LONGEST_WAIT, float(seconds) if seconds.isdecimal() else 1.0))
            tries += 1

    def lines(self, path: str) -> Iterator[Json]:
        """Yield the lines of an answer as they arrive, on a connection of their own."""
        connection = self._connected()
        try:
            response = self._answer(connection, "GET", path)
            if response.status != 200:
                self._checked(response.status, self._read(response))
            lines = BufferedReader(response)  # HTTPResponse.readline hides a broken connection
            while line := self._read(response, lines.readline):
                yield self._checked(200, line)
        finally:
            connection.close()

    def close(self) -> None:
        """Close the connection of this thread."""
        if connection := getattr(self._here, "connection", None):
            connection.close()
            self._here.connection = None

    def _send(self, method: str, target: str, content: bytes | None, key: str | None) -> HTTPResponse:
        kept = getattr(self._here, "connection", None)
        if kept is not None and self._here.process != os.getpid():  # its parent reads from the same socket
            kept = None
        if kept is not None:
            with suppress(HTTPException, OSError):  # the server may have closed the connection since
                return self._answer(kept, method, target, content, key)
        self.close()
        self._here.connection, self._here.process = self._connected(), os.getpid()
        return self._answer(self._here.connection, method, target, content, key)

    def _connected(self) -> HTTPConnection:
        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self._host, self._port, timeout=_TIMEOUT)
        try:
            connection.connect()
        except OSError as error:
            raise NotConnectedError(
                f"no server answers at {self.address} ({error.strerror or error}): start ammi serve there"
            ) from error
        return connection

    def _answer(
        self, connection: HTTPConnection, method: str, target: str, content: bytes | None = None, key: str | None = None
    ) -> HTTPResponse:
        headers = {"Accept": "application/json"}
        if key is not None:
            headers["Idempotency-Key"] = key
        if content is not None:
            headers["Content-Type"] = "application/json"
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            connection.request(method, self._path + target, content, headers)
            return connection.getresponse()
        except (HTTPException, OSError) as error:
            connection.close()
            raise self._broken_off(type(error).__name__) from error

    def _read(self, response: HTTPResponse, read: Callable[[int], bytes] | None = None) -> bytes:
        """Read a whole answer, or the part of it that `read` returns."""
        try:
            content = (read or response.read)(_MOST_BYTES + 1)
        except (HTTPException, OSError) as error:
            self.close()
            raise self._broken_off(type(error).__name__) from error
        if len(content) > _MOST_BYTES:
            self.close()
            raise ValueError(f"{self.address} answers with more than {_MOST_BYTES >> 20} MB: ask for less at a time")
        if response.length and (read is None or not content):  # bytes that never arrived
            self.close()
            raise self._broken_off(f"{response.length} bytes are missing")
        return content

    def _broken_off(self, reason: str) -> ConnectionError:
        return ConnectionError(f"the server at {self.address} broke off ({reason}): check that it runs, and try again")

    def _checked(self, status: int, content: bytes) -> Json:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise ValueError(f"{self.address} is no server of ammi: it answers with the status {status}") from None
        if status < 400:
            return answer
        sentence = answer.get("error", f"the status is {status}") if isinstance(answer, Mapping) else f"{status}"
        if status in (401, 403):
            hint = f": set {TOKEN}, or write http://TOKEN@HOST:PORT" if status == 401 else ""
            raise PermissionError(f"{self.address} refuses: {sentence}{hint}")
        if status in (408, 503, 504):
            raise TimeoutError(f"{self.address} could not answer: {sentence}")
        if status >= 500:
            raise OSError(f"{self.address} could not answer: {sentence}")
        raise TooLargeError(sentence) if status == 413 else ValueError(sentence)
