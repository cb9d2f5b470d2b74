r"""Ranking in two stages: a shortlist by Hamming distance and by words is ordered by a finer score.

`BitRanking`, the asymmetric score: the query keeps the logits l_j of its bits, positive if bit j of its own code c
is 1. The score of a document with code z is

    s = - Σ_{j: z_j ≠ c_j} |l_j|,

0 for the query's own code. For logits of independent bits, s = log p(z | query) - log p(c | query).

`VectorRanking`, the score by vectors, is the cosine of the query's row and the stored vector of a document.

`WordRanking`, the score by words, is a sum over the words w of the query and its pairs v of neighbouring words:

    s = Σ_w i_w n_w (k + 1) / (n_w + k L(text))     BM25; n_w is how often the text has w
      + Σ_v i_v [the text has v]
      + 3/4 (k + 1) / (1 + k L(opening)) (Σ_w i_w [the opening has w] + Σ_v i_v [the opening has v])
      + 1 - distance / m

with i_w = log(1 + (N - N_w + 1/2) / (N_w + 1/2)) for a word that N_w of N texts have, i_v the mean of its two words,
k = 1.2, and L = 1/4 + 3/4 of a length in characters over the average one. The opening is the first paragraph of a text,
or 100 characters of it, which also count as its average length: that is where titles and summaries are. If the store
keeps vectors, 3 Σ_w i_w times the cosine replaces the last line: the cosine says far more than the codes, and with
this weight as much as all words together.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import words_of
from ammi.features.occurrences import Occurrences, WordPair
from ammi.search.documents import Entry, Record, codes_of
from ammi.search.hamming import Codes
from ammi.search.vectors import KeptVectors, cosines

RANKS = ("distance", "asymmetric", "text", "vectors")
SHORTLIST = 100  # fewest documents by codes, and fewest by words
VECTOR_SHORTLIST = 1000  # for a ranking by vectors, which orders candidates well
MOST_WORDS = 32  # most words of a query that are searched for; a longer text is found by its code

_SATURATION, _LENGTH_SHARE = 1.2, 0.75  # k1 and b of BM25
_OPENING, _OPENING_SHARE = 100, 0.75
_COSINE_WEIGHT = 3  # times the rarities of all words of the query
_PARAGRAPH_END = re.compile(r"\n\s*\n")
_ENOUGH_PLACES, _ENOUGH_SHARE = 10_000, 30  # after 10,000 positions, or 1/30 of the texts, no further word is read
_MOST_PLACES = 100_000  # positions of one word, which are read in a hundredth of a second
_MOST_KNOWN = 100_000  # words whose counts are cached

Query: TypeAlias = str | Sequence[float] | NDArray[np.floating]  # a text or a vector, whichever the model reads
Scores = NDArray[np.float64]

_NONE: Scores = np.zeros(1)  # the start of a sum


class KnownCounts:
    """A cache of how many texts have a word, by the number of the word; valid until the store changes."""

    def __init__(self) -> None:
        self._known: tuple[int, dict[int, int]] = -1, {}

    def after(self, change: int) -> dict[int, int]:
        """Return the counts to read and fill; empty after a change of the store, or if they were too many."""
        if self._known[0] != change or len(self._known[1]) > _MOST_KNOWN:
            self._known = change, {}
        return self._known[1]


class WordStatistics(NamedTuple):
    """Numbers of texts, of characters in all of them, and of the texts that have each word."""

    texts: int
    characters: int
    having: dict[str, int]


class Candidates(NamedTuple):
    """Documents of a shortlist, in insertion order."""

    codes: Codes  # (n, ceil(m / 8))
    texts: list[str | None]  # n if the query has words, else none; None for a text without these words
    vectors: NDArray[np.float32] | None  # (n, d) if they were asked for
    statistics: WordStatistics | None  # of the query's words, if it has words
    records: Callable[[NDArray[np.int64]], list[Record]]  # reads the documents in these rows of the shortlist

    @classmethod
    def of_entries(
        cls, entries: list[Entry], width: int, kept: KeptVectors | None, statistics: WordStatistics | None
    ) -> "Candidates":
        """Whole documents, with codes of `width` bytes; with their vectors if `kept` says how these are kept."""
        vectors = [entry.vector for entry in entries]
        return cls(
            codes_of(entries, width),
            [entry.text for entry in entries],
            np.array(vectors, np.float32).reshape(len(entries), kept.width) if kept else None,
            statistics,
            lambda rows: [entries[row].record for row in rows],
        )


class Ranking(Protocol):
    """Scores the candidates of one query, the best highest."""

    words: Sequence[str]  # to search for in the texts
    vector: NDArray[np.floating] | None  # (d,) to compare with the stored vectors
    shortlist: int  # fewest candidates, unless the caller passes a number

    def scores(self, candidates: Candidates, shares: Scores, statistics: WordStatistics | None) -> Scores:
        """Return the score of each candidate; `shares` are the shares of bits that equal the query's."""
        ...


