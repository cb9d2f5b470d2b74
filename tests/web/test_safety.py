"""What a server refuses, as strangers would try it: real processes, raw sockets."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from threading import Event
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from starlette.testclient import TestClient

from ammi import Collection
from ammi.web.app import make_app
from ammi.web.settings import Settings
from tests.web.serving import TOKEN, build, serving, wait_for

SMALL = """
import sys
from contextlib import suppress
from ammi import Collection
from ammi.web.server import Server
from ammi.web.settings import Settings
settings = Settings(writable=True, seconds=int(sys.argv[2]), most_body=20000, most_query=20000)
with Collection.open(sys.argv[1]) as collection:
    server = Server(collection, "127.0.0.1", 0, settings)
    with suppress(KeyboardInterrupt):
        print(server.address, flush=True)
        server.run()
"""


@pytest.fixture(scope="module")
def small(location) -> Iterator[str]:
    """A server with low limits."""
    with serving(location, "30", program=SMALL) as address:
        yield address


@pytest.fixture
def hasty(location) -> Iterator[str]:
    """A server with little time for each request, whose model is loaded."""
    with serving(location, "2", program=SMALL) as address:
        wait_for(lambda: httpx.get(f"{address}/api/search?q=oil", timeout=60).status_code == 200)
        yield address


def test_no_token_no_answer_but_the_page(guarded):
    address, _ = guarded
    with httpx.Client(base_url=address, timeout=60) as web:
        for given in (None, b"Bearer wrong", f"Basic {TOKEN}".encode(), b"Bearer", "Bearer \u00e4".encode("latin-1")):
            headers = {} if given is None else {b"Authorization": given}
            refused = web.get("/api/search", params={"q": "oil"}, headers=headers)
            assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert web.get("/metrics", headers=headers).status_code == 401
            assert web.delete("/api/documents/d3", headers=headers).status_code == 401
        assert web.get("/health").status_code == 200
        assert "<title>" in web.get("/").text
        right = {"Authorization": f"Bearer {TOKEN}"}
        assert web.get("/api/search", params={"q": "oil"}, headers=right).status_code == 200
        assert web.put("/api/documents/new", json={"text": "oil"}, headers=right).json() == {"ids": ["new"]}
        assert web.delete("/api/documents/new", headers=right).json() == {"deleted": 1}


def test_other_machines_need_a_token(location):
    command = [sys.executable, "-m", "ammi", "serve", str(location), "--host", "0.0.0.0", "--port", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 1
    assert "0.0.0.0 can be reached from other machines, and there is no token" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/documents", {"documents": [{"text": "oil"}]}),
        ("PUT", "/api/documents/d3", {"text": "oil"}),
        ("DELETE", "/api/documents/d3", None),
        ("POST", "/api/delete", {"ids": ["d3"]}),
        ("POST", "/api/metadata", {"ids": ["d3"], "metadata": {"year": 1}}),
    ],
)
def test_nothing_is_changed_unless_asked(web, here, method, path, body):
    refused = web.request(method, path, json=body)
    assert (refused.status_code, "read-only" in refused.json()["error"]) == (403, True)
    assert here.get("d3").metadata["year"] == 1963


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "localhost.evil.example", ""])
def test_a_name_that_was_turned_here_is_refused(web, host):
    for path in ("/", "/api/collection", "/health"):
        assert web.get(path, headers={"Host": host}).status_code in (400, 421)


def test_names_of_this_machine_are_known(web, address):
    port = urlsplit(address).port
    for host in (f"localhost:{port}", f"127.0.0.1:{port}", f"[::1]:{port}", socket.gethostname()):
        assert web.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
    ids=str,
)
def test_pages_of_other_sites_are_refused(web, headers):
    for method, path in (("GET", "/api/collection"), ("POST", "/api/search"), ("DELETE", "/api/documents/d3")):
        assert web.request(method, path, headers=headers).status_code == 403
    assert web.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200  # a link that leads to it


def test_the_own_page_may_ask(web, address):
    headers = {"Origin": address, "Sec-Fetch-Site": "same-origin"}
    assert web.post("/api/search", json={"text": "oil"}, headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/", "/page/app.js", "/api/collection", "/nothing", "/api/search", "/health"])
def test_headers_that_keep_a_page_to_itself(web, path):
    headers = web.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert "http" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "server" not in headers
    assert "access-control-allow-origin" not in headers


def test_too_much_is_refused(small):
    with httpx.Client(base_url=small, timeout=60) as web:
        assert web.post("/api/search", content=b"x" * 30_000).status_code == 413
        assert web.post("/api/search", content=iter([b"x" * 9000] * 3)).status_code == 413  # of no known length
        assert web.get("/api/search", params={"q": "oil " * 2501}).status_code == 422
        assert web.post("/api/search", json={"text": "oil " * 2501}).status_code == 422
        assert web.get("/api/search", params={"q": "oil", "k": 1001}).status_code == 422
        assert web.post("/api/search", json={"text": "oil", "k": 1001}).status_code == 422
        assert web.get("/health").status_code == 200


def test_who_sends_slowly_or_breaks_off_stops_nobody(hasty):
    host, port = urlsplit(hasty).hostname, urlsplit(hasty).port
    begin = f"POST /api/search HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
    slow = []
    for number in range(60):
        connection = socket.create_connection((host, port))
        connection.sendall(f"{begin}Content-Length: 500\r\n\r\n{{".encode() if number % 2 else begin[:30].encode())
        slow.append(connection)
    for connection in slow[:20]:
        connection.close()
    with httpx.Client(base_url=hasty, timeout=60) as web:
        for _ in range(20):  # on a busy machine a search may take more than two seconds
            wait_for(lambda: web.get("/api/search", params={"q": "oil"}).status_code == 200)
    assert b" 408 " in slow[-1].recv(1000)  # after the two seconds that it has
    for connection in slow:
        connection.close()


def test_a_broken_pipe_ends_other_commands_but_no_server(tmp_path):
    """A client that hangs up while it is answered breaks one."""
    location = build(tmp_path / "articles")
    with serving(location) as address:
        (server,) = [one for one in psutil.Process().children() if str(location) in one.cmdline()]
        server.send_signal(signal.SIGPIPE)
        assert httpx.get(f"{address}/health", timeout=60).status_code == 200


def test_so_many_read_all_documents_at_once_and_no_more(here):
    for most in (0, 1):
        web = TestClient(make_app(here, Settings(most_exports=most)), base_url="http://localhost")
        answers = [web.get("/api/all") for _ in range(3)]  # one after the other
        assert {answer.status_code for answer in answers} == ({200} if most else {503})
        assert all(answer.headers["retry-after"] == "60" for answer in answers if answer.status_code == 503)


def test_a_request_has_its_time(here, monkeypatch):
    answered, drift = Event(), Collection.drift

    def late_drift(*args: Any, **options: Any) -> object:
        answered.wait(60)
        return drift(*args, **options)

    monkeypatch.setattr(Collection, "drift", late_drift)
    web = TestClient(make_app(here, Settings(seconds=0.5)), base_url="http://localhost")
    late = web.get("/api/drift", params={"q": "oil"})
    answered.set()
    assert late.status_code == 504
    assert "0.5 seconds" in late.json()["error"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/search?q=oil&rank=vectors",
        "/api/search?q=oil&where=nothing%3D1",
        "/api/search?q=oil&where=%3D",
        "/api/documents/..%2F..%2Fetc%2Fpasswd",
        "/page/../app.py",
        "/page/%2e%2e/app.py",
        "/page/..%2fapp.py",
        "/api/bits/-1",
        "/api/documents/%ff",
    ],
)
def test_errors_are_a_sentence_without_paths(web, location, path):
    with socket.create_connection((web.base_url.host, web.base_url.port)) as connection:  # which tidies no path
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = b""
        end = time.monotonic() + 300
        while (part := connection.recv(65536)) and time.monotonic() < end:
            answer += part
    text = answer.decode()
    assert 400 <= int(text.split()[1]) < 500
    assert str(location.parent) not in text
    assert "Traceback" not in text
    assert "make_app" not in text
