"""The tables of a collection on a PostgreSQL server.

ammi           one row: the settings and counters of the collection; writers lock it to take turns
documents      id, text and metadata, ordered by position; a position is never used again
codes_N        a code bit(m), and the checksum of the document with it; a rebuild makes the next N
vectors_N      a vector as `vectors` packs it, if vectors are kept
words          the words of a text as numbers, if there is a word index
vocabulary     each word of the texts, and its stem
key_values     the values of indexed keys; the table indexed_keys has the keys
files          the model
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import terms_of
from ammi.plain import as_json
from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Id, Metadata, Record, altered, parsed
from ammi.search.hamming import Codes
from ammi.search.headings import searched_text, words_beside
from ammi.search.postgres.driver import TupleRow
from ammi.search.postgres.postgres_database import PostgresDatabase
from ammi.search.postgres.values import (
    as_jsonb,
    escaped,
    read_id,
    sortable,
    stored_id,
    unescaped,
    word_number,
)
from ammi.search.sql.sql_tables import KEYED_CHANGES, SqlTables, checksums_of
from ammi.search.vectors import KeptVectors, Packed, unpacked, vector_checksum, vector_rows

Positions = NDArray[np.int64]

SCHEMA = (
    "CREATE TABLE ammi (n_bits int, fingerprint text, vector_kind text, vector_width int, text_index boolean, "
    "language text, texts bigint, characters bigint, change bigint, position bigint, number bigint, format int, "
    "codes int, vectors int)",
    'CREATE TABLE documents (position bigint PRIMARY KEY, id text COLLATE "C" NOT NULL, id_is_text boolean NOT NULL, '
    "change bigint NOT NULL, text text, metadata jsonb NOT NULL, metadata_text text NOT NULL)",
    "CREATE INDEX documents_id ON documents USING hash (id)",  # takes ids of any length
    "CREATE TABLE files (number int PRIMARY KEY, name text NOT NULL, content bytea NOT NULL)",
    "CREATE TABLE indexed_keys (key int PRIMARY KEY, name text NOT NULL)",
    "CREATE TABLE key_values (key int, value bytea, position bigint, PRIMARY KEY (key, value, position))",
    "CREATE INDEX key_values_position ON key_values (position)",
    KEYED_CHANGES,
)
WORD_TABLES = (
    "CREATE TABLE words (position bigint PRIMARY KEY, characters bigint NOT NULL, words bigint[] NOT NULL)",
    "CREATE INDEX words_words ON words USING gin (words)",
    'CREATE TABLE vocabulary (word text COLLATE "C" PRIMARY KEY, stem text COLLATE "C" NOT NULL)',
    "CREATE INDEX words_by_stem ON vocabulary (stem)",
)
_DOCUMENT = "position, id, id_is_text, text, metadata_text, code, codes.checksum"
_KIND = (
    "CASE jsonb_typeof({}) WHEN 'string' THEN 'text' WHEN 'boolean' THEN 'bool' WHEN 'number' THEN 'number' "
    "WHEN 'null' THEN NULL ELSE 'other' END"
)
_KINDS = f"""
SELECT key, kinds, count(*) FROM (
    SELECT key, CASE WHEN jsonb_typeof(value) <> 'array' THEN {_KIND.format("value")} ELSE (
        SELECT string_agg(DISTINCT kind, ' ' ORDER BY kind)
        FROM (SELECT {_KIND.format("item")} AS kind FROM jsonb_array_elements(value) AS item) AS kinds
    ) END AS kinds
    FROM documents, jsonb_each(metadata)
) AS found WHERE kinds IS NOT NULL GROUP BY key, kinds
"""
_LENGTH = 4  # bytes before those of a code


def code_columns(n_bits: int) -> str:
    return f"(position bigint PRIMARY KEY, code bit({n_bits}) NOT NULL, checksum bigint NOT NULL)"


VECTOR_COLUMNS = "(position bigint PRIMARY KEY, vector bytea NOT NULL, checksum bigint NOT NULL)"


class PostgresTables(SqlTables):
    """The tables of one schema."""

    json_column = "metadata_text"
    stored = staticmethod(sortable)
    _database: PostgresDatabase

    def find(self, ids: Iterable[Id]) -> list[int | None]:
        keys = [*map(stored_id, ids)]
        select = "SELECT id, position FROM documents WHERE id = ANY(%s::text[])"
        found = dict(self._database.execute(select, (keys,)).fetchall())
        return [found.get(key) for key in keys]

    def append(self, positions: range, records: Sequence[Record], codes: Codes, vectors: Packed | None) -> None:
        state, insert = self._database.state, self._database.insert
        placed = list(zip(positions, records, strict=True))
        insert("documents", (_row(position, record, state.change) for position, record in placed))
        made = checksums_of(records, codes)
        insert(state.code_table, zip(positions, bit_strings(codes, state.n_bits), made, strict=True))
        if vectors is not None:
            insert(state.vector_table, vector_rows(positions, vectors))
        if state.text_index:
            texts = [record.text for record in records if record.text is not None]
            self.add_words(placed)
            self.count_texts(len(texts), sum(map(len, texts)))
        self.add_values(self.indexed(), ((position, record.metadata) for position, record in placed))

    def add_words(self, documents: Iterable[tuple[int, Record]]) -> None:
        """Put the words of documents with texts into the word index and the vocabulary."""
        searched = [
            (position, len(text), searched_text(id, text, metadata))
            for position, (id, text, metadata, _) in documents
            if text is not None
        ]
        self._database.insert("words", ((position, length, _word_numbers(text)) for position, length, text in searched))
        self.learn_words([text for *_, text in searched])

    def words_among(self, column: str, values: Collection[str]) -> list[str]:
        select = f"SELECT word FROM vocabulary WHERE {column} = ANY(%s::text[])"
        return [word for (word,) in self._database.execute(select, ([*values],)).fetchall()]

    def remove(self, positions: Sequence[int]) -> None:
        state, chosen = self._database.state, ([*positions],)
        for table in ("documents", "key_values", *state.tables):
            self._database.execute(f"DELETE FROM {table} WHERE position = ANY(%s::bigint[])", chosen)
        if state.text_index:
            gone = "WITH gone AS (DELETE FROM words WHERE position = ANY(%s::bigint[]) RETURNING characters)"
            select = f"{gone} SELECT count(*), COALESCE(sum(characters), 0)::bigint FROM gone"
            ((texts, characters),) = self._database.execute(select, chosen)
            self.count_texts(-texts, -characters)

    def replace_metadata(self, metadata: Mapping[int, Metadata]) -> None:
        state, entries = self._database.state, self.entries([*metadata])
        positions, new = list(entries), [metadata[position] for position in entries]
        spelled = [as_json(keys) for keys in new]
        jsonb = list(map(as_jsonb, new, spelled))
        codes = np.array([entry.code for entry in entries.values()], np.uint8)
        old = zip(entries.values(), spelled, strict=True)
        made = checksums_of([entry.record._replace(json=json) for entry, json in old], codes)
        self._database.execute(
            "UPDATE documents SET change = %s, metadata = new.metadata::jsonb, metadata_text = new.metadata_text "
            "FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS new (position, metadata, metadata_text) "
            "WHERE documents.position = new.position",
            (state.change, positions, jsonb, spelled),
        )
        self._database.execute(
            f"UPDATE {state.code_table} AS codes SET checksum = new.checksum "
            "FROM unnest(%s::bigint[], %s::bigint[]) AS new (position, checksum) WHERE codes.position = new.position",
            (positions, made),
        )
        renamed = {
            position: entry.record._replace(metadata=metadata[position])
            for position, entry in entries.items()
            if words_beside(entry.id, entry.metadata) != words_beside(entry.id, metadata[position])
        }
        if renamed and state.text_index:
            self._database.execute("DELETE FROM words WHERE position = ANY(%s::bigint[])", ([*renamed],))
            self.add_words(renamed.items())
        self._database.execute("DELETE FROM key_values WHERE position = ANY(%s::bigint[])", (positions,))
        self.add_values(self.indexed(), metadata.items())

    def entries(self, positions: Sequence[int]) -> dict[int, Entry]:
        select = self.select_entries("position = ANY(%s::bigint[])")
        return self.read(self._database.execute(select, ([*positions],)).fetchall())

    def select_entries(self, condition: str) -> str:
        """Return the statement for the rows that `read` takes."""
        vector = ", vector, kept.checksum" if self._database.state.vector_kind else ""
        return f"SELECT {_DOCUMENT}{vector} FROM {self.joined()} WHERE {condition} ORDER BY position"

    def joined(self) -> str:
        """Return the documents together with their codes, and vectors."""
        state = self._database.state
        vectors = f" LEFT JOIN {state.vector_table} AS kept USING (position)" if state.vector_kind else ""
        return f"documents LEFT JOIN {state.code_table} AS codes USING (position){vectors}"

    def read(self, rows: Sequence[TupleRow]) -> dict[int, Entry]:
        """Return documents by position; a DamagedError names one whose checksum is wrong."""
        if not rows:
            return {}
        kept = self._database.state.about.vectors
        positions, keys, are_texts, texts, spelled, codes, written, *vectors = zip(*rows, strict=True)
        ids = list(map(read_id, keys, are_texts))
        for id, code in zip(ids, codes, strict=True):
            if code is None:
                raise self.damaged(f"document {id!r} has no code")
        read_texts = [None if text is None else unescaped(text) for text in texts]
        packed = read_codes(codes, -1)
        if problem := altered(ids, read_texts, spelled, packed, written):
            raise self.damaged(problem)
        read_vectors = (
            self._read_vectors(zip(positions, ids, *vectors, strict=True), kept) if kept else [None] * len(rows)
        )
        found = zip(ids, packed, read_texts, parsed(spelled), read_vectors, strict=True)
        return dict(zip(positions, map(Entry._make, found), strict=True))

    def _read_vectors(
        self, rows: Iterable[tuple[int, Id, bytes | None, int]], kept: KeptVectors
    ) -> NDArray[np.float32]:
        packed: list[bytes] = []
        for position, id, vector, written in rows:
            if vector is None or len(vector) != kept.n_bytes or vector_checksum(position, vector) != written:
                raise self.damaged(f"the vector of document {id!r} is not as it was written")
            packed.append(vector)
        return unpacked(np.frombuffer(b"".join(packed), np.uint8).reshape(len(packed), kept.n_bytes), kept)

    def kinds(self) -> Iterable[tuple[str, str, int]]:
        return ((unescaped(name), kinds, n) for name, kinds, n in self._database.execute(_KINDS))

    def indexed(self) -> dict[str, int]:
        rows = self._database.execute("SELECT name, key FROM indexed_keys ORDER BY key").fetchall()
        return {unescaped(name): key for name, key in rows}

    def insert_keys(self, keys: Mapping[str, int]) -> None:
        self._database.insert("indexed_keys", ((key, escaped(name)) for name, key in keys.items()))

    def set_files(self, files: Mapping[str, bytes]) -> None:
        self._database.execute("DELETE FROM files")
        for number, (name, content) in enumerate(files.items()):
            self._database.execute("INSERT INTO files VALUES (%s, %s, %b)", (number, escaped(name), content))

    def files(self) -> dict[str, bytes]:
        rows = self._database.execute("SELECT name, content FROM files ORDER BY number").fetchall()
        return {unescaped(name): content for name, content in rows}

    def file(self, name: str) -> bytes | None:
        row = self._database.execute("SELECT content FROM files WHERE name = %s", (escaped(name),)).fetchone()
        return row and row[0]

    def set_file(self, name: str, content: bytes) -> None:
        self._database.execute("DELETE FROM files WHERE name = %s", (escaped(name),))
        ((number,),) = self._database.execute("SELECT COALESCE(max(number) + 1, 0) FROM files").fetchall()
        self._database.execute("INSERT INTO files VALUES (%s, %s, %b)", (number, escaped(name), content))

    def has_keyed_changes(self) -> bool:
        return self._database.execute("SELECT to_regclass('keyed_changes') IS NOT NULL").fetchone()[0]

    def damaged(self, cause: str) -> DamagedError:
        return DamagedError(
            f"{self._database.location} is damaged ({cause}): restore a copy of the schema, or build "
            "it again from the documents"
        )


def bit_strings(codes: Codes, n_bits: int) -> Iterator[str]:
    """Yield codes as PostgreSQL writes them."""
    digits = (np.unpackbits(codes, axis=1, count=n_bits) + ord("0")).tobytes().decode()
    return (digits[start : start + n_bits] for start in range(0, len(digits), n_bits))


def read_codes(rows: Sequence[bytes], width: int) -> Codes:
    """Return codes as they come in their binary form, (n, width)."""
    return np.frombuffer(b"".join(row[_LENGTH:] for row in rows), np.uint8).reshape(len(rows), width)


def _word_numbers(text: str) -> str:
    """Return the numbers of a text's words as a PostgreSQL array literal, far faster than psycopg does."""
    return f"{{{','.join(map(str, map(word_number, set(terms_of(text)))))}}}"


def _row(position: int, record: Record, change: int) -> tuple[int, str, bool, int, str | None, str, str]:
    text = None if record.text is None else escaped(record.text)
    jsonb = as_jsonb(record.metadata, record.json)
    return position, stored_id(record.id), isinstance(record.id, str), change, text, jsonb, record.json
