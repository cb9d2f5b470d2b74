"""Milvus: what a file or a server takes and refuses, what is left when it dies, and that its limits are nobody's."""

import random
import re
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

from ammi.search import DamagedError, OtherModelError, check_store, open_store, store_exists
from ammi.search.filters import matches, parse
from ammi.search.milvus import client as milvus_client
from ammi.search.milvus import server as milvus_server
from ammi.search.milvus import store as milvus_store
from ammi.search.milvus.rows import tags_of, to_condition
from ammi.search.milvus.server import parsed_address
from ammi.search.milvus.store import MilvusStore
from ammi.search.ranking import WordRanking
from ammi.search.vectors import KeptVectors
from tests.search.metadata import KEYS, filters, metadata
from tests.search.plain import PlainIndex, random_codes
from tests.search.stores import LOCATIONS, create_store, word_statistics
from tests.search.test_index import Changes
from tests.servers import milvus

ZERO = np.zeros((1, 1), np.uint8)


@pytest.fixture
def location(tmp_path):
    return f"milvus-lite:{tmp_path / 'index.db'}"


@pytest.fixture
def remote(tmp_path):
    return f"{milvus().url}#t{blake2b(str(tmp_path).encode(), digest_size=8).hexdigest()}"


def kill_server_of(index: MilvusStore) -> None:
    server = index._client._lite
    assert server
    server.process.kill()
    server.process.wait()


def n_kept_by_the_server(index: MilvusStore, where: dict[str, Any]) -> int:
    with index._reading():
        return index._client.count(index._documents, to_condition(parse(where)))


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
def test_a_filter_keeps_what_it_means(many, where):
    documents, index = many
    filter = parse(where)
    with index._reading():
        found = [row["position"] for row in index._matching(filter, [])]
        order = [row["position"] for row in index._matching((), [])]
    assert found == [order[n] for n, one in enumerate(documents) if matches(filter, one)]


@pytest.mark.parametrize(
    ("where", "most"),
    [
        ({"a": "value 7"}, 1),
        ({"a": {">": "value 6", "<": "value 70"}}, 100),  # a range keeps all that have the key
        ({"b": {">": 1}}, 0),
        ({"a": {"not": "value 7"}}, 100),  # milvus-lite cannot say it
        ({"a": None}, 100),
        ({"n": [3, 4, None], "a": "value 3"}, 1),
        ({"n": []}, 0),
    ],
)
def test_what_can_be_said_is_asked_of_the_server(location, where, most):
    with MilvusStore.create(location, 8) as index:
        index.add(np.zeros((100, 1), np.uint8), metadata=[{"a": f"value {n}", "n": n} for n in range(100)])
        assert n_kept_by_the_server(index, where) == most


def test_tags_are_never_too_long():
    assert tags_of({"a": list(range(10_000))}) == [0]


# Limits


def test_ties_and_filters_go_beyond_what_a_server_finds_at_once(location, monkeypatch):
    """Of 16,384 and more; here of 40."""
    monkeypatch.setattr(milvus_store, "_LIMITS", (40,))
    monkeypatch.setattr(milvus_store, "_BLOCK", 30)
    monkeypatch.setattr(milvus_client, "_MOST_ROWS", 64)
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
        assert len(index.search_ranked(codes[:1], [WordRanking("oil", None)], 650)[0]) == 650
        assert index.column("n") == list(range(700))


