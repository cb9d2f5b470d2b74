"""Documents as rows of Milvus, and filters as conditions on these rows.

A VARCHAR holds 65,535 bytes, so a document with a longer text or metadata is in an ARRAY of pieces, which Milvus reads
more slowly. milvus-lite has neither NOT nor a test for a missing key, and JSON numbers and escapes differ between
versions. So each row has `tags`: a number for each key and each value. The server narrows by them, ranges by the key
alone; `filters.matches` decides. Words of texts are numbers, too.
"""

import json
from base64 import b64decode, b64encode
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple
from zlib import crc32

import numpy as np

from ammi.features.alphabet import terms_of
from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Id, Metadata, Record, id_key
from ammi.search.filters import AnyOf, Filter, Scalar, lookups, values_of
from ammi.search.hamming import Codes
from ammi.search.headings import searched_text
from ammi.search.milvus.client import Row
from ammi.search.vectors import KeptVectors, unpacked

WHOLE = ["position", "checksum", "metadata", "content", "code"]  # fields to read
_PIECE = 16_000  # characters, of 4 bytes at most
_MOST = 4096  # numbers in an ARRAY
_LONGEST_CACHED = 128  # characters of what a number stands for, if the number is cached
_UNSURE = 0  # the tag of a document that has more values than its tags can hold


class Stored(NamedTuple):
    """A document in Milvus."""

    position: int
    record: Record
    code: Codes
    vector: bytes  # packed; empty if none is kept

    def entry(self, kept: KeptVectors | None) -> Entry:
        vector = unpacked(np.frombuffer(self.vector, np.uint8)[None], kept)[0] if kept else None
        return Entry(self.record.id, self.code, self.record.text, self.record.metadata, vector)

    def row(self, *, word_index: bool) -> Row:
        id, text, metadata, spelled = self.record
        content = json.dumps([id, text, b64encode(self.vector).decode()], ensure_ascii=False)
        words = [*dict.fromkeys(terms_of(searched_text(id, text, metadata)))] if word_index and text is not None else []
        is_long = len(spelled) > _PIECE or len(content) > _PIECE
        return {
            "key": key_of(id),
            "code": self.code.tobytes(),
            "position": self.position,
            "checksum": _checksum(spelled, content, self.code.tobytes()),
            "characters": -1 if text is None else len(text),
            "tags": tags_of(metadata),
            "words": [_number("word", word) for word in words[:_MOST]],
            "metadata": "" if is_long else spelled,
            "content": "" if is_long else content,
            "more": pieces(f"{spelled}\n{content}") if is_long else [],  # in JSON, a line end is \\n
        }


def read(row: Row, location: str) -> Stored:
    """Return the document in a whole row; refuse one that does not have its checksum."""
    spelled, content, code = row["metadata"], row["content"], row["code"][0]
    if _checksum(spelled, content, code) != row["checksum"]:
        cause = f"document {content[1:60].partition(', ')[0]} is not as it was written"  # it begins with the id
        raise DamagedError(f"the collection in {location} is damaged ({cause}): restore a copy")
    id, text, vector = json.loads(content)
    record = Record(id, text, json.loads(spelled), spelled)
    return Stored(row["position"], record, np.frombuffer(code, np.uint8), b64decode(vector))


def _checksum(spelled: str, content: str, code: bytes) -> int:
    return crc32(f"{spelled}{content}".encode() + code)


def text_row(id: str, text: str) -> Row:
    """Return the row of a text that is not a document; Milvus wants a code in every row."""
    return Stored(0, Record(id, text, {}, "{}"), np.zeros(1, np.uint8), b"").row(word_index=False)


def word_row(word: str, stem: str) -> Row:
    """Return the row of a word of the vocabulary."""
    return text_row("", "") | {"key": word, "metadata": "{}", "content": stem}


def key_of(id: Id) -> str:
    """Return the primary key of a document: a digest, since ids have any length and hold any character."""
    return blake2b(repr(id_key(id)).encode(), digest_size=16).hexdigest()


def pieces(text: str, size: int = _PIECE) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


def tags_of(metadata: Metadata) -> list[int]:
    """Return the tags of a document: a number for each of its metadata keys, and for each value."""
    tags: set[int] = set()
    for key, value in metadata.items():
        if values := [scalar for scalar in values_of(value) if scalar.kind != "null"]:
            tags |= {_number("has", key), *(_value_tag(key, scalar) for scalar in values)}
    return [*tags] if len(tags) <= _MOST else [_UNSURE]


def to_condition(filter: Filter, word: str | None = None) -> str:
    """Return a condition that all documents meet that pass a filter and have a word; "" if all documents do."""
    parts = [f"array_contains(words, {_number('word', word)})"] if word else []
    for key, test in filter:
        if lookups(test) is not None:
            tags = (
                {_value_tag(key, value) for value in test.values} if isinstance(test, AnyOf) else {_number("has", key)}
            )
            parts.append(f"array_contains_any(tags, {sorted({_UNSURE, *tags})})")
    return " and ".join(parts)


def _value_tag(key: str, scalar: Scalar) -> int:
    value = hash(scalar.value) if scalar.kind == "number" else scalar.value  # 1.0 equals 1
    return _number("is", key, scalar.kind, str(value))


def _number(*parts: str) -> int:
    """Return a number for these strings, in practice a different one for others."""
    joined = "\0".join(parts)
    return _number_of(joined) if len(joined) <= _LONGEST_CACHED else _number_of.__wrapped__(joined)


@lru_cache(1 << 16)
def _number_of(joined: str) -> int:
    return int.from_bytes(blake2b(joined.encode(), digest_size=6).digest()) or 1
