"""Milvus: what a file or a server takes and refuses, what is left when it dies, and that its limits are nobody's."""

import base64
import random
import sqlite3
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import blake2b
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import run_state_machine_as_test

from ammi.search import DamagedError, OtherModelError, check_store, create_store, open_store, store_exists
from ammi.search.filters import matches, parse
from ammi.search.milvus import client as milvus_client
from ammi.search.milvus import rows as milvus_rows
from ammi.search.milvus import search as milvus_search
from ammi.search.milvus import server as milvus_server
from ammi.search.milvus import store as milvus_store
from ammi.search.milvus import turns as milvus_turns
from ammi.search.milvus.filters import tags_of, to_expression
from ammi.search.milvus.store import MilvusStore
from ammi.search.milvus.rows import Rows
from ammi.search.milvus.server import LiteServer, parsed_address
from ammi.search.ranking import WordRanking
from ammi.search.vectors import KeptVectors
from tests.search.metadata import KEYS, filters, metadata
from tests.search.plain import PlainIndex, random_codes
from tests.search.stores import LOCATIONS
from tests.search.test_index import Changes
from tests.servers import milvus

ZERO = np.zeros((1, 1), np.uint8)


@pytest.fixture
def location(tmp_path):
    return f"milvus-lite:{tmp_path / 'index.db'}"


@pytest.fixture
def remote(tmp_path):
    return f"{milvus().url}#t{blake2b(str(tmp_path).encode(), digest_size=8).hexdigest()}"


def served_by(index: Any) -> LiteServer:
    return index._store.client._lite


