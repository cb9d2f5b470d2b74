"""The PostgreSQL schema of a collection: finding and creating it, and its optional HNSW index."""

from contextlib import suppress

from ammi.search.postgres.address import Address
from ammi.search.postgres.driver import PostgresConnection, psycopg
from ammi.search.postgres.postgres_database import PostgresDatabase, PostgresState
from ammi.search.postgres.postgres_tables import SCHEMA, VECTOR_COLUMNS, WORD_TABLES, PostgresTables, code_columns
from ammi.search.store_methods import About

_MOST_BITS_OF_HNSW = 64_000
_BYTES_OF_HNSW = 1000  # of memory per code while it is built; with less, building takes far longer
_MOST_BYTES_OF_HNSW = 1 << 30  # asked for at most, if the server's own setting is lower
_OLD_TABLES = (
    "SELECT relname FROM pg_class WHERE relnamespace = %s::regnamespace AND relkind = 'r' "
    "AND relname ~ '^(codes|vectors)_[0-9]+$' AND relname <> ALL(%s)"
)


def holds_index(database: PostgresDatabase) -> bool:
    """Return whether the schema holds a collection."""
    with database.explaining(), database.held() as session:
        find = "SELECT FROM pg_attribute WHERE attrelid = to_regclass(%s) AND attname = 'format'"
        return session.db.execute(find, (f'"{database.address.schema}".ammi',)).fetchone() is not None


def create_schema(address: Address, about: About, keys: list[str], files: dict[str, bytes]) -> None:
    """Create the schema and its tables in one transaction; refuse a schema with other tables."""
    database = PostgresDatabase(address)
    try:
        with database.explaining(), database.held() as session:
            _check_database(database, session.db)
            with suppress(psycopg.Error):  # a user who may not gets a sentence when the extension is looked for
                session.db.execute("CREATE EXTENSION IF NOT EXISTS vector")
            with session.db.transaction():
                session.db.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (address.schema,))
                _take_schema(database, session.db)
                _make_tables(database, about, keys, files)
    finally:
        database.close()


def _check_database(database: PostgresDatabase, db: PostgresConnection) -> None:
    ((encoding,),) = db.execute("SHOW server_encoding")
    if encoding != "UTF8":
        raise ValueError(
            f"the database of {database.location} is in {encoding}, expected UTF8: use a database that was created "
            "with ENCODING 'UTF8'"
        )


def _take_schema(database: PostgresDatabase, db: PostgresConnection) -> None:
    """Create the schema, or use one that is empty."""
    address = database.address
    there = db.execute("SELECT oid FROM pg_namespace WHERE nspname = %s", (address.schema,)).fetchone()
    if there is None:
        db.execute(f'CREATE SCHEMA "{address.schema}"')
    elif holds_index(database):
        raise FileExistsError(f"{address.shown} holds a collection: open it, or create the new one elsewhere")
    elif db.execute("SELECT FROM pg_class WHERE relnamespace = %s", there).fetchone() is not None:
        raise FileExistsError(
            f"the schema {address.schema!r} of {address.shown} holds tables of another program: choose another "
            "name after the # of the URL"
        )


def _make_tables(database: PostgresDatabase, about: About, keys: list[str], files: dict[str, bytes]) -> None:
    if database.address.approximate:
        check_bits_of_hnsw(database, about.n_bits)
    db, tables = database.session.db, PostgresTables(database)
    db.execute(database.settings(db))
    vectors = (f"CREATE TABLE vectors_1 {VECTOR_COLUMNS}",) if about.vectors else ()
    codes = f"CREATE TABLE codes_1 {code_columns(about.n_bits)}"
    for statement in (*SCHEMA, codes, *vectors, *(WORD_TABLES if about.text_index else ())):
        db.execute(statement)
    state = PostgresState(**PostgresState.first(about))
    db.execute(f"INSERT INTO ammi VALUES ({', '.join(['%s'] * len(state.row()))})", state.row())
    tables.insert_keys({name: key for key, name in enumerate(keys)})
    tables.set_files(files)


def has_hnsw(database: PostgresDatabase) -> bool:
    """Return whether the codes have an HNSW index; call it inside `reading` or `writing`."""
    return database.execute("SELECT to_regclass(%s)", (f"{database.state.code_table}_hnsw",)).fetchone() != (None,)


def make_hnsw(database: PostgresDatabase) -> None:
    """Build the HNSW index if it does not exist."""
    with database.reading():
        there = has_hnsw(database)
    if not there:
        with database.writing():
            if not has_hnsw(database):
                index_by_hnsw(database)


def index_by_hnsw(database: PostgresDatabase) -> None:
    """Build the HNSW index of all codes, which is far faster than updating it with each addition."""
    db, table = database.session.db, database.state.code_table
    check_bits_of_hnsw(database, database.state.n_bits)
    ((count,),) = db.execute(f"SELECT count(*) FROM {table}")
    memory = min(count * _BYTES_OF_HNSW, _MOST_BYTES_OF_HNSW) >> 10
    db.execute(
        "SELECT set_config('maintenance_work_mem', GREATEST(setting::bigint, %s)::text, true) FROM pg_settings "
        "WHERE name = 'maintenance_work_mem'",
        (memory,),
    )
    pgvector = database.schema_of_pgvector(db)
    create = f'CREATE INDEX {table}_hnsw ON {table} USING hnsw (code "{pgvector}".bit_hamming_ops)'
    try:
        with db.transaction():
            db.execute(create)
    except (psycopg.errors.DiskFull, psycopg.errors.OutOfMemory):  # containers have little shared memory
        db.execute("SET LOCAL max_parallel_maintenance_workers = 0")
        db.execute(create)


def check_bits_of_hnsw(database: PostgresDatabase, n_bits: int) -> None:
    """Refuse codes that are too long for HNSW."""
    if n_bits > _MOST_BITS_OF_HNSW:
        raise ValueError(
            f"{database.location} asks for hnsw, which takes codes of {_MOST_BITS_OF_HNSW:,} bits at most, and "
            f"these have {n_bits:,}: leave ?approximate=hnsw out of the URL"
        )


def drop_old(database: PostgresDatabase) -> None:
    """Drop the tables that a rebuild left behind, unless somebody reads them or the user may not."""
    with suppress(TimeoutError, PermissionError), database.writing():
        old = database.execute(_OLD_TABLES, (f'"{database.address.schema}"', database.state.tables)).fetchall()
        if old:
            database.execute("SET LOCAL lock_timeout = '1s'")
            database.execute(f"DROP TABLE {', '.join(name for (name,) in old)}")
