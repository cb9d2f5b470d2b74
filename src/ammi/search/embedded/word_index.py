"""The word index of an embedded store, kept by SQLite's FTS5 in the same transactions as the documents.

FTS5 stores neither the texts, which another table has, nor the places of words. Its ASCII tokenizer takes every other
character for a letter: so FTS5 splits a plain text itself, and gets any other text as words with spaces between them.
"""

import json
from collections.abc import Iterable, Sequence
from sys import getsizeof

import apsw
import numpy as np

from ammi.features.alphabet import is_plain, terms_of
from ammi.search.embedded.blocks import Positions
from ammi.search.embedded.database import TOKENIZER, SqliteDatabase
from ammi.search.ranking import best_by_terms, is_in, merged
from ammi.search.wanted import Wanted, WordStatistics

PlacedText = tuple[int, str]

_LONGEST = 32_768  # bytes of a word that FTS5 keeps; of a longer one it has the beginning
_FEW = 10_000  # texts with a word whose positions are remembered
_FEW_PAGES, _SHARE_MERGED = 50, 4  # of segments besides the largest one, and the share of that one, to merge them at
_TIMES_LARGER = 20  # texts with a word than those that it is looked for in, for this to be faster
_REMEMBERED = 4 << 20  # bytes of all words and their positions
_OF_A_WORD = 400  # bytes beside those of the word and its positions


class _KnownWords:
    """The words that were read after one change of codes: how many texts have each, and which, if these are few."""

    def __init__(self, change: int):
        self.change = change
        self.counts: dict[str, int] = {}
        self.positions: dict[str, Positions] = {}
        self.room = _REMEMBERED


class WordIndex:
    """The tables of words. Its methods are called while reading or writing."""

    def __init__(self, database: SqliteDatabase):
        self._database = database
        self._last_known = _KnownWords(-1)

    def add(self, documents: Iterable[PlacedText]) -> None:
        """Add the texts of new documents."""
        rows = ((position, _split(text)) for position, text in documents)
        self._database.execute_each("INSERT INTO words (rowid, text) VALUES (?, ?)", rows)

    def remove(self, positions: Positions) -> None:
        """Remove documents; in one call, because FTS5 cleans up after each."""
        rows = ((position,) for position in positions.tolist())
        self._database.execute_each("DELETE FROM words WHERE rowid = ?", rows)

    def needs_merge(self) -> bool:
        """Return whether FTS5 looks for a word in many segments, which are much of the index."""
        segments = self._database.execute("SELECT count(*) FROM words_idx GROUP BY segid")
        sizes = sorted((pages for (pages,) in segments), reverse=True) or [0]
        return sum(sizes[1:]) > max(_FEW_PAGES, sizes[0] / _SHARE_MERGED)

    def merge(self) -> None:
        """Make one segment of all, so that words are found in half the time; free the space of removed documents."""
        self._database.execute("INSERT INTO words (words) VALUES ('optimize')")

    def statistics(self, words: Sequence[str]) -> WordStatistics:
        """Count the texts, and those that have each of these words."""
        known, state = self._known(), self._database.state
        return WordStatistics(state.texts, state.characters, {word: self._count(word, known) for word in words})

    def shortlist(
        self, near: Positions, wanted: Wanted, n: int, among: Positions | None
    ) -> tuple[Positions, Positions, WordStatistics]:
        """Add the texts that `best_by_terms` finds to sorted positions; also return which of them may have a word."""
        read: dict[str, Positions] = {}

        def positions(word: str, some: Positions | None) -> Positions:
            found = self._positions(word, None if some is None else merged([some, near]))
            read[word] = found if among is None else np.intersect1d(found, among, assume_unique=True)
            return read[word]

        statistics = self.statistics(wanted.words)
        by_words = best_by_terms(statistics, wanted, positions, n)
        candidates = merged([near, by_words])
        if any(count and word not in read for word, count in statistics.having.items()):
            return candidates, candidates, statistics
        has_word = np.any([np.zeros(len(near), bool), *(is_in(near, found) for found in read.values())], axis=0)
        return candidates, merged([by_words, near[has_word]]), statistics

    def _known(self) -> _KnownWords:
        """Return the cache of words for the current state."""
        known, change = self._last_known, self._database.state.code_change
        if known.change != change or known.room < 0 or self._database.writes:
            known = _KnownWords(change)
            if not self._database.writes:  # uncommitted state is not cached
                self._last_known = known
        return known

    def _count(self, word: str, known: _KnownWords) -> int:
        """Return how many texts have a word, several times faster than which these are."""
        if word not in known.counts:
            select = "SELECT doc FROM word_counts WHERE term = CAST(? AS TEXT)"
            row = self._database.execute(select, (word.encode()[:_LONGEST],)).fetchone()
            known.counts[word] = row[0] if row else 0
            known.room -= _OF_A_WORD + getsizeof(word)
        return known.counts[word]

    def _positions(self, word: str, among: Positions | None) -> Positions:
        """Return the sorted positions of the texts that have a word: all, or at least those among sorted positions."""
        known = self._known()
        if word in known.positions:
            return known.positions[word]
        count = self._count(word, known)
        if among is not None and _TIMES_LARGER * len(among) < count:  # looking them up costs time, too
            return self._matching(word, among)
        found = self._matching(word)
        if count <= _FEW:
            known.positions[word] = found
            known.room -= found.nbytes
        return found

    def _matching(self, word: str, among: Positions | None = None) -> Positions:
        """Return the sorted positions, all or those among some, of texts that have a word."""
        some = "" if among is None else "AND +rowid IN (SELECT value FROM json_each(?2))"  # + lets SQLite look them up
        values = (f'"{word}"', *([] if among is None else [json.dumps(among.tolist())]))
        select = f"SELECT GROUP_CONCAT(rowid) FROM words WHERE words MATCH ?1 {some}"
        ((joined,),) = self._database.execute(select, values)
        return np.fromstring(joined or "", np.int64, sep=",")  # in one string they come four times as fast


class TermMaker:
    """What FTS5 keeps of a text: the tokens that its own tokenizer makes of what `WordIndex.add` gives it."""

    def __init__(self, db: apsw.Connection):
        self._tokenize = db.fts5_tokenizer(TOKENIZER[0], list(TOKENIZER[1:]))

    def __call__(self, text: str) -> set[bytes]:
        tokens = self._tokenize(
            _split(text).encode(), apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=False, include_colocated=False
        )
        return {str(token).encode()[:_LONGEST] for token in tokens}


def _split(text: str) -> str:
    """Return a text that FTS5 splits into the words of `terms_of`."""
    return text if is_plain(text) else " ".join(terms_of(text))