# Filters


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Documents with all sorts of metadata, and an index of them."""
    sorts = st.lists(metadata, min_size=400, max_size=400).map(lambda some: [{}, *some])
    found: list[list[dict[str, Any]]] = []

    @settings(max_examples=1, database=None, derandomize=True)
    @given(sorts)
    def draw(some):
        found.append(some)

    draw()
    rng = random.Random(0)
    drawn = [{key: value for key, value in one.items() if rng.random() < 0.9} for one in found[-1]]
    drawn += [
        {key: value} for key in KEYS[:3] for value in (1, "a", [1, "b"], 2**53 + 1, -(10**400), 0.1, True, "é" * 40)
    ]
    drawn += [{"a": [f"value {n}" for n in range(5000)]}, {"a": "x" * 70_000}, {'b"': [0.5, 1e300], "ç": ["z", "\0"]}]
    with MilvusStore.create(f"milvus-lite:{tmp_path_factory.mktemp('many')}/index.db", 8) as index:
        index.add(np.zeros((len(drawn), 1), np.uint8), metadata=drawn)
        yield drawn, index


@settings(max_examples=120, deadline=None)
@given(where=filters)
def test_milvus_keeps_all_that_a_filter_keeps(many, where):
    documents, index = many
    filter = parse(where)
    expected = [n for n, one in enumerate(documents) if matches(filter, one)]
    with index._reading():
        rows = Rows(index._store, index._view)
        kept = {row["position"] for some in rows.scan(["position"], to_expression(filter)) for row in some}
        assert kept.issuperset(expected)
        assert milvus_search.matching(rows, filter)[0].tolist() == expected


@pytest.mark.parametrize(
    ("where", "most"),
    [
        ({"a": "value 7"}, 1),
        ({"a": {">": "value 6", "<": "value 70"}}, 13),  # a bound lets its equals pass
        ({"a": {"not": {"not": "value 7"}}}, 1),
        ({"a": {"not": "value 7"}}, 100),  # milvus-lite cannot say it
        ({"a": None}, 100),
        ({"n": {">=": 3, "<": 5}}, 3),
        ({"n": [3, 4, None], "a": "value 3"}, 1),
        ({"n": []}, 0),
    ],
)
def test_what_can_be_said_is_asked_of_the_server(location, where, most):
    with MilvusStore.create(location, 8) as index:
        index.add(np.zeros((100, 1), np.uint8), metadata=[{"a": f"value {n}", "n": n} for n in range(100)])
        with index._reading():
            rows = Rows(index._store, index._view)
            asked = [row for some in rows.scan(["position"], to_expression(parse(where))) for row in some]
        assert len(asked) == most


def test_tags_are_never_too_long():
    assert tags_of({"a": list(range(10_000))}) == {"is": [0]}


# Limits


def test_ties_and_filters_go_beyond_what_a_server_finds_at_once(location, monkeypatch):
    """Of 16,384 and more; here of 40."""
    monkeypatch.setattr(milvus_search, "MOST", 40)
    monkeypatch.setattr(milvus_search, "_MOST_HITS", 100)
    monkeypatch.setattr(milvus_rows, "BLOCK", 30)
    for module in (milvus_client, milvus_rows):
        monkeypatch.setattr(module, "MOST_ROWS", 64)
    rng = np.random.default_rng(0)
    codes = random_codes(rng, 700, 12, distinct=6)
    marks = [{"n": n, "odd": bool(n % 2)} for n in range(700)]
    plain = PlainIndex(12)
    with MilvusStore.create(location, 12) as index:
        index.add(codes, texts=["oil"] * 700, metadata=marks)
        plain.add(codes, range(700), ["oil"] * 700, marks)
        index.set_metadata([3, 5], {"late": 1})
        plain.set_metadata([3, 5], {"late": 1})
        for k, where in (
            (5, None),
            (300, None),
            (7, {"odd": True}),
            (3, {"n": {">=": 690}}),
            (20, {"odd": {"not": True}}),
        ):
            expected = [hits[:k] for hits in plain.ranked(codes[:4], where)]
            assert index.search(codes[:4], k, where) == expected
        for radius in (0, 3, 12):
            expected = [[hit for hit in hits if hit.distance <= radius] for hits in plain.ranked(codes[:3], None)]
            assert index.within(codes[:3], radius) == expected
        assert list(index) == list(range(700))
        assert len(index.search_ranked(codes[:1], [WordRanking("oil")], 650)[0]) == 650
        assert index.column("n") == list(range(700))


def test_what_is_longer_than_a_field_is_kept_whole(location):
    texts = ["x" * 65_536, "é\0" * 100_000, "", None, "".join(f" word{n}" for n in range(9000))]
    metadata: list[Any] = [{}, {"long": "ü" * 80_000, "n": 1}, {"n": [2] * 20_000}, {"n": 3}, {}]
    vectors = np.arange(5 * 900.0).reshape(5, 900)
    files = {"weights": random.Random(0).randbytes(5_100_001), "empty": b"", "config": b"{}"}
    ids: list[Any] = ["i" * 15_000, 1, "b", "c", "d"]
    with MilvusStore.create(location, 8, files=files, vectors=KeptVectors("float16", 900)) as index:
        index.add(np.zeros((5, 1), np.uint8), ids, texts, metadata, vectors=vectors)
        assert index.files() == files
        found = index.get(ids)
        assert [(one.id, one.text, one.metadata) for one in found] == list(zip(ids, texts, metadata, strict=True))
        assert [hit.id for hit in index.search(ZERO, where={"n": {"<": 3}})[0]] == [1, "b"]
        assert [hit.id for hit in index.search(ZERO, where={"long": "ü" * 80_000})[0]] == [1]
        (hits,) = index.search_ranked(ZERO, [WordRanking("word8999 word0")], 1)
        assert hits[0].id == "d"
        index.set_metadata([1], {"n": 7})
        assert index.get([1])[0].text == texts[1]
        index.recode(lambda entries: (np.ones((len(entries), 1), np.uint8), None), 8, fingerprint="x", files={})
        assert [one.text for one in index.get(ids)] == texts
        with pytest.raises(ValueError, match=r"the id 'j.* has 20002 characters, and Milvus takes 16000"):
            index.add(ZERO, ["j" * 20_000], vectors=vectors[:1])
        assert len(index) == 5


def test_vectors_that_are_too_long_are_refused_before_anything_is_made(location):
    with pytest.raises(ValueError, match=r"vectors of 25000 numbers as float16 are too long for .*: keep none"):
        MilvusStore.create(location, 8, vectors=KeptVectors("float16", 25_000))
    assert not store_exists(location)


# Addresses


def test_addresses_are_taken_apart(monkeypatch):
    location, _, *rest = parsed_address("milvus://root:s%2Fcret@db.example:1234/news#articles")
    assert location == "milvus://root@db.example:1234/news#articles"
    assert rest == ["http://db.example:1234", "root:s/cret", "news", "articles"]
    location, _, *rest = parsed_address("milvus://tok-en@db.example?secure=true")
    assert location == "milvus://db.example?secure=true"
    assert rest == ["https://db.example:19530", "tok-en", "", "ammi"]
    monkeypatch.setenv("MILVUS_TOKEN", "root:from outside")
    assert parsed_address("milvus://[::1]:5").token == "root:from outside"
    assert parsed_address("milvus://[::1]:5").uri == "http://[::1]:5"


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("milvus-lite:", "names no file: write milvus-lite:FILE"),
        ("milvus-lite:///tmp/x", "names no file"),
        ("milvus://", "is no address of Milvus: write milvus://HOST:PORT/DATABASE#NAME"),
        ("milvus://u:secret@host:port/", "is no address of Milvus"),
        ("milvus://u:secret@host/a/b", "is no address of Milvus"),
        ("milvus://u:secret@host/a?x=1", "is no address of Milvus"),
        ("milvus://secret@host/#my-index", "'my-index' cannot be the name of an index in Milvus: take letters"),
    ],
)
def test_places_that_cannot_be_are_refused(location, words):
    for use in (open_store, create_store, store_exists):
        with pytest.raises(ValueError, match=words) as refused:
            use(location)
        assert "secret" not in str(refused.value)


def test_a_wrong_address_is_refused_without_the_password(monkeypatch):
    monkeypatch.setattr(milvus_client, "_CONNECT", 1.0)
    for location in (
        "milvus://root:secret@127.0.0.1:1/",
        "milvus://secret@127.0.0.1:1/",
        "milvus://u:secret@no.invalid",
    ):
        for use in (open_store, create_store, store_exists):
            with pytest.raises(ConnectionError, match=r"no connection to milvus://.*: check the address") as refused:
                use(location)
            assert "secret" not in str(refused.value)
            assert "\n" not in str(refused.value)


def test_a_refused_user_is_told_where_the_password_goes():
    address = parsed_address("milvus://root:secret@db/")
    error = milvus_client.MilvusException(65535, "auth check failure, root:secret, please check username and password")
    told = milvus_client._explained(error, "connect", address)
    assert isinstance(told, PermissionError)
    assert "MILVUS_TOKEN" in str(told)
    assert "secret" not in str(told)


def test_an_index_on_a_server(remote):
    with MilvusStore.create(remote, 16, fingerprint="ab12", files={"a": b"b"}) as index:
        assert index.location == remote
        index.add(np.zeros((3, 2), np.uint8), ["a", "b", "c"], ["oil", "price", None], [{"n": 1}, {"n": 2}, {}])
        index.delete(["a"])
        with MilvusStore.open(remote) as other:
            assert [hit.id for hit in other.search(np.zeros((1, 2), np.uint8), where={"n": 2})[0]] == ["b"]
            other.set_metadata(["c"], {"n": 2})
            assert other.add(np.zeros((1, 2), np.uint8)) == [0]
        assert index.column("n") == [2, 2, None]
        with pytest.raises(OtherModelError, match="codes are of model cd34"):
            index.add(np.zeros((1, 2), np.uint8), fingerprint="cd34")
        with pytest.raises(ValueError, match="this index of 16 bits takes uint8"):
            index.search(ZERO)
        index.recode(
            lambda entries: (np.ones((len(entries), 1), np.uint8), None), 8, fingerprint="x", files={"m": b"n"}
        )
        assert (index.n_bits, index.fingerprint, index.files()) == (8, "x", {"m": b"n"})
        assert [hit.id for hit in index.search(ZERO + 1)[0]] == ["b", "c", 0]
    assert store_exists(remote)
    with pytest.raises(FileExistsError, match="holds an index: open it"):
        MilvusStore.create(remote)
    assert check_store(remote) == []


def test_any_changes_in_any_order_on_a_server(tmp_path, monkeypatch):
    """Where others may look at what was removed, and writers take turns by claims."""
    numbers = count()
    monkeypatch.setitem(LOCATIONS, MilvusStore, lambda home: f"{milvus().url}#state{next(numbers)}")
    machine = type("ServerChanges", (Changes,), {"store": MilvusStore})
    run_state_machine_as_test(machine, settings=settings(max_examples=3, stateful_step_count=12, deadline=None))


def test_an_index_that_is_closed_or_gone_says_so(remote):
    index = MilvusStore.create(remote, 8)
    with MilvusStore.open(remote) as other:
        for name in index._store.client.names():
            if name.startswith(index._store.name):
                index._store.client.drop(name)
        index.close()
        index.close()
        uses = (
            len,
            lambda index: index.add(ZERO),
            lambda index: index.search(ZERO),
            lambda index: list(index.entries()),
        )
        for use in uses:
            with pytest.raises(ValueError, match="was closed: open it again"):
                use(index)
            with pytest.raises(FileNotFoundError, match="was deleted or replaced after it was opened: open it again"):
                use(other)
        MilvusStore.create(remote, 8).close()
        with pytest.raises(FileNotFoundError, match="was deleted or replaced"):
            len(other)


def test_collections_of_other_programs_are_left_alone(remote):
    from pymilvus import MilvusClient

    name = remote.rpartition("#")[2]
    client = MilvusClient(f"http://127.0.0.1:{milvus().port}")
    client.create_collection(name, dimension=4)
    for use in (open_store, create_store):
        with pytest.raises(ValueError, match=f"the collection '{name}' of .* belongs to another program or index"):
            use(remote)
    assert client.has_collection(name)
    client.close()


def test_names_of_indexes_do_not_meet(remote):
    with MilvusStore.create(f"{remote}_pieces", 8) as longer:
        longer.add(ZERO)
        with pytest.raises(ValueError, match=r"_pieces' of .* belongs to another program or index: choose another"):
            MilvusStore.create(remote, 8)
        MilvusStore.create(f"{remote}_2", 8).close()
        with pytest.raises(ValueError, match="belongs to another program or index"):
            MilvusStore.create(f"{remote}_2_words", 8)
        assert len(longer) == 1


# Files


def test_files_that_are_not_of_milvus_lite_are_refused(tmp_path):
    notes, other = tmp_path / "notes.db", tmp_path / "other.db"
    notes.write_text("These are my notes on indexes. " * 100)
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE mine (x)")
        db.commit()
    before = other.read_bytes()
    for file, words in ((notes, "is no file of milvus-lite"), (other, "is a database of another program")):
        for use in (open_store, create_store):
            with pytest.raises(ValueError, match=words):
                use(f"milvus-lite:{file}")
        assert not store_exists(f"milvus-lite:{file}")
    assert notes.read_text().startswith("These are my notes")
    assert other.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"notes.db", "other.db"}


def test_a_creation_cut_short_leaves_no_index_and_can_be_repeated(location, monkeypatch):
    def fail(self, head):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(milvus_store.Tables, "begin", fail)
        with pytest.raises(KeyboardInterrupt):
            MilvusStore.create(location, 8)
    assert not store_exists(location)
    with pytest.raises(FileNotFoundError, match="was cut short: create it again"):
        MilvusStore.open(location)
    with MilvusStore.create(location, 16) as index:
        assert index.n_bits == 16


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(milvus_server, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pip install 'ammi\[milvus\]'"):
        MilvusStore.create("milvus-lite:nowhere.db")
    program = "import sys; sys.modules['pymilvus'] = None; import ammi.search as s; s.open_store('milvus://x')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stderr.splitlines()[-1].startswith("ImportError: a location of Milvus needs pymilvus")
    assert "pip install 'ammi[milvus]'" in done.stderr


def run(program: str, *arguments: str) -> "subprocess.Popen[str]":
    """A process that has an index and says when it is ready."""
    code = textwrap.dedent(program)
    return subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, text=True)


WRITER = """
    import sys, numpy as np
    from ammi.search import open_store
    with open_store(sys.argv[1]) as index:
        for step in range(10**6):
            index.add(np.full((50, 1), step % 200, np.uint8), range(50), [f"step {step} " * 2000] * 50)
            print(step, flush=True)
