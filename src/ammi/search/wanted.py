"""The words that a query looks for in a collection: forms of its words, completions, corrections, and phrases."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from string import ascii_lowercase
from typing import NamedTuple, Protocol

import numpy as np

from ammi.features.alphabet import in_parts, normal, searched_terms, terms_of
from ammi.search.languages import LONGEST, STOP_WORDS, stems
from ammi.search.queries import Parsed, Phrase

MOST_TERMS = 500  # of a query; a longer text is found by its code, too
MOST_COMPLETIONS = 100  # words that one prefix stands for, the shortest first
_MOST_KNOWN = 40_000  # words whose counts are cached: 4 MB
_INITIALS = re.compile(r"\b\w\.(?=\s*\S)")  # of names and in "e.g.": single letters that say little
_is_corrected = re.compile(r"[^\W\d_]{4,}").fullmatch  # shorter words and numbers are too much like others
_FEWEST_OF_PREFIX = 2  # letters


class Term(NamedTuple):
    """The words of a query that count as one, and the words of the collection that have their stems."""

    asked: dict[str, int]  # how often the query has each of its words
    words: tuple[str, ...]  # of the collection and the query, sorted
    times: int = 1  # q_t: how often the query has any of its words


class Wanted(NamedTuple):
    """What a query looks for, in words of the collection."""

    terms: Sequence[Term] = ()
    required: Sequence[tuple[Phrase, ...]] = ()
    excluded: Sequence[Phrase] = ()
    corrected: dict[str, str] = {}  # noqa: RUF012

    @property
    def words(self) -> list[str]:
        """All words that are looked up."""
        phrases = [*self.excluded, *(phrase for group in self.required for phrase in group)]
        return sorted({word for term in self.terms for word in term.words}.union(*phrases))

    @property
    def has_phrases(self) -> bool:
        """Whether texts must be read to tell which documents pass."""
        return bool(self.required) or any(len(phrase) > 1 for phrase in self.excluded)

    def failing(self, texts: Iterable[tuple[str, ...]]) -> tuple[list[bool], list[str]]:
        """Return which documents lack a required phrase or have an excluded one, and the phrases that none of them has.

        A document comes as its text and its heading. If no document has a phrase, it is not required.
        """
        forms = ([form for part in map(normal, parts) for form in (part, in_parts(part))] for parts in texts)
        spelled = [[f" {' '.join(terms_of(form))} " for form in dict.fromkeys(each)] for each in forms]

        def having(phrases: Iterable[Phrase]) -> list[bool]:
            wanted = [f" {' '.join(phrase)} " for phrase in phrases]
            return [any(one in part for one in wanted for part in parts) for parts in spelled]

        failing, nowhere = having(self.excluded), list[str]()
        for group in self.required:
            there = having(group)
            if any(there):
                failing = [fails or not has for fails, has in zip(failing, there, strict=True)]
            else:
                nowhere += [f'"{" ".join(phrase)}"' for phrase in group]
        return failing, nowhere


class WordStatistics(NamedTuple):
    """Numbers of texts, of characters in all of them, and of the texts that have each word."""

    texts: int
    characters: int
    having: dict[str, int]

    @property
    def average(self) -> float:
        """The average length of a text, in characters."""
        return self.characters / max(self.texts, 1) or 1.0

    def having_term(self, term: Term) -> int:
        """Return N_t: how many texts have each word of a term, added up, at most all."""
        return min(sum(self.having[word] for word in term.words), self.texts)

    def rarity(self, term: Term) -> float:
        """Return the weight i_t of a term."""
        having = self.having_term(term)
        return float(np.log1p((self.texts - having + 0.5) / (having + 0.5)))


class KnownCounts:
    """A cache of how many texts have a word, by the number of the word; valid until the store changes."""

    def __init__(self) -> None:
        self._known: tuple[int, dict[int, int]] = -1, {}

    def after(self, change: int) -> dict[int, int]:
        """Return the counts to read and fill; empty after a change of the store, or if they were too many."""
        if self._known[0] != change or len(self._known[1]) > _MOST_KNOWN:
            self._known = change, {}
        return self._known[1]


class Vocabulary(Protocol):
    """The words of a collection, as a store gives them (`StoreMethods`)."""

    def _words_with(self, stems: Collection[str]) -> Iterable[str]: ...

    def _words_from(self, prefix: str) -> Iterable[str]: ...

    def _word_statistics(self, words: Sequence[str]) -> WordStatistics: ...


def words_by_stem(text: str, language: str | None) -> dict[str, dict[str, int]]:
    """Return how often a query has each of its words, by their stems; without stop words unless all words are."""
    words = searched_terms(_INITIALS.sub(" ", text))
    stop_words = STOP_WORDS.get(language or "", frozenset())
    counts = Counter(word for word in words if word not in stop_words) or Counter(words)
    found: dict[str, dict[str, int]] = {}
    for (word, count), stem in zip(counts.items(), stems(language, [*counts]), strict=True):
        if stem in found or len(found) < MOST_TERMS:
            found.setdefault(stem, {})[word] = count
    return found


def look_up(
    queries: Sequence[Parsed], language: str | None, vocabulary: Vocabulary, knows: Sequence[Callable[[str], bool]]
) -> list[Wanted]:
    """Return what queries look for; `knows` tells for each of them which words are right though no document has them.

    A word that no document has in any form stands for the words that begin with it if it is the last of a query, else
    for the most frequent of the words that differ by one letter.
    """
    counted = [_counted(query, language) for query in queries]
    forms = _Forms(language, vocabulary)
    forms.read({stem for terms in counted for stems, *_ in terms for stem in stems})
    found = []
    for query, terms, is_right in zip(queries, counted, knows, strict=True):
        corrected: dict[str, str] = {}
        last = terms_of(query.text)[-1:]
        wanted: list[Term] = []
        for of_stems, asked, times in terms:
            known, word = forms.of_stems(of_stems), next(iter(asked))
            is_unknown = query.is_typed and not known and len(asked) == 1 and len(word) <= LONGEST
            if query.prefix in asked or (is_unknown and [word] == last and len(word) >= _FEWEST_OF_PREFIX):
                known = known.union(forms.completions(query.prefix or word))
                if is_unknown and known and not query.prefix:
                    corrected[word] = f"{word}*"
            if is_unknown and not known and _is_corrected(word) and not is_right(word):
                right = forms.nearest(word)
                if right:
                    corrected[word], asked, known = right, {right: times}, forms.of_stems(stems(language, [right]))
            wanted.append(Term(asked, tuple(sorted(known.union(asked))), times))
        found.append(Wanted(wanted, query.required, query.excluded, corrected))
    return found


def _counted(query: Parsed, language: str | None) -> list[tuple[Collection[str], dict[str, int], int]]:
    """Return the terms of a query: their stems, how often it has each of their words, and any of them."""
    terms: list[tuple[Collection[str], dict[str, int], int]] = [
        ([stem], counts, sum(counts.values())) for stem, counts in words_by_stem(query.single, language).items()
    ]
    for words in query.alternatives:
        by_stem = words_by_stem(" ".join(words), language)
        terms.append((by_stem, {word: 1 for counts in by_stem.values() for word in counts}, 1))
    return terms


class _Forms:
    """The words that texts of a collection have, by their stems; read once for some queries."""

    def __init__(self, language: str | None, vocabulary: Vocabulary):
        self._language, self._vocabulary = language, vocabulary
        self._of: dict[str, set[str]] = {}

    def read(self, new: Collection[str]) -> None:
        """Read the words that have these stems."""
        self._of |= {stem: set() for stem in new}
        words = [*self._having(self._vocabulary._words_with(new) if new else ())]
        for word, stem in zip(words, stems(self._language, words), strict=True):
            self._of[stem].add(word)

    def of_stems(self, some: Iterable[str]) -> set[str]:
        """Return the words of stems that were read."""
        return set[str]().union(*(self._of[stem] for stem in some))

    def completions(self, prefix: str) -> set[str]:
        """Return words that begin with some letters."""
        return {*self._having(self._vocabulary._words_from(prefix))}

    def nearest(self, word: str) -> str | None:
        """Return the word one edit away that most texts have, of several the first by code points, if there is one."""
        stop_words = STOP_WORDS.get(self._language or "", frozenset())
        edits = _edits(word, {*ascii_lowercase, *word, *"".join(stop_words)}) - stop_words
        of_edits = {*stems(self._language, [*edits])}
        self.read(of_edits)
        having = self._having(edits & self.of_stems(of_edits))
        return min(having, key=lambda one: (-having[one], one), default=None)

    def _having(self, words: Iterable[str]) -> dict[str, int]:
        """Return how many texts have each of these words, without the words that none has (any more)."""
        asked = [*words]
        having = self._vocabulary._word_statistics(asked).having if asked else {}
        return {word: count for word, count in having.items() if count}


def _edits(word: str, letters: Iterable[str]) -> set[str]:
    """Return the words that differ from a word by one letter that is left out, added or replaced, or by two swapped."""
    halves = [(word[:n], word[n:]) for n in range(len(word) + 1)]
    swapped = {left + right[1] + right[0] + right[2:] for left, right in halves if len(right) > 1}
    shorter = {left + right[1:] for left, right in halves if right}
    replaced = {left + letter + right[1:] for left, right in halves if right for letter in letters}
    longer = {left + letter + right for left, right in halves for letter in letters}
    return (swapped | shorter | replaced | longer) - {word}
