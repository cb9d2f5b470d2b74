"""How a collection is served: who may ask, whether it may be changed, and the limits of a request."""

import ipaddress
from dataclasses import dataclass
from socket import gethostname
from urllib.parse import urlsplit

LOOPBACK_NAMES = {"localhost", "ip6-localhost"}


@dataclass(frozen=True)
class Settings:
    """The settings of a server.

    Args:
        writable: whether documents may be added, replaced and deleted.
        token: the token that requests must send as `Authorization: Bearer TOKEN`; None accepts every request.
        title: the name of the collection on the page; by default the last part of its location.
        origins: origins whose pages may send requests, such as https://example.org.
        hosts: further names of this server that a request may use, beside localhost, this machine's name and any IP
            address. Another name is that of a page that a name server has pointed here (DNS rebinding).
        seconds: time limit of a request.
        threads: requests computed at the same time.
        waiting: further requests that may wait.
        searchers: number of processes that answer searches, one at a time each; with 0 the threads answer them.
        most_exports: exports of all documents at the same time.
        most_connections: connections at the same time; if there are more, one that waits for a request is ended.
        most_connections_by_address: connections of one IPv4 address, or of one IPv6 network of 64 bits.
        head_seconds: time limit of a connection to send the head of its next request.
        most_body: bytes of a request that adds documents or sets metadata.
        most_query: bytes of any other request.
        most_answer: bytes of an answer, but for an export of all documents.
        most_held: bytes of all large requests and answers, until they are read and sent.
    """

    writable: bool = False
    token: str | None = None
    title: str | None = None
    origins: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    seconds: float = 30.0
    threads: int = 4
    waiting: int = 250
    searchers: int = 0
    most_exports: int = 4
    most_connections: int = 1000
    most_connections_by_address: int = 300
    head_seconds: float = 10.0
    most_body: int = 16 << 20
    most_query: int = 1 << 20
    most_answer: int = 64 << 20
    most_held: int = 256 << 20

    def knows_host(self, name: str) -> bool:
        """Return whether a request may use this name of the server."""
        name = name.lower().rstrip(".")
        return is_address(name) or name in LOOPBACK_NAMES | {gethostname().lower(), *map(str.lower, self.hosts)}


def checked_origin(origin: str) -> str:
    """Return an origin as browsers spell it."""
    try:
        parts = urlsplit(origin.rstrip("/").lower())
        is_origin = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_origin = False
    if not is_origin or origin.rstrip("/").lower() != f"{parts.scheme}://{parts.netloc}" or "@" in parts.netloc:
        raise ValueError(f"{origin!r:.60} is no origin of pages: write https://HOST or https://HOST:PORT")
    return f"{parts.scheme}://{parts.netloc}"


def is_address(name: str) -> bool:
    """Return whether a name is an IP address, which no name server can point elsewhere."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach a server that listens there."""
    return host in LOOPBACK_NAMES or (is_address(host) and ipaddress.ip_address(host.strip("[]")).is_loopback)
