"""A server and its load on one machine: requests a second, memory, slow clients, restarts, and the map in a browser.

The collection has so many documents, made of the sentences of real ones as in ranking.py. wrk asks questions of three
words, drawn from all words of four letters or more, so that hardly any is asked twice. Requests are for the ten best
documents with 300 characters of each text, by the rank that a user gets who names none, unless the row says otherwise.
Memory is that of the server after 5,000 requests, and after all. The map is moved in Chromium, for which the processor
draws where there is no graphics card.
"""

import argparse
import math
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

from ammi import Collection
from ranking import fitted, known_items, recombined
from timing import save

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.chromium import FLAGS, MISSING, chromium

CONNECTIONS, SLOW, WRITERS = 16, 200, 4
SEARCHERS = 2  # processes, one for each core
LOAD = """
local words = {}
for line in io.lines("%s") do words[#words + 1] = line end
math.randomseed(%d)
function request()
  local q = {}
  for i = 1, 3 do q[i] = words[math.random(#words)] end
  return wrk.format("GET", "/api/search?length=300&k=10%s&q=" .. table.concat(q, "+"))
end
function done(summary, latency)
  io.write(string.format("RESULT %%d %%d %%d %%f %%f\\n", summary.requests, summary.duration,
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout,
    latency:percentile(50), latency:percentile(95)))
end
"""

FRAMES = """() => {
  window.drawn = [];
  const next = (time) => { drawn.push(time); requestAnimationFrame(next); };
  requestAnimationFrame(next);
}"""


def build(n: int, home: Path) -> Path:
    """The collection, unless an earlier run has left it."""
    texts, _ = known_items("reuters")
    location = home / f"served {n}"
    if not Collection.exists(location):
        with Collection.create(location, fitted("reuters", texts, home)) as collection:
            collection.add(
                {"text": text, "year": 1900 + i % 100} for i, text in enumerate(islice(recombined(texts, n), n))
            )
    words = sorted({word for text in texts for word in re.findall("[a-z]{4,}", text.lower())})
    (home / "words.txt").write_text("\n".join(words))
    return location


