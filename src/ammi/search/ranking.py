r"""The score of a search, which orders candidates found by words and by codes.

    score = Σ_t i_t (q_t f(n_t) + EXACT_WEIGHT Σ_w q_w f(n_w)) / sqrt(Σ_t q_t i_t) + weight · cosine
    f(n)  = n (k + 1) / (n + k)
    n     = in the window / L + TITLE_WEIGHT · in the heading / L,    L = 1/4 + 3/4 length / usual
    cosine = Σ_j l_j (2 z_j - 1) / (sqrt(m) |l|)

The terms t of a query are its words by stem, without stop words. q_t is how often the query has a word of the stem, n_t
how often a text has one; q_w and n_w count the word w exactly as the query has it. i_t = log(1 + (N - N_t + 1/2) / (N_t
+ 1/2)) for N texts, where N_t adds up how many have each word of the stem, at most N. k = 1.2. The root puts short and
long queries on one scale, because sums of that many terms differ between texts by about as much.

The windows of a text are parts of WINDOW characters, one beginning every third of that, or the text itself if it is no
longer; the best one counts. The usual length of a window is the average one of texts in characters, but at most WINDOW,
and that of a heading (`headings`) TITLE_LENGTH.

l_j is the query's logit of bit j, and z the text's code. Bits that keep the cosine of embeddings (those of ITQ) have
COSINE_WEIGHT, all others CODE_WEIGHT. A model has bits of one kind or of both, each kind with its own cosine; where
vectors are kept, their cosine itself counts. The code of a long text says less about a part of it: where texts are
longer than WINDOW on average, its part counts sqrt(WINDOW / average). `BitRanking` orders by the bits alone,
`VectorRanking` by the cosine of vectors alone.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ammi.features.occurrences import Occurrences
from ammi.search.documents import Entry, Hit, Hits, Record, codes_of
from ammi.search.hamming import Codes
from ammi.search.headings import heading_of
from ammi.search.passages import explained, rarities
from ammi.search.queries import Phrase
from ammi.search.vectors import KeptVectors, cosines
from ammi.search.wanted import Term, Wanted, WordStatistics

# The weights, chosen on cranfield and cacm (benchmarks/retrieval.py).
EXACT_WEIGHT = 0.25  # of a word just as the query has it, beside 1 of any word of its stem
TITLE_WEIGHT, TITLE_LENGTH = 3, 60  # of a word in the title or the id, beside 1 in the text; usual characters of both
CODE_WEIGHT = 1.4
COSINE_WEIGHT = 10
SATURATION, LENGTH_SHARE = 1.2, 0.75  # k and b of BM25
WINDOW = 1200  # characters, some 200 words

SHORTLIST = 100  # fewest documents by codes, and fewest by words
VECTOR_SHORTLIST = 1000  # for a ranking by vectors, which orders candidates well
VERIFIED = 2000  # documents by words, if the query has phrases, which are looked for in their texts

_BLOCKS = 3  # of a window: the next window begins a block later
_ENOUGH_POSITIONS, _ENOUGH_SHARE = 30_000, 30  # positions that the terms after the first may add, or 1/30 of the texts
_MOST_POSITIONS = 100_000  # positions of one term, which are read in a hundredth of a second

Query: TypeAlias = str | Sequence[float] | NDArray[np.floating]  # a text or a vector, whichever the model reads
Scores = NDArray[np.float64]
Positions = NDArray[np.int64]


class Candidates(NamedTuple):
    """Documents of a shortlist, in insertion order."""

    codes: Codes  # (n, ceil(m / 8))
    texts: Sequence[str | None]  # n if the query has words, else none; None for a text without these words
    headings: Sequence[str]  # of these texts
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
            [heading_of(entry.id, entry.text or "", entry.metadata) for entry in entries],
            np.array(vectors, np.float32).reshape(len(entries), kept.width) if kept else None,
            statistics,
            lambda rows: [entries[row].record for row in rows],
        )


def _knows_none(word: str) -> bool:
    return False


class Ranking(Protocol):
    """Scores the candidates of one query."""

    text: str  # whose words are looked for
    vector: NDArray[np.floating] | None  # (d,) to compare with the stored vectors
    shortlist: int  # fewest candidates, unless the caller passes a number

    @property
    def knows(self) -> Callable[[str], bool]:
        """Tells whether a word is right, even if no document has it."""
        ...

    def parts(self, candidates: Candidates, terms: Sequence[Term]) -> dict[str, Scores]:
        """Return the parts of each candidate's score, which is their sum, the best highest; minus infinity for one that
        does not answer the query at all."""
        ...


class BitRanking:
    """The cosine of codes, or of the bits from the first one on, by the query's logits."""

    text = ""
    vector: NDArray[np.floating] | None = None
    shortlist = SHORTLIST
    knows = staticmethod(_knows_none)

    def __init__(self, logits: NDArray[np.floating], first: int = 0, *, faithful: bool = False):
        self._logits, self._first = logits.astype(np.float64), first  # (m,)
        self.part = "cosine" if faithful else "code"  # of the score of the module
        self._is_faithful = faithful

    @property
    def weight(self) -> float:
        return COSINE_WEIGHT if self._is_faithful else CODE_WEIGHT

    def parts(self, candidates: Candidates, terms: Sequence[Term] = ()) -> dict[str, Scores]:
        return {self.part: cosines_of_codes(candidates.codes, self._logits, self._first)}


