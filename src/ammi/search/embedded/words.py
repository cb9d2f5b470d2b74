"""The word index of an embedded index: which documents have a word, kept by SQLite's FTS5 in the same transactions.

FTS5 keeps neither the texts, which are kept already, nor where a word stands in them. Its tokenizer for ASCII takes
every other character for a letter: an ASCII text is told apart by FTS5 itself, any other one comes as its words.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from ammi.features.alphabet import words_of
from ammi.search.embedded.blocks import Positions
from ammi.search.embedded.store import Store
from ammi.search.ranking import WordStatistics, most_told

SCHEMA = (
    "CREATE VIRTUAL TABLE words USING fts5(text, content = '', contentless_delete = 1, detail = none, "
    "tokenize = \"ascii tokenchars '_'\")",
    "CREATE VIRTUAL TABLE word_counts USING fts5vocab(words, row)",
    "CREATE TABLE text_totals (texts INTEGER NOT NULL, characters INTEGER NOT NULL)",
    "INSERT INTO text_totals VALUES (0, 0)",
)

PlacedText = tuple[int, str]


class WordIndex:
    """The tables of words. Its methods are called while reading or writing."""

    def __init__(self, store: Store):
        self._store = store
        self._counted: tuple[int, dict[str, int]] = -1, {}  # the change of codes after which words were counted

    def exists(self) -> bool:
        return self._store.execute("SELECT 1 FROM sqlite_master WHERE name = 'words'").fetchone() is not None

    def add(self, documents: Sequence[PlacedText]) -> None:
        """Take up the texts of new documents."""
        self._store.execute_each("INSERT INTO words (rowid, text) VALUES (?, ?)", _split(documents))
        self._count(len(documents), sum(len(text) for _, text in documents))

    def remove(self, positions: Positions, texts: int, characters: int) -> None:
        """Forget documents, of which so many have texts of so many characters; all at once, for FTS5 tidies up then."""
        rows = ((position,) for position in positions.tolist())
        self._store.execute_each("DELETE FROM words WHERE rowid = ?", rows)
        self._count(-texts, -characters)

    def forget_removed(self) -> None:
        """Give up the space of words that removed documents had."""
        self._store.execute("INSERT INTO words (words) VALUES ('optimize')")

    def statistics(self, words: Sequence[str]) -> WordStatistics:
        """How many texts there are, and how many have each of these words."""
        texts, characters = self._store.execute("SELECT texts, characters FROM text_totals").fetchone()
        change = self._store.state().code_change
        counted = self._counted
        if counted[0] != change:
            self._counted = counted = change, {}
        known = counted[1]
        for word in words:
            if word not in known:  # to count a word that a million texts have takes a few hundredths of a second
                row = self._store.execute("SELECT doc FROM word_counts WHERE term = ?", (word,)).fetchone()
                known[word] = row[0] if row else 0
        return WordStatistics(texts, characters, {word: known[word] for word in words})

    def having(self, words: Sequence[str], n: int, among: Positions | None) -> Positions:
        """What `most_told` says of these words, among these positions or all."""

        def positions(word: str) -> Positions:
            found = self._positions(word)
            return found if among is None else np.intersect1d(found, among, assume_unique=True)

        return most_told(self.statistics(words), positions, n)

    def _positions(self, word: str) -> Positions:
        ((joined,),) = self._store.execute("SELECT GROUP_CONCAT(rowid) FROM words WHERE words MATCH ?", (f'"{word}"',))
        return np.fromstring(joined, np.int64, sep=",")  # in one string they come four times as fast

    def _count(self, texts: int, characters: int) -> None:
        change = (texts, characters)
        self._store.execute("UPDATE text_totals SET texts = texts + ?, characters = characters + ?", change)


def _split(documents: Iterable[PlacedText]) -> Iterable[PlacedText]:
    """Texts in which FTS5 sees the words that `words_of` sees, and single characters, which no query has."""
    return ((position, text if text.isascii() else " ".join(words_of(text))) for position, text in documents)
