"""The server of a collection: its socket, its address, and how it stops."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn

from ammi.collection import Collection
from ammi.web.app import make_app
from ammi.web.connection_limits import FILES_BESIDE, allow_open_files, limited
from ammi.web.guard import App
from ammi.web.settings import Settings, is_loopback

_BACKLOG = 1000  # clients that wait to be accepted
_SECONDS_TO_END = 5  # for running requests when it is stopped


class Server:
    """A collection at an address, which answers requests from `run` on."""

    def __init__(
        self,
        collection: Collection,
        host: str,
        port: int,
        settings: Settings,
        make: Callable[[Collection, Settings], App] = make_app,
    ):
        if not is_loopback(host) and settings.token is None:
            raise ValueError(
                f"{host} can be reached from other machines, and there is no token: pass one with --token, or listen "
                "on 127.0.0.1"
            )
        if settings.token is not None and not settings.token.isascii():  # as the headers of HTTP are
            raise ValueError(
                "the token has characters beyond ASCII, which not all clients can send: choose another one"
            )
        allow_open_files(settings.most_connections + _BACKLOG + FILES_BESIDE)
        self._socket = _listening(host, port)
        self.host, self.port = host, self._socket.getsockname()[1]
        self._uvicorn = _Uvicorn(
            uvicorn.Config(
                make(collection, settings),
                http=limited(settings),
                ws="none",
                log_level="warning",
                backlog=_BACKLOG,
                timeout_graceful_shutdown=_SECONDS_TO_END,
                server_header=False,
                access_log=False,
            )
        )

    @property
    def address(self) -> str:
        """The URL for a browser on this machine."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}/"

    def run(self) -> None:
        """Answer requests until Ctrl-C or SIGTERM, and finish the running ones."""
        with self._socket, _stopped_once():
            self._uvicorn.run(sockets=[self._socket])


class _Uvicorn(uvicorn.Server):
    """Ignore a second Ctrl-C, which would interrupt the shutdown with a traceback."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if not self.should_exit:
            super().handle_exit(sig, frame)


@contextmanager
def _stopped_once() -> Iterator[None]:
    """Ignore a second Ctrl-C before and after uvicorn handles signals, too, until the process has ended.

    SIGTERM ends the process as `sys.exit(0)` does, so that the searchers and what they share are cleaned up.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(0)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is stop:  # nobody pressed Ctrl-C
                signal.signal(number, handler)


def _listening(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        listening = socket.socket(family, kind, protocol)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.bind(address)
            listening.listen(_BACKLOG)  # early clients wait instead of being refused
        except BaseException:
            listening.close()
            raise
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ValueError(f"{host}:{port} cannot be listened on ({reason}): name another --host or --port") from None
    return listening