def test_what_is_longer_than_a_field_is_kept_whole(location):
    texts = ["x" * 65_536, "é\0" * 100_000, "", None, "".join(f" word{n}" for n in range(9000))]
    metadata: list[Any] = [{}, {"long": "ü" * 80_000, "n": 1}, {"n": [2] * 20_000}, {"n": 3}, {}]
    vectors = np.arange(5 * 30_000.0).reshape(5, 30_000)
    files = {"weights": random.Random(0).randbytes(5_100_001), "empty": b"", "config": b"{}"}
    ids: list[Any] = ["i" * 70_000, 1, "b", "c", "d"]
    with MilvusStore.create(location, 8, files=files, vectors=KeptVectors("float16", 30_000)) as index:
        index.add(np.zeros((5, 1), np.uint8), ids, texts, metadata, vectors=vectors)
        assert index.files() == files
        found = index.get(ids)
        assert [(one.id, one.text, one.metadata) for one in found] == list(zip(ids, texts, metadata, strict=True))
        assert [hit.id for hit in index.search(ZERO, where={"n": {"<": 3}})[0]] == [1, "b"]
        assert [hit.id for hit in index.search(ZERO, where={"long": "ü" * 80_000})[0]] == [1]
        index.set_metadata([1], {"n": 7})
        assert index.get([1])[0].text == texts[1]
        index.recode(lambda entries: (np.ones((len(entries), 1), np.uint8), None), 8, fingerprint="x", files={})
        assert [one.text for one in index.get(ids)] == texts


def test_of_a_text_the_first_4096_words_are_looked_up(location):
    with MilvusStore.create(location, 8) as index:
        index.add(ZERO, texts=["".join(f" word{n}" for n in range(9000))])
        statistics = word_statistics(index, ["word0", "word4095", "word4096"])
        assert statistics
        assert statistics.having == {"word0": 1, "word4095": 1, "word4096": 0}


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
            with pytest.raises(
                ConnectionError, match=r"no connection to milvus://.* failed to connect .*: check the address"
            ) as refused:
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
        with pytest.raises(ValueError, match="this collection of 16 bits takes uint8"):
            index.search(ZERO)
        index.recode(
            lambda entries: (np.ones((len(entries), 1), np.uint8), None), 8, fingerprint="x", files={"m": b"n"}
        )
        assert (index.n_bits, index.fingerprint, index.files()) == (8, "x", {"m": b"n"})
        assert [hit.id for hit in index.search(ZERO + 1)[0]] == ["b", "c", 0]
    assert store_exists(remote)
    with pytest.raises(FileExistsError, match="holds a collection: open it"):
        MilvusStore.create(remote)
    assert check_store(remote) == []


def test_any_changes_in_any_order_on_a_server(tmp_path, monkeypatch):
    numbers = count()
    monkeypatch.setitem(LOCATIONS, MilvusStore, lambda home: f"{milvus().url}#state{next(numbers)}")
    machine = type("ServerChanges", (Changes,), {"store": MilvusStore})
    run_state_machine_as_test(machine, settings=settings(max_examples=3, stateful_step_count=12, deadline=None))


def test_an_index_that_is_closed_or_gone_says_so(remote):
    index = MilvusStore.create(remote, 8)
    with MilvusStore.open(remote) as other:
        with index._reading():
            for name in (index._name, index._documents):
                index._client.drop(name)
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
            with pytest.raises(FileNotFoundError, match="was deleted or rebuilt while it was in use"):
                use(other)


def test_a_name_that_milvus_does_not_take_is_refused():
    for use in (open_store, create_store, store_exists):
        with pytest.raises(
            ValueError, match=r"refused to read \(Invalid collection my-index.* letters and underscores"
        ):
            use(f"{milvus().url}#my-index")


def test_collections_of_other_programs_are_left_alone(remote):
    from pymilvus import MilvusClient

    name = remote.rpartition("#")[2]
    client = MilvusClient(f"http://127.0.0.1:{milvus().port}")
    client.create_collection(name, dimension=4)
    for use in (open_store, create_store):
        with pytest.raises(
            ValueError,
            match=f"the collection '{name}' of .* belongs to another program, collection or version of ammi: ",
        ):
            use(remote)
    assert client.has_collection(name)
    client.close()


def test_names_of_indexes_do_not_meet(remote):
    with MilvusStore.create(f"{remote}_documents_1", 8) as longer:
        longer.add(ZERO)
        with pytest.raises(
            ValueError, match=r"_documents_1' of .* belongs to another program, collection or version of"
        ):
            MilvusStore.create(remote, 8)
        assert len(longer) == 1


