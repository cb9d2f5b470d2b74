"""Collection.open of a server's address: the same answers and errors as the collection on this machine."""

import json
import os
import pickle
import socket
import subprocess
import sys
from collections.abc import Iterator
from multiprocessing import get_context
from threading import Thread
from urllib.parse import quote

import numpy as np
import pytest

from ammi import LSH, Collection
from ammi.data.exports import export_record
from ammi.web.report import make_report
from tests.web.serving import N_BITS, RECORDS, TOKEN

QUESTIONS = ["crude oil prices", "wheat harvest in tonnes", "nothing known"]


@pytest.fixture(scope="module")
def there(address) -> Iterator[Collection]:
    with Collection.open(address) as collection:
        yield collection


@pytest.fixture
def writable(guarded) -> tuple[str, Collection]:
    """The address of a server that may be changed, with its token, and its collection on this machine."""
    address, here = guarded
    return address.replace("http://", f"http://{quote(TOKEN, safe='')}@"), here


def same_entries(first, second) -> bool:
    return [(a.id, a.code.tobytes(), a.text, a.metadata) for a in first] == [
        (b.id, b.code.tobytes(), b.text, b.metadata) for b in second
    ]


@pytest.mark.parametrize("rank", [None, "asymmetric", "distance"])
def test_it_finds_the_same(there, here, rank):
    for where in (None, {"subject": "oil"}, {"year": {">=": np.int64(1980)}}):
        assert there.search_many(QUESTIONS, 6, where, rank) == here.search_many(QUESTIONS, 6, where, rank)
    assert there.search("oil", 3, shortlist=5) == here.search("oil", 3, shortlist=5)
    assert there.search("d3", 3)[0].id == "d3"  # its id
    for query in ("oill -price", '"no such" oil xyzzyx'):
        found, expected = (collection.search(query, 3) for collection in (there, here))
        assert (found, found.unknown, found.corrected) == (expected, expected.unknown, expected.corrected)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_a_connection_of_its_own(there, here):
    there.search("oil")
    receiving, sending = (fork := get_context("fork")).Pipe(duplex=False)
    child = fork.Process(target=lambda: sending.send([there.like(id, 5) for id in ("d3", 5) for _ in range(20)]))
    child.start()
    assert all(there.search("oil", k) == here.search("oil", k) for k in range(1, 20))
    assert receiving.recv() == [here.like(id, 5) for id in ("d3", 5) for _ in range(20)]
    child.join()
    with pytest.raises(TypeError, match="cannot be pickled or copied: hand over its location, 'http"):
        pickle.dumps(there)


def test_it_walks_the_same(there, here):
    for id in ("d3", 5, "5", "a/b c?"):
        assert there.like(id, 5) == here.like(id, 5)
        assert there.like(id, radius=8, where={"subject": "oil"}) == here.like(id, radius=8, where={"subject": "oil"})
        assert there.drift(id) == here.drift(id)
    assert there.within("oil", 10) == here.within("oil", 10)
    assert there.drift(query="oil", distances=[0, 4, 9]) == here.drift(query="oil", distances=[0, 4, 9])
    assert list(there.match(here, 2)) == list(here.match(there, 2)) == list(here.match(here, 2))
    assert there.duplicates(0.5) == [
        (kept, [(id, round(share, 4)) for id, share in copies]) for kept, copies in here.duplicates(0.5)
    ]


def test_it_says_the_same_of_itself(there, here):
    assert len(there) == len(here)
    for name in ("n_bits", "fingerprint", "reads"):
        assert getattr(there, name) == getattr(here, name)
    for name in ("keys", "indexed_keys", "ranks", "distinct_codes"):
        assert getattr(there, name)() == getattr(here, name)()
    assert [id in there for id in ("d3", 5, "5", "nothing", "a/b c?", None)] == [True, True, True, False, True, False]
    assert [there.knows(question) for question in QUESTIONS] == [here.knows(question) for question in QUESTIONS]
    assert np.array_equal(there.encode(QUESTIONS), here.encode(QUESTIONS))
    assert np.abs(there.bit_probabilities(QUESTIONS) - here.bit_probabilities(QUESTIONS)).max() < 1e-4
    assert there.describe().items() >= {"documents": len(RECORDS), "bits": N_BITS}.items()


def test_it_gives_the_same_documents(there, here, tmp_path):
    assert same_entries(there.get(["d3", 5]), here.get(["d3", 5]))
    assert same_entries([there.get("d3")], [here.get("d3")])
    assert same_entries(there, here)
    assert there.export(tmp_path / "there.jsonl") == here.export(tmp_path / "here.jsonl")
    assert (tmp_path / "there.jsonl").read_text() == (tmp_path / "here.jsonl").read_text()


def test_it_changes_the_same(writable):
    address, here = writable
    with Collection.open(address) as there:
        assert there.add(["oil and gas", "wheat and corn"]) == [236, 237]
        new = {"id": "x/y", "text": "crude oil", "lang": "en", "metadata": [1]}
        assert there.add([new]) == ["x/y"]
        assert here.get("x/y").metadata == {"lang": "en", "metadata": [1]}
        there.set_metadata("x/y", {"lang": "de"})
        assert here.get("x/y").metadata == {"lang": "de", "metadata": [1]}
        assert np.array_equal(here.get("x/y").code, here.encode(["crude oil"])[0])
        there.delete(["x/y", 236])
        assert "x/y" not in here
        assert len(there) == len(here) == len(RECORDS) + 1
        there.delete(237)
        with pytest.raises(ValueError, match="no document has the id 'nothing'"):
            there.delete(["d3", "nothing"])
        assert "d3" in here


