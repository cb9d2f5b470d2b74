"""A small collection, and server processes of it, as `ammi serve` starts them."""

import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ammi import LSH, Collection, DocumentHasher
from ammi.web.server import Server
from ammi.web.settings import Settings

SUBJECTS = {
    "oil": "crude oil barrels opec output prices refinery drilling pipeline tanker",
    "grain": "wheat corn harvest tonnes export farmers soybeans silo drought acreage",
    "bank": "loan rate debt interest deposits currency central borrowing dollar lender",
}
N, N_BITS = 240, 32
TOKEN = "a/b:c@d%20"


def text_of(number: int) -> str:
    words = list(SUBJECTS.values())[number % 3].split()
    chosen = [words[(number * 7 + step * (1 + number % 4)) % len(words)] for step in range(12)]
    return " ".join([*chosen, f"word{number % 40}"])


RECORDS: list[dict[str, Any]] = [
    {"id": f"d{n}" if n % 5 else n, "text": text_of(n), "subject": list(SUBJECTS)[n % 3], "year": 1960 + n % 50}
    for n in range(N)
]
RECORDS += [
    {"id": "a/b c?", "text": "<script>alert('opec')</script> crude oil", "subject": "oil", "year": 2000},
    {"id": "copy", "text": text_of(3), "subject": "oil", "year": 2001},
]


def build(location: Path) -> Path:
    model = DocumentHasher(LSH(N_BITS, random_state=0)).fit([record["text"] for record in RECORDS])
    with Collection.create(location, model, keys=["subject"]) as collection:
        collection.add(RECORDS)
    return location


def wait_for(condition: Callable[[], object]) -> None:
    """Wait for a state, with a limit that no machine should reach."""
    end = time.monotonic() + 300
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


@contextmanager
def running(collection: Collection, settings: Settings) -> Iterator[str]:
    """The address of a server in a thread of this process, whose settings no command has."""
    server = Server(collection, "127.0.0.1", 0, settings)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server.address.rstrip("/")
    finally:
        server._uvicorn.should_exit = True
        thread.join(300)
        assert not thread.is_alive()


@contextmanager
def serving(location: Path, *options: str, program: str | None = None) -> Iterator[str]:
    """The address of a server process for as long as the block lasts; it must end well."""
    begin = [sys.executable, "-m", "ammi", "serve", str(location), "--port", "0"]
    if program is not None:
        begin = [sys.executable, "-c", program, str(location)]
    process = subprocess.Popen([*begin, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout
    assert process.stderr
    said: list[str] = []
    reader = threading.Thread(target=lambda: said.extend(process.stderr or []))
    reader.start()
    try:
        found = re.search(r"http://\S+:\d+", process.stdout.readline())
        assert found, f"the server did not start: {said}"
        yield found[0]
    finally:
        for _ in range(10):  # as somebody who presses Ctrl-C again and again
            process.send_signal(signal.SIGINT)
            time.sleep(0.02)
        process.wait(300)
        reader.join()
        process.stdout.close()
        process.stderr.close()
    assert not [line for line in said if "Traceback" in line], "".join(said)