def test_two_writers_interleave_and_the_last_upsert_of_an_id_wins(remote):
    with MilvusStore.create(remote, 8) as index, MilvusStore.open(remote) as other:
        index.add(np.zeros((3, 1), np.uint8), ["a", "b", "c"], ["first"] * 3)
        other.add(np.ones((2, 1), np.uint8), ["b", "d"], ["second"] * 2)
        assert [(entry.id, entry.text) for block in index.entries() for entry in block] == [
            ("a", "first"),
            ("c", "first"),
            ("b", "second"),
            ("d", "second"),
        ]
        with index.snapshot():  # of which Milvus has none
            other.delete(["a"])
            assert len(index) == 3


# Files


def test_files_that_are_not_of_milvus_lite_are_refused(tmp_path):
    notes, other = tmp_path / "notes.db", tmp_path / "other.db"
    notes.write_text("These are my notes on indexes. " * 100)
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE mine (x)")
        db.commit()
    before = other.read_bytes()
    for file in (notes, other):
        for use in (open_store, create_store, store_exists):
            with pytest.raises(ValueError, match=rf"milvus-lite:{file} is no file of milvus-lite: name another file"):
                use(f"milvus-lite:{file}")
    assert notes.read_text().startswith("These are my notes")
    assert other.read_bytes() == before
    assert {file.name for file in tmp_path.iterdir()} == {"notes.db", "other.db"}


def test_a_creation_cut_short_leaves_no_index_and_can_be_repeated(location, monkeypatch):
    def fail(self, settings):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(MilvusStore, "_save", fail)
        with pytest.raises(KeyboardInterrupt):
            MilvusStore.create(location, 8, files={"model": b"m"})
    assert not store_exists(location)
    with pytest.raises(FileNotFoundError, match=f"there is no whole collection in {location}: create it, or open"):
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


WRITER = """
    import sys, numpy as np
    from ammi.search import open_store
    with open_store(sys.argv[1]) as index:
        for step in range(10**6):
            index.add(np.full((50, 1), step % 200, np.uint8), range(50), [f"step {step} " * 2000] * 50)
            print(step, flush=True)
"""


