"""SqlTables: the tables of documents that the stores on SQL databases have in common."""

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ammi.features.alphabet import distinct_terms, has_names
from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Id, Metadata, Record, checksums, parsed
from ammi.search.filters import Scalar, values_of
from ammi.search.hamming import Codes
from ammi.search.languages import LONGEST, stems
from ammi.search.sql.sessions import SqlDatabase
from ammi.search.store_methods import MOST_REMEMBERED, ChangeKey
from ammi.search.vectors import Packed
from ammi.search.wanted import MOST_COMPLETIONS

if TYPE_CHECKING:
    from ammi.features.tokens import WordCounts

Placed = tuple[int, Metadata]  # a document's position and metadata
Stored = int | float | str | bytes  # a value in the table key_values
_ROWS_AT_ONCE = 10_000
_MANY = 100  # texts for which it pays to import numba
_MOST_LEARNED = 2_000_000  # words that are cached as known, some 100 MB
_SECONDS_KNOWN = 24 * 3600  # of a key

# The changes that were made under a key, by the number of the change; collections of earlier versions lack the table.
KEYED_CHANGES = (
    "CREATE TABLE keyed_changes (number bigint PRIMARY KEY, name bigint NOT NULL UNIQUE, digest bigint NOT NULL, "
    "outcome bigint NOT NULL, seconds bigint NOT NULL)"
)