def cosines_of_codes(codes: Codes, logits: NDArray[np.float64], first: int = 0) -> Scores:
    """Return the cosine of each code, or of its bits from the first one on, with a query's logits of m bits, (n,)."""
    m = len(logits)
    bits = np.unpackbits(codes, axis=1, count=first + m)[:, first:]  # (n, m)
    return (2.0 * bits - 1) @ logits / (np.sqrt(m) * np.linalg.norm(logits) or 1)


class VectorRanking:
    """The score by vectors; words find further candidates beside those of the codes."""

    part = "cosine"
    shortlist = VECTOR_SHORTLIST
    knows = staticmethod(_knows_none)

    def __init__(self, vector: NDArray[np.floating], text: str = ""):
        self.vector: NDArray[np.floating] | None = vector
        self.text = text

    @property
    def weight(self) -> float:
        return COSINE_WEIGHT

    def parts(self, candidates: Candidates, terms: Sequence[Term] = ()) -> dict[str, Scores]:
        assert self.vector is not None
        assert candidates.vectors is not None
        return {self.part: cosines(self.vector, candidates.vectors)}


class JointRanking:
    """The mean of the scores of several parts of a code, or of one and of vectors, by their weights."""

    text = ""
    shortlist = SHORTLIST
    knows = staticmethod(_knows_none)

    def __init__(self, rankings: Sequence[BitRanking | VectorRanking]):
        self._rankings = rankings
        self.vector = rankings[-1].vector

    @property
    def weight(self) -> float:
        return sum(ranking.weight for ranking in self._rankings)

    def parts(self, candidates: Candidates, terms: Sequence[Term] = ()) -> dict[str, Scores]:
        found: dict[str, Scores] = {}
        for ranking in self._rankings:
            [(name, scores)] = ranking.parts(candidates).items()
            found[name] = found.get(name, 0) + ranking.weight / (self.weight or 1) * scores
        return found


class WordRanking:
    """The score of the module: words, and codes, or vectors where these are kept.

    If the model knows no word of the query, its code says nothing, and `near` is None: only texts with words of the
    query are found, by their words alone.
    """

    shortlist = SHORTLIST

    def __init__(
        self,
        text: str,
        near: BitRanking | VectorRanking | JointRanking | None,
        knows: Callable[[str], bool] = _knows_none,
    ):
        self.text, self._near, self.knows = text, near, knows
        self.vector = near.vector if near else None

    def parts(self, candidates: Candidates, terms: Sequence[Term]) -> dict[str, Scores]:
        lexical = np.zeros(len(candidates.codes))
        if candidates.statistics is not None:
            texts = {row: text for row, text in enumerate(candidates.texts) if text is not None}
            headings = [candidates.headings[row] for row in texts]
            lexical[[*texts]] = lexical_scores([*texts.values()], headings, terms, candidates.statistics)
        if self._near is None:
            return {"words": np.where(lexical > 0, lexical, -np.inf)}
        near = {name: self._near.weight * part for name, part in self._near.parts(candidates).items()}
        if candidates.statistics is not None and "code" in near:
            near["code"] = near["code"] * min(1.0, np.sqrt(WINDOW / candidates.statistics.average))
        return {"words": lexical, **near}


