"""How a collection is served: who may ask, whether it may be changed, and how much a request may take."""

import ipaddress
from dataclasses import dataclass
from socket import gethostname

LOOPBACK_NAMES = {"localhost", "ip6-localhost"}


@dataclass(frozen=True)
class Settings:
    """What `make_app` is told.

    Args:
        writable: whether documents may be added, replaced and deleted.
        token: what a request must bring as `Authorization: Bearer TOKEN`; None where anyone who can reach it may ask.
        hosts: names of this server that a request may call it by, beside localhost, this machine's name and any number
            address. A request by another name comes from a page whose name leads here only for a while.
        seconds: that a request may take.
        threads: requests that are computed at the same time.
        waiting: further requests that may wait for their turn.
        searchers: processes beside this one that answer searches, one at a time each; without them its threads do.
    """

    writable: bool = False
    token: str | None = None
    hosts: tuple[str, ...] = ()
    seconds: float = 30.0
    threads: int = 4
    waiting: int = 250
    searchers: int = 0
    most_exports: int = 4  # of all documents, that are being read at the same time
    most_k: int = 1000
    most_query: int = 10_000  # characters
    most_body: int = 16 << 20
    most_bodies: int = 256 << 20  # bytes of all requests that are being read

    def knows_host(self, name: str) -> bool:
        """Whether a request may call the server by this name."""
        name = name.lower().rstrip(".")
        return is_address(name) or name in LOOPBACK_NAMES | {gethostname().lower(), *map(str.lower, self.hosts)}


def is_address(name: str) -> bool:
    """Whether it is an address in numbers, which no name server can turn elsewhere."""
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server that listens there."""
    return host in LOOPBACK_NAMES or (is_address(host) and ipaddress.ip_address(host.strip("[]")).is_loopback)