"""


def killed_after(process: "subprocess.Popen[str]", step: int) -> int:
    """The last step that a writer said it had made, this one or a later, when it was killed in the middle of a next."""
    assert process.stdout
    while int(process.stdout.readline()) < step:
        pass
    process.kill()
    later = process.stdout.read().split()
    process.wait()
    process.stdout.close()
    return int(later[-1]) if later else step


def check_steps(index: MilvusStore, least: int) -> None:
    """All documents are of one step, which is the last one that was acknowledged or the one after it."""
    entries = [entry for block in index.entries() for entry in block]
    (step,) = {int(entry.code[0]) for entry in entries}
    assert step in (least, least + 1)
    assert [entry.id for entry in entries] == list(range(50))
    assert {entry.text for entry in entries} == {f"step {step} " * 2000}


def test_one_process_at_a_time_has_a_file_and_one_that_is_killed_loses_nothing(location, monkeypatch):
    monkeypatch.setattr(milvus_server, "_PATIENCE", 0.2)
    MilvusStore.create(location, 8).close()
    process = run(WRITER, location)
    assert process.stdout
    process.stdout.readline()
    for use in (open_store, create_store):
        with pytest.raises(BlockingIOError, match=r"is open in another process, .* one at a time: close it"):
            use(location)
    assert store_exists(location)
    monkeypatch.setattr(milvus_server, "_PATIENCE", 20.0)
    last = killed_after(process, 2)
    with MilvusStore.open(location) as index:
        check_steps(index, last)
        index.add(ZERO, ["new"])
        assert len(index) == 51
        _no_leftovers(index)


def _no_leftovers(index: MilvusStore) -> None:
    store = index._store
    head = store.newest().head
    assert store.client.count(store.documents(head.generation), f"row >= {head.rows}") == 0
    assert store.client.count(store.documents(head.generation), "row >= 0") == head.count
    assert store.client.count(store.name, "row >= 0") <= 2


def test_writers_on_a_server_take_turns_and_the_killed_are_tidied_up(remote, monkeypatch):
    monkeypatch.setattr(milvus_turns, "LEASE", 1.0)
    monkeypatch.setattr(milvus_turns, "PATIENCE", 0.5)
    with MilvusStore.create(remote, 8) as index:
        process = run(
            WRITER.replace("with open_store", "from ammi.search.milvus import turns\n    with open_store"), remote
        )
        assert process.stdout
        process.stdout.readline()
        last = killed_after(process, 1)
        store = index._store
        store.client.insert(store.name, [{"row": -7, "code": b"\0", "change": -1, "content": ""}])  # of one just killed
        with pytest.raises(TimeoutError, match=r"another process has been writing to the index in .*: try again"):
            index.delete([0])
        check_steps(index, last)
        monkeypatch.setattr(milvus_turns, "PATIENCE", 30.0)
        index.add(ZERO, ["new"])
        assert len(index) == 51
        head = store.newest().head
        assert store.client.count(store.documents(head.generation), f"row >= {head.rows}") == 0
        assert store.client.count(store.name, "row < 0") == 0


def test_a_server_that_dies_while_it_is_loaded_keeps_what_was_acknowledged(remote):
    """Also a milvus-lite file's; then the index is opened again."""
    server = milvus()
    with MilvusStore.create(remote, 8) as index:
        index.add(np.zeros((10, 1), np.uint8))
        with ThreadPoolExecutor(1) as other:
            acknowledged = 10

            def load() -> str:
                nonlocal acknowledged
                try:
                    while True:
                        index.add(np.zeros((200, 1), np.uint8), texts=["a text"] * 200)
                        acknowledged += 200
                except ConnectionError as error:
                    return str(error)

            told = other.submit(load)
            while acknowledged < 200:
                pass
            server.kill()
            words = told.result()
        assert "\n" not in words
        assert words.startswith(f"the connection to {remote} was lost")
        with pytest.raises(ConnectionError, match="was lost"):
            index.search(ZERO)
        server.start()
    with MilvusStore.open(remote) as index:
        assert len(index) in (acknowledged, acknowledged + 200)
        assert len(list(index)) == len(index)