class SqlTables(ABC):
    """The tables of one collection. Its methods are called while reading or writing.

    Documents stand in the order of their positions, which only grow and are never used again. The values of indexed
    keys stand in the table key_values, a row for each item of a list, and none for a document without a value.
    """

    json_column: ClassVar[str]  # of the table documents: the metadata as it was spelled

    def __init__(self, database: SqlDatabase[Any, Any]):
        self._database = database
        self._learned: tuple[int, WordCounts | None] = -1, None  # words that are in the vocabulary

    def all_metadata(self) -> Iterator[list[Placed]]:
        """Yield positions and metadata of all documents in blocks, in insertion order; documents may share a dict."""
        last = -1
        while rows := self._database.execute(
            f"SELECT position, {self.json_column} FROM documents WHERE position > {last} ORDER BY position "
            f"LIMIT {_ROWS_AT_ONCE}"
        ).fetchall():
            yield parsed_once(rows)
            last = rows[-1][0]

    def index_keys(self, names: Iterable[str]) -> None:
        """Put the values of keys in the table key_values, for all documents."""
        known = self.indexed()
        new = {name: len(known) + n for n, name in enumerate(name for name in names if name not in known)}
        if new:
            self.insert_keys(new)
            for block in self.all_metadata():
                self.add_values(new, block)

    def add_values(self, keys: Mapping[str, int], documents: Iterable[Placed]) -> None:
        """Add the values that documents have for these keys."""
        if keys:
            self._database.insert("key_values", self.rows_of_keys(keys, documents))

    @classmethod
    def rows_of_keys(cls, keys: Mapping[str, int], documents: Iterable[Placed]) -> Iterator[tuple[int, Stored, int]]:
        """The rows of the table key_values: key, value, position."""
        for position, metadata in documents:
            for name, key in keys.items():
                if metadata.get(name) not in (None, []):
                    for value in set(map(cls.stored, values_of(metadata[name]))):
                        yield key, value, position

    def learn_words(self, texts: Sequence[str]) -> None:
        """Put the words of texts into the vocabulary, from which they are never taken out."""
        words = self._new_words(texts) if len(texts) >= _MANY else distinct_terms(texts)
        new = {word for word in words if len(word) <= LONGEST}
        self._insert_words(sorted(new.difference(self.words_among("word", new))))

    def _new_words(self, texts: Sequence[str]) -> set[str]:
        """Return the words of many texts, without most of those that are known; compiled."""
        from ammi.features.tokens import WordCounts  # imports numba

        of, learned = self._learned
        if learned is None or of != self._database.undone or learned.n_words > _MOST_LEARNED:
            learned = WordCounts(_MOST_LEARNED)
            self._learned = self._database.undone, learned
        with_names = [text for text in texts if has_names(text)]
        others = [text for text in texts if not has_names(text)] if with_names else texts
        return distinct_terms(with_names).union(learned.learn(others))

    def set_language(self, language: str) -> None:
        """Change the language, and give every word of the vocabulary its stem."""
        self._database.set_state(language=language)
        words = [word for (word,) in self._database.execute("SELECT word FROM vocabulary").fetchall()]
        self._database.execute("DELETE FROM vocabulary")
        self._insert_words(words)

    def _insert_words(self, words: Sequence[str]) -> None:
        self._database.insert("vocabulary", zip(words, stems(self._database.state.language, words), strict=True))

    def words_from(self, prefix: str) -> list[str]:
        """The shortest words of the vocabulary that begin with these letters, which are of a word."""
        select = (
            f"SELECT word FROM vocabulary WHERE word >= '{prefix}' AND word < '{prefix}{chr(sys.maxunicode)}' "
            f"ORDER BY length(word), word LIMIT {MOST_COMPLETIONS}"
        )
        return [word for (word,) in self._database.execute(select).fetchall()]

    @abstractmethod
    def words_among(self, column: str, values: Collection[str]) -> list[str]:
        """The words of the vocabulary whose `word`, or whose `stem`, is one of these."""

    def remembered(self, name: int) -> tuple[int, int] | None:
        """The digest and the outcome of the change that was made under a name."""
        if not self.has_keyed_changes():
            return None
        since = int(time.time()) - _SECONDS_KNOWN
        select = f"SELECT digest, outcome FROM keyed_changes WHERE name = {name} AND seconds >= {since}"
        return self._database.execute(select).fetchone()

    def remember(self, key: ChangeKey, outcome: int) -> None:
        """Remember the current change under a key; forget those of long ago, and too many."""
        if not self.has_keyed_changes():
            self._database.execute(KEYED_CHANGES)
        number, now = self._database.state.change, int(time.time())
        first = f"SELECT min(number) FROM keyed_changes WHERE seconds >= {now - _SECONDS_KNOWN}"
        self._database.execute(
            f"DELETE FROM keyed_changes WHERE number <= {number - MOST_REMEMBERED} "
            f"OR number < COALESCE(({first}), {number})"
        )
        self._database.insert("keyed_changes", [(number, *key, outcome, now)])

    def count_texts(self, texts: int, characters: int) -> None:
        """Count texts that were added to the word index, or taken out."""
        state = self._database.state
        self._database.set_state(texts=state.texts + texts, characters=state.characters + characters)

    @staticmethod
    @abstractmethod
    def stored(scalar: Scalar) -> Stored:
        """A value as key_values holds it, in an order that serves ranges."""

    @abstractmethod
    def find(self, ids: Iterable[Id]) -> list[int | None]:
        """The position of each id, or None where there is no such document."""

    @abstractmethod
    def entries(self, positions: Sequence[int]) -> dict[int, Entry]:
        """The documents at those of the positions that hold one with a code, in insertion order, each held to its
        checksum."""

    @abstractmethod
    def append(self, positions: range, records: Sequence[Record], codes: Codes, vectors: Packed | None) -> None:
        """Add documents at new positions."""

    @abstractmethod
    def remove(self, positions: Sequence[int]) -> None:
        """Take away the documents at positions."""

    @abstractmethod
    def replace_metadata(self, metadata: Mapping[int, Metadata]) -> None:
        """Give the documents at positions other metadata."""

    @abstractmethod
    def kinds(self) -> Iterable[tuple[str, str, int]]:
        """Each metadata key with the kinds of its values, and how many documents have these."""

    @abstractmethod
    def indexed(self) -> dict[str, int]:
        """The indexed keys, and the number that stands for each."""

    @abstractmethod
    def insert_keys(self, keys: Mapping[str, int]) -> None:
        """Add keys to the indexed ones."""

    @abstractmethod
    def files(self) -> dict[str, bytes]:
        """The files that are kept beside the documents, by name."""

    @abstractmethod
    def set_files(self, files: Mapping[str, bytes]) -> None:
        """Replace all files."""

    @abstractmethod
    def file(self, name: str) -> bytes | None:
        """One of the files; None if it is not there."""

    @abstractmethod
    def set_file(self, name: str, content: bytes) -> None:
        """Replace one of the files, or add it."""

    @abstractmethod
    def has_keyed_changes(self) -> bool:
        """Whether the table keyed_changes exists."""

    @abstractmethod
    def damaged(self, cause: str) -> DamagedError:
        """The error for damage, which says what to do."""


def parsed_once(rows: Sequence[tuple[int, str]]) -> list[Placed]:
    """Positions and metadata from positions and JSON; documents with the same JSON share a dict."""
    distinct = list({spelled for _, spelled in rows})
    read = dict(zip(distinct, parsed(distinct), strict=True))
    return [(position, read[spelled]) for position, spelled in rows]


def checksums_of(records: Sequence[Record], codes: Codes) -> list[int]:
    """The checksum of each document with its code."""
    ids, texts = [record.id for record in records], [record.text for record in records]
    return checksums(ids, texts, [record.json for record in records], codes)
