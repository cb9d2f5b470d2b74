"""What a PostgreSQL server adds to an index: its addresses, other users of it, lost connections, approximate search."""

import threading
from contextlib import suppress

import numpy as np
import psycopg
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from ammi.search import DamagedError, OtherModelError, check_store, open_store, repair_store, store_exists
from ammi.search.filters import matches, parse
from ammi.search.postgres.store import PostgresStore
from ammi.search.postgres.values import escaped, unescaped
from tests.search.metadata import KEYS, filters, metadata
from tests.search.plain import ranking
from tests.search.stores import postgres_location, word_statistics
from tests.servers import PostgresServer, postgres

CODES = np.arange(24, dtype=np.uint8).reshape(3, 8)


@pytest.fixture
def location(tmp_path) -> str:
    return postgres_location(tmp_path)


@pytest.fixture
def index(location):
    with PostgresStore.create(location, 64, fingerprint="ab12") as index:
        yield index


def in_schema(location: str, statement: str) -> None:
    """What another program does to the tables of an index."""
    postgres().execute(f"SET search_path = {location.partition('#')[2]}, public", statement)


@given(st.lists(st.text(st.sampled_from("\0\1\2a"), max_size=6), min_size=2, max_size=2))
def test_texts_without_nul_keep_their_order(texts):
    a, b = texts
    assert unescaped(escaped(a)) == a
    assert "\0" not in escaped(a)
    assert (escaped(a) < escaped(b)) == (a < b)


@pytest.fixture(scope="module")
def indexes(tmp_path_factory):
    """Without an indexed key, and with all."""
    homes = tmp_path_factory.mktemp("none"), tmp_path_factory.mktemp("all")
    made = [
        PostgresStore.create(postgres_location(home), 8, keys=keys)
        for home, keys in zip(homes, ([], KEYS), strict=True)
    ]
    yield made
    for index in made:
        index.close()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(documents=st.lists(metadata, min_size=1, max_size=20), where=filters)
@example([{"a": 0.1}, {"a": 0.30000000000000004}], {"a": {">=": 0.30000000000000004}})
@example([{"a": "a\0b"}, {"a": "a"}, {"a": "a\1"}], {"a": {">": "a\0"}})
@example([{"a": 2**63}, {"a": 2**63 - 1}, {"a": 2.0**62}], {"a": [2.0**63, 2**62]})
@example([{"a": 2.0**53}, {"a": 2**53 + 1}], {"a": {"<=": 2**53}})
@example([{"a": 10**400}, {"a": 3e300}], {"a": {">": 3e300}})
@example([{"a": "x" * 300}, {"a": "x" * 299 + "y"}], {"a": {">": "x" * 300}})
@example([{"a": ["x" * 4000]}, {"a": [["x" * 4000]]}], {"a": "x" * 4000})
@example([{"a": list(range(40))}, {"a": 7.5}], {"a": {"not": list(range(1, 6000))}})
def test_sql_means_what_matches_does(indexes, documents, where):
    filter = parse(where)
    expected = [n for n, one in enumerate(documents) if matches(filter, one)]
    for index in indexes:
        index.delete(index)
        index.add(np.zeros((len(documents), 1), np.uint8), range(len(documents)), metadata=documents)
        assert [entry.id for block in index._blocks(filter) for entry in block] == expected


@pytest.fixture
def searched(location):
    """An index of many codes that has HNSW, opened for exact search and for approximate; with codes and queries."""
    rng = np.random.default_rng(0)
    codes, queries = (rng.integers(0, 256, (n, 8), dtype=np.uint8) for n in (1500, 20))
    url, _, name = location.partition("#")
    with PostgresStore.create(location, 64) as exact:
        exact.add(codes, metadata=[{"even": n % 2 == 0} for n in range(len(codes))])
        with PostgresStore.open(f"{url}&approximate=hnsw#{name}") as near:
            assert near.location == f"{url}&approximate=hnsw#{name}"
            assert near.search(queries, 10) == exact.search(queries, 10)  # as long as there is no HNSW
            near.optimize()
            yield exact, near, codes, queries


def nearest(index, queries) -> list[list[int]]:
    """The positions of the ten nearest, where the server thinks that to read all codes is dear."""
    with index._reading():
        index._database.execute("SET LOCAL enable_seqscan = off")
        return [places for _, places in index._near(queries, 10, ())]