def lexical_scores(
    texts: Sequence[str], headings: Sequence[str], terms: Sequence[Term], statistics: WordStatistics
) -> Scores:
    """Return the first part of the score of each text, (n,)."""
    n, average = len(texts), statistics.average
    if not n:
        return np.zeros(0)
    found = Occurrences([*texts, *headings], WINDOW // _BLOCKS)
    first = np.append(found.first, found.n_blocks)  # (2 n + 1,)
    n_windows = np.maximum(np.diff(first[: n + 1]) - _BLOCKS + 1, 1)
    text_of = np.repeat(np.arange(n), n_windows)  # (w,) the text of each window
    windows = np.cumsum(n_windows) - n_windows  # (n,) the first window of each text
    starts = first[text_of] + np.arange(len(text_of)) - windows[text_of]
    ends = np.minimum(starts + _BLOCKS, first[text_of + 1])
    of_text, of_heading = (np.array([*map(len, parts)], np.float64) for parts in (texts, headings))
    in_window = 1 / _lengths(np.minimum(of_text, WINDOW), min(average, WINDOW))[text_of]  # how much a word counts
    in_heading = TITLE_WEIGHT / _lengths(of_heading, TITLE_LENGTH)
    counts, weights, total = _weighted_counts(found, terms, statistics)
    before = np.zeros((len(counts), found.n_blocks + 1), np.int64)  # so many in all blocks before this one
    np.cumsum(counts, axis=1, out=before[:, 1:])
    there = in_heading * np.diff(before[:, first[n:]], axis=1)
    saturated = _saturated(there[:, text_of] + in_window * (before[:, ends] - before[:, starts]))  # (c, w)
    scores = np.zeros(len(text_of))
    for weight, each in zip(weights, saturated, strict=True):
        scores += weight * each
    return np.asarray(np.maximum.reduceat(scores, windows) / np.sqrt(total or 1), np.float64)


def _weighted_counts(
    found: Occurrences, terms: Sequence[Term], statistics: WordStatistics
) -> tuple[NDArray[np.int64], list[float], float]:
    """Return how often each block has each stem and each word of the query, (c, B), what each counts, and Σ q_t i_t."""
    groups = [[word for word in term.words if statistics.having[word]] for term in terms]
    of_word = found.counts(groups)
    counts, weights, total = list[NDArray[np.int64]](), list[float](), 0.0
    for term, words in zip(terms, groups, strict=True):
        rarity = statistics.rarity(term)
        total += term.times * rarity
        if words:
            asked = {word: times for word, times in term.asked.items() if statistics.having[word]}
            counts += [np.sum([of_word[word] for word in words], axis=0), *(of_word[word] for word in asked)]
            weights += [term.times * rarity, *(EXACT_WEIGHT * times * rarity for times in asked.values())]
    return np.array(counts, np.int64).reshape(len(counts), found.n_blocks), weights, total


def _saturated(n: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return f(n)."""
    return n * (SATURATION + 1) / (n + SATURATION)


def _lengths(lengths: NDArray[np.float64], usual: float) -> NDArray[np.float64]:
    """Return L of each length, (n,)."""
    return 1 - LENGTH_SHARE + LENGTH_SHARE * lengths / usual


def best(scores: Scores, k: int) -> NDArray[np.int64]:
    """Return the rows of the k highest scores, the highest first, ties in their order."""
    return np.argsort(-scores, kind="stable")[:k]


def best_hits(query: Codes, ranking: Ranking, wanted: Wanted, candidates: Candidates, k: int) -> Hits:
    """Return the k candidates that a ranking scores highest, ties in insertion order."""
    parts, nowhere = ranking.parts(candidates, wanted.terms), list[str]()
    scores = np.sum([*parts.values()], axis=0)
    if wanted.required or wanted.excluded:
        read = zip(candidates.texts, candidates.headings, strict=True)
        failing, nowhere = wanted.failing(() if text is None else (text, heading) for text, heading in read)
        scores[failing] = -np.inf
    rows = best(scores, k)
    rows = rows[scores[rows] > -np.inf]
    distances = np.bitwise_count(candidates.codes[rows] ^ query).sum(axis=1, dtype=np.int64)  # (k,)
    chosen = zip(distances.tolist(), scores[rows].tolist(), candidates.records(rows), strict=True)
    hits = Hits(Hit(one.id, distance, score, one.text, one.metadata) for distance, score, one in chosen)
    if known := candidates.statistics:
        weights = rarities(wanted.terms, known)
        for n, row in enumerate(rows):
            of_score = {name: float(part[row]) for name, part in parts.items()}
            hits[n] = hits[n]._replace(why=explained(hits[n].text or "", wanted, weights, of_score))
        hits.unknown = [word for term in wanted.terms if not known.having_term(term) for word in term.asked] + nowhere
        hits.corrected = wanted.corrected
    return hits


def with_first(own: Entry, alone: Hits, query: Codes, hits: Hits, k: int) -> Hits:
    """Return k hits of which a document is the first; `alone` has its hit, unless the ranking does not find it."""
    distance = int(np.bitwise_count(own.code ^ query).sum())
    first = alone[0] if alone else Hit(own.id, distance, 0.0, own.text, own.metadata)
    score = max(hit.score for hit in [first, *hits])
    why = first.why or explained(own.text or "", Wanted(), [], {})  # an id without letters has no word to look for
    why = why._replace(parts=why.parts | {"id": score - first.score})
    others = [hit for hit in hits if hit.id != own.id][: k - 1]
    found = Hits([first._replace(score=score, why=why), *others])
    found.unknown, found.corrected = hits.unknown, hits.corrected
    return found


def best_by_terms(
    statistics: WordStatistics, wanted: Wanted, positions_of: Callable[[str, Positions | None], Positions], n: int
) -> Positions:
    """Return the sorted positions of the n texts whose terms have the highest sum of q_t i_t.

    The rarest terms are read first, and common ones not at all once thousands of positions were read. Texts that lack a
    word of a required phrase, or have an excluded word, are left out, unless that word is very common.

    `positions_of` returns the sorted positions of the texts that have a word: all, or at least those among some.
    """
    n = max(n, VERIFIED) if wanted.has_phrases else n
    terms = _read_terms(statistics, wanted)
    weights = [term.times * statistics.rarity(term) for term in terms]
    phrases = [_having_phrases(statistics, group, positions_of) for group in wanted.required]
    required = [having for having in phrases if having is not None and len(having)]
    excluded = [words for words in wanted.excluded if len(words) == 1 and _is_read(statistics, words)]
    gone = [positions_of(words[0], None) for words in excluded]

    def passing(positions: Positions) -> Positions:
        for having in required:
            positions = positions[is_in(positions, having)]
        return positions[~is_in(positions, merged(gone))] if gone else positions

    found: list[Positions] = []
    rare: Positions | None = None
    for term in terms:
        read = len(found)
        if rare is None and read and min(weights[:read]) > sum(weights[read:]) and len(merged(found)) >= n:
            rare = merged(found)  # texts that have only the remaining terms cannot be among the best any more
        positions = passing(merged([positions_of(word, rare) for word in term.words if statistics.having[word]]))
        found.append(positions if rare is None else positions[is_in(positions, rare)])
    found += [passing(having) for having in required]
    if not found:
        return np.empty(0, np.int64)
    together = np.concatenate(found)
    order = np.argsort(together, kind="stable")  # sorted lists are merged, many times faster than np.unique
    together = together[order]
    first = np.flatnonzero(_is_first(together))
    each = np.repeat([*weights, *(0.0 for _ in required)], [len(texts) for texts in found])[order]
    scores = np.add.reduceat(each, first) if len(first) else each
    return together[first[_among_best(scores, n)]]


def _among_best(scores: Scores, n: int) -> NDArray[np.int64]:
    """Return the rows that `best` returns, sorted; many times faster for many scores."""
    if len(scores) <= n:
        return np.arange(len(scores))
    least = np.partition(scores, -n)[-n]
    chosen = scores > least
    chosen[np.flatnonzero(scores == least)[: n - np.count_nonzero(chosen)]] = True
    return np.flatnonzero(chosen)


def _read_terms(statistics: WordStatistics, wanted: Wanted) -> list[Term]:
    """Return the terms whose texts are read, the rarest first."""
    enough = max(_ENOUGH_POSITIONS, statistics.texts // _ENOUGH_SHARE)
    counted = sorted(((statistics.having_term(term), term) for term in wanted.terms), key=lambda item: item[0])
    read, terms = 0, list[Term]()
    for count, term in counted:
        if (read and read + count > enough) or count > _MOST_POSITIONS:
            break
        read += count
        terms += [term] if count else []
    return terms


def _having_phrases(
    statistics: WordStatistics, phrases: Sequence[Phrase], positions_of: Callable[[str, Positions | None], Positions]
) -> Positions | None:
    """Return the texts that have all words of one of some phrases; None if the words of one are all very common."""
    found = []
    for phrase in phrases:
        words = [word for word in dict.fromkeys(phrase) if _is_read(statistics, (word,))]
        if not words:
            return None
        having = positions_of(words[0], None)
        for word in words[1:]:
            having = having[is_in(having, positions_of(word, having))]
        found.append(having)
    return merged(found)


def _is_read(statistics: WordStatistics, words: Phrase) -> bool:
    return all(statistics.having[word] <= _MOST_POSITIONS for word in words)


def merged(positions: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Return the positions that stand in any of several sorted lists, sorted."""
    if len(positions) == 1:
        return positions[0]
    together = np.sort(np.concatenate(positions), kind="stable")
    return together[_is_first(together)]


def _is_first(positions: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of sorted positions differ from the one before."""
    return np.concatenate([positions[:1] == positions[:1], positions[1:] != positions[:-1]])


def is_in(positions: NDArray[np.int64], others: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which positions are among others, which are sorted."""
    if not len(others):
        return np.zeros(len(positions), bool)
    return others.take(np.searchsorted(others, positions), mode="clip") == positions
