"""The tables of an embedded store: documents, texts, codes and vectors, all found by position."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ammi.plain import as_json
from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Id, Metadata, Record, altered, id_key, new_tuple, parsed
from ammi.search.embedded.blocks import Blocks, Positions
from ammi.search.embedded.database import SqliteDatabase
from ammi.search.embedded.matching import AT_POSITIONS, matching, stored
from ammi.search.embedded.word_index import WordIndex
from ammi.search.filters import Filter, kinds_by_key
from ammi.search.hamming import Codes
from ammi.search.headings import TITLE_KEYS, first_paragraph, heading_of, searched_text, words_beside
from ammi.search.sql.sql_tables import Placed, SqlTables, checksums_of, parsed_once
from ammi.search.sql.translation import is_simple
from ammi.search.vectors import Packed, unpacked, vector_checksum, vector_rows

_ROWS_AT_ONCE = 10_000
_ID = "CASE WHEN id_is_text THEN CAST(documents.id AS TEXT) ELSE documents.id END"


class EmbeddedTables(SqlTables):
    """The tables of one folder; `words` has the word index, `codes` the codes."""

    json_column = "metadata"
    stored = staticmethod(stored)
    _database: SqliteDatabase

    def __init__(self, database: SqliteDatabase):
        super().__init__(database)
        self.codes = Blocks(database)
        self.words = WordIndex(database)

    def ids(self) -> list[Id]:
        """Return all ids, in insertion order."""
        return [id for (id,) in self._database.execute(f"SELECT {_ID} FROM documents ORDER BY position")]

    def find(self, ids: Iterable[Id]) -> list[int | None]:
        find = "SELECT (SELECT position FROM documents WHERE id = ?)"
        return [position for (position,) in self._database.execute_each(find, ((id_key(id),) for id in ids))]

    def matching(self, filter: Filter) -> Positions:
        """Return the sorted positions of the documents that pass a filter."""
        return matching(self._database, filter, self.indexed())

    def entries(self, positions: Sequence[int] | Positions) -> dict[int, Entry]:
        there, codes = self.codes.at(np.unique(np.asarray(positions, np.int64)))
        records, vectors = self.records(there, codes), self.vectors(there)
        found = zip(there.tolist(), codes, [None] * len(there) if vectors is None else vectors, strict=True)
        return {
            position: Entry(records[position].id, code, records[position].text, records[position].metadata, vector)
            for position, code, vector in found
        }

    def records(self, positions: Positions, codes: Codes) -> dict[int, Record]:
        """Return the documents at positions, all of which must exist and have these codes; verifies checksums."""
        rows = self._database.execute(
            f"SELECT documents.position, {_ID}, text, metadata, checksum "
            "FROM json_each(:positions) AS chosen CROSS JOIN documents ON documents.position = chosen.value "
            "LEFT JOIN texts USING (position)",
            {"positions": json.dumps(positions.tolist())},
        ).fetchall()
        if len(rows) < len(positions):
            missing = {*positions.tolist()} - {row[0] for row in rows}
            raise self.damaged(f"the document at position {min(missing)} is missing")
        if not rows:
            return {}
        found, ids, texts, metadata, written = zip(*rows, strict=True)
        if problem := altered(ids, texts, metadata, codes, written):
            raise self.damaged(problem)
        records = [new_tuple(Record, row) for row in zip(ids, texts, parsed(metadata), metadata, strict=True)]
        return dict(zip(found, records, strict=True))

    def texts(self, positions: Positions) -> dict[int, str]:
        """Return the texts of the documents at these positions, as far as they have one."""
        return dict(self._at("text FROM texts", positions))

    def texts_and_headings(self, positions: Positions) -> dict[int, tuple[str, str]]:
        """Return the texts of the documents at these positions, as far as they have one, with their headings."""
        if not self._has_words_beside():  # each document less to read from a large table
            return {position: (text, first_paragraph(text)) for position, text in self.texts(positions).items()}
        rows = self._at(f"text, {_ID}, metadata FROM texts JOIN documents USING (position)", positions)
        metadata = parsed_once([(position, spelled) for position, *_, spelled in rows])
        each = zip(rows, metadata, strict=True)
        return {position: (text, heading_of(id, text, of_text)) for (position, text, id, _), (_, of_text) in each}

    def _has_words_beside(self) -> bool:
        """Return whether any document may have a title in its metadata, or an id that is no number."""
        titles = ", ".join(map(repr, TITLE_KEYS))
        select = f"SELECT EXISTS (SELECT 1 FROM key_kinds WHERE name IN ({titles})), typeof(max(id)) FROM documents"
        return self._database.execute(select).fetchone() not in [(0, "integer"), (0, "null")]

    def words_among(self, column: str, values: Collection[str]) -> list[str]:
        select = f"SELECT word FROM vocabulary WHERE {column} IN (SELECT value FROM json_each(?))"
        return [word for (word,) in self._database.execute(select, (json.dumps([*values]),))]

    def vectors(self, positions: Positions) -> NDArray[np.float32] | None:
        """Return the vectors at sorted positions, all of which must exist, (n, d); None if no vectors are kept."""
        kept = self._database.state.about.vectors
        if kept is None:
            return None
        found = self._at("vector, checksum FROM vectors", positions)
        wrong = {position for position, vector, checksum in found if vector_checksum(position, vector) != checksum}
        wrong |= {*positions.tolist()} - {position for position, *_ in found}
        if wrong:
            ((id,),) = self._database.execute(f"SELECT {_ID} FROM documents WHERE position = ?", (min(wrong),))
            raise self.damaged(f"the vector of document {id!r} is not as it was written")
        rows = np.frombuffer(b"".join(vector for _, vector, _ in found), np.uint8)
        return unpacked(rows.reshape(len(positions), kept.n_bytes), kept)

    def append(self, positions: range, records: Sequence[Record], codes: Codes, vectors: Packed | None) -> None:
        placed, change = list(zip(positions, records, strict=True)), self._database.state.change
        self.codes.append(np.array(positions, np.int64), codes)
        self._database.insert(
            "documents",
            (
                (position, id_key(id), isinstance(id, str), change, checksum, not is_simple(spelled), spelled)
                for (position, (id, _, _, spelled)), checksum in zip(placed, checksums_of(records, codes), strict=True)
            ),
        )
        texts = [(position, record.text) for position, record in placed if record.text is not None]
        self._database.insert("texts", texts)
        if vectors is not None:
            self._database.insert("vectors", vector_rows(positions, vectors))
        if self._database.state.text_index:
            self._add_words(placed)
            self.count_texts(len(texts), sum(len(text) for _, text in texts))
        self._count_keys((record.metadata for record in records), 1)
        self.add_values(self.indexed(), ((position, record.metadata) for position, record in placed))

    def _add_words(self, documents: Sequence[tuple[int, Record]]) -> None:
        """Put the words of documents with texts into the word index and the vocabulary."""
        searched = [
            (position, searched_text(id, text, metadata))
            for position, (id, text, metadata, _) in documents
            if text is not None
        ]
        self.words.add(searched)
        self.learn_words([text for _, text in searched])

    def remove(self, positions: Sequence[int]) -> None:
        chosen, state = np.array(positions, np.int64), self._database.state
        lengths: list[int] = []
        for start in range(0, len(chosen), _ROWS_AT_ONCE):
            chunk = chosen[start : start + _ROWS_AT_ONCE]
            lengths += map(len, self.texts(chunk).values())
            self._forget_metadata(parsed_once(self._at("metadata FROM documents", chunk)))
            for table in ("documents", "texts", *(["vectors"] if state.vector_kind else [])):
                rows = ((position,) for position in chunk.tolist())
                self._database.execute_each(f"DELETE FROM {table} WHERE position = ?", rows)
        self.codes.remove(chosen)
        if state.text_index:
            self.words.remove(chosen)
            self.count_texts(-len(lengths), -sum(lengths))

    def replace_metadata(self, metadata: Mapping[int, Metadata]) -> None:
        there, codes = self.codes.at(np.sort(np.fromiter(metadata, np.int64)))
        old = self.records(there, codes)
        self._forget_metadata([(position, record.metadata) for position, record in old.items()])
        self._count_keys(metadata.values(), 1)
        self.add_values(self.indexed(), metadata.items())
        spelled = {position: as_json(metadata[position]) for position in old}
        made = checksums_of([record._replace(json=spelled[position]) for position, record in old.items()], codes)
        renamed = [
            (position, record._replace(metadata=metadata[position]))
            for position, record in old.items()
            if words_beside(record.id, record.metadata) != words_beside(record.id, metadata[position])
        ]
        if renamed and self._database.state.text_index:
            self._database.count_code_change()  # words that are cached of the state before are read anew
            self.words.remove(np.array([position for position, _ in renamed], np.int64))
            self._add_words(renamed)
        change = self._database.state.change
        self._database.execute_each(
            "UPDATE documents SET change = ?, checksum = ?, for_python = ?, metadata = ? WHERE position = ?",
            (
                (change, checksum, not is_simple(spelled[position]), spelled[position], position)
                for position, checksum in zip(old, made, strict=True)
            ),
        )

    def kinds(self) -> Iterable[tuple[str, str, int]]:
        return self._database.execute("SELECT name, kinds, documents FROM key_kinds")

    def indexed(self) -> dict[str, int]:
        return dict(self._database.execute("SELECT name, key FROM indexed_keys ORDER BY key").fetchall())

    def insert_keys(self, keys: Mapping[str, int]) -> None:
        self._database.insert("indexed_keys", ((key, name) for name, key in keys.items()))

    def files(self) -> dict[str, bytes]:
        return dict(self._database.execute("SELECT name, content FROM files ORDER BY rowid").fetchall())

    def set_files(self, files: Mapping[str, bytes]) -> None:
        self._database.execute("DELETE FROM files")
        self._database.insert("files", files.items())

    def file(self, name: str) -> bytes | None:
        row = self._database.execute("SELECT content FROM files WHERE name = ?", (name,)).fetchone()
        return row and row[0]

    def set_file(self, name: str, content: bytes) -> None:
        self._database.execute("INSERT OR REPLACE INTO files VALUES (?, ?)", (name, content))

    def has_keyed_changes(self) -> bool:
        select = "SELECT 1 FROM sqlite_master WHERE name = 'keyed_changes'"
        return self._database.execute(select).fetchone() is not None

    def damaged(self, cause: str) -> DamagedError:
        return self._database.damaged(cause)

    def _at(self, select: str, positions: Positions) -> list[tuple]:
        """Return the rows of a table at positions, in their order."""
        return self._database.execute(
            f"SELECT position, {select} WHERE position {AT_POSITIONS} ORDER BY position",
            {"positions": json.dumps(positions.tolist())},
        ).fetchall()

    def _forget_metadata(self, documents: Sequence[Placed]) -> None:
        """Remove the metadata of documents from the counts of keys and from key_values."""
        self._count_keys((metadata for _, metadata in documents), -1)
        self._database.execute("DELETE FROM key_kinds WHERE documents = 0")
        self._database.execute_each(
            "DELETE FROM key_values WHERE key = ? AND value = ? AND position = ?",
            self.rows_of_keys(self.indexed(), documents),
        )

    def _count_keys(self, documents: Iterable[Metadata], sign: int) -> None:
        counts = Counter(pair for metadata in documents for pair in kinds_by_key(metadata))
        self._database.execute_each(
            "INSERT INTO key_kinds VALUES (?, ?, ?) "
            "ON CONFLICT (name, kinds) DO UPDATE SET documents = documents + excluded.documents",
            ((name, kinds, sign * n) for (name, kinds), n in counts.items()),
        )
