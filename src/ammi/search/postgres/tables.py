"""The tables of a collection on a PostgreSQL server: how they are made, and what of a document stands in which.

ammi           one row: what the codes are, and where the collection stands; a lock on it is the writers' turn
documents      id, text and metadata; they stand in the order of their positions, which are never used again
codes_N        a code bit(m), and the checksum of the document with it; a recode makes the next N
vectors_N      a vector as `vectors` packs it, where vectors are kept
words          the words of a text as numbers, where words are indexed
key_values     the values of the keys that filters find fast, which are in indexed_keys
files          the model
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import words_of
from ammi.plain import as_json
from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Id, Metadata, Record, altered, checksums, id_key, parsed
from ammi.search.filters import values_of
from ammi.search.hamming import Codes
from ammi.search.postgres.server import Server
from ammi.search.postgres.values import (
    as_jsonb,
    escaped,
    read_id,
    sortable,
    stored_id,
    unescaped,
    word_number,
)
from ammi.search.store_methods import About
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

    def __init__(self, server: Server):
        self._server = server

    def about(self) -> About:
        state = self._server.state
        kept = KeptVectors(state.vector_kind, state.vector_width or 0) if state.vector_kind else None
        fingerprint = None if state.fingerprint is None else unescaped(state.fingerprint)
        return About(state.n_bits, fingerprint, kept, state.text_index, state.number)

    def find(self, ids: Iterable[Id]) -> dict[str, int]:
        """The positions of those documents that are there, by their stored ids."""
        select = "SELECT id, position FROM documents WHERE id = ANY(%s::text[])"
        return dict(self._server.execute(select, ([*map(stored_id, ids)],)).fetchall())

    def append(self, records: Sequence[Record], codes: Codes, vectors: Packed | None) -> None:
        """Add documents at the end."""
        state = self._server.state
        positions = range(state.position, state.position + len(records))
        numbers = [key + 1 for record in records if isinstance(key := id_key(record.id), int)]
        self._server.set_state(position=positions.stop, number=max([state.number, *numbers]))
        spelled = [record.json for record in records]
        self.copy(
            "documents",
            (
                (
                    position,
                    stored_id(one.id),
                    isinstance(one.id, str),
                    state.change,
                    _text(one),
                    as_jsonb(one.metadata, s),
                    s,
                )
                for position, one, s in zip(positions, records, spelled, strict=True)
            ),
        )
        made = checksums([one.id for one in records], [one.text for one in records], spelled, codes)
        self.copy(state.code_table, zip(positions, bits(codes, state.n_bits), made, strict=True))
        if vectors is not None:
            self.copy(state.vector_table, vector_rows(positions, vectors))
        if state.text_index:
            self._add_words((position, one.text) for position, one in zip(positions, records, strict=True))
        if keys := self.indexed():
            self._add_keys(keys, ((position, one.metadata) for position, one in zip(positions, records, strict=True)))

    def remove(self, positions: Sequence[int]) -> None:
        """Take away the documents at positions."""
        if not positions:
            return
        state, chosen = self._server.state, (list(positions),)
        tables = ["documents", state.code_table, "key_values", *([state.vector_table] if state.vector_kind else [])]
        for table in tables:
            self._server.execute(f"DELETE FROM {table} WHERE position = ANY(%s::bigint[])", chosen)
        if state.text_index:
            gone = "WITH gone AS (DELETE FROM words WHERE position = ANY(%s::bigint[]) RETURNING characters)"
            select = f"{gone} SELECT count(*), COALESCE(sum(characters), 0)::bigint FROM gone"
            ((texts, characters),) = self._server.execute(select, chosen)
            self._server.set_state(texts=state.texts - texts, characters=state.characters - characters)

    def replace_metadata(self, new: Mapping[int, Metadata]) -> None:
        """Give the documents at positions other metadata."""
        if not new:
            return
        state, entries = self._server.state, self.entries(new)
        spelled = {position: as_json(metadata) for position, metadata in new.items()}
        rows = []
        for position, entry in entries.items():
            (checksum,) = checksums([entry.id], [entry.text], [spelled[position]], entry.code[None])
            rows.append((position, as_jsonb(new[position], spelled[position]), spelled[position], checksum))
        places, jsonb, texts, made = map(list, zip(*rows, strict=True))
        self._server.execute(
            "UPDATE documents SET change = %s, metadata = new.metadata::jsonb, metadata_text = new.metadata_text "
            "FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS new (position, metadata, metadata_text) "
            "WHERE documents.position = new.position",
            (state.change, places, jsonb, texts),
        )
        self._server.execute(
            f"UPDATE {state.code_table} AS codes SET checksum = new.checksum "
            "FROM unnest(%s::bigint[], %s::bigint[]) AS new (position, checksum) WHERE codes.position = new.position",
            (places, made),
        )
        if keys := self.indexed():
            self._server.execute("DELETE FROM key_values WHERE position = ANY(%s::bigint[])", (places,))
            self._add_keys(keys, new.items())

    def entries(self, positions: Iterable[int]) -> dict[int, Entry]:
        """Those of these documents that are there, in insertion order; each is held to its checksum."""
        select = self.select_entries("position = ANY(%s::bigint[])")
        return self.read(self._server.execute(select, ([*positions],)).fetchall())

    def select_entries(self, condition: str) -> str:
        """The statement that `read` takes the rows of."""
        vector = ", vector, kept.checksum" if self._server.state.vector_kind else ""
        return f"SELECT {_DOCUMENT}{vector} FROM {self.joined()} WHERE {condition} ORDER BY position"

    def joined(self) -> str:
        """The documents together with their codes, and vectors."""
        state = self._server.state
        vectors = f" LEFT JOIN {state.vector_table} AS kept USING (position)" if state.vector_kind else ""
        return f"documents LEFT JOIN {state.code_table} AS codes USING (position){vectors}"

    def read(self, rows: list[Any]) -> dict[int, Entry]:
        """Documents by their positions; one that is not as it was written is refused."""
        if not rows:
            return {}
        kept = self.about().vectors
        places, keys, are_texts, texts, spelled, codes, written, *vectors = zip(*rows, strict=True)
        ids = list(map(read_id, keys, are_texts))
        for id, code in zip(ids, codes, strict=True):
            if code is None:
                raise self.damaged(f"document {id!r} has no code")
        read_texts = [None if text is None else unescaped(text) for text in texts]
        packed = read_codes(codes, -1)
        if problem := altered(ids, read_texts, spelled, packed, written):
            raise self.damaged(problem)
        rows_of_vectors = self._read_vectors(places, ids, vectors, kept) if kept else [None] * len(rows)
        found = zip(ids, packed, read_texts, parsed(spelled), rows_of_vectors, strict=True)
        return dict(zip(places, map(Entry._make, found), strict=True))

    def _read_vectors(self, places: Any, ids: list[Id], columns: list[Any], kept: KeptVectors) -> Iterable[Any]:
        for position, id, vector, written in zip(places, ids, *columns, strict=True):
            if vector is None or len(vector) != kept.n_bytes or vector_checksum(position, vector) != written:
                raise self.damaged(f"the vector of document {id!r} is not as it was written")
        return unpacked(np.frombuffer(b"".join(columns[0]), np.uint8).reshape(len(ids), kept.n_bytes), kept)

    def indexed(self) -> dict[str, int]:
        """The keys that have their values in the table, and the number that stands for each."""
        rows = self._server.execute("SELECT name, key FROM indexed_keys ORDER BY key").fetchall()
        return {unescaped(name): key for name, key in rows}

    def index_keys(self, names: Iterable[str]) -> None:
        """Put the values of keys in the table, for all documents."""
        known = self.indexed()
        new = {name: len(known) + n for n, name in enumerate(name for name in names if name not in known)}
        if not new:
            return
        self.copy("indexed_keys", ((key, escaped(name)) for name, key in new.items()))
        last = -1
        select = "SELECT position, metadata_text FROM documents WHERE position > %s ORDER BY position LIMIT %s"
        while rows := self._server.execute(select, (last, _ROWS_AT_ONCE)).fetchall():
            places, spelled = zip(*rows, strict=True)
            self._add_keys(new, zip(places, parsed(spelled), strict=True))
            last = places[-1]

    def set_files(self, files: Mapping[str, bytes]) -> None:
        self._server.execute("DELETE FROM files")
        for number, (name, content) in enumerate(files.items()):
            self._server.execute("INSERT INTO files VALUES (%s, %s, %b)", (number, escaped(name), content))

    def files(self) -> dict[str, bytes]:
        rows = self._server.execute("SELECT name, content FROM files ORDER BY number").fetchall()
        return {unescaped(name): content for name, content in rows}

    def damaged(self, cause: str) -> DamagedError:
        return DamagedError(
            f"the index in {self._server.address.shown} is damaged ({cause}): restore a copy of the schema, or build "
            "it again from the documents"
        )

    def _add_words(self, texts: Iterable[tuple[int, str | None]]) -> None:
        present = [(position, text) for position, text in texts if text is not None]
        self.copy("words", ((position, len(text), _numbers(text)) for position, text in present))
        state = self._server.state
        characters = state.characters + sum(len(text) for _, text in present)
        self._server.set_state(texts=state.texts + len(present), characters=characters)

    def _add_keys(self, keys: Mapping[str, int], documents: Iterable[tuple[int, Metadata]]) -> None:
        self.copy(
            "key_values",
            (
                (key, value, position)
                for position, metadata in documents
                for name, key in keys.items()
                if metadata.get(name) not in (None, [])
                for value in {sortable(one) for one in values_of(metadata[name])}
            ),
        )

    def copy(self, table: str, rows: Iterable[Sequence[Any]]) -> None:
        """Add rows to a table."""
        with self._server.session.db.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for row in rows:
                copy.write_row(row)


def bits(codes: Codes, n_bits: int) -> Iterator[str]:
    """Codes as PostgreSQL writes them."""
    digits = (np.unpackbits(codes, axis=1, count=n_bits) + ord("0")).tobytes().decode()
    return (digits[start : start + n_bits] for start in range(0, len(digits), n_bits))


def read_codes(rows: Sequence[bytes], width: int) -> Codes:
    """Codes as they come in their binary form, (n, width)."""
    return np.frombuffer(b"".join(row[_LENGTH:] for row in rows), np.uint8).reshape(len(rows), width)


def _numbers(text: str) -> str:
    """The words of a text as PostgreSQL writes an array of their numbers, far faster than psycopg does."""
    return f"{{{','.join(map(str, map(word_number, set(words_of(text)))))}}}"


def _text(record: Record) -> str | None:
    return None if record.text is None else escaped(record.text)
