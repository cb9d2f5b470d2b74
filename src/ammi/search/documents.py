"""Documents as every store keeps and returns them: an id, a code, perhaps a text, and metadata as JSON."""

import gc
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ammi import displays
from ammi.plain import ID_NUMBERS, Id, Metadata, as_json, checked_id, checked_metadata, checked_text
from ammi.search.hamming import Codes

if TYPE_CHECKING:
    from pandas import DataFrame

_WHOLE_NUMBER = re.compile("0|-?[1-9][0-9]{0,18}")
new_tuple = tuple.__new__  # makes a NamedTuple from its fields, faster than its constructor


class Record(NamedTuple):
    """A document without its code, checked when it came in; `json` is the spelling of its metadata."""

    id: Id
    text: str | None
    metadata: Metadata
    json: str


class Entry(NamedTuple):
    """A stored document, its packed code, and its vector if the store keeps vectors."""

    id: Id
    code: Codes  # (ceil(m / 8),)
    text: str | None
    metadata: Metadata
    vector: NDArray[np.float32] | None = None  # (d,), rounded as it is kept

    @property
    def record(self) -> Record:
        """The document without its code and vector."""
        return Record(self.id, self.text, self.metadata, as_json(self.metadata))


class Why(NamedTuple):
    """Why a search for words found a document.

    Offsets are those of the document's text. A word counts in any form that has the stem of a word of the query.
    """

    passage: str  # the part of the text with a quoted phrase, or the rarest words of the query; else its beginning
    start: int  # where the passage begins
    words: list[tuple[int, int]]  # where words stand, as (start, end): the first 1,000, and those of the passage
    parts: dict[str, float]  # of the score, which is their sum: "words", "code" and "cosine", those that count

    def marked(self) -> list[tuple[str, bool]]:
        """Return the passage in pieces, each with whether it is a word of the query."""
        pieces, at = [], 0
        for start, end in self.words:
            begin, behind = max(start - self.start, 0), min(end - self.start, len(self.passage))
            if begin < behind:
                pieces += [(self.passage[at:begin], False), (self.passage[begin:behind], True)]
                at = behind
        return [(piece, is_match) for piece, is_match in [*pieces, (self.passage[at:], False)] if piece]