class BitRanking:
    """The asymmetric score, by the query's logits."""

    words: Sequence[str] = ()
    vector: NDArray[np.floating] | None = None
    shortlist = SHORTLIST

    def __init__(self, logits: NDArray[np.floating]):
        self._logits = logits.astype(np.float64)  # (m,)

    def scores(self, candidates: Candidates, shares: Scores, statistics: WordStatistics | None) -> Scores:
        bits = np.unpackbits(candidates.codes, axis=1, count=len(self._logits))  # (n, m)
        return -((bits != (self._logits > 0)) @ np.abs(self._logits))


class VectorRanking:
    """The score by vectors; words find further candidates beside those of the codes."""

    shortlist = VECTOR_SHORTLIST

    def __init__(self, vector: NDArray[np.floating], words: Sequence[str] = ()):
        self.vector: NDArray[np.floating] | None = vector
        self.words = words

    def scores(self, candidates: Candidates, shares: Scores, statistics: WordStatistics | None) -> Scores:
        return _nearness(self.vector, candidates, shares)


class WordRanking:
    """The score by the words of the query's text, and by its vector if the store keeps vectors."""

    shortlist = SHORTLIST

    def __init__(self, text: str, vector: NDArray[np.floating] | None = None):
        self.vector = vector
        query_terms = words_of(text)
        self.words: Sequence[str] = list(dict.fromkeys(query_terms))[:MOST_WORDS]
        known = set(self.words)
        self._pairs = [pair for pair in dict.fromkeys(pairwise(query_terms)) if known.issuperset(pair)]

    def scores(self, candidates: Candidates, shares: Scores, statistics: WordStatistics | None) -> Scores:
        near = _nearness(self.vector, candidates, shares)
        if statistics is None:  # the query has no words
            return near
        rarity = {word: rarity_of(statistics.having[word], statistics.texts) for word in self.words}
        of_pairs = {pair: (rarity[pair[0]] + rarity[pair[1]]) / 2 for pair in self._pairs}
        average = statistics.characters / max(statistics.texts, 1)
        weight = 1 if self.vector is None else _COSINE_WEIGHT * sum(rarity.values())
        rows = [row for row, text in enumerate(candidates.texts) if text]
        lexical = np.zeros(len(near))
        texts = [text for text in candidates.texts if text]
        lexical[rows] = self._lexical_score(texts, rarity, of_pairs, average)
        return lexical + weight * near

    def _lexical_score(
        self, texts: list[str], rarity: dict[str, float], of_pairs: dict[WordPair, float], average: float
    ) -> Scores:
        """Return the score without its last line, (n,)."""
        found = Occurrences(texts)
        counts = {word: found.counts(word) for word in self.words}
        pairs = {pair: found.have(pair) for pair in self._pairs}
        damping = _damping(_lengths(texts), average)
        score = sum((rarity[word] * n * (_SATURATION + 1) / (n + damping) for word, n in counts.items()), _NONE)
        score = score + sum((of_pairs[pair] * there for pair, there in pairs.items()), _NONE)
        openings = [opening(text) for text in texts]
        opened = Occurrences(openings)
        # A word at the cut of an opening may be part of a longer one, so it must be a word of the text, too.
        bonus = sum((rarity[word] * ((n > 0) & (opened.counts(word) > 0)) for word, n in counts.items()), _NONE)
        bonus = bonus + sum((of_pairs[pair] * (there & opened.have(pair)) for pair, there in pairs.items()), _NONE)
        return score + bonus * _OPENING_SHARE * (_SATURATION + 1) / (1 + _damping(_lengths(openings), _OPENING))


def rarity_of(having: int, texts: int) -> float:
    """Return the weight i_w of a word that `having` of the texts have."""
    return float(np.log1p((texts - having + 0.5) / (having + 0.5)))


def opening(text: str) -> str:
    """Return the first paragraph of a text, or its first 100 characters."""
    beginning = text.lstrip()[:_OPENING]
    end = _PARAGRAPH_END.search(beginning)
    return beginning[: end.start()] if end else beginning


def best(scores: Scores, k: int) -> NDArray[np.int64]:
    """Return the rows of the k highest scores, the highest first, ties in their order."""
    return np.argsort(-scores, kind="stable")[:k]


