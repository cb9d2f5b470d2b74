"""Turns of writers on a Milvus server, which has no locks: each claims the index by a row, and waits while others do.

Whoever claims looks for others afterwards, so that of two at the same time one at least sees the other and withdraws.
A claim is renewed as long as its owner lives; one that is not is deleted by the next writer, who tidies up.
"""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread
from typing import Any

from ammi.search.milvus.client import Client

LEASE = 20.0  # seconds without a sign of life after which a writer counts as dead
PATIENCE = 60.0


@contextmanager
def claimed(client: Client, name: str, shared: Any) -> Iterator[Callable[[], None]]:
    """The turn to write; yields what raises an error when it was lost."""
    claim = _Claim(client, name)
    end = time.monotonic() + PATIENCE
    since: dict[int, float] = {}
    while True:
        claim.renew()
        others = claim.others()
        now = time.monotonic()
        since = {row: since.get(row, now) for row in others}
        for row in [row for row, first in since.items() if now - first > LEASE]:
            client.delete(name, f"row == {row}")
            others.remove(row)
            shared.untidy = True
        if not others:
            break
        claim.withdraw()
        if now > end:
            raise TimeoutError(
                f"another process has been writing to the index in {client.address.location} for a minute: try again"
            )
        time.sleep(random.uniform(0.05, 0.3))
    try:
        with claim.kept_alive():
            yield claim.check
    finally:
        if not shared.untidy:  # else the next writer has to see that there was one
            with suppress(OSError):  # it ends by itself, and what was written stays
                claim.withdraw()


class _Claim:
    def __init__(self, client: Client, name: str):
        self._client, self._name = client, name
        self._row: int | None = None
        self._renewed = 0.0

    def renew(self) -> None:
        """Write it anew, before the old one is deleted, so that there is one at every moment."""
        new = -1 - random.SystemRandom().getrandbits(62)
        self._client.insert(self._name, [{"row": new, "code": b"\0", "change": -1, "content": ""}])
        old, self._row, self._renewed = self._row, new, time.monotonic()
        if old is not None:
            self._client.delete(self._name, f"row == {old}")

    def withdraw(self) -> None:
        if self._row is not None:
            self._client.delete(self._name, f"row == {self._row}")
            self._row = None

    def others(self) -> set[int]:
        return {row["row"] for row in self._client.query(self._name, "row < 0", ["row"])} - {self._row}

    def check(self) -> None:
        if time.monotonic() - self._renewed > LEASE / 2:
            raise TimeoutError(
                f"the server of {self._client.address.location} did not answer for {LEASE / 2:.0f} seconds, and nothing "
                "was changed: try again"
            )

    @contextmanager
    def kept_alive(self) -> Iterator[None]:
        done = Event()

        def renew() -> None:
            while not done.wait(LEASE / 4):
                with suppress(OSError):  # `check` sees it
                    self.renew()

        thread = Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