def test_an_approximate_search_is_nearly_exact_and_others_stay_exact(searched):
    exact, near, codes, queries = searched
    distances, order = ranking(codes, queries)
    assert nearest(exact, queries) == order[:, :10].tolist()
    found = np.array(nearest(near, queries))
    away = np.bitwise_count(codes[found] ^ queries[:, None]).sum(axis=2)
    assert np.mean(away <= distances[:, 9:10]) > 0.95  # no farther away than the tenth: of equals any will do
    assert (np.diff(away, axis=1) >= 0).all()
    away = np.bitwise_count(codes[::2] ^ codes[0]).sum(axis=1)
    (hits,) = near.search(codes[:1], 20, {"even": True})  # with a filter it is exact
    assert [hit.id for hit in hits] == (2 * np.argsort(away, kind="stable")[:20]).tolist()


def test_an_approximate_search_finds_as_many_as_there_are(searched):
    exact, near, codes, queries = searched
    near.delete(range(10, len(codes)))
    assert len(near.search(queries[:1], 20)[0]) == 10
    exact.recode(lambda entries: (np.zeros((len(entries), 2), np.uint8), None), 16, fingerprint=None, files=None)
    with near._reading():
        assert near._database.execute("SELECT to_regclass('codes_2_hnsw')").fetchone() != (None,)
    assert len(near.search(np.zeros((1, 2), np.uint8), 5)[0]) == 5
    with pytest.raises(ValueError, match="hnsw, which takes codes of 64,000 bits at most, and these have 64,001"):
        PostgresStore.create(f"{near.location}2", 64_001)


def test_hnsw_is_made_where_processes_cannot_share_so_much_memory(searched, monkeypatch):
    exact, _, codes, queries = searched
    url, _, name = exact.location.partition("#")
    several = "options=-c%20min_parallel_table_scan_size%3D0%20-c%20max_parallel_maintenance_workers%3D2"
    monkeypatch.setattr("ammi.search.postgres.schema._BYTES_OF_HNSW", 1 << 40)
    monkeypatch.setattr("ammi.search.postgres.schema._MOST_BYTES_OF_HNSW", 1 << 40)
    with PostgresStore.create(f"{url}&approximate=hnsw&{several}#{name}_2", 64) as index:
        index.add(codes)
        index.optimize()
        with index._reading():
            assert index._database.execute("SELECT to_regclass('codes_1_hnsw')").fetchone() != (None,)
        assert len(index.search(queries[:1], 10)[0]) == 10


def test_two_writers_take_turns(index, location):
    failed: list[BaseException] = []

    def write(name: str) -> None:
        try:
            with PostgresStore.open(location) as mine:
                for n in range(10):
                    mine.add(CODES)
                    mine.add(CODES[:1], [f"{name}"], texts=[f"{n}"])
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    ids = list(index)
    assert sorted(map(str, ids)) == sorted([*map(str, range(60)), "a", "b"])


def test_threads_share_an_index(index):
    index.add(CODES, ["a", "b", "c"])
    found: list[list[str]] = []

    def search() -> None:
        for _ in range(10):
            found.append([hits[0].id for hits in index.search(CODES, 1)])

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [["a", "b", "c"]] * 40


def test_a_reader_sees_one_snapshot_while_others_write_and_recode(index, location):
    index.add(CODES, texts=["a", "b", "c"])
    with PostgresStore.open(location) as other:
        going = index.entries()
        with index._reading():
            assert index._count() == 3
            other.add(CODES)
            assert index._count() == 3
        first = next(going)
        other.recode(
            lambda entries: (np.zeros((len(entries), 1), np.uint8), None), 8, fingerprint="x", files={"a": b"b"}
        )
        assert [entry.code.tobytes() for entry in first] == [*map(bytes, CODES), *map(bytes, CODES)]
        assert index.n_bits == 8
        assert not list(going)
        tables = "SELECT count(*) FROM pg_tables WHERE tablename ~ '^codes_' AND schemaname = "
        name = f"'{location.partition('#')[2]}'"
        assert postgres().execute(tables + name) == [(2,)]  # somebody was reading the old one
        index.compact()
        assert postgres().execute(tables + name) == [(1,)]


