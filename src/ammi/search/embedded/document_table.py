"""The documents of an embedded index: ids, texts and metadata, and which of them a filter keeps."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import reduce
from itertools import islice

import numpy as np

from ammi.plain import as_json
from ammi.search.documents import Id, Metadata, Record, altered, checksums, id_key, new_tuple, parsed
from ammi.search.embedded.blocks import Positions
from ammi.search.embedded.database import SqliteDatabase
from ammi.search.embedded.json_filters import to_sql
from ammi.search.embedded.key_tables import KeyTables
from ammi.search.embedded.word_index import WordIndex
from ammi.search.filters import Filter, matches
from ammi.search.hamming import Codes
from ammi.search.sql.translation import SqlValue, is_simple

_ROWS_AT_ONCE = 10_000
_FEW = (20_000, 200_000)  # documents that are looked up one by one sooner than all are read; no more if fewer will do
_SOME = "IN (SELECT value FROM json_each(:positions))"
_ID = "CASE WHEN id_is_text THEN CAST(documents.id AS TEXT) ELSE documents.id END"


class DocumentTable:
    """The tables of documents. Its methods are called while reading or writing."""

    def __init__(self, database: SqliteDatabase):
        self._database = database
        self.keys = KeyTables(database)
        self.words = WordIndex(database)

    def ids(self) -> list[Id]:
        """All ids, in insertion order."""
        return [_id(*row) for row in self._database.execute("SELECT id, id_is_text FROM documents ORDER BY position")]

    def find(self, ids: Iterable[Id]) -> list[int | None]:
        """The position of each id, or None where there is no such document."""
        find = "SELECT (SELECT position FROM documents WHERE id = ?)"
        return [position for (position,) in self._database.execute_each(find, ((id_key(id),) for id in ids))]

    def records(self, positions: Positions, codes: Codes) -> dict[int, Record]:
        """The documents at positions, all of which are there and have these codes; each is held to its checksum."""
        rows = self._database.execute(
            f"SELECT documents.position, {_ID}, text, metadata, checksum "
            "FROM json_each(:positions) AS chosen CROSS JOIN documents ON documents.position = chosen.value "
            "LEFT JOIN texts USING (position)",
            {"positions": json.dumps(positions.tolist())},
        ).fetchall()
        if len(rows) < len(positions):
            missing = {*positions.tolist()} - {row[0] for row in rows}
            raise self._database.damaged(f"the document at position {min(missing)} is missing")
        if not rows:
            return {}
        places, ids, texts, metadata, written = zip(*rows, strict=True)
        if problem := altered(ids, texts, metadata, codes, written):
            raise self._database.damaged(problem)
        records = [new_tuple(Record, row) for row in zip(ids, texts, parsed(metadata), metadata, strict=True)]
        return dict(zip(places, records, strict=True))

    def texts(self, positions: Positions) -> dict[int, str]:
        """The texts of those of the documents at these positions that have one."""
        select = f"SELECT position, text FROM texts WHERE position {_SOME}"
        return dict(self._database.execute(select, {"positions": json.dumps(positions.tolist())}).fetchall())

    def append(self, positions: Positions, records: Sequence[Record], codes: Codes) -> None:
        """Add documents, which have these codes, at new positions."""
        places, change = positions.tolist(), self._database.state.change
        spelled = [record.json for record in records]
        made = checksums([record.id for record in records], [record.text for record in records], spelled, codes)
        self._database.execute_each(
            "INSERT INTO documents VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    position,
                    id_key(record.id),
                    isinstance(record.id, str),
                    change,
                    checksum,
                    not is_simple(metadata),
                    metadata,
                )
                for position, record, checksum, metadata in zip(places, records, made, spelled, strict=True)
            ),
        )
        texts = [
            (position, record.text) for position, record in zip(places, records, strict=True) if record.text is not None
        ]
        self._database.execute_each("INSERT INTO texts VALUES (?, ?)", texts)
        if self._database.state.text_index:
            self.words.add(texts)
        self.keys.add([(position, record.metadata) for position, record in zip(places, records, strict=True)])

    def remove(self, positions: Positions) -> None:
        """Take away the documents at positions, and their vectors."""
        texts = characters = 0
        tables = ["documents", "texts", *(["vectors"] if self._database.state.vector_kind else [])]
        for start in range(0, len(positions), _ROWS_AT_ONCE):
            chunk = positions[start : start + _ROWS_AT_ONCE]
            lengths = [len(text) for text in self.texts(chunk).values()]
            texts, characters = texts + len(lengths), characters + sum(lengths)
            self.keys.remove(self._metadata(chunk))
            for table in tables:
                rows = ((position,) for position in chunk.tolist())
                self._database.execute_each(f"DELETE FROM {table} WHERE position = ?", rows)
        if self._database.state.text_index:
            self.words.remove(positions, texts, characters)

    def replace_metadata(self, positions: Positions, new: Sequence[Metadata], codes: Codes) -> None:
        """Give the documents at sorted positions, which have these codes, other metadata."""
        records = self.records(positions, codes)
        self.keys.remove([(position, record.metadata) for position, record in records.items()])
        self.keys.add(list(zip(records, new, strict=True)))
        old, spelled = list(records.values()), [as_json(metadata) for metadata in new]
        made = checksums([record.id for record in old], [record.text for record in old], spelled, codes)
        change = self._database.state.change
        self._database.execute_each(
            "UPDATE documents SET change = ?, checksum = ?, for_python = ?, metadata = ? WHERE position = ?",
            (
                (change, checksum, not is_simple(metadata), metadata, position)
                for position, checksum, metadata in zip(records, made, spelled, strict=True)
            ),
        )

    def all_metadata(self) -> Iterator[tuple[int, Metadata]]:
        """The position and the metadata of every document, in insertion order; documents may share a dict."""
        rows = self._database.execute("SELECT position, metadata FROM documents ORDER BY position")
        while chunk := list(islice(rows, _ROWS_AT_ONCE)):
            yield from _parsed_once(chunk)

    def matching(self, filter: Filter) -> Positions:
        """The sorted positions of the documents that a filter keeps."""
        for most in (None,) if len(filter) == 1 else _FEW:
            found = [self.keys.positions(condition, most) for condition in filter]
            known = [positions for positions in found if positions is not None]
            if known:
                narrow = reduce(np.intersect1d, known)
                rest = tuple(one for one, positions in zip(filter, found, strict=True) if positions is None)
                return self._scan(rest, narrow) if rest else narrow
        return self._scan(filter, None)

    def _scan(self, filter: Filter, among: Positions | None) -> Positions:
        """The same, among these positions or all of them, by their metadata."""
        sql = to_sql(filter)
        values: dict[str, SqlValue] = {} if sql is None else dict(sql.values)
        conditions = [] if sql is None else [f"(for_python OR {sql.text})"]
        if among is not None:
            conditions.append(f"position {_SOME}")
            values["positions"] = json.dumps(among.tolist())
        uncertain = "metadata" if sql is None else "CASE WHEN for_python THEN metadata END"
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        rows = self._database.execute(f"SELECT position, {uncertain} FROM documents {where} ORDER BY position", values)
        found = [np.empty(0, np.int64)]
        while chunk := list(islice(rows, _ROWS_AT_ONCE)):
            distinct = list({metadata for _, metadata in chunk if metadata is not None})  # documents often share theirs
            read = zip(distinct, parsed(distinct), strict=True)
            good = {None, *(spelled for spelled, metadata in read if matches(filter, metadata))}
            found.append(np.array([position for position, metadata in chunk if metadata in good], np.int64))
        return np.concatenate(found)

    def _metadata(self, positions: Positions) -> list[tuple[int, Metadata]]:
        select = f"SELECT position, metadata FROM documents WHERE position {_SOME}"
        return _parsed_once(self._database.execute(select, {"positions": json.dumps(positions.tolist())}).fetchall())


def _id(key: Id, is_text: int) -> Id:
    return str(key) if is_text else key


def _parsed_once(rows: list[tuple[int, str]]) -> list[tuple[int, Metadata]]:
    """Positions and metadata; documents that have the same share a dict."""
    distinct = list({spelled for _, spelled in rows})
    read = dict(zip(distinct, parsed(distinct), strict=True))
    return [(position, read[spelled]) for position, spelled in rows]
