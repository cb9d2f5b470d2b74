"""The tables of a collection on a PostgreSQL server: how they are made, and what of a document stands in which.

ammi           one row: what the codes are, and where the collection stands; a lock on it is the writers' turn
documents      id, text and metadata; they stand in the order of their positions, which are never used again
codes_N        a code bit(m), and the checksum of the document with it; a rebuild makes the next N
vectors_N      a vector as `vectors` packs it, where vectors are kept
words          the words of a text as numbers, where words are indexed
key_values     the values of the keys that filters find fast, which are in indexed_keys
files          the model
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import words_of
from ammi.plain import as_json
from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Id, Metadata, Record, altered, checksums, parsed
from ammi.search.filters import values_of
from ammi.search.hamming import Codes
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
from ammi.search.sql.sessions import about_of
from ammi.search.vectors import KeptVectors, Packed, unpacked, vector_checksum, vector_rows

Positions = NDArray[np.int64]

SCHEMA = (
    "CREATE TABLE ammi (format int, n_bits int, fingerprint text, vector_kind text, vector_width int, "
    "text_index boolean, codes int, vectors int, change bigint, position bigint, number bigint, texts bigint, "
    "characters bigint)",
    'CREATE TABLE documents (position bigint PRIMARY KEY, id text COLLATE "C" NOT NULL, id_is_text boolean NOT NULL, '
    "change bigint NOT NULL, text text, metadata jsonb NOT NULL, metadata_text text NOT NULL)",
    "CREATE INDEX documents_id ON documents USING hash (id)",  # which takes ids of any length
    "CREATE TABLE files (number int PRIMARY KEY, name text NOT NULL, content bytea NOT NULL)",
    "CREATE TABLE indexed_keys (key int PRIMARY KEY, name text NOT NULL)",
    "CREATE TABLE key_values (key int, value bytea, position bigint, PRIMARY KEY (key, value, position))",
    "CREATE INDEX key_values_position ON key_values (position)",
)
WORD_TABLES = (
    "CREATE TABLE words (position bigint PRIMARY KEY, characters bigint NOT NULL, words bigint[] NOT NULL)",
    "CREATE INDEX words_words ON words USING gin (words)",
)
_ROWS_AT_ONCE = 5_000
_DOCUMENT = "position, id, id_is_text, text, metadata_text, code, codes.checksum"
_LENGTH = 4  # bytes before those of a code


def code_columns(n_bits: int) -> str:
    return f"(position bigint PRIMARY KEY, code bit({n_bits}) NOT NULL, checksum bigint NOT NULL)"


VECTOR_COLUMNS = "(position bigint PRIMARY KEY, vector bytea NOT NULL, checksum bigint NOT NULL)"


class Tables:
    """The tables of one collection. Its methods are called while reading or writing."""

    def __init__(self, database: PostgresDatabase):
        self._database = database

    def find(self, ids: Iterable[Id]) -> list[int | None]:
        """The position of each id, or None where there is no such document."""
        keys = [*map(stored_id, ids)]
        select = "SELECT id, position FROM documents WHERE id = ANY(%s::text[])"
        found = dict(self._database.execute(select, (keys,)).fetchall())
        return [found.get(key) for key in keys]

    def append(self, positions: range, records: Sequence[Record], codes: Codes, vectors: Packed | None) -> None:
        """Add documents at new positions."""
        state, copy = self._database.state, self._database.copy
        spelled = [record.json for record in records]
        placed = list(zip(positions, records, strict=True))
        rows = (
            (position, stored_id(record.id), isinstance(record.id, str), state.change, _text(record), jsonb, json)
            for (position, record), json in zip(placed, spelled, strict=True)
            for jsonb in [as_jsonb(record.metadata, json)]
        )
        copy("documents", rows)
        made = checksums([record.id for record in records], [record.text for record in records], spelled, codes)
        copy(state.code_table, zip(positions, bit_strings(codes, state.n_bits), made, strict=True))
        if vectors is not None:
            copy(state.vector_table, vector_rows(positions, vectors))
        if state.text_index:
            texts = [(position, record.text) for position, record in placed if record.text is not None]
            copy("words", ((position, len(text), _word_numbers(text)) for position, text in texts))
            self._count_texts(len(texts), sum(len(text) for _, text in texts))
        if keys := self.indexed():
            self._add_keys(keys, ((position, record.metadata) for position, record in placed))

    def remove(self, positions: Sequence[int]) -> None:
        """Take away the documents at positions."""
        state, chosen = self._database.state, ([*positions],)
        for table in ("documents", "key_values", *state.tables):
            self._database.execute(f"DELETE FROM {table} WHERE position = ANY(%s::bigint[])", chosen)
        if state.text_index:
            gone = "WITH gone AS (DELETE FROM words WHERE position = ANY(%s::bigint[]) RETURNING characters)"
            select = f"{gone} SELECT count(*), COALESCE(sum(characters), 0)::bigint FROM gone"
            ((texts, characters),) = self._database.execute(select, chosen)
            self._count_texts(-texts, -characters)

    def replace_metadata(self, new: Mapping[int, Metadata]) -> None:
        """Give the documents at positions other metadata."""
        state, entries = self._database.state, self.entries(new)
        positions, old = list(entries), list(entries.values())
        spelled = [as_json(new[position]) for position in positions]
        jsonb = [as_jsonb(new[position], json) for position, json in zip(positions, spelled, strict=True)]
        codes = np.array([entry.code for entry in old], np.uint8)
        made = checksums([entry.id for entry in old], [entry.text for entry in old], spelled, codes)
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
        if keys := self.indexed():
            self._database.execute("DELETE FROM key_values WHERE position = ANY(%s::bigint[])", (positions,))
            self._add_keys(keys, new.items())

    def entries(self, positions: Iterable[int]) -> dict[int, Entry]:
        """Those of these documents that are there, in insertion order; each is held to its checksum."""
        select = self.select_entries("position = ANY(%s::bigint[])")
        return self.read(self._database.execute(select, ([*positions],)).fetchall())

    def select_entries(self, condition: str) -> str:
        """The statement whose rows `read` takes."""
        vector = ", vector, kept.checksum" if self._database.state.vector_kind else ""
        return f"SELECT {_DOCUMENT}{vector} FROM {self.joined()} WHERE {condition} ORDER BY position"

    def joined(self) -> str:
        """The documents together with their codes, and vectors."""
        state = self._database.state
        vectors = f" LEFT JOIN {state.vector_table} AS kept USING (position)" if state.vector_kind else ""
        return f"documents LEFT JOIN {state.code_table} AS codes USING (position){vectors}"

    def read(self, rows: Sequence[TupleRow]) -> dict[int, Entry]:
        """Documents by their positions; one that is not as it was written is refused."""
        if not rows:
            return {}
        kept = about_of(self._database.state).vectors
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

    def indexed(self) -> dict[str, int]:
        """The keys that have their values in the table, and the number that stands for each."""
        rows = self._database.execute("SELECT name, key FROM indexed_keys ORDER BY key").fetchall()
        return {unescaped(name): key for name, key in rows}

    def index_keys(self, names: Iterable[str]) -> None:
        """Put the values of keys in the table, for all documents."""
        known = self.indexed()
        new = {name: len(known) + n for n, name in enumerate(name for name in names if name not in known)}
        if not new:
            return
        self._database.copy("indexed_keys", ((key, escaped(name)) for name, key in new.items()))
        last = -1
        select = "SELECT position, metadata_text FROM documents WHERE position > %s ORDER BY position LIMIT %s"
        while rows := self._database.execute(select, (last, _ROWS_AT_ONCE)).fetchall():
            positions, spelled = zip(*rows, strict=True)
            self._add_keys(new, zip(positions, parsed(spelled), strict=True))
            last = positions[-1]

    def set_files(self, files: Mapping[str, bytes]) -> None:
        self._database.execute("DELETE FROM files")
        for number, (name, content) in enumerate(files.items()):
            self._database.execute("INSERT INTO files VALUES (%s, %s, %b)", (number, escaped(name), content))

    def files(self) -> dict[str, bytes]:
        rows = self._database.execute("SELECT name, content FROM files ORDER BY number").fetchall()
        return {unescaped(name): content for name, content in rows}

    def damaged(self, cause: str) -> DamagedError:
        return DamagedError(
            f"the index in {self._database.location} is damaged ({cause}): restore a copy of the schema, or build "
            "it again from the documents"
        )

    def _count_texts(self, texts: int, characters: int) -> None:
        state = self._database.state
        self._database.set_state(texts=state.texts + texts, characters=state.characters + characters)

    def _add_keys(self, keys: Mapping[str, int], documents: Iterable[tuple[int, Metadata]]) -> None:
        self._database.copy(
            "key_values",
            (
                (key, value, position)
                for position, metadata in documents
                for name, key in keys.items()
                if metadata.get(name) not in (None, [])
                for value in set(map(sortable, values_of(metadata[name])))
            ),
        )


def bit_strings(codes: Codes, n_bits: int) -> Iterator[str]:
    """Codes as PostgreSQL writes them."""
    digits = (np.unpackbits(codes, axis=1, count=n_bits) + ord("0")).tobytes().decode()
    return (digits[start : start + n_bits] for start in range(0, len(digits), n_bits))


def read_codes(rows: Sequence[bytes], width: int) -> Codes:
    """Codes as they come in their binary form, (n, width)."""
    return np.frombuffer(b"".join(row[_LENGTH:] for row in rows), np.uint8).reshape(len(rows), width)


def _word_numbers(text: str) -> str:
    """The words of a text as PostgreSQL writes an array of their numbers, far faster than psycopg does."""
    return f"{{{','.join(map(str, map(word_number, set(words_of(text)))))}}}"


def _text(record: Record) -> str | None:
    return None if record.text is None else escaped(record.text)
