"""A server and its load on one machine: requests a second, memory, slow clients, restarts, and the map in a browser.

The collection has so many documents, made of the sentences of real ones as in ranking.py. wrk asks questions of three
words, drawn from all words of four letters or more, so that hardly any is asked twice. Requests are for the ten best
documents with 300 characters of each text, by the rank that a user gets who names none, unless the row says otherwise.
Bad clients are those of tests/web/bad_clients.py, and come from the address of the good ones. Memory is that of the
server and its searchers after the first 1,000 requests of hostile sizes, when each kind has come and caches are full,
and after all others; these requests go to a collection of 1,000 documents, since large ones only take longer. The map
is moved in Chromium, for which the processor draws where there is no graphics card.
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
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from http.client import HTTPConnection, HTTPException
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import psutil
from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.table import Table

from ammi import Collection
from ranking import build
from timing import save_part

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.chromium import FLAGS, MISSING, chromium
from tests.web.bad_clients import crowd, hostile_requests

CONNECTIONS, SILENT, SLOW, WRITERS = 16, 2000, 200, 4
CLIENTS, HOSTILE_DOCUMENTS = 8, 1000  # of requests of hostile sizes
WARMING = 1000  # such requests before memory is compared: each kind comes several times, and caches are full
SEARCHERS = 2  # processes, one for each core
OPENED = 5  # times the map is opened and moved
KEPT = (100_000, 1_000_000)  # documents, of which results are written
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

PAINTED = """
const wait = () => {
  if (document.querySelector(".stage")?.dataset.names > 0) window.painted = performance.now();
  else requestAnimationFrame(wait);
};
requestAnimationFrame(wait);
"""


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


def drawn_ms(address: str) -> tuple[float, float]:
    """Milliseconds from opening the page to the first paint of the map with its names, and from one frame to the next
    while the map is drawn to and fro, the 95th percentile."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.add_init_script(PAINTED)
        page.goto(f"{address}/#/map")
        page.locator(".stage[data-names]:not([data-names='0'])").wait_for()
        page.wait_for_timeout(3000)
        painted = page.evaluate("painted")
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
    return painted, statistics.quantiles((later - time for time, later in pairwise(times)), n=20)[-1]


def ask_hostile(address: str, requests: int, seed: int) -> Counter[int]:
    """How often a server gives each status to requests of hostile sizes; 0 is an ended connection."""
    statuses: Counter[int] = Counter()
    connection = HTTPConnection(address.removeprefix("http://"), timeout=120)
    for method, path, body in hostile_requests(requests, seed):
        try:
            connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
            answer = connection.getresponse()
            answer.read()
            statuses[answer.status] += 1
        except (HTTPException, OSError):
            connection.close()
            statuses[0] += 1
    return statuses


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


Row = dict[str, Any]


def searches(options: argparse.Namespace, home: Path) -> list[Row]:
    with server(build(options.documents, home)) as (address, _):
        wait_for_map(address, "ready")
        load(address, home, 2, "", seed=0)
        by_default = load(address, home, options.seconds, "", seed=1)
        by_distance = load(address, home, options.seconds, "distance", seed=2)
    return [
        {"measure": "text searches a second", "value": by_default["a_second"], "wanted": "at least 300"},
        {"measure": "their 95th percentile, ms", "value": by_default["p95_ms"], "wanted": "below 100"},
        {"measure": "searches a second, rank=distance", "value": by_distance["a_second"], "wanted": ""},
        {"measure": "their 95th percentile, ms", "value": by_distance["p95_ms"], "wanted": ""},
        {"measure": "errors of all these", "value": by_default["errors"] + by_distance["errors"], "wanted": "0"},
    ]


def crowded(options: argparse.Namespace, home: Path) -> list[Row]:
    with server(build(options.documents, home)) as (address, _):
        wait_for_map(address, "ready")
        load(address, home, 2, "", seed=0)
        with crowd(address, SILENT, SLOW):
            found = load(address, home, options.seconds, "", seed=3)
    clients = f"{SILENT:,} silent and {SLOW} slow clients"
    return [
        {"measure": f"text searches a second beside {clients}", "value": found["a_second"], "wanted": "at least 200"},
        {"measure": "their 95th percentile, ms", "value": found["p95_ms"], "wanted": ""},
        {"measure": "errors of these searches", "value": found["errors"], "wanted": "0"},
    ]