def test_a_change_that_fails_changes_nothing(index):
    index.add(CODES, ["a", "b", "c"], ["oil", None, "price"])
    with suppress(ZeroDivisionError), index._writing():
        index.add(CODES[:1], ["d"], ["oil opec"])
        index.delete(["a"])
        1 / 0  # noqa: B018
    assert list(index) == ["a", "b", "c"]
    assert word_statistics(index, ["oil", "opec"]) == (2, 8, {"oil": 1, "opec": 0})


def test_a_lost_connection_loses_the_change_and_not_the_index(index, location):
    index.add(CODES, ["a", "b", "c"])

    def end_all() -> None:
        postgres().execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ammi'")

    with pytest.raises(ConnectionError, match=r"was lost \(.*\), and the change was not made"), index._writing():  # noqa: PT012
        index.add(CODES, [1, 2, 3])
        end_all()
        index.add(CODES, [4, 5, 6])
    assert list(index) == ["a", "b", "c"]
    end_all()  # connections that wait are renewed without a word
    index.add(CODES, [1, 2, 3])
    end_all()
    assert len(index) == 6
    assert location.partition("?")[0] in index.location


def test_a_server_that_dies_in_the_middle_of_a_load_keeps_whole_blocks(tmp_path):
    server = PostgresServer()
    with PostgresStore.create(f"{server.url}#load", 64) as index:
        added = len(index.add(CODES)) + len(index.add(np.zeros((1000, 8), np.uint8), texts=["a text"] * 1000))
        killer = threading.Timer(0.5, server.kill)
        lost = r"was lost \(.*\), and the change was not made: try again when the server is back"
        with pytest.raises(ConnectionError, match=lost), index._writing():  # noqa: PT012
            killer.start()
            while True:
                index.add(np.zeros((1000, 8), np.uint8), texts=["a text"] * 1000)
        killer.join()
        with pytest.raises(ConnectionError, match=r"no connection to .*: check the address, and that the server runs"):
            len(index)
        server.start_again()
        assert len(index) == added
        assert [entry.id for block in index.entries() for entry in block] == list(range(added))
        assert index.add(CODES) == [added, added + 1, added + 2]
        assert check_store(f"{server.url}#load") == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE documents SET text = 'altered' WHERE id = 'b'", "document 'b' is not as it was written"),
        ("UPDATE codes_1 SET code = ~code WHERE position = 1", "document 'b' is not as it was written"),
        ("DELETE FROM codes_1 WHERE position = 1", "document 'b' has no code"),
        ("DELETE FROM documents WHERE position = 1", "the document at position 1 is missing"),
    ],
)
def test_what_others_alter_is_found(index, location, change, words):
    index.add(CODES, ["a", "b", "c"], ["A", "B", "C"], [{"x": 1}] * 3)
    in_schema(location, change)
    found = words if "missing" not in words else "3 documents were written, and 2 are there"
    assert found in check_store(location)[0]
    if "no code" not in words:
        with pytest.raises(DamagedError, match=words):
            index.search(CODES, 3)
    with pytest.raises(ValueError, match=r"on a PostgreSQL server, which has no repair: restore the schema"):
        repair_store(location)


@pytest.mark.parametrize(
    ("url", "error", "words"),
    [
        ("postgresql://u:hush@127.0.0.1:1/db", ConnectionError, r"no connection to postgresql://u@127.0.0.1:1/db \("),
        ("postgresql://u:hush@no-such-host.invalid/db", ConnectionError, "no connection to .*: check the address"),
        ("postgresql://u:hu/sh@host/db", ValueError, r"password in postgresql://u@host/db holds .*write / as %2F"),
        (
            "postgresql://u:hush@host/db?colour=red",
            ValueError,
            "has the option 'colour', which PostgreSQL does not know",
        ),
        (
            "postgresql://u:hu%sh@host/db",
            ValueError,
            "is no address of a PostgreSQL server: write .*% in a password as %25",
        ),
        ("postgresql://u:hush@host/db#two words", ValueError, "has the name 'two words', expected letters"),
        ("postgresql://u:hush@host/db#pg_catalog", ValueError, "has the name 'pg_catalog'"),
        ("postgresql://u:hush@host/db?approximate=ivf", ValueError, "approximate is 'ivf' in .*: write hnsw"),
        ("postgres:hush", ValueError, "is no address of a PostgreSQL server"),
    ],
)
def test_wrong_addresses_are_refused_in_a_sentence_without_the_password(url, error, words):
    for use in (open_store, store_exists, PostgresStore.create):
        with pytest.raises(error, match=words) as refused:
            use(url)
        assert "hush" not in str(refused.value).replace("postgres:hush", "")
        assert "\n" not in str(refused.value)