def test_large_additions_go_in_parts(writable):
    address, here = writable
    with Collection.open(address) as there:
        told: list[int] = []
        filler = "x" * 1_600_000
        large = [{"id": f"long{n}", "text": "oil", "filler": filler} for n in range(12)]  # 19 MB; a request has 16
        ids = there.add(large, advance=told.append)
        assert sum(told) == 12
        assert [entry.metadata for entry in here.get(ids)] == [{"filler": filler}] * 12
        there.delete(ids)


def test_errors_are_those_of_a_collection(there, address):
    for wrong in (
        lambda: there.get("nothing"),
        lambda: there.like("nothing"),
        lambda: there.search("oil", 0),
        lambda: there.search("oil", rank="best"),
        lambda: there.search("oil", where={"nothing": 1}),
        lambda: there.search([1.0, 2.0]),
        lambda: there.search([10**400]),
        lambda: there.search([None, "a"]),
        lambda: there.within("oil", -1),
        lambda: there.drift(),
        lambda: there.rebuild(LSH(8)),
        lambda: there.copy("elsewhere"),
        lambda: there.compact(),
        lambda: there.model,
        lambda: make_report(there, 10),
        lambda: there.search("half \ud800", where={"x": "\ud800"}),
    ):
        with pytest.raises(ValueError, match=r"\w"):
            wrong()
    with pytest.raises(PermissionError, match="read-only"):
        there.add(["oil"])
    with pytest.raises(ConnectionError, match="no server answers"):
        Collection.open("http://127.0.0.1:1")
    with pytest.raises(ValueError, match="is no address"):
        Collection.open("http://")


def test_what_needs_the_store_is_refused_with_a_sentence(there, address, tmp_path):
    assert not hasattr(there, "rebuild")
    commands = (["index", "compact", address], ["index", "copy", address, tmp_path / "copy"], ["evaluate", address])
    for command in commands:
        done = subprocess.run([sys.executable, "-m", "ammi", *map(str, command)], capture_output=True, text=True)
        assert (done.returncode, "is not possible through a server" in done.stderr) == (1, True), done.stderr
    assert not (tmp_path / "copy").exists()


def test_a_token_is_needed_and_never_shown(writable, monkeypatch):
    address, here = writable
    bare = f"http://{address.partition('@')[2]}"
    with pytest.raises(PermissionError, match="the token is missing or wrong"):
        Collection.open(bare)
    with pytest.raises(PermissionError) as refused:
        Collection.open(bare.replace("http://", "http://secret@"))
    with Collection.open(address) as there:
        shown = f"{refused.value} {there!r} {there.location} {there.describe()}"
    assert "secret" not in shown
    assert TOKEN not in shown
    monkeypatch.setenv("AMMI_TOKEN", TOKEN)
    with Collection.open(bare) as there:
        assert len(there) == len(here)


def answering(*answers: bytes) -> str:
    """The address of a server that gives these answers, one a connection, and ends it."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        with listening:
            for content in answers:
                connection, _ = listening.accept()
                with connection:
                    connection.recv(1 << 16)
                    connection.sendall(content)

    Thread(target=answer, daemon=True).start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"


def http(content: bytes, header: str = "Connection: close") -> bytes:
    return f"HTTP/1.1 200 OK\r\n{header}\r\n\r\n".encode() + content


ABOUT = http(b'{"bits": 8, "fingerprint": null}')
LINE = json.dumps(export_record((1, np.array([255], np.uint8), "oil", {}, None), 8, "")).encode() + b"\n"


@pytest.mark.parametrize(
    "answer",
    [
        http(b"%x\r\n%b\r\n" % (len(LINE), LINE), "Transfer-Encoding: chunked"),
        http(b"%x\r\n%b" % (len(LINE) + 1, LINE), "Transfer-Encoding: chunked"),
        http(LINE, f"Content-Length: {2 * len(LINE)}"),
    ],
    ids=["between two chunks", "in a chunk", "before its length"],
)
def test_documents_that_break_off_are_not_taken_for_all(answer, tmp_path):
    """What a server sends when it is killed, or finds damage, in the middle of an export."""
    with Collection.open(answering(ABOUT, ABOUT, ABOUT, answer)) as there:
        with pytest.raises(ConnectionError, match="broke off"):
            there.export(tmp_path / "all.jsonl")
        assert not list(tmp_path.iterdir())


def test_lines_that_are_no_documents_are_refused(tmp_path):
    there = Collection.open(answering(ABOUT, ABOUT, ABOUT, http(b'{"id": 1}\n')))
    with there, pytest.raises(ValueError, match="which is no document"):
        there.export(tmp_path / "all.jsonl")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (http(b"<html>"), "is no server of ammi"),
        (http(b"[" * 100_000), "is no server of ammi"),
        (http(b"7"), "is no server of ammi"),
        (http(b'{"error": "x"}'), "is no server of ammi"),
        (http(b'{"bits": 8', "Content-Length: 100"), "broke off"),
        (b"HTTP/1.1 200 OK", "is no server of ammi"),
        (b"SSH-2.0-OpenSSH", "broke off"),
    ],
)
def test_servers_that_are_none_are_told_so(answer, words):
    with pytest.raises((ValueError, ConnectionError), match=words):
        Collection.open(answering(answer))


@pytest.mark.parametrize(
    "address", ["http://[", "http://localhost:x", "http://localhost:70000", "http://h?q", "http:///"]
)
def test_addresses_that_are_none_are_refused(address):
    with pytest.raises(ValueError, match="is no address of a server: write http://HOST:PORT"):
        Collection.open(address)


def test_an_answer_without_end_is_cut(monkeypatch):
    monkeypatch.setattr("ammi.remote.server._MOST_BYTES", 1000)
    with pytest.raises(ValueError, match="answers with more than"):
        Collection.open(answering(http(b" " * 2000)))