def test_a_dead_milvus_lite_says_so_and_a_new_one_takes_its_place(location):
    with MilvusStore.create(location, 8) as index:
        index.add(ZERO)
        served_by(index).kill()
        for use in (lambda: index.add(ZERO), lambda: index.search(ZERO), lambda: list(index.entries())):
            with pytest.raises(ConnectionError, match=r"the connection to milvus-lite:.* was lost .*: open it again"):
                use()
        with MilvusStore.open(location) as again:
            assert list(again) == [0]


# Damage


@pytest.mark.parametrize(("part", "words"), [(b"a text", "document 'd7' is not as it was"), (b"n 7", "document 'd7'")])
def test_a_row_that_is_not_as_it_was_written_is_named(location, tmp_path, part, words):
    with MilvusStore.create(location, 8) as index:
        metadata = [{"name": f"n {n}"} for n in range(9)]
        index.add(np.zeros((9, 1), np.uint8), [f"d{n}" for n in range(9)], ["a text"] * 9, metadata)
    with closing(sqlite3.connect(tmp_path / "index.db")) as db:
        db.text_factory = bytes
        ((row, data),) = db.execute("SELECT id, data FROM ammi_documents_0 WHERE milvus_id = '7'").fetchall()
        db.execute("UPDATE ammi_documents_0 SET data = ? WHERE id = ?", (data.replace(part, part.upper()), row))
        db.commit()
    (sentence,) = check_store(location)
    assert words in sentence
    with MilvusStore.open(location) as index, pytest.raises(DamagedError, match=words):
        index.search(ZERO, 9)


