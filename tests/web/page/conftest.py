"""A small collection that is served by a process of its own, and a real browser that watches for what goes wrong."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, Request, expect, sync_playwright

from ammi import AMMI, Collection, DocumentHasher
from tests.chromium import FLAGS, MISSING, chromium

EVIL = "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\"> oil barrels"
SUBJECTS = {
    "oil": "crude oil barrels opec output refinery pipeline drilling tanker petroleum",
    "grain": "wheat corn harvest tonnes export farmers crop soybean acres drought",
    "bank": "loan rate debt bank interest currency treasury bond deposit credit",
    "health": "patients drug clinical hospital trial medicine dose vaccine disease treatment",
}
OpenPage = Callable[..., Page]
PATIENCE = 120_000  # milliseconds, for a machine that has much else to do

expect.set_options(timeout=PATIENCE)


def document(number: int) -> dict[str, Any]:
    subject = list(SUBJECTS)[number % len(SUBJECTS)]
    words = SUBJECTS[subject].split()
    chosen = [words[(number * step + step) % len(words)] for step in (1, 2, 3, 5, 7, 3, 2)]
    year = 1987 + number % 5
    return {
        "id": f"{subject}/{number}",
        "title": f"{subject} news number {number}",
        "text": f"The {' '.join(chosen)} of {year}.\n\nMore of it {number * 37 % 101}.",
        "subject_area": subject,
        "year": year,
    }


DOCUMENTS = [document(number) for number in range(200)] + [
    {"id": "evil", "text": EVIL, "subject_area": "oil", "year": 1990},
    {"id": "copy", "text": document(0)["text"], "subject_area": "oil", "year": 1987},
]


@pytest.fixture(scope="session")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of four subjects, with a document that is all markup, and a copy."""
    model = DocumentHasher(AMMI(32, epochs=6, batch_size=32, random_state=0, verbose=False))
    model.fit([one["text"] for one in DOCUMENTS if one["text"] != EVIL])  # which has words that it does not know
    path = tmp_path_factory.mktemp("page") / "news"
    with Collection.create(path, model, keys=["subject_area"]) as created:
        created.add(DOCUMENTS)
        created.topics()  # which keeps the map, so that no test has to wait for it
    return path


@pytest.fixture(scope="session")
def collection(location: Path) -> Iterator[Collection]:
    with Collection.open(location) as opened:
        yield opened


class Server:
    """`ammi serve` in a process of its own, at an address."""

    def __init__(self, location: Path, *options: str):
        command = [sys.executable, "-m", "ammi", "serve", str(location), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        said = []
        for line in self.process.stdout:
            said.append(line)
            if found := re.search(r"http://[^/\s]+:(\d+)", line):
                self.address, self.port = found[0], int(found[1])
                self._wait()
                return
        raise AssertionError(f"ammi serve said {''.join(said)!r} and no address")

    def _wait(self) -> None:
        for _ in range(PATIENCE // 50):
            with suppress(OSError), urlopen(f"{self.address}/health"):
                return
            time.sleep(0.05)
        raise AssertionError(f"{self.address} does not answer")

    def wait_for_map(self) -> None:
        """Wait for the final layout: its process has the lowest priority, and may take long on a busy machine."""
        for _ in range(4 * PATIENCE // 200):
            with urlopen(f"{self.address}/api/map") as answer:
                if json.load(answer)["retry"] is None:
                    return
            time.sleep(0.2)
        raise AssertionError("the map is not computed")

    def stop(self) -> None:
        self.process.terminate()
        self.process.communicate(timeout=240)


@pytest.fixture(scope="session")
def server(location: Path) -> Iterator[Server]:
    started = Server(location, "--port", "0")
    started.wait_for_map()
    yield started
    started.stop()


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    program = chromium()
    if program is None:
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    started = playwright.chromium.launch(executable_path=program, args=FLAGS)
    yield started
    started.close()


def until(page: Page, condition: str | Callable[[], bool]) -> None:
    """Wait until a condition, in JavaScript or Python, holds; Playwright's own way would break the content policy."""
    for _ in range(PATIENCE // 50):
        if page.evaluate(condition) if isinstance(condition, str) else condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{condition} has not become true at {page.url}")


@pytest.fixture
def complaints() -> list[str]:
    """What the browser complained about: errors, violations of the content policy, requests to other hosts."""
    return []


@pytest.fixture
def open_page(browser: Browser, server: Server, complaints: list[str]) -> Iterator[OpenPage]:
    """Opens an address of the page, such as "#/map"; in the end nothing may have gone wrong that was not expected."""
    contexts = []

    def open_it(
        address: str = "", *, width: int = 1400, base: str | None = None, script: str = "", **options: Any
    ) -> Page:
        height = 860 if width > 500 else 800
        own = base or server.address
        context = browser.new_context(viewport={"width": width, "height": height}, **options)
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        page = context.new_page()
        if script:
            page.add_init_script(script)

        def heard(message: ConsoleMessage) -> None:
            if message.type in ("error", "warning") and "GPU stall" not in message.text:
                complaints.append(message.text)

        def asked(request: Request) -> None:
            if not request.url.startswith((own, "data:")):
                complaints.append(request.url)

        page.on("console", heard)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", asked)
        page.goto(f"{own}/{address}")
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert complaints == []
