"""Requests to a server of `ammi serve`, and its errors as those that a collection on this machine raises."""

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from threading import local
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

TOKEN = "AMMI_TOKEN"
_SECONDS = 120.0
_TRIES = 6  # where a server is busy, or has ended a connection that nobody used
_LONGEST_WAIT = 10.0


class Server:
    """A server, by its address; a token may stand in it, or in the environment. It is shown nowhere.

    A connection is kept for each thread.
    """

    def __init__(self, address: str):
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError(f"{_without_token(address)} is no address of a server: write http://HOST:PORT")
        self._secure, self._host, self._port = parts.scheme == "https", parts.hostname, parts.port
        self._path = parts.path.rstrip("/")
        self._token = unquote(parts.password or parts.username or "") or os.environ.get(TOKEN)
        self.address = _without_token(address)
        self._here = local()

    def ask(self, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
        """The answer to a request, and its status where that is 202: what was asked for comes later."""
        wanted = {name: value for name, value in parameters.items() if value is not None}
        target = f"{path}?{urlencode(wanted)}" if wanted else path
        content = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        for _ in range(_TRIES):
            response = self._send(method, target, content)
            answer = response.read()
            if response.status != 503:
                return self._checked(response.status, answer)
            time.sleep(min(_LONGEST_WAIT, float(response.headers.get("Retry-After") or 1)))
        return self._checked(503, answer)

    def lines(self, path: str) -> Iterator[dict[str, Any]]:
        """The lines of an answer, as they come, on a connection of their own."""
        connection = self._connected()
        try:
            response = self._answer(connection, "GET", path, None)
            if response.status != 200:
                self._checked(response.status, response.read())
            for line in response:
                yield json.loads(line)
        finally:
            connection.close()

    def close(self) -> None:
        """End the connection of this thread."""
        if connection := getattr(self._here, "connection", None):
            connection.close()
            self._here.connection = None

    def _send(self, method: str, target: str, content: bytes | None) -> HTTPResponse:
        kept = getattr(self._here, "connection", None)
        may_be_sent_twice = content is None or not target.startswith(("/api/documents", "/api/delete"))
        if kept is not None and may_be_sent_twice:
            with suppress(HTTPException, OSError):  # the server may have ended it meanwhile
                return self._answer(kept, method, target, content)
        self.close()
        self._here.connection = self._connected()
        return self._answer(self._here.connection, method, target, content)

    def _connected(self) -> HTTPConnection:
        kind = HTTPSConnection if self._secure else HTTPConnection
        connection = kind(self._host, self._port, timeout=_SECONDS)
        try:
            connection.connect()
        except OSError as error:
            raise ConnectionError(
                f"no server answers at {self.address} ({error.strerror or error}): start ammi serve there"
            ) from error
        return connection

    def _answer(self, connection: HTTPConnection, method: str, target: str, content: bytes | None) -> HTTPResponse:
        headers = {"Accept": "application/json"}
        if content is not None:
            headers["Content-Type"] = "application/json"
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        try:
            connection.request(method, self._path + target, content, headers)
            return connection.getresponse()
        except (HTTPException, OSError) as error:
            connection.close()
            raise ConnectionError(
                f"the server at {self.address} broke off ({type(error).__name__}): see whether it runs, and try again"
            ) from error

    def _checked(self, status: int, content: bytes) -> Any:
        try:
            answer = json.loads(content)
        except ValueError:
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
        raise ValueError(sentence)


def _without_token(address: str) -> str:
    scheme, separator, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"
