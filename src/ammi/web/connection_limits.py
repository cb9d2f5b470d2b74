"""Limits on connections, which uvicorn does not have: how many, how many of one network, and how long one may wait.

A connection waits while it has no request that is being read or answered: it is silent, or sends the head of a request
bit by bit, or is kept for a next request. If there are too many, the one that has waited longest gives way.
"""

import asyncio
import ipaddress
from functools import partial
from typing import Any

from h11 import RemoteProtocolError
from h11._receivebuffer import ReceiveBuffer
from uvicorn.protocols.http.h11_impl import H11Protocol

from ammi.web.guard import END_CONNECTION
from ammi.web.settings import Settings

FILES_BESIDE = 500  # files that a server has open beside its connections, at most

_IPV6_NETWORK = 64  # bits of an address that one customer of a provider has in common


class OpenConnections:
    """The connections of a server: how many each network has, and which of them wait, the longest first."""

    def __init__(self, settings: Settings):
        self.seconds = settings.head_seconds
        self._most, self._most_of_network = settings.most_connections, settings.most_connections_by_address
        self._open = 0
        self._by_network: dict[str, int] = {}
        self._waiting: dict[LimitedConnection, None] = {}

    def admit(self, new: "LimitedConnection") -> bool:
        """Count a new connection and let another one give way if there are too many; return whether there is room."""
        self._open += 1
        self._by_network[new.network] = of_network = self._by_network.get(new.network, 0) + 1
        too_many_of_network = of_network > self._most_of_network
        if too_many_of_network or self._open > self._most:
            candidates = (one for one in self._waiting if not too_many_of_network or one.network == new.network)
            # One that never sent a request goes before one that did, however long that has been waiting.
            idle = min(candidates, key=lambda one: one.cycle is not None, default=None)
            if idle is None:
                return False
            idle.end()
        return True

    def forget(self, one: "LimitedConnection") -> None:
        """Free the place of a connection."""
        self._waiting.pop(one, None)
        self._open -= 1
        left = self._by_network.pop(one.network) - 1
        if left:
            self._by_network[one.network] = left

    def note(self, one: "LimitedConnection", waits: bool) -> None:
        """Note whether a connection waits; one that begins to wait comes last."""
        if waits:
            self._waiting[one] = None
        else:
            self._waiting.pop(one, None)


class CompleteLines(ReceiveBuffer):
    """Refuses a head with a line that ends in LF alone, which h11 takes: a proxy may see other requests there."""

    def maybe_extract_lines(self) -> list[bytearray] | None:
        size = len(self)
        lines = super().maybe_extract_lines()
        if lines is not None and size - len(self) != sum(len(line) + 2 for line in lines) + 2:
            raise RemoteProtocolError("a line of the head ends without CR")
        return lines


class LimitedConnection(H11Protocol):
    """A connection that must send the whole head of its next request in time."""

    def __init__(self, connections: OpenConnections, **given: Any):
        super().__init__(**given)
        self.conn._receive_buffer = CompleteLines()
        self.network = ""
        self._connections = connections
        self._deadline: asyncio.TimerHandle | None = None
        self._counted = False
        self.app_state = {**self.app_state, END_CONNECTION: self.end}  # a copy of it is part of each request

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.network = network_of(self.client[0] if self.client else "")
        self._counted = True
        if self._connections.admit(self):
            self._note()
        else:
            self.end()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._leave()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._note()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note()

    def end(self) -> None:
        """End the connection at once, with whatever its client has not read, and free its place."""
        self._leave()
        self.transport.abort()

    def _note(self) -> None:
        if not self._counted:
            return
        waits = self.cycle is None or self.cycle.response_complete
        if waits == (self._deadline is not None):
            return
        self._connections.note(self, waits)
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(self._connections.seconds, self.end) if waits else None

    def _leave(self) -> None:
        if self._counted:
            self._counted = False
            self._connections.forget(self)
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def limited(settings: Settings) -> type[asyncio.Protocol]:
    """Return uvicorn's protocol with the limits of one server."""
    return partial(LimitedConnection, OpenConnections(settings))  # type: ignore[return-value]  # uvicorn only calls it


def network_of(host: str) -> str:
    """Return the network that counts as one client: an IPv4 address, or the first half of an IPv6 address."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:  # of a socket without addresses
        return host
    if isinstance(address, ipaddress.IPv4Address) or address.ipv4_mapped:
        return host
    return str(ipaddress.ip_network((address, _IPV6_NETWORK), strict=False))


def allow_open_files(n: int) -> None:
    """Raise this process's limit of open files to n, as far as the system allows."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = n if hard == resource.RLIM_INFINITY else min(n, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
