"""Changes over HTTP: made as a whole or not at all, once under a key, and never after the answer."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from select import select
from threading import Event, Thread
from urllib.parse import urlsplit

import httpx
import pytest

from ammi import Collection
from ammi.search.embedded.connections import connect
from ammi.search.sql import sql_tables
from ammi.search.stopping import StoppedError, stoppable
from ammi.search.store_methods import ChangeKey
from ammi.web.settings import Settings
from tests.search.stores import LOCATIONS, create_store, every_store
from tests.web.serving import build, running

N = 242  # documents of the collection
_HEAD = "Host: localhost\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n"


@pytest.fixture
def here(tmp_path) -> Iterator[Collection]:
    with Collection.open(build(tmp_path / "articles")) as collection:
        yield collection


@pytest.fixture
def web(here) -> Iterator[httpx.Client]:
    with running(here, Settings(writable=True)) as address, httpx.Client(base_url=address, timeout=60) as client:
        yield client


def test_documents_are_added_as_a_whole_or_not_at_all(web, here):
    good = [{"id": f"new{n}", "text": "oil"} for n in range(1100)]
    for bad in ({"id": "bad"}, {"text": "wheat"}):
        refused = web.post("/api/documents", json={"documents": [*good, bad]})
        assert refused.status_code == 422, bad
        assert len(here) == N
    lines = "\n".join(f'{{"id": "new{n}", "text": "oil", "year": 1}}' for n in range(1100))
    kind = {"Content-Type": "application/x-ndjson"}
    assert web.post("/api/documents", content=f'{lines}\n{{"id": "bad", "year": 1}}', headers=kind).status_code == 422
    assert len(here) == N
    assert len(web.post("/api/documents", content=lines, headers=kind).json()["ids"]) == 1100


CHANGES = [  # and how many documents more there are after each
    ("POST", "/api/documents", {"documents": [{"text": "oil"}, {"text": "wheat"}]}, {"ids": [236, 237]}, 2),
    ("POST", "/api/documents", {"documents": [{"id": "new", "text": "oil"}]}, {"ids": ["new"]}, 1),
    ("PUT", "/api/documents/newer", {"text": "oil"}, {"ids": ["newer"]}, 1),
    ("DELETE", "/api/documents/d3", None, {"deleted": 1}, -1),
    ("POST", "/api/delete", {"ids": ["d4", 5, "5"]}, {"deleted": 2}, -2),
    ("POST", "/api/metadata", {"ids": ["d6"], "metadata": {"year": 1}}, {"ids": ["d6"]}, 0),
]


def test_a_change_is_made_once_under_a_key(here):
    for _ in range(2):  # the second server knows what the first one did
        with running(here, Settings(writable=True)) as address, httpx.Client(base_url=address, timeout=60) as web:
            for number, (method, path, body, answer, _) in enumerate(CHANGES):
                key = {"Idempotency-Key": f"key {number}"}
                assert [web.request(method, path, json=body, headers=key).json() for _ in range(2)] == [answer] * 2
                other = web.put("/api/documents/other", json={"text": "oil"}, headers=key)
                assert (other.status_code, "used for another change" in other.json()["error"]) == (422, True)
    assert len(here) == N + sum(more for *_, more in CHANGES)


def test_a_change_that_is_refused_does_not_use_up_its_key(web, here):
    key = {"Idempotency-Key": "a key"}
    assert web.delete("/api/documents/none", headers=key).status_code == 404
    here.add([{"id": "none", "text": "oil"}])
    assert web.delete("/api/documents/none", headers=key).json() == {"deleted": 1}


def test_a_change_that_takes_too_long_is_not_made_later(here):
    """Another process holds the lock of writers for longer than a request may take."""
    with ExitStack() as stack:
        address = stack.enter_context(running(here, Settings(writable=True, seconds=0.5)))
        other = stack.enter_context(closing(connect(here.store._database.file.path, "mode=rw")))
        other.execute("BEGIN IMMEDIATE")
        at, late = urlsplit(address), []
        for n in range(6):
            client = stack.enter_context(socket.create_connection((at.hostname, at.port)))
            # All of the request at once: on a busy machine, a body that comes later would come too late.
            client.sendall(f"PUT /api/documents/late{n} HTTP/1.1\r\n{_HEAD}".encode() + b'{"text": "oil"}')
            late.append(client)
        for client in late:
            answer = client.makefile().read()
            assert answer.startswith("HTTP/1.1 504"), answer
            assert "the change was not made" in answer
        other.execute("ROLLBACK")
        here.add([{"id": "next", "text": "oil"}])  # it would come after the others
        assert len(here) == N + 1


def test_sqlite_is_stopped_in_the_middle_of_a_statement(here):
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    database, stop = here.store._database, Event()
    asked = 0

    def is_stopped() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with stoppable(is_stopped), pytest.raises(StoppedError), database.reading():
        database.execute(endless).fetchall()
    stop.set()
    with stoppable(stop.is_set), pytest.raises(StoppedError):
        here.add(["never"])
    assert len(here) == N


class BreakingRelay:
    """Passes requests on to a server, but breaks off instead of the first answers to changes."""

    def __init__(self, address: str, breaks: int):
        self._server, self._breaks = urlsplit(address), breaks
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                Thread(target=self._pass_on, args=(connection,), daemon=True).start()

    def _pass_on(self, client: socket.socket) -> None:
        with client, socket.create_connection((self._server.hostname, self._server.port)) as server:
            is_change = False
            while True:
                for source in select([client, server], [], [])[0]:
                    content = source.recv(1 << 20)
                    is_change |= b"Idempotency-Key" in content
                    if source is server and is_change and self._breaks:
                        self._breaks -= 1
                        return
                    if not content:
                        return
                    (server if source is client else client).sendall(content)

    def close(self) -> None:
        self._listening.close()


def test_the_client_sends_a_change_again_that_was_made_once(web, here, monkeypatch):
    monkeypatch.setattr("ammi.remote.server._WAITS_AFTER_BREAK", (0.0,) * 3)
    with ExitStack() as stack:
        relay = BreakingRelay(str(web.base_url), 2)
        stack.callback(relay.close)
        there = stack.enter_context(Collection.open(relay.address))
        assert there.add(["oil", "wheat"]) == [236, 237]
        relay._breaks = 1
        there.delete([236, 237])
        relay._breaks = 1
        there.set_metadata(["d3"], {"year": 7})
        assert (len(here), here.get("d3").metadata["year"]) == (N, 7)
        relay._breaks = 100
        with pytest.raises(ConnectionError, match="whether the change was made is not known"):
            there.add(["oil"])


@every_store
def test_every_store_makes_a_change_once(store, tmp_path):
    def change() -> int:
        made.append(1)
        return 7

    made: list[int] = []
    key = ChangeKey.of("a key", b"a request")
    with create_store(LOCATIONS[store](tmp_path), 8) as index:
        assert index.outcome(key) is None
        with pytest.raises(ZeroDivisionError):
            index.once(key, lambda: 1 // 0)
        assert [index.once(key, change), index.once(key, change), index.outcome(key)] == [7, 7, 7]
        assert len(made) == 1
        with pytest.raises(ValueError, match="used for another change"):
            index.once(ChangeKey.of("a key", b"another request"), change)
        assert [index.once(None, change), index.once(None, change)] == [7, 7]


def test_keys_are_forgotten_by_number_and_by_age_and_made_in_old_collections(here, monkeypatch):
    keys = [ChangeKey.of(f"key {n}", b"") for n in range(8)]
    database = here.store._database
    with database.writing():
        database.execute("DROP TABLE keyed_changes")  # as in a collection of an earlier version
    assert here.store.outcome(keys[0]) is None
    monkeypatch.setattr(sql_tables, "MOST_REMEMBERED", 3)
    for number, key in enumerate(keys):
        here.store.once(key, lambda number=number: number)
    assert [here.store.outcome(key) for key in keys] == [None] * 5 + [5, 6, 7]
    now = sql_tables.time.time()
    monkeypatch.setattr(sql_tables.time, "time", lambda: now + 24 * 3600 + 1)
    assert here.store.outcome(keys[-1]) is None
    assert here.store.once(keys[-1], lambda: 9) == 9
    with database.reading():
        assert database.execute("SELECT count(*) FROM keyed_changes").fetchall() == [(1,)]
