"""Documents as rows of Milvus: a text of any length in pieces, vectors in base64, each with its checksum."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import words_of
from ammi.search.documents import Entry, Id, Metadata, Record, altered, checksums, id_key, parsed
from ammi.search.hamming import Codes
from ammi.search.milvus.client import MOST_ROWS, Row
from ammi.search.milvus.filters import number_of, tags_of
from ammi.search.milvus.state import View
from ammi.search.milvus.store import NO_CODE, PIECES, Tables
from ammi.search.vectors import KeptVectors, Packed, unpacked, vector_checksum

BLOCK = 1000
_PIECE = 16_000  # characters, of 4 bytes at most; Milvus takes 65,535 bytes
_WORDS = 3500  # in 65,536 bytes of JSON
_LONGEST_ID = 16_000
METADATA = ["row", "metadata", "pieces"]
_READ = [*METADATA, "position", "id", "text", "characters", "checksum", "code"]

Positions = NDArray[np.int64]


class Stored(NamedTuple):
    """A document as it is in a row."""

    row: int
    position: int
    code: Codes
    record: Record
    vector: bytes | None


class Rows:
    """The documents that count in a view."""

    def __init__(self, store: Tables, view: View, generation: int | None = None):
        self._store, self._view = store, view
        self._client = store.client
        self._documents = store.documents(view.head.generation if generation is None else generation)
        self._kept = view.head.about().vectors

    @property
    def count(self) -> int:
        return self._view.head.count

    def search(self, codes: list[bytes], limit: int, more: str | None, fields: list[str]) -> list[list[Row]]:
        return self._client.search(self._documents, codes, limit, self._view.condition(more), fields)

    def scan(self, fields: list[str], more: str | None = None) -> Iterator[list[Row]]:
        """All rows that count, in insertion order, some at a time."""
        for rows in self._windows(self._documents, "position", self._view.head.positions, fields, more):
            yield sorted(rows, key=lambda row: row["position"])

    def _windows(self, name: str, column: str, end: int, fields: list[str], more: str | None) -> Iterator[list[Row]]:
        """Rows by windows of a column, each so wide that an answer holds all of it."""
        start, width = 0, BLOCK
        while start < end:
            stop = min(start + width, end)
            condition = self._view.condition(
                f"{column} >= {start} and {column} < {stop}{f' and {more}' if more else ''}"
            )
            rows = self._client.query(name, condition, fields)
            if len(rows) >= MOST_ROWS:
                width = max(1, width // 4)
                continue
            if rows:
                yield rows
            start, width = stop, 2 * width if len(rows) < BLOCK // 2 else max(BLOCK, width // 2)

    def at(self, column: str, values: Sequence[int], more: str | None = None, fields: list[str] = _READ) -> list[Row]:
        """The rows that have one of these values in a column."""
        found: list[Row] = []
        for start in range(0, len(values), BLOCK):
            chosen = f"{column} in {list(values[start : start + BLOCK])}"
            condition = self._view.condition(f"{chosen} and {more}" if more else chosen)
            found += self._client.query(self._documents, condition, fields)
        return found

    def find(self, ids: Iterable[Id], fields: Sequence[str] = ()) -> dict[Id, Row]:
        """The rows of those of the ids that are there, by `id_key`."""
        keys = {id_key(id): number_of_id(id_key(id)) for id in ids}
        rows = self.at("key", sorted(set(keys.values())), None, ["row", "id", *fields])
        by_id = {id_key(json.loads(row["id"])): row for row in rows}
        return {key: by_id[key] for key in keys if key in by_id}

    def stored(self, positions: Sequence[int], vectors: bool = False) -> dict[int, Stored]:
        """The documents at positions, all of which must be there."""
        rows = self.at("position", positions, None, [*_READ, *(["vector"] if vectors and self._kept else [])])
        found = {one.position: one for one in self.read(rows)}
        if missing := set(positions) - found.keys():
            raise self._store.damaged(f"the document at position {min(missing)} is missing")
        return found

    def blocks(self, more: str | None = None) -> Iterator[list[Stored]]:
        """All documents, in insertion order."""
        fields = [*_READ, *(["vector"] if self._kept else [])]
        for rows in self.scan(fields, more):
            for start in range(0, len(rows), BLOCK):
                yield self.read(rows[start : start + BLOCK])

    def read(self, rows: list[Row]) -> list[Stored]:
        """What is in rows, each document held to its checksum."""
        if not rows:
            return []
        rest = self._pieces(rows)
        more = [rest.get(row["row"], ([], [])) for row in rows]
        spelled = ["".join([row["metadata"], *pieces]) for row, (pieces, _) in zip(rows, more, strict=True)]
        whole = ["".join([row["text"], *pieces]) for row, (_, pieces) in zip(rows, more, strict=True)]
        texts = [None if row["characters"] < 0 else text for row, text in zip(rows, whole, strict=True)]
        ids = [json.loads(row["id"]) for row in rows]
        codes = np.array([np.frombuffer(row["code"][0], np.uint8) for row in rows])
        if problem := altered(ids, texts, spelled, codes, [row["checksum"] for row in rows]):
            raise self._store.damaged(problem)
        return [
            Stored(row["row"], row["position"], code, Record(*record), self._vector(row, record[0]))
            for row, code, *record in zip(rows, codes, ids, texts, parsed(spelled), spelled, strict=True)
        ]

    def metadata(self, rows: list[Row]) -> list[Metadata]:
        """That of rows which were read with the fields METADATA."""
        rest = self._pieces(rows)
        return parsed([row["metadata"] + "".join(rest.get(row["row"], ([], []))[0]) for row in rows])

    def _pieces(self, rows: list[Row]) -> dict[int, tuple[list[str], list[str]]]:
        """Of those rows that have only the beginning of it, the rest of the metadata and of the text."""
        found = {}
        for row in rows:
            if row["pieces"]:
                number, of_metadata = row["row"], row["pieces"] % PIECES
                pieces = self._client.query(self._store.pieces, f"of == {number}", ["row", "piece"])
                rest = [piece["piece"] for piece in sorted(pieces, key=lambda piece: piece["row"])]
                found[number] = rest[:of_metadata], rest[of_metadata:]
        return found

    def _vector(self, row: Row, id: Id) -> bytes | None:
        if "vector" not in row:
            return None
        damaged = self._store.damaged(f"the vector of document {id!r} is not as it was written")
        try:
            content = b64decode(row["vector"], validate=True)
        except ValueError as error:
            raise damaged from error
        vector, checksum = content[:-4], int.from_bytes(content[-4:])
        if checksum != vector_checksum(row["position"], vector):
            raise damaged
        return vector

    def count_word(self, word: str) -> int:
        """How many texts have a word."""
        return self._client.count(self._store.words, self._has_word(word))

    def _has_word(self, word: str) -> str:
        return self._view.condition(f'json_contains(words["w"], {number_of("word", word)})', "of")

    def positions_of(self, word: str, count: int) -> Positions:
        """The sorted positions of the texts that have a word, which are so many."""
        condition = self._has_word(word)
        if count < MOST_ROWS:
            rows = self._client.query(self._store.words, condition, ["position"])
        else:
            rows = []
            for start in range(0, self._view.head.positions, MOST_ROWS - 1):
                window = f"position >= {start} and position < {start + MOST_ROWS - 1} and {condition}"
                rows += self._client.query(self._store.words, window, ["position"])
        return np.sort(np.array([row["position"] for row in rows], np.int64))

    def write(
        self, rows: range, positions: Sequence[int], documents: Sequence[Record], codes: Codes, vectors: Any
    ) -> None:
        """Write documents, whose pieces and words come first."""
        split = [_split(record.json, record.text or "") for record in documents]
        self._client.insert(
            self._store.pieces,
            [
                {"row": row * PIECES + n, "code": NO_CODE, "of": row, "piece": piece}
                for row, (_, _, rest, _) in zip(rows, split, strict=True)
                for n, piece in enumerate(rest)
            ],
        )
        if self._view.head.text_index:
            self._client.insert(self._store.words, list(_word_rows(rows, positions, documents)))
        self.write_documents(rows, positions, documents, codes, vectors)

    def write_documents(
        self, rows: Sequence[int], positions: Sequence[int], documents: Sequence[Record], codes: Codes, vectors: Any
    ) -> None:
        """Write the rows of documents whose pieces and words are there."""
        spelled = [record.json for record in documents]
        made = checksums([one.id for one in documents], [one.text for one in documents], spelled, codes)
        self._client.insert(
            self._documents,
            [
                self._row(row, position, record, metadata, code, checksum)
                | ({} if vectors is None else {"vector": _vector(position, vectors[n])})
                for n, (row, position, record, metadata, code, checksum) in enumerate(
                    zip(rows, positions, documents, spelled, codes, made, strict=True)
                )
            ],
        )

    def _row(self, row: int, position: int, record: Record, metadata: str, code: Codes, checksum: int) -> Row:
        first_metadata, first_text, rest, of_metadata = _split(metadata, record.text or "")
        spelled = json.dumps(record.id, ensure_ascii=False)
        if len(spelled) > _LONGEST_ID:
            raise ValueError(f"the id {record.id!r:.60} has {len(spelled)} characters, and Milvus takes {_LONGEST_ID}")
        return {
            "row": row,
            "position": position,
            "key": number_of_id(id_key(record.id)),
            "id": spelled,
            "metadata": first_metadata,
            "text": first_text,
            "pieces": len(rest) * PIECES + of_metadata,
            "characters": -1 if record.text is None else len(record.text),
            "checksum": checksum,
            "tags": tags_of(record.metadata),
            "code": code.tobytes(),
        }


def entry(one: Stored, kept: KeptVectors | None) -> Entry:
    vector = unpacked(np.frombuffer(one.vector, np.uint8)[None], kept)[0] if kept and one.vector is not None else None
    return Entry(one.record.id, one.code, one.record.text, one.record.metadata, vector)


def number_of_id(key: Id) -> int:
    """What the server finds an id by; two may have the same."""
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest(), signed=True)


def _split(metadata: str, text: str) -> tuple[str, str, list[str], int]:
    """What fits into a row of both, the pieces that do not, and how many of these are of the metadata."""
    of_metadata = [metadata[start : start + _PIECE] for start in range(_PIECE, len(metadata), _PIECE)]
    of_text = [text[start : start + _PIECE] for start in range(_PIECE, len(text), _PIECE)]
    return metadata[:_PIECE], text[:_PIECE], of_metadata + of_text, len(of_metadata)


def _word_rows(rows: Iterable[int], positions: Iterable[int], documents: Iterable[Record]) -> Iterator[Row]:
    for row, position, record in zip(rows, positions, documents, strict=True):
        words = sorted({number_of("word", word) for word in words_of(record.text or "")})
        for n, start in enumerate(range(0, len(words), _WORDS)):
            some = {"w": words[start : start + _WORDS]}
            yield {"row": row * PIECES + n, "code": NO_CODE, "of": row, "position": position, "words": some}


def _vector(position: int, vector: Packed | bytes) -> str:
    content = bytes(vector)
    return b64encode(content + vector_checksum(position, content).to_bytes(4)).decode()
