"""Commands on a collection that is on a server: all of them take its URL, and none shows a password."""

import subprocess
import sys

import pytest

from tests.cli.conftest import Location, Run, write
from tests.search.stores import postgres_location
from tests.servers import postgres


@pytest.fixture
def url(location: Location, tmp_path, ammi: Run) -> str:
    """A copy of a collection of 120 notes, to change."""
    url = postgres_location(tmp_path)
    shown = ammi("index", "copy", location.index, url, "--json")
    assert (shown.code, shown.json["documents"], shown.json["there"]) == (0, 120, 0)
    return url


def test_a_copy_answers_as_the_original(url, location: Location, ammi: Run):
    for command in (
        ("search", ..., "the ship in the harbour", "-k", "7", "--json"),
        ("search", ..., "--like", "note-7", "--radius", "6", "--json"),
        ("search", ..., "wind", "--where", "year>=1982", "--rank", "distance", "--json"),
        ("drift", ..., "note-3", "--distances", "0,2,4", "--json"),
        ("duplicates", ..., "--json"),
        ("evaluate", ..., "--labels", "subject", "-k", "5", "--json"),
        ("info", ..., "--json"),
        ("index", "keys", ..., "--json"),
    ):
        answers = [ammi(*(where if word is ... else word for word in command)) for where in (url, location.index)]
        assert answers[0].code == 0
        assert answers[0].out == answers[1].out
    again = ammi("index", "copy", location.index, url)
    assert f"120 documents are in {url}, 120 of them from before; both collections have the checksum" in again.out


def test_it_changes_by_its_url(url, location: Location, ammi: Run, tmp_path):
    more = write(tmp_path / "more.jsonl", [{"id": "new", "text": "a ship", "year": 1999}])
    added = ammi("index", "add", url, more, "--json")
    assert added.json == {"location": url, "added": 1, "replaced": 0, "skipped": 0, "documents": 121}
    assert ammi("index", "set", url, "new", "year=2000", "--json").json["metadata"] == {"year": 2000}
    assert ammi("index", "keys", url, "year", "--json").json["indexed_keys"] == ["year"]
    assert [hit["id"] for hit in ammi("search", url, "ship", "--where", "year>1999", "--json").json["hits"]] == ["new"]
    assert ammi("index", "delete", url, "new", "note-1", "--json").json == {
        "location": url,
        "deleted": 2,
        "documents": 119,
    }
    assert ammi("index", "rebuild", url, "--model", location.model, "--json").json["documents"] == 119
    assert ammi("index", "check", url).out == f"{url} is whole: 119 documents\n"
    assert ammi("index", "compact", url, "--json").json["location"] == url
    assert ammi("index", "export", url, tmp_path / "out.jsonl", "--json").json["documents"] == 119
    assert ammi("index", "build", f"{url}2", tmp_path / "out.jsonl", "--model", location.model).code == 0
    built = ammi("index", "build", f"{url}2", tmp_path / "out.jsonl", "--model", location.model)
    assert (built.code, f"{url}2 holds a collection: use ammi index add" in built.err) == (1, True)
    assert ammi("index", "copy", url, tmp_path / "back", "--json").json["documents"] == 119


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (("search", "URL", "ship"), "no connection to postgresql://u@127.0.0.1:1/db ("),
        (("info", "URL"), "no connection to postgresql://u@127.0.0.1:1/db ("),
        (("index", "copy", "URL", "x"), "no connection to"),
        (("index", "build", "URL", "-"), "no connection to"),
        (("index", "check", "URL"), "no connection to"),
        (("index", "check", "URL", "--repair"), "is on a PostgreSQL server"),
        (("index", "build", "x", "URL"), "postgresql://u@127.0.0.1:1/db is a collection, not a source of documents"),
        (("fit", "URL", "--out", "x"), "is a collection, not a source of documents"),
    ],
)
def test_no_error_shows_the_password(command, words, ammi: Run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    url = "postgresql://u:hush@127.0.0.1:1/db"
    refused = ammi(*(url if word == "URL" else word for word in command))
    assert refused.code == 1
    assert words in refused.err
    assert "hush" not in refused.err + refused.out
    assert len(refused.err.strip().splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_fault_is_reported_without_the_password(ammi: Run, monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("ammi.collection.Collection.open", lambda location: 1 / 0)
    assert ammi("search", "postgresql://u:hush@host/db", "ship").code == 70
    (details,) = tmp_path.iterdir()
    assert "postgresql://u@host/db" in details.read_text()
    assert "hush" not in details.read_text()
    details.unlink()
    for token in (["--token", "hush"], ["--token=hush"]):
        assert ammi("serve", "index", *token).code == 70
    assert all("TOKEN" in file.read_text() and "hush" not in file.read_text() for file in tmp_path.iterdir())


def test_a_missing_extra_is_named():
    code = "import sys; sys.modules['psycopg'] = None; import ammi; ammi.Collection.open('postgresql://host/db')"
    failed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "ImportError: PostgreSQL is reached by psycopg (" in failed.stderr
    assert failed.stderr.strip().endswith("pip install 'ammi[postgres]'")


@pytest.mark.servers
def test_nothing_there_says_so(ammi: Run):
    nowhere = f"{postgres().url}#nowhere"
    for command in (("search", nowhere, "x"), ("info", nowhere), ("index", "copy", nowhere, "x")):
        refused = ammi(*command)
        assert (refused.code, f"there is no collection in {nowhere}: create it first" in refused.err) == (1, True)


def test_what_is_served_is_not_served_again(ammi: Run):
    refused = ammi("serve", "http://127.0.0.1:9")
    assert refused.code == 1
    assert "http://127.0.0.1:9 is a server already" in refused.err