def hostile(options: argparse.Namespace, home: Path) -> list[Row]:
    statuses: Counter[int] = Counter()
    with server(build(HOSTILE_DOCUMENTS, home)) as (address, process), ThreadPoolExecutor(CLIENTS) as threads:
        wait_for_map(address, "ready")
        megabytes = []
        for part, requests in enumerate([WARMING, *[options.requests // 10] * 10]):
            jobs = [
                threads.submit(ask_hostile, address, requests // CLIENTS, part * CLIENTS + client)
                for client in range(CLIENTS)
            ]
            statuses.update(sum((job.result() for job in jobs), Counter()))
            megabytes.append(memory_mb(process))
            print("hostile", statuses.total(), dict(statuses), f"{megabytes[-1]:.0f} MB", flush=True)
    measured = f"megabytes more after {options.requests:,} requests of hostile sizes than after {WARMING:,} before them"
    return [
        {"measure": measured, "value": megabytes[-1] - megabytes[0], "wanted": "at most 50"},
        {"measure": "of these answered with status 500", "value": statuses[500], "wanted": "0"},
    ]


def restarts(options: argparse.Namespace, home: Path) -> list[Row]:
    written = restarted(build(options.documents, home), max(3.0, options.seconds / 4))
    what = f"of {written['acknowledged']} writes lost by restarts"
    return [{"measure": what, "value": written["lost"], "wanted": "0"}]


def maps(options: argparse.Namespace, home: Path) -> list[Row]:
    if chromium() is None:
        raise SystemExit(MISSING)
    with server(build(options.documents, home)) as (address, _):
        rough_s, rough = wait_for_map(address, "rough")
        opened = time.perf_counter()
        httpx.get(f"{address}/api/map", timeout=60)
        again_s = time.perf_counter() - opened
        ready_s, _ = wait_for_map(address, "ready")
    with server(build(options.documents, home)) as (address, _):  # which has kept its map
        kept_s, _ = wait_for_map(address, "ready")
        painted_ms, moving_ms = zip(*(drawn_ms(address) for _ in range(OPENED)), strict=True)
        print("first paint", painted_ms, "frames", moving_ms, flush=True)
    return [
        {"measure": "seconds until the map opens, from the start", "value": rough_s, "wanted": "below 3"},
        {"measure": "seconds until the map opens, later", "value": again_s, "wanted": "below 3"},
        {"measure": f"points of the map, of {rough['documents']:,}", "value": rough["points"], "wanted": ""},
        {"measure": "seconds until the map is at its best", "value": ready_s, "wanted": ""},
        {"measure": "seconds until a kept map is at its best, from the start", "value": kept_s, "wanted": ""},
        {
            "measure": f"ms from opening the page to the first paint of a kept map, most of {OPENED} times",
            "value": max(painted_ms),
            "wanted": "below 1,500",
        },
        {
            "measure": f"ms of a frame of a moving map, 95th percentile, most of {OPENED} times",
            "value": max(moving_ms),
            "wanted": "below 33",
        },
    ]


PARTS = {"searches": searches, "crowd": crowded, "hostile": hostile, "restarts": restarts, "map": maps}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="which parts; all of them without")
    parser.add_argument("--documents", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=30, help="of each load")
    parser.add_argument("--requests", type=int, default=50_000, help="of hostile sizes")
    parser.add_argument("--home", type=Path, help="where collections of earlier runs are")
    options = parser.parse_args()
    parts = options.parts or PARTS
    if {"searches", "crowd"} & {*parts} and shutil.which("wrk") is None:
        raise SystemExit("wrk is not installed: run apt-get install wrk")
    table = Table("measure", "value", "wanted", title=f"{options.documents:,} documents, {SEARCHERS} searchers")
    with TemporaryDirectory() as temporary:
        home = options.home or Path(temporary)
        home.mkdir(parents=True, exist_ok=True)
        for part in parts:
            rows = PARTS[part](options, home)
            for row in rows:
                table.add_row(row["measure"], f"{row['value']:,.1f}", row["wanted"])
            if options.documents in KEPT and options.requests == 50_000:
                documents = HOSTILE_DOCUMENTS if part == "hostile" else options.documents
                name = f"{part}, {documents:,} documents"
                part_of = {"date": str(date.today()), "documents": documents, "rows": rows}
                save_part("serve", name, part_of)
    Console().print(table)


if __name__ == "__main__":
    main()