def test_a_refused_password_is_not_repeated(monkeypatch, tmp_path):
    server = postgres()
    server.let_in_by_password("careful", "right")
    server.execute("GRANT CREATE ON DATABASE postgres TO careful")
    url = f"postgresql://careful:WRONG@/postgres?host={server.socket}#careful"
    for wrong in (url, url.replace(":WRONG", "")):
        with pytest.raises(PermissionError, match=r"refused the user \(.*give the password in PGPASSWORD") as refused:
            open_store(wrong)
        assert "WRONG" not in str(refused.value)
    with PostgresStore.create(url.replace("WRONG", "right"), 64) as index:
        assert index.location == url.replace(":WRONG", "")
        assert "right" not in repr(index)
    monkeypatch.setenv("PGPASSWORD", "right")
    with open_store(index.location) as again:
        assert len(again) == 0
    monkeypatch.delenv("PGPASSWORD")
    passwords = tmp_path / "pgpass"
    passwords.write_text(f"{server.socket}:*:*:careful:right\n*:*:*:careful:right\n")
    passwords.chmod(0o600)
    monkeypatch.setenv("PGPASSFILE", str(passwords))
    open_store(index.location).close()
    monkeypatch.setenv("PGUSER", "careful")
    monkeypatch.setenv("PGHOST", server.socket)
    monkeypatch.setenv("PGDATABASE", "postgres")
    open_store("postgresql://#careful").close()


def test_databases_that_will_not_do_say_why(tmp_path):
    server = postgres()
    server.execute("CREATE DATABASE bare", "CREATE DATABASE old ENCODING 'SQL_ASCII' LOCALE 'C' TEMPLATE template0")
    server.execute("CREATE ROLE guest LOGIN", "CREATE SCHEMA ammi AUTHORIZATION guest", database="bare")
    as_guest = server.url_of("bare", "guest")
    with pytest.raises(ValueError, match=r"'bare' of .* is without pgvector: its owner or a superuser runs CREATE EXT"):
        PostgresStore.create(as_guest, 8)
    assert not store_exists(as_guest)
    PostgresStore.create(f"{server.url_of('bare')}#own", 8).close()  # a superuser's creates the extension
    with pytest.raises(ValueError, match=r"is in SQL_ASCII, expected UTF8: use a database"):
        PostgresStore.create(server.url_of("old"), 8)
    with pytest.raises(FileNotFoundError, match=r"has no such database \(.*: create it, or name another one"):
        PostgresStore.create(server.url_of("nowhere"), 8)


def test_pgvector_may_be_in_any_schema(tmp_path):
    server = postgres()
    server.execute("CREATE DATABASE elsewhere")
    server.execute('CREATE SCHEMA "Extra"', 'CREATE EXTENSION vector SCHEMA "Extra"', database="elsewhere")
    with PostgresStore.create(f"{server.url_of('elsewhere')}&approximate=hnsw", 64) as index:
        index.add(CODES, ["a", "b", "c"])
        assert [hits[0].id for hits in index.search(CODES, 1)] == ["a", "b", "c"]
        assert index.location.endswith("elsewhere?host=" + server.socket + "&approximate=hnsw")


def test_schemas_of_others_are_left_alone(index, location):
    server = postgres()
    server.execute("CREATE SCHEMA theirs", "CREATE TABLE theirs.ammi (mine text)", "CREATE SCHEMA vacant")
    url = server.url
    assert not store_exists(f"{url}#theirs")
    with pytest.raises(FileNotFoundError, match="there is no collection in"):
        open_store(f"{url}#theirs")
    with pytest.raises(
        FileExistsError, match=r"the schema 'theirs' of .* holds tables of another program: choose another"
    ):
        PostgresStore.create(f"{url}#theirs", 8)
    assert server.execute("SELECT count(*) FROM pg_class WHERE relnamespace = 'theirs'::regnamespace") == [(1,)]
    PostgresStore.create(f"{url}#vacant", 8).close()
    with pytest.raises(FileExistsError, match="holds a collection: open it"):
        PostgresStore.create(location, 8)
    in_schema(location, "UPDATE ammi SET format = 9")
    with pytest.raises(ValueError, match="has format 9, and this ammi reads format 4: upgrade ammi"):
        open_store(location)


