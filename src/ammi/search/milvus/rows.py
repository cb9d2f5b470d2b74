"""Documents as rows of Milvus. A VARCHAR holds 65,535 bytes: the rest of a longer one is in an ARRAY of pieces."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from typing import NamedTuple
from zlib import crc32

import numpy as np

from ammi.features.alphabet import words_of
from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Id, Record, checksums, id_key
from ammi.search.hamming import Codes
from ammi.search.milvus.client import JSON, NUMBER, TEXT, TEXTS, Row
from ammi.search.milvus.filters import number_of, tags_of
from ammi.search.vectors import KeptVectors, unpacked

_PIECE = 16_000  # characters, of 4 bytes at most
_MOST_WORDS = 4096  # that an ARRAY holds

FIELDS = dict.fromkeys(("position", "checksum", "characters", "long"), NUMBER) | {"tags": JSON}
FIELDS |= {"metadata": TEXT, "content": TEXT, "more": TEXTS}
READ = ["position", "checksum", "metadata", "content", "long", "code"]


class Stored(NamedTuple):
    """A document in Milvus."""

    position: int
    record: Record
    code: Codes
    vector: bytes  # packed; empty if none is kept

    def entry(self, kept: KeptVectors | None) -> Entry:
        vector = unpacked(np.frombuffer(self.vector, np.uint8)[None], kept)[0] if kept else None
        return Entry(self.record.id, self.code, self.record.text, self.record.metadata, vector)

    def checksum(self) -> int:
        (of_rest,) = checksums([self.record.id], [self.record.text], [self.record.json], self.code[None])
        return crc32(self.vector, of_rest)

    def row(self, *, words: bool) -> Row:
        id, text, metadata, spelled = self.record
        in_row, *more = pieces(spelled)
        content, *rest = pieces(json.dumps([id, text, b64encode(self.vector).decode()], ensure_ascii=False))
        row: Row = {
            "key": key_of(id),
            "code": self.code.tobytes(),
            "position": self.position,
            "checksum": self.checksum(),
            "characters": -1 if text is None else len(text),
            "tags": tags_of(metadata),
            "metadata": in_row,
            "content": content,
            "more": [*more, *rest],
            "long": len(more) if more or rest else -1,  # pieces of the metadata among them
        }
        if words:
            row["words"] = [number_of("word", word) for word in dict.fromkeys(words_of(text or ""))][:_MOST_WORDS]
        return row


def read(rows: Iterable[Row], location: str) -> dict[str, Stored]:
    """Return the documents in whole rows by their keys; refuse one that does not have its checksum."""
    found = {}
    for row in rows:
        id, stored = None, None
        with suppress(TypeError, ValueError):  # it may not even be JSON
            id, text, vector = json.loads(row["content"])
            record = Record(id, text, json.loads(row["metadata"]), row["metadata"])
            code = np.frombuffer(row["code"][0], np.uint8)
            stored = Stored(row["position"], record, code, b64decode(vector, validate=True))
        if stored is None or stored.checksum() != row["checksum"]:
            cause = f"document {id!r} is not as it was written"
            raise DamagedError(f"the collection in {location} is damaged ({cause}): restore a copy")
        found[row["key"]] = stored
    return found


def key_of(id: Id) -> str:
    """Return the primary key of a document: a digest, since ids have any length and hold any character."""
    return blake2b(repr(id_key(id)).encode(), digest_size=16).hexdigest()


def pieces(text: str) -> list[str]:
    return [text[start : start + _PIECE] for start in range(0, len(text) or 1, _PIECE)]


def has_word(word: str) -> str:
    """Return the condition that a text has a word."""
    return f"array_contains(words, {number_of('word', word)})"