@contextmanager
def server(location: Path, port: int = 0) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """The address of a server process, and the process."""
    command = [sys.executable, "-m", "ammi", "serve", str(location), "--port", str(port), "--writable"]
    command += ["--searchers", str(SEARCHERS)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        found = re.search(r"http://\S+:\d+", process.stdout.readline())
        assert found
        yield found[0], process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def load(address: str, home: Path, seconds: float, rank: str, seed: int) -> dict[str, float]:
    """What wrk sees of searches for so many seconds: requests a second, the median and the 95th percentile in ms."""
    script = home / "load.lua"
    script.write_text(LOAD % (home / "words.txt", seed, f"&rank={rank}" if rank else ""))
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{math.ceil(seconds)}s", "-s", str(script), address]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    requests, microseconds, errors, median, late = map(float, re.search("RESULT (.*)", said)[1].split())  # type: ignore[index]
    found = {
        "requests": requests,
        "a_second": requests / microseconds * 1e6,
        "errors": errors,
        "median_ms": median / 1000,
        "p95_ms": late / 1000,
    }
    print(rank or "default", {name: round(value, 1) for name, value in found.items()}, flush=True)
    return found


def wait_for_map(address: str, state: str) -> tuple[float, dict[str, Any]]:
    """The seconds until the map is there, and the map."""
    start = time.perf_counter()
    while True:
        found = httpx.get(f"{address}/api/map", timeout=120).json()
        if found["state"] in (state, "ready"):
            return time.perf_counter() - start, found
        time.sleep(0.05)


def memory_mb(process: subprocess.Popen[str]) -> float:
    """Of a server and its searchers."""
    server = psutil.Process(process.pid)
    return sum(one.memory_info().rss for one in (server, *server.children())) / 1e6


def frame_ms(address: str) -> float:
    """The 95th percentile of the milliseconds from one frame to the next while the map is drawn to and fro."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.goto(f"{address}/#/map")
        page.locator(".stage[data-names]:not([data-names='0'])").wait_for()
        page.wait_for_timeout(3000)
        box = page.locator(".stage").bounding_box()
        assert box
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.evaluate(FRAMES)
        page.mouse.move(x, y)
        page.mouse.down()
        for step in range(400):
            page.mouse.move(x + 200 * math.sin(step / 20), y + 100 * math.sin(step / 15))
        page.mouse.up()
        times = page.evaluate("drawn")
        browser.close()
    return statistics.quantiles((later - time for time, later in pairwise(times)), n=20)[-1]


def with_slow_clients(address: str, home: Path, seconds: float) -> dict[str, float]:
    """The same load while clients send half of a request and wait, read nothing of all documents, or break off."""
    at = urlsplit(address)
    over = threading.Event()

    def misbehave(number: int) -> None:
        while not over.is_set():
            with socket.create_connection((at.hostname, at.port)) as connection:
                head = f"HTTP/1.1\r\nHost: {at.netloc}\r\n"
                begin = [
                    f"POST /api/search {head}Content-Length: 1000\r\n\r\n{{",
                    f"GET /api/documents {head}\r\n",
                    f"GET /api/search?q=oil+{number} {head}\r\n",
                ][number % 3]
                connection.sendall(begin.encode())
                over.wait(1 if number % 3 == 2 else seconds)

    threads = [threading.Thread(target=misbehave, args=(number,)) for number in range(SLOW)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    try:
        return load(address, home, seconds, "", seed=3)
    finally:
        over.set()
        for thread in threads:
            thread.join()


def restarted(location: Path, seconds: float) -> dict[str, float]:
    """How many of the writes that were acknowledged are lost when the server is killed and started again under load."""
    acknowledged: list[str] = []
    over = threading.Event()

    def write(address: str, writer: int) -> None:
        number = 0
        while not over.is_set():
            id = f"written {writer} {number}"
            try:
                answer = httpx.put(f"{address}/api/documents/{id}", json={"text": f"oil {id}"}, timeout=30)
            except httpx.HTTPError:
                time.sleep(0.05)
                continue
            if answer.status_code == 200:
                acknowledged.append(id)
            number += 1

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    threads: list[threading.Thread] = []
    for end in (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM):
        with server(location, port) as (address, process):
            for writer in range(len(threads), WRITERS):
                threads.append(threading.Thread(target=write, args=(address, writer)))
                threads[-1].start()
            time.sleep(seconds)
            process.send_signal(end)
            process.wait()
    over.set()
    for thread in threads:
        thread.join()
    with Collection.open(location) as collection:
        lost = sum(id not in collection for id in acknowledged)
        collection.delete([id for id in set(acknowledged) if id in collection])
    return {"acknowledged": len(acknowledged), "lost": lost}


def measure(n: int, home: Path, seconds: float, requests: int) -> list[dict[str, Any]]:
    location = build(n, home)
    with server(location) as (address, process):
        rough_s, rough = wait_for_map(address, "rough")
        opened = time.perf_counter()
        httpx.get(f"{address}/api/map", timeout=60)
        again_s = time.perf_counter() - opened
        ready_s, _ = wait_for_map(address, "ready")
        moving_ms = frame_ms(address)
        load(address, home, 2, "", seed=0)
        by_default, by_distance = load(address, home, seconds, "", seed=1), load(address, home, seconds, "distance", 2)
        asked, before = 0.0, 0.0
        while asked < requests:
            if asked >= min(5000, requests / 4) and not before:
                before = memory_mb(process)
            asked += load(address, home, max(2.0, seconds / 4), "", seed=int(asked) + 7)["requests"]
        after = memory_mb(process)
        slow = with_slow_clients(address, home, seconds)
    written = restarted(location, max(3.0, seconds / 4))
    return [
        {"measure": "text searches a second", "value": by_default["a_second"], "wanted": "at least 300"},
        {"measure": "their 95th percentile, ms", "value": by_default["p95_ms"], "wanted": "below 100"},
        {"measure": "searches a second, rank=distance", "value": by_distance["a_second"], "wanted": ""},
        {"measure": "their 95th percentile, ms", "value": by_distance["p95_ms"], "wanted": ""},
        {"measure": "errors of all these", "value": by_default["errors"] + by_distance["errors"], "wanted": "0"},
        {"measure": f"megabytes more after {asked:,.0f} requests", "value": after - before, "wanted": "no growth"},
        {"measure": f"searches a second beside {SLOW} bad clients", "value": slow["a_second"], "wanted": ""},
        {"measure": "their 95th percentile, ms", "value": slow["p95_ms"], "wanted": ""},
        {"measure": "errors of these searches", "value": slow["errors"], "wanted": "0"},
        {"measure": f"of {written['acknowledged']} writes lost by restarts", "value": written["lost"], "wanted": "0"},
        {"measure": "seconds until the map opens, from the start", "value": rough_s, "wanted": "below 3"},
        {"measure": "seconds until the map opens, later", "value": again_s, "wanted": "below 3"},
        {"measure": f"points of the map, of {rough['documents']:,}", "value": rough["points"], "wanted": ""},
        {"measure": "seconds until the map is at its best", "value": ready_s, "wanted": ""},
        {"measure": "ms of a frame of a moving map, 95th percentile", "value": moving_ms, "wanted": ""},
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=30, help="of each load")
    parser.add_argument("--requests", type=int, default=50_000, help="over which memory is watched")
    parser.add_argument("--home", type=Path, help="where collections of earlier runs are")
    options = parser.parse_args()
    if shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed: run apt-get install wrk")
    if chromium() is None:
        raise SystemExit(MISSING)
    with TemporaryDirectory() as temporary:
        home = options.home or Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        results = measure(options.documents, home, options.seconds, options.requests)
    title = f"{options.documents:,} documents, {SEARCHERS} searchers"
    table = Table("measure", "value", "wanted", title=title)
    for row in results:
        table.add_row(row["measure"], f"{row['value']:,.1f}", row["wanted"])
    Console().print(table)
    if options.documents == 1_000_000:
        save("serve", results)


if __name__ == "__main__":
    main()