class Hit(NamedTuple):
    """A document that a search found.

    distance is the number of bits in which its code differs from the query's. Hits are in order of score, the highest
    first: the share of equal bits, or the score of a ranking. `why` is there if the words of a query were looked for.
    """

    id: Id
    distance: int
    score: float
    text: str | None
    metadata: Metadata
    why: Why | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON has them."""
        why = self.why and self.why._asdict() | {"words": [[*place] for place in self.why.words]}
        return self._asdict() | {"why": why}

    def _repr_html_(self) -> str:
        return displays.hit(self)


class Hits(list[Hit]):
    """The hits of a search, the best first.

    `unknown` are the words of the query that no document has in any form, and its quoted phrases that none has;
    `corrected` are words that were searched for instead of words of the query, by the latter.
    A text of which the model knows no word is not searched for by its code: its hits are documents with its words.
    """

    unknown: Sequence[str] = ()
    corrected: Mapping[str, str] = MappingProxyType({})
    _codes: displays.CodesOf | None = None  # finds the codes that a display compares

    def __repr__(self) -> str:
        return "\n".join([displays.hits_in_words(self), *self._notes()])

    def _repr_html_(self) -> str:
        return displays.hits(self, self._codes, self._notes())

    def _notes(self) -> list[str]:
        notes = [f"No document has {word}." for word in self.unknown]
        return notes + [f"Searched for {right} instead of {word}." for word, right in self.corrected.items()]

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name != "_codes"}

    def to_pandas(self) -> "DataFrame":
        """Return a row per hit and a column per metadata key, called metadata.KEY if a hit has a field of that name."""
        try:
            from pandas import DataFrame
        except ImportError as error:
            raise ImportError("hits become a DataFrame only where pandas is: pip install pandas") from error
        fields = [field for field in Hit._fields if field not in ("metadata", "why")]
        rows = [
            {field: getattr(hit, field) for field in fields}
            | {f"metadata.{key}" if key in fields else key: value for key, value in hit.metadata.items()}
            for hit in self
        ]
        return DataFrame(rows, columns=list(dict.fromkeys([*fields, *(key for row in rows for key in row)])))


@contextmanager
def no_search_for_garbage() -> Iterator[None]:
    """Pause the search for reference cycles, which takes most of the time when many hits are made."""
    is_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if is_enabled:
            gc.enable()


def id_key(id: Id) -> Id:
    """Return a key that is equal for equal ids; 17 and "17" are the same id, because file formats mix them up."""
    if isinstance(id, str) and _WHOLE_NUMBER.fullmatch(id) and int(id) in ID_NUMBERS:
        return int(id)
    return id


def as_list(values: Iterable[Any], name: str, n: int | None = None) -> list[Any]:
    """Return the values that a caller passed, as a list of n items if n is known."""
    if isinstance(values, str | Mapping):
        raise ValueError(f"{name} is the {type(values).__name__} {values!r:.60}: pass a list")
    values = list(values)
    if n is not None and len(values) != n:
        raise ValueError(f"{n} documents came with {len(values)} {name}: pass one for each")
    return values


def checked_ids(ids: Iterable[Id], n: int | None = None) -> list[Id]:
    return [checked_id(id, "this call") for id in as_list(ids, "ids", n)]


def checked_records(
    n: int,
    ids: Iterable[Id] | None,
    texts: Iterable[str | None] | None,
    metadata: Iterable[Mapping[str, Any]] | None,
) -> list[Record]:
    """Return the n documents that a caller passed as columns; without ids they are numbered from 0."""
    named = list(range(n)) if ids is None else checked_ids(ids, n)
    each_text = [None] * n if texts is None else as_list(texts, "texts", n)
    each_metadata = [{}] * n if metadata is None else as_list(metadata, "metadata", n)
    records = []
    for id, text, about in zip(named, each_text, each_metadata, strict=True):
        name = f"document {id} of this call" if ids is None else f"document {id!r}"
        records.append(Record(id, checked_text(text, name), *checked_metadata(about, name)))
    return records


def parsed(metadata: Sequence[str]) -> list[Metadata]:
    return json.loads(f"[{','.join(metadata)}]")  # one call is three times as fast as one for each


def checksums(ids: Iterable[Id], texts: Iterable[str | None], metadata: Iterable[str], codes: Codes) -> list[int]:
    """Return a checksum for each document, over its parts with their lengths, so that parts cannot be confused."""
    return [
        crc32(f"{len(spelled)} {text and len(text)} {isinstance(id, str)} {spelled}{text}{id}".encode() + code)
        for id, text, spelled, code in zip(ids, texts, metadata, each_code(codes), strict=True)
    ]


def altered(
    ids: Iterable[Id], texts: Iterable[str | None], metadata: Iterable[str], codes: Codes, written: Sequence[int]
) -> str | None:
    """Return a sentence about the first document whose checksum differs from the one written with it, if any."""
    made = checksums(ids, texts, metadata, codes)
    if made == [*written]:
        return None
    id = next(id for id, *both in zip(ids, made, written, strict=True) if both[0] != both[1])
    return f"document {id!r} is not as it was written"


def codes_of(entries: Sequence[Entry], width: int) -> Codes:
    """The codes of documents, (n, width)."""
    return np.array([entry.code for entry in entries], np.uint8).reshape(len(entries), width)


def each_code(codes: Codes) -> list[bytes]:
    """Return the bytes of each code."""
    return np.ascontiguousarray(codes).view(f"V{codes.shape[1]}").ravel().tolist()
