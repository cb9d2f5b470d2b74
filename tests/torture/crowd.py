"""Attacks on servers: bad clients beside a good one, and changes whose connections or servers break.

Wrong is an error or a wrong answer for the good client, memory that grows, or a change that was lost or made twice.
"""

import random
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from threading import Event, Thread

import httpx
import psutil

from ammi import Collection
from tests.torture.outcome import Outcome
from tests.web.bad_clients import crowd, hostile_requests
from tests.web.serving import build, serving

_SILENT, _SLOW = 400, 60  # more of one address than a server lets in
_MOST_MEGABYTES = 50  # that memory may grow
_WRITERS = 3
_ANSWERS_UNTIL_KILLED = (0, 3, 30)
_SERVER = """
import sys
from contextlib import suppress
from ammi import Collection
from ammi.web.live import LiveExplorer
from ammi.web.memory import return_memory
from ammi.web.server import Server
from ammi.web.settings import Settings
LiveExplorer.start = lambda self: None  # the map takes longer than the rest
with Collection.open(sys.argv[1]) as collection:
    server = Server(collection, "127.0.0.1", int((*sys.argv, 0)[2]), Settings(writable=True))
    with suppress(KeyboardInterrupt):
        return_memory()
        print(server.address, flush=True)
        server.run()
"""


def hostile(folder: Path, tries: int, warming: int = 1000) -> Outcome:
    """Send requests of hostile sizes beside silent and slow clients, and ask a plain question after each few.

    Memory is compared with that after the first of them, when each kind of request has come and caches are full.
    """
    outcome = Outcome()
    location = build(folder / "articles")
    with ExitStack() as stack:
        here = stack.enter_context(Collection.open(location))
        expected = [hit.id for hit in here.search("crude oil prices")]
        address = stack.enter_context(serving(location, program=_SERVER))
        (server,) = [one for one in psutil.Process().children() if str(location) in one.cmdline()]
        good = stack.enter_context(httpx.Client(base_url=address, timeout=120))
        bad = stack.enter_context(httpx.Client(base_url=address, timeout=120))
        for path in ("search?q=oil", "search?q=oil&where=year>=0", "duplicates"):
            good.get(f"/api/{path}")
        stack.enter_context(crowd(address, _SILENT, _SLOW))
        for number, (method, path, body) in enumerate(hostile_requests(warming + tries, 0)):
            if number == warming:
                before = server.memory_info().rss
            headers = {"Content-Type": "application/json"} if body else {}
            try:
                status = bad.request(method, path, content=body, headers=headers).status_code
            except httpx.TransportError:  # it ends the connection of a request that is too large
                status = 413
            if status == 500:
                outcome.bad(f"{method} {path[:80]} {body[:80]!r}: status 500")
            else:
                outcome.good("answered" if status < 400 else "refused")
            if number % 10 == 0:
                answer = good.get("/api/search", params={"q": "crude oil prices"})
                found = [hit["id"] for hit in answer.json().get("hits", [])]
                outcome.good("plain questions") if found == expected else outcome.bad(answer.text)
        megabytes = (server.memory_info().rss - before) / 1e6
        if megabytes > _MOST_MEGABYTES:
            outcome.bad(f"{megabytes:.0f} MB more after {tries} requests, beside the first {warming}")
    return outcome


def broken_changes(folder: Path, tries: int) -> Outcome:
    """Make changes through connections that break off, to a server that is killed again and again; each counts once."""
    outcome = Outcome()
    location = build(folder / "articles")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    over, seen = Event(), list[str]()
    killer = Thread(target=_kill, args=(location, port, seen, over))
    killer.start()
    writers = [Thread(target=_write, args=(port, seed, tries // _WRITERS, seen)) for seed in range(_WRITERS)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    over.set()
    killer.join()
    for event in seen:
        outcome.good(event)
    with Collection.open(location) as collection:
        texts = [entry.text for entry in collection if (entry.text or "").startswith("change ")]
    expected = {f"change {seed} {number}" for seed in range(_WRITERS) for number in range(tries // _WRITERS)}
    for change in sorted(expected):
        if texts.count(change) != 1:
            outcome.bad(f"{change} was made {texts.count(change)} times")
    if problems := Collection.check(location):
        outcome.bad(str(problems))
    return outcome


def _kill(location: Path, port: int, seen: list[str], over: Event) -> None:
    """Start a server, and kill it after some of the writers' requests, again and again."""
    rng = random.Random(0)
    command = [sys.executable, "-c", _SERVER, str(location), str(port)]
    while not over.is_set():
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            assert re.search("http://", server.stdout.readline())
            enough = len(seen) + rng.choice(_ANSWERS_UNTIL_KILLED)
            while len(seen) < enough and not over.wait(0.01):
                pass
            over.wait(0.05 * rng.random())
            server.send_signal(signal.SIGKILL)
            seen.append("servers killed")


def _write(port: int, seed: int, changes: int, seen: list[str]) -> None:
    """Add numbered documents one by one, each under a key, until the server says that it is there."""
    rng = random.Random(seed)
    for number in range(changes):
        body = {"documents": [{"text": f"change {seed} {number}"}]}
        sent = 0
        while True:
            sent += 1
            # A short limit gives up while the server is still at it.
            limit = httpx.Timeout(60, read=rng.choice([0.005, 0.02, 60]))
            with suppress(httpx.TransportError), httpx.Client(timeout=limit) as web:
                key = {"Idempotency-Key": f"{seed} {number}"}
                answer = web.post(f"http://127.0.0.1:{port}/api/documents", json=body, headers=key)
                if answer.status_code == 200:
                    break
                seen.append(f"status {answer.status_code}")
            time.sleep(0.02)
        seen.append("sent once" if sent == 1 else "sent again")