def test_one_process_at_a_time_has_a_file_and_one_that_is_killed_loses_nothing(location, monkeypatch):
    monkeypatch.setattr(milvus_server, "_PATIENCE", 0.2)
    MilvusStore.create(location, 8).close()
    code = textwrap.dedent(WRITER)
    with subprocess.Popen([sys.executable, "-c", code, location], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        process.stdout.readline()
        for use in (open_store, create_store):
            with pytest.raises(BlockingIOError, match=r"is open in another process, .* one at a time: close it"):
                use(location)
        while int(process.stdout.readline()) < 2:
            pass
        process.kill()
        last = int(["2", *process.stdout.read().split()][-1])
    monkeypatch.setattr(milvus_server, "_PATIENCE", 20.0)
    with MilvusStore.open(location) as index:
        entries = [entry for block in index.entries() for entry in block]
        assert sorted(entry.id for entry in entries) == list(range(50))
        for entry in entries:  # of the last acknowledged step, or of the one that was being written
            step = int(entry.code[0])
            assert step in (last, last + 1)
            assert entry.text == f"step {step} " * 2000
        index.add(ZERO, ["new"])
        assert len(index) == 51


def test_a_server_that_dies_while_it_is_loaded_keeps_what_was_acknowledged(remote):
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
        lost, advice = re.escape(f"no connection to {remote}, so that ammi failed to"), "check the address and that"
        assert re.fullmatch(rf"{lost} (read|write more than 0 rows) \(.+\): {advice} the server runs, .*", words)
        with pytest.raises(ConnectionError, match="failed to read"):
            index.search(ZERO)
        server.start()
    with MilvusStore.open(remote) as index:
        assert acknowledged <= len(index) <= acknowledged + 200
        assert len(list(index)) == len(index)


def test_a_call_that_fails_says_how_much_it_wrote_and_can_be_repeated(location, monkeypatch):
    monkeypatch.setattr(milvus_client, "_BATCH", 10)
    codes = np.zeros((30, 1), np.uint8)
    with MilvusStore.create(location, 8) as index:
        upsert, calls = index._client._client.upsert, count()

        def die_at_the_third(name, rows, **options):
            if len(rows) == 10 and next(calls) == 2:
                kill_server_of(index)
            return upsert(name, rows, **options)

        monkeypatch.setattr(index._client._client, "upsert", die_at_the_third)
        with pytest.raises(ConnectionError, match=r"failed to write more than 20 rows .* and repeat the call"):
            index.add(codes, [f"d{n}" for n in range(30)])
    with MilvusStore.open(location) as index:
        assert len(index) == 20
        index.add(codes, [f"d{n}" for n in range(30)])
        assert list(index) == [f"d{n}" for n in range(30)]


def test_a_dead_milvus_lite_says_so_and_a_new_one_takes_its_place(location):
    with MilvusStore.create(location, 8) as index:
        index.add(ZERO)
        kill_server_of(index)
        lost = rf"^no connection to {location}, so that ammi failed to read \(.+\): check the address and that"
        for use in (lambda: index.add(ZERO), lambda: index.search(ZERO), lambda: list(index.entries())):
            with pytest.raises(ConnectionError, match=f"{lost} the server runs, open it again, and repeat the call$"):
                use()
        with MilvusStore.open(location) as again:
            assert list(again) == [0]


# Damage


@pytest.mark.parametrize(("part", "times"), [(b"a text", 1), (b"n 7", 1), (b"a text", 4000), (b"n 7", 4000)])
def test_a_document_that_is_not_as_it_was_written_is_named(location, tmp_path, part, times):
    with MilvusStore.create(location, 8) as index:
        metadata = [{"name": f"n {n}"} for n in range(9)]
        index.add(np.zeros((9, 1), np.uint8), [f"d{n}" for n in range(9)], ["a text" * times] * 9, metadata)
    with closing(sqlite3.connect(tmp_path / "index.db")) as db:
        db.text_factory = bytes
        rows = db.execute("SELECT id, data FROM ammi_documents_1").fetchall()
        ((row, data),) = [(row, data) for row, data in rows if b"n 7" in data]
        db.execute("UPDATE ammi_documents_1 SET data = ? WHERE id = ?", (data.replace(part, part.upper()), row))
        db.commit()
    (sentence,) = check_store(location)
    assert 'document "d7" is not as it was written' in sentence
    with MilvusStore.open(location) as index, pytest.raises(DamagedError, match='document "d7" is not'):
        index.search(ZERO, 9)


def test_a_file_that_is_not_as_it_was_written_is_named(location, tmp_path):
    MilvusStore.create(location, 8, files={"model": b"a model"}).close()
    with closing(sqlite3.connect(tmp_path / "index.db")) as db:
        db.text_factory = bytes
        rows = db.execute("SELECT id, data FROM ammi").fetchall()
        ((row, data),) = [(row, data) for row, data in rows if b"YSBtb2RlbA==" in data]
        db.execute("UPDATE ammi SET data = ? WHERE id = ?", (data.replace(b"YSBt", b"ySBt"), row))
        db.commit()
    (sentence,) = check_store(location)
    assert 'document "files of the model 1/0" is not as it was written' in sentence


# A change of model


def test_an_index_of_another_version_is_refused(location):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(milvus_client, "FORMAT", 3)
        MilvusStore.create(location, 8).close()
    for use in (open_store, create_store, store_exists):
        with pytest.raises(
            ValueError, match=r"'ammi' of .* belongs to another program, collection or version of ammi: choose"
        ):
            use(location)


def test_what_is_written_during_a_recode_is_encoded_too(location):
    with MilvusStore.create(location, 8, files={"old": b"o"}) as index:
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
        assert index.add(np.zeros((1, 2), np.uint8)) == [301]
        assert index._client._client.list_collections() == [
            "ammi",
            "ammi_documents_2",
            "ammi_words",
        ]  # nothing is left of the old
        assert index._client.count("ammi") == 2  # the settings and the files