def most_told(
    statistics: WordStatistics, positions_of: Callable[[str], NDArray[np.int64]], n: int
) -> NDArray[np.int64]:
    """Return the sorted positions of the n texts whose words have the highest sum of rarities.

    The rarest words are read first, and common words not at all once thousands of positions were read.
    """
    enough = max(_ENOUGH_PLACES, statistics.texts // _ENOUGH_SHARE)
    positions, rarities, read = [np.empty(0, np.int64)], [0.0], 0
    for word, count in sorted(statistics.having.items(), key=lambda item: item[1]):
        if read >= enough or count > _MOST_PLACES:
            break
        read += count
        if count:
            positions.append(positions_of(word))
            rarities.append(rarity_of(count, statistics.texts))
    for end in range(2, len(positions)):
        rare = np.unique(np.concatenate(positions[:end]))
        # Texts that have only the remaining words cannot be among the best any more.
        if len(rare) >= n and rarities[end - 1] > sum(rarities[end:]):
            positions[end:] = [rare[is_in(rare, others)] for others in positions[end:]]
            break
    found, row = np.unique(np.concatenate(positions), return_inverse=True)
    scores = np.bincount(row, np.repeat(rarities, [len(texts) for texts in positions]), len(found))
    return np.sort(found[np.argsort(-scores, kind="stable")[:n]])


def is_in(positions: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which positions are among others, which are sorted."""
    return np.searchsorted(others, positions, side="right") > np.searchsorted(others, positions)


def _nearness(vector: NDArray[np.floating] | None, candidates: Candidates, shares: Scores) -> Scores:
    """Return the cosine of the query and each candidate; the share of equal bits if the query has no vector."""
    if vector is None:
        return shares
    assert candidates.vectors is not None
    return cosines(vector, candidates.vectors)


def _damping(lengths: NDArray[np.int64], average: float) -> Scores:
    return _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * lengths.astype(np.float64) / average)


def _lengths(texts: Sequence[str]) -> NDArray[np.int64]:
    return np.array([len(text) for text in texts], np.int64)


class QueryEncoder(Protocol):
    """The part of a model that a search needs; `ammi.stored_model` implements it."""

    @property
    def reads(self) -> str: ...  # what a query is: "text" or "vector"

    @property
    def has_logits(self) -> bool: ...

    def encode(self, queries: list[Query]) -> Codes: ...

    def logits(self, queries: list[Query]) -> NDArray[np.floating]: ...  # (n, m)

    def codes_and_vectors(self, queries: list[Query]) -> tuple[Codes, NDArray[np.floating]]: ...  # vectors (n, d)


class EncodedQueries(NamedTuple):
    """Queries as a store takes them."""

    codes: Codes  # (n, ceil(m / 8))
    rankings: list[Ranking] | None  # None: by distance, the order in which codes find documents


class RankPolicy(NamedTuple):
    """The ranks of a collection, its default, and the queries encoded for each."""

    model: QueryEncoder
    text_index: bool  # whether the store has a word index
    vectors: bool  # whether the store keeps vectors

    @property
    def default(self) -> str:
        """The rank of a search that names none."""
        if self.model.reads == "text" and self.text_index:
            return "text"
        return "vectors" if self.vectors else "distance"

    def ranks(self) -> list[str]:
        """Return the ranks that work here, the default first."""
        works = {
            "distance": True,
            "asymmetric": self.model.has_logits,
            "text": self.model.reads == "text" and self.text_index,
            "vectors": self.vectors,
        }
        return sorted((rank for rank in RANKS if works[rank]), key=lambda rank: rank != self.default)

    def encode(self, queries: list[Query], rank: str | None) -> EncodedQueries:
        """Return the codes of queries, and how to score the candidates of each."""
        rank = self.default if rank is None else rank
        if rank not in RANKS:
            raise ValueError(f"rank is {rank!r}, but there are {', '.join(map(repr, RANKS))}: name one of them")
        if rank == "text" and self.model.reads != "text":
            raise ValueError('rank is "text", but queries are vectors here: use "distance", "asymmetric" or "vectors"')
        if rank == "distance":
            return EncodedQueries(self.model.encode(queries), None)
        if rank == "asymmetric":
            logits = self.model.logits(queries)
            return EncodedQueries(self.model.encode(queries), [BitRanking(row) for row in logits])
        if rank == "text" and not self.vectors:
            return EncodedQueries(self.model.encode(queries), [WordRanking(str(query)) for query in queries])
        codes, vectors = self.model.codes_and_vectors(queries)
        return EncodedQueries(codes, [self._by_vector(*query, rank) for query in zip(queries, vectors, strict=True)])

    def _by_vector(self, query: Query, vector: NDArray[np.floating], rank: str) -> Ranking:
        if not isinstance(query, str):
            return VectorRanking(vector)
        by_words = WordRanking(query, vector)
        if rank == "text":
            return by_words
        # Words find candidates, too: a shortlist of 200 then finds what would need thousands by codes alone.
        return VectorRanking(vector, by_words.words if self.text_index else ())
