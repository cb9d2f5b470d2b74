"""Processes beside the server answer searches as its threads do, see every change, and are replaced when they end."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count

import httpx
import psutil
import pytest

from tests.web.serving import build, serving, wait_for


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Iterator[httpx.Client]:
    """A server with two searchers, which are ready."""
    location = build(tmp_path_factory.mktemp("many") / "articles")
    with (
        serving(location, "--writable", "--searchers", "2") as address,
        httpx.Client(base_url=address, timeout=60) as web,
    ):
        wait_for_searchers(location, 2)
        web.headers["location"] = str(location)
        yield web


def searchers_of(location: object) -> list[psutil.Process]:
    """The processes that answer searches of a collection and have opened its file."""
    alive = [one for one in psutil.Process().children(recursive=True) if one.status() != psutil.STATUS_ZOMBIE]
    spawned = [one for one in alive if "spawn_main" in " ".join(one.cmdline())]
    return [one for one in spawned if any(file.path.startswith(str(location)) for file in one.open_files())]


def are_there(location: object, n: int) -> bool:
    with suppress(psutil.NoSuchProcess):
        return len(searchers_of(location)) == n
    return False


def wait_for_searchers(location: object, n: int) -> None:
    wait_for(lambda: are_there(location, n))


@pytest.mark.parametrize(
    "parameters",
    [
        {"q": "crude oil", "k": 5},
        {"q": "crude oil", "rank": "distance", "length": 10},
        {"q": "wheat", "where": ["subject=grain", "year>=1980"]},
        {"q": "loan", "radius": 8, "k": 3},
        {"q": "loan", "where": "nothing=1"},
        {"q": "loan", "rank": "vectors"},
        {"q": "", "k": 2},
    ],
)
def test_they_answer_as_threads_do(many, web, parameters):
    expected, found = (client.get("/api/search", params=parameters) for client in (web, many))
    assert (found.status_code, found.json()) == (expected.status_code, expected.json())
    request = {"text": parameters["q"], "k": parameters.get("k", 10)}
    expected, found = (client.post("/api/search", json=request) for client in (web, many))
    assert (found.status_code, found.json()) == (expected.status_code, expected.json())


def test_they_see_every_change(many):
    def found() -> list[object]:
        return [hit["id"] for hit in many.get("/api/search", params={"q": "zyzzyva", "k": 1}).json()["hits"]]

    for n in range(6):  # each of them more than once
        assert found() != ["new"]
        assert many.put("/api/documents/new", json={"text": f"the zyzzyva {n}"}).status_code == 200
        assert found() == found() == ["new"]
        assert many.delete("/api/documents/new").status_code == 200


def test_one_that_ends_is_replaced(many):
    location = many.headers["location"]
    killed = searchers_of(location)[0]
    killed.kill()
    wait_for(lambda: killed not in searchers_of(location))
    questions = count()
    while not are_there(location, 2):  # the server hears of it when it asks the next time
        assert many.get("/api/search", params={"q": f"oil {next(questions)}"}).status_code == 200


def test_they_end_with_the_server(location):
    with serving(location, "--searchers", "1"):
        wait_for_searchers(location, 1)
        (searcher,) = searchers_of(location)
    searcher.wait(300)


def test_sigterm_leaves_nothing_behind(location):
    """What searchers share was left to be cleaned up, with a warning of leaked semaphores."""
    command = [sys.executable, "-m", "ammi", "serve", str(location), "--port", "0", "--searchers", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout
        assert "http://" in server.stdout.readline()
        wait_for_searchers(location, 1)
        server.terminate()
        _, said = server.communicate(timeout=300)
    assert (server.returncode, said) == (0, "")


def test_they_end_with_a_server_that_is_killed(location):
    command = [sys.executable, "-m", "ammi", "serve", str(location), "--port", "0", "--searchers", "2"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
        wait_for_searchers(location, 2)
        searchers = searchers_of(location)
        server.kill()
        for searcher in searchers:
            searcher.wait(300)