@pytest.mark.parametrize("spoiled", [bytes.swapcase, lambda spelled: spelled.replace(b"=", b"A")])
def test_a_file_that_is_not_as_it_was_written_is_named(location, tmp_path, spoiled):
    MilvusStore.create(location, 8, files={"model": b"a model"}).close()
    with closing(sqlite3.connect(tmp_path / "index.db")) as db:
        db.text_factory = bytes
        ((row, data),) = db.execute("SELECT id, data FROM ammi_pieces").fetchall()
        spelled = base64.b64encode(b"a model")
        assert spelled in data
        db.execute("UPDATE ammi_pieces SET data = ? WHERE id = ?", (data.replace(spelled, spoiled(spelled)), row))
        db.commit()
    (sentence,) = check_store(location)
    assert "the files of the model are not as they were written" in sentence


def test_missing_documents_are_noticed(location, tmp_path):
    with MilvusStore.create(location, 8) as index:
        index.add(np.zeros((9, 1), np.uint8))
    with closing(sqlite3.connect(tmp_path / "index.db")) as db:
        db.execute("DELETE FROM ammi_documents_0 WHERE milvus_id = '7'")
        db.commit()
    assert "9 documents were written, and 8 are there" in check_store(location)[0]


# Many at once


def test_threads_read_whole_changes_while_one_writes(location):
    with MilvusStore.create(location, 8) as index:
        index.add(np.zeros((30, 1), np.uint8), range(30), metadata=[{"version": 0}] * 30)
        done = False

        def read() -> int:
            versions = [0]
            while not done:
                (hits,) = index.search(ZERO, 60)
                (version,) = {hit.metadata["version"] for hit in hits}
                assert [hit.id for hit in hits] == list(range(30))
                assert version >= versions[-1]
                versions.append(version)
            return len(set(versions))

        with ThreadPoolExecutor(2) as pool:
            readers = [pool.submit(read) for _ in range(2)]
            try:
                for version in range(1, 9):
                    index.add(np.zeros((30, 1), np.uint8), range(30), metadata=[{"version": version}] * 30)
            finally:
                done = True
        assert all(reader.result() > 1 for reader in readers)
        index.add(ZERO)
        _no_leftovers(index)


def test_what_is_written_during_a_recode_is_encoded_too(location):
    with MilvusStore.create(location, 8) as index:
        index.add(np.zeros((300, 1), np.uint8), texts=["old"] * 300)
        calls: list[int] = []

        def encode(entries):
            if not calls:
                index.add(np.zeros((3, 1), np.uint8), [5, "new", 300], texts=["new"] * 3)
                index.delete([7])
                index.set_metadata([8, 299], {"late": True})
            calls.append(len(entries))
            codes = [[len(entry.text) + 100 * entry.metadata.get("late", 0), 0x80] for entry in entries]
            return np.array(codes, np.uint8), None

        index.recode(encode, 9, fingerprint="new", files=None)
        ids, codes = index.export()
        of = dict(zip(ids, codes.tolist(), strict=True))
        assert len(ids) == 301
        assert ids[-3:] == [5, "new", 300]
        assert 7 not in of
        assert [of[id] for id in (0, 5, 8, 299, "new")] == [[3, 0x80], [3, 0x80], [103, 0x80], [103, 0x80], [3, 0x80]]
        assert sum(calls) == 305
        index.add(np.zeros((1, 2), np.uint8))
        _no_leftovers(index)
        assert len([name for name in index._store.client.names() if "documents" in name]) == 1
