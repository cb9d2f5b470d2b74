"""Clients that misbehave: silent ones, slow ones, ones that break off, and requests of hostile sizes.

`tests/torture` and `benchmarks/serve.py` set them on servers.
"""

import asyncio
import json
import random
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit

Request = tuple[str, str, bytes]  # method, address, body
_KEYS = ("year", "subject", "label")
_LONGEST = 1_000_000  # bytes of a filter; the server takes a little more


@contextmanager
def crowd(address: str, silent: int, slow: int) -> Iterator[None]:
    """Set bad clients on a server for as long as the block lasts.

    A client whose connection is ended comes again: a silent one after ten seconds, others after one.
    """
    at = urlsplit(address)
    head = f" HTTP/1.1\r\nHost: {at.netloc}\r\n"
    openings = [
        f"POST /api/search{head}Content-Length: 1000\r\n\r\n{{",  # waits with the rest
        f"GET /api/all{head}\r\n",  # reads nothing of the answer
        f"GET /api/search?q=oil{head}\r\n",  # goes away before the answer
        f"GET /api/search?q=oil{head}",  # sends the head bit by bit
    ]

    async def be_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            await reader.read()
        await asyncio.sleep(20 * random.random())

    def be_slow(number: int) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
        async def misbehave(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            kind = number % len(openings)
            writer.write(openings[kind].encode())
            await writer.drain()
            if kind == 2:
                await asyncio.sleep(random.random())
            for _ in range(0 if kind == 2 else 30):
                await asyncio.sleep(1)
                if kind == 3:
                    writer.write(b"X-A: b\r\n")
                    await writer.drain()

        return misbehave

    async def come_again(
        misbehave: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]], connected: asyncio.Event
    ) -> None:
        while True:
            with suppress(OSError):
                reader, writer = await asyncio.open_connection(at.hostname, at.port, limit=1024)
                connected.set()
                try:
                    await misbehave(reader, writer)
                finally:
                    writer.transport.abort()
            await asyncio.sleep(0.5 + random.random())

    async def run() -> None:
        jobs = [be_silent] * silent + [be_slow(number) for number in range(slow)]
        events = [asyncio.Event() for _ in jobs]
        tasks = [asyncio.create_task(come_again(job, event)) for job, event in zip(jobs, events, strict=True)]
        for event in events:
            await event.wait()
        all_there.set()
        await asyncio.to_thread(over.wait)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    all_there, over = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    try:
        assert all_there.wait(600)
        yield
    finally:
        over.set()
        thread.join()


def hostile_requests(n: int, seed: int) -> Iterator[Request]:
    """Yield requests that are as large as a server allows, or larger, no two of them the same."""
    rng = random.Random(seed)

    def word(length: int) -> str:
        return rng.randbytes(length // 2 + 1).hex()

    def search(**fields: object) -> Request:
        return "POST", "/api/search", json.dumps({"text": f"oil {word(8)}", "length": 100, **fields}).encode()

    kinds: list[tuple[int, Callable[[], Request]]] = [
        (30, lambda: ("GET", f"/api/search?length=100&q={word(rng.choice([10, 1000, 9000]))}", b"")),
        (25, lambda: search(text=" ".join(word(8) for _ in range(900)))),
        (5, lambda: search(text=word(9000))),
        (15, lambda: search(where={f"{key}{n}": {"exists": False} for key in _KEYS for n in range(rng.randrange(30))})),
        (4, lambda: search(where={"year": {"not": [word(rng.choice([100, 20_000])) for _ in range(50)]}})),
        (2, lambda: search(where={"year": {"not": [word(rng.choice([_LONGEST, 5 * _LONGEST]))]}})),
        (1, lambda: search(where={f"{key}{n}": n for key in _KEYS for n in range(3000)})),
        (4, lambda: ("POST", "/api/get", json.dumps({"ids": [word(10) for _ in range(5000)]}).encode())),
        (5, lambda: search(k=1000, length=rng.choice([0, 1000, 100_000]))),
        (2, lambda: ("GET", f"/api/duplicates?threshold=0.9{rng.randrange(10**6)}&limit=100", b"")),
        (3, lambda: ("GET", "/api/search?q=oil&" + "&".join(f"where={word(50)}=1" for _ in range(100)), b"")),
        (2, lambda: ("POST", "/api/search", b"[" * rng.choice([100, 1_000_000]))),
        (1, lambda: ("POST", "/api/documents", json.dumps({"documents": [{}] * 10_001}).encode())),
        (1, lambda: ("PUT", f"/api/documents/large{rng.randrange(5)}", json.dumps({"text": word(1_000_000)}).encode())),
    ]
    weights, makers = zip(*kinds, strict=True)
    for make in rng.choices(makers, weights, k=n):
        yield make()