def test_a_table_that_is_missing_is_not_looked_for_elsewhere(index, location):
    server = postgres()
    index.add(CODES, ["a", "b", "c"], ["one", "two", "three"])
    schema = location.partition("#")[2]
    server.execute(f"CREATE TABLE public.documents AS TABLE {schema}.documents", f"DROP TABLE {schema}.documents")
    try:
        for change in (lambda: index.delete(["a"]), lambda: index.add(CODES, ["a", "b", "c"]), lambda: list(index)):
            with pytest.raises(FileNotFoundError, match=r"restore the schema if only a table of it is missing"):
                change()
        assert server.execute("SELECT count(*) FROM public.documents") == [(3,)]
    finally:
        server.execute("DROP TABLE public.documents")


def test_users_without_rights_can_do_no_more_than_they_may(index, location):
    server = postgres()
    index.add(CODES, ["a", "b", "c"])
    schema = location.partition("#")[2]
    server.execute(
        "CREATE ROLE reader LOGIN",
        f"GRANT USAGE ON SCHEMA {schema} TO reader",
        f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO reader",
    )
    as_reader = f"{server.url_of('postgres', 'reader')}#{schema}"
    with PostgresStore.open(as_reader) as reading:
        assert [hits[0].id for hits in reading.search(CODES, 1)] == ["a", "b", "c"]
        with pytest.raises(PermissionError, match=r"does not allow it \(permission denied .*: let the owner"):
            reading.add(CODES)
        with pytest.raises(PermissionError, match="can only be read by this user"):
            reading.compact()
        index.recode(lambda entries: (CODES[: len(entries)], None), 64, fingerprint="new", files=None)
        assert [hits[0].id for hits in reading.search(CODES, 1)] == ["a", "b", "c"]  # from other tables
    with pytest.raises(PermissionError, match="permission denied for database"):
        PostgresStore.create(f"{server.url_of('postgres', 'reader')}#other", 8)
    assert list(index) == ["a", "b", "c"]


def test_codes_of_another_model_or_of_other_bits_change_nothing(index):
    index.add(CODES, ["a", "b", "c"], fingerprint="ab12")
    with pytest.raises(OtherModelError, match=r"codes are of model cd34, .* those of model ab12"):
        index.add(CODES, fingerprint="cd34")
    with pytest.raises(ValueError, match=r"shape \(3, 7\), but this collection of 64 bits"):
        index.add(CODES[:, :7])
    assert list(index) == ["a", "b", "c"]


def test_an_earlier_format_is_converted(index, location):
    """Format 2 had no words of titles and ids in its word index."""
    codes = np.repeat(CODES, 1000, axis=0)
    index.add(codes, [f"id{n}" for n in range(3000)], ["a text"] * 3000, [{"title": "Wheat"}] * 3000)
    index.delete(["id7"])
    known = word_statistics(index, ["wheat", "text"])
    in_schema(location, "DELETE FROM words; UPDATE ammi SET format = 2")
    with pytest.raises(ValueError, match="has format 2, and this ammi reads format 4: convert it with ammi index upg"):
        open_store(location)
    assert PostgresStore.upgrade(location) == (2, 4, 2999, None)
    assert PostgresStore.upgrade(location) == (4, 4, 2999, None)
    assert check_store(location) == []
    with open_store(location) as converted:
        assert word_statistics(converted, ["wheat", "text"]) == known
    in_schema(location, "ALTER TABLE ammi DROP COLUMN language")
    with pytest.raises(ValueError, match=r"tables of another version of ammi .*: upgrade ammi, or export"):
        open_store(location)


def test_an_index_that_was_deleted_says_so(index, location):
    in_schema(location, f"DROP SCHEMA {location.partition('#')[2]} CASCADE")
    for use in (lambda: len(index), lambda: index.add(CODES)):
        with pytest.raises(FileNotFoundError, match="was deleted or replaced after it was opened: open it again"):
            use()


def test_a_writer_that_waits_too_long_gives_up(index, location, monkeypatch):
    monkeypatch.setattr("ammi.search.postgres.postgres_database.PATIENCE", 0.2)
    with psycopg.connect(postgres().url) as other:
        other.execute(f"SELECT FROM {location.partition('#')[2]}.ammi FOR UPDATE")
        with pytest.raises(TimeoutError, match=r"another process has been writing to .* for"):
            index.add(CODES)
    index.add(CODES)
    assert len(index) == 3
