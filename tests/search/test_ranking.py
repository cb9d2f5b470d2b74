"""Rankings score a shortlist just as their formulas say, on every store, whatever was added and deleted before."""

import math
from collections import Counter
from contextlib import suppress
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.features.alphabet import normal, terms_of
from ammi.search import Entry, HammingIndex, KeptVectors, ranking
from ammi.search.embedded import word_index
from ammi.search.filters import matches, parse
from ammi.search.languages import STOP_WORDS, detect_language, stems
from ammi.search.ranking import SHORTLIST, BitRanking, VectorRanking, WordRanking, best_by_terms
from ammi.search.wanted import MOST_TERMS, Term, Wanted, WordStatistics, words_by_stem
from tests.oracles import term_starts, word_places
from tests.search.plain import distances, random_codes
from tests.search.stores import LOCATIONS, every_store, with_examples, word_statistics
from tests.search.test_passages import covered

M = 24
VOCABULARY = [
    "oil",
    "prices",
    "price",
    "of",
    "opec",
    "ab",
    "a",
    "ÉTÉ",
    "été",
    "日本",
    "日本語",
    "नमस्ते",
    "x_1",
    "Oil",
    "oils",
]
# "e\u0301" is é in two characters, U+1D7CE a digit beyond the first plane, "\0" no letter
pieces = st.sampled_from([*VOCABULARY, "e\u0301te", "\U0001d7ce\U0001d7cf", "\0", "--", "\n\n", "\n \n", "I", "'s"])
gaps = st.sampled_from([" ", "", ", ", "\n"])
texts = st.lists(st.tuples(pieces, gaps), max_size=30).map(lambda parts: "".join(piece + gap for piece, gap in parts))


def by_words(text: str) -> WordRanking:
    """A ranking by words and by a code without ones."""
    return WordRanking(text, BitRanking(np.full(M, -1.0)))


def plain_heading(entry: Entry) -> str:
    """A document's title, and the words of its id that have no digits."""
    title = next((entry.metadata[key] for key in ("title", "name") if entry.metadata.get(key)), None)
    paragraph, end, _ = (entry.text or "").partition("\n\n")
    if title is None and end and len(paragraph) < 199:
        title = paragraph
    of_id = [word for word in terms_of(str(entry.id)) if not any(map(str.isdigit, word))]
    return (title or "") if isinstance(entry.id, int) else " ".join([title or "", *of_id])


def searched(text: str) -> list[str]:
    """The words of a text, also the parts of identifiers."""
    return [word for _, word in term_starts(text)]


class Asked(NamedTuple):
    """A query as it was made up, with its signs apart."""

    single: str
    alternatives: list[list[str]] = []  # noqa: RUF012
    required: list[list[str]] = []  # noqa: RUF012
    excluded: list[list[str]] = []  # noqa: RUF012

    @property
    def text(self) -> str:
        """The query as a user types it."""
        signs = [*map(" OR ".join, self.alternatives), *(f'"{" ".join(words)}"' for words in self.required)]
        return " ".join([*signs, *(f'-"{" ".join(words)}"' for words in self.excluded), self.single])


words = st.sampled_from(["oil", "prices", "Price", "of", "opec", "gas", "pric", "opecs", "crued"])
queries = st.builds(
    Asked,
    texts,
    st.lists(st.lists(words, min_size=2, max_size=3, unique_by=str.lower), max_size=1),
    st.lists(st.lists(words, min_size=1, max_size=2), max_size=1),
    st.lists(st.lists(words, min_size=1, max_size=2), max_size=1),
)


def is_edit(a: str, b: str) -> bool:
    """Whether one letter is left out, added or replaced, or two neighbours are swapped."""

    def without(word: str, n: int) -> str:
        return word[:n] + word[n + 1 :]

    return any(
        a == without(b, n)
        or b == without(a, n)
        or (len(a) == len(b) and without(a, n) == without(b, n))
        or b == a[:n] + a[n : n + 2][::-1] + a[n + 2 :]
        for n in range(max(len(a), len(b)))
    )


def plain_terms(asked: Asked, everything: list[Entry], language: str | None):
    """The query, of which nothing but words is left if its signs mean nothing; the words that count exactly, and those
    that count, for each of its terms; and how many texts have each word."""
    is_typed = "\n" not in asked.text.strip() and len(asked.text.split()) <= 20
    whole = asked._replace(excluded=[]).text
    if not is_typed or not terms_of(whole):
        whole, asked = asked.text, Asked(asked.text)
    stop_words = STOP_WORDS.get(language or "", ())
    texts = [entry for entry in everything if entry.text is not None]
    counts = Counter(word for entry in texts for word in {*searched(entry.text or ""), *searched(plain_heading(entry))})

    def stem(word: str) -> str:
        return stems(language, [word])[0]

    def forms(word: str) -> set[str]:
        return {other for other in counts if stem(other) == stem(word)}

    def without_stop_words(words: list[str]) -> list[str]:
        return [word for word in words if word not in stop_words] or words

    single = without_stop_words(searched(" ".join([*(" ".join(words) for words in asked.required), asked.single])))
    terms = []  # the words that count exactly, and those that count
    for word in single:
        exact, alike = word, forms(word)
        if not alike and is_typed and len({other for other in single if stem(other) == stem(word)}) == 1:
            ends = [other for other in counts if other.startswith(word)] if terms_of(whole)[-1] == word else []
            is_long = len(word) > 3 and word.isalpha()
            edits = [other for other in counts if is_long and is_edit(word, other)]
            if len(word) > 1 and ends:
                alike = {*ends}
            elif edits:
                exact = min(edits, key=lambda other: (-counts[other], other))
                alike = forms(exact)
        terms.append(([exact], alike | {exact}))
    for group in asked.alternatives:
        either = [*dict.fromkeys(without_stop_words(searched(" ".join(group))))]
        terms.append((either, set(either).union(*map(forms, either))))
    return asked, terms, counts


def plain_scores(asked: Asked, documents: list[Entry], near: np.ndarray, everything: list[Entry], language: str | None):
    """The formula of the score, word by word, over the words of every text; `near` is its part by codes or vectors.

    Documents that lack a phrase, unless all do, or that have an excluded one, have no score.
    """
    asked, terms, counts = plain_terms(asked, everything, language)
    texts = [entry.text for entry in everything if entry.text is not None]
    n, average = len(texts), sum(map(len, texts)) / max(len(texts), 1)

    def rarity(of: set[str]) -> float:
        having = min(n, sum(counts[word] for word in of))
        return math.log(1 + (n - having + 0.5) / (having + 0.5))

    def has(entry: Entry, phrase: list[str]) -> bool:
        spelled = terms_of(" ".join(phrase))
        texts = [] if entry.text is None else [normal(entry.text), normal(plain_heading(entry))]
        parts = [terms_of(form) for text in texts for form in (text, text.replace("_", " "))]
        return any(spelled == part[at : at + len(spelled)] for part in parts for at in range(len(part)))

    required = [phrase for phrase in asked.required if any(has(entry, phrase) for entry in documents)]
    total = sum(rarity(alike) for _, alike in terms)
    scores = []

    def bm25f(window: list[str], length: float, entry: Entry) -> float:
        there, score = dict.fromkeys(counts, 0.0), 0.0
        heading = plain_heading(entry)
        for some, weight, share in ((window, 1, length), (searched(heading), 3, len(heading) / 60)):
            for word in [] if entry.text is None else some:
                there[word] += weight / (0.25 + 0.75 * share)
        for exactly, alike in terms:
            times = sum(there.get(word, 0) for word in alike)
            bonus = sum(there.get(word, 0) / (there.get(word, 0) + 1.2) for word in exactly)
            score += rarity(alike) * 2.2 * (times / (times + 1.2) + 0.25 * bonus)
        return score

    most = ranking.WINDOW
    for entry, start in zip(documents, near.tolist(), strict=True):
        text = entry.text or ""
        begins = range(0, max(len(normal(text)) - most + most // 3, 1), most // 3)
        windows = [[word for at, word in term_starts(text) if begin <= at < begin + most] for begin in begins]
        length = min(len(text), most) / (min(average, most) or 1)
        score = max(bm25f(window, length, entry) for window in windows)
        passes = all(has(entry, phrase) for phrase in required) and not any(has(entry, no) for no in asked.excluded)
        scores.append(start + score / math.sqrt(total or 1) if passes else -math.inf)
    return scores


@settings(max_examples=300, deadline=None)
@given(
    lists=st.lists(st.sets(st.integers(0, 40), max_size=30) | st.sets(st.integers(0, 40), max_size=3), max_size=5),
    n=st.integers(1, 12),
    more=st.integers(0, 1000),
)
def test_texts_with_most_of_the_words_are_those_of_the_plain_sum(lists, n, more):
    """Word i of the query stands there 1 + i % 3 times; of three words, two are of one stem."""
    having = {f"word {i}": len(places) for i, places in enumerate(lists)}
    statistics = WordStatistics(41 + more, 1000, having)
    numbers = [(0, 1)[: len(lists)], *((i,) for i in range(2, len(lists)))] if lists else []
    terms = [Term({f"word {i[0]}": 1}, tuple(f"word {j}" for j in i), 1 + i[0] % 3) for i in numbers]
    told: dict[int, float] = {}
    for term, i in sorted(zip(terms, numbers, strict=True), key=lambda item: statistics.having_term(item[0])):
        for location in set().union(*(lists[j] for j in i)):
            told[location] = told.get(location, 0) + term.times * statistics.rarity(term)
    expected = sorted(sorted(told), key=lambda location: -told[location])[:n]

    def positions_of(word: str, among: np.ndarray | None) -> np.ndarray:
        there = np.array(sorted(lists[int(word[5:])]), np.int64)
        return there if among is None else there[np.isin(there, among)]

    found = best_by_terms(statistics, Wanted(terms), positions_of, n)
    assert found.tolist() == sorted(expected)


def test_stop_words_and_initials_count_only_where_a_query_has_nothing_else():
    assert words_by_stem("the inverse of inverses", "english") == {"invers": {"inverse": 1, "inverses": 1}}
    assert words_by_stem("To be, or not to be", "english").keys() == {"to", "be", "or", "not"}
    assert words_by_stem("the prices of oil, e.g. by H. C. Liu in R.", None).keys() == {
        "the", "prices", "of", "oil", "by", "liu", "in", "r",
    }  # fmt: skip
    assert words_by_stem("of parse_date", "english").keys() == {"pars", "date", "parse_d"}
    assert words_by_stem("C++ or C", "english") == {"c++": {"c++": 1}, "c": {"c": 1}}
    assert len(words_by_stem(" ".join(f"w{n}" for n in range(600)), None)) == MOST_TERMS


@every_store
def test_words_are_scored_by_the_formula(store, tmp_path_factory):
    """After documents were added, replaced, deleted and recoded: the statistics are those of what is there."""

    @with_examples(
        store,
        first=st.lists(st.none() | texts, max_size=12),
        later=st.lists(st.none() | texts, max_size=6),
        query=queries,
        where=st.sampled_from([None, {"odd": True}]),
        k=st.integers(1, 20),
        seed=st.integers(0, 5),
        language=st.sampled_from([None, "none", "english", "german"]),
        window=st.sampled_from([12, 30, 1200]),
    )
    def check(first, later, query, where, k, seed, language, window):
        rng, location = np.random.default_rng(seed), LOCATIONS[store](tmp_path_factory.mktemp("ranking"))
        with (
            patch.object(ranking, "WINDOW", window),
            store.create(location, 8, text_index=language or True) as index,
        ):
            titles = [{"odd": False, "title": title or ""} for title in reversed(first)]
            index.add(random_codes(rng, len(first), 8, 5), texts=first, metadata=titles)
            replaced = list(range(0, 2 * len(later), 2))
            marks = [{"odd": bool(number % 4)} for number in replaced]
            index.add(random_codes(rng, len(later), 8, 5), replaced, later, marks)
            index.add(random_codes(rng, 2, 8, 5), ["price/of-oil", "x_1:opec.7"], (*later, "oil", None)[:2])
            index.delete([id for id in list(index) if isinstance(id, int) and id % 5 == 3])
            index.set_metadata([id for id in list(index) if id != "price/of-oil"][:2], {"name": "Opec prices"})
            index.recode(
                lambda entries: (random_codes(np.random.default_rng(len(entries)), len(entries), M, 5), None),
                M,
                fingerprint=None,
                files=None,
            )
            entries = [entry for block in index.entries() for entry in block]
            kept = [entry for entry in entries if matches(parse(where), entry.metadata)]
            code = random_codes(rng, 1, M, 5)
            away = distances(np.array([entry.code for entry in kept], np.uint8).reshape(len(kept), 3), code)[0]
            logits = rng.normal(size=M)
            bits = np.array([np.unpackbits(entry.code, count=M) for entry in kept], float).reshape(-1, M)
            near = 1.4 * (2 * bits - 1) @ logits / np.sqrt(M) / np.linalg.norm(logits)
            _, terms, _ = plain_terms(query, entries, index.language)
            lengths = [len(entry.text) for entry in entries if entry.text is not None]
            if terms and lengths:  # codes of long texts count less
                near *= min(1, math.sqrt(window / (np.mean(lengths) or 1)))
            scores = plain_scores(query, kept, near, entries, index.language)
            order = sorted(range(len(kept)), key=lambda row: -round(scores[row], 9))[:k]
            order = [row for row in order if scores[row] > -math.inf]
            if kept or not entries:
                (hits,) = index.search_ranked(code, [WordRanking(query.text, BitRanking(logits))], k, where)
                assert [hit.score for hit in hits] == pytest.approx([scores[row] for row in order])
                assert [hit.distance for hit in hits] == [away[[e.id for e in kept].index(hit.id)] for hit in hits]
                expected = {entry.id: (entry.text, entry.metadata) for entry in kept}
                assert all((hit.text, hit.metadata) == expected[hit.id] for hit in hits)
                near_of = {entry.id: part for entry, part in zip(kept, near, strict=True)}
                words = set().union(*(alike for _, alike in terms))
                for hit in hits if terms else []:
                    assert hit.why is not None
                    code = near_of[hit.id]
                    assert hit.why.parts == pytest.approx({"words": hit.score - code, "code": code}, abs=1e-9)
                    text = hit.text or ""
                    assert covered(hit.why.words) == covered(word_places(text, words))
                    assert text[hit.why.start :].startswith(hit.why.passage)


@every_store
def test_the_cosine_takes_the_place_of_the_bits_where_vectors_are_kept(store, tmp_path_factory):
    @with_examples(
        store, documents=st.lists(st.none() | texts, min_size=1, max_size=12), query=texts, seed=st.integers(0, 5)
    )
    def check(documents, query, seed):
        rng = np.random.default_rng(seed)
        rows, asked = rng.integers(-3, 4, (len(documents), 5)).astype(np.float64), rng.normal(size=5)
        location = LOCATIONS[store](tmp_path_factory.mktemp("ranking"))
        with store.create(location, M, text_index="english", vectors=KeptVectors("float16", 5)) as index:
            codes = random_codes(rng, len(documents), M, 5)
            index.add(codes, texts=documents, vectors=rows)
            (hits,) = index.search_ranked(codes[:1], [WordRanking(query, VectorRanking(asked))], len(documents))
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
        cosines = np.divide(rows @ asked, lengths, out=np.zeros(len(rows)), where=lengths > 0)
        entries = [Entry(row, codes[row], text, {}) for row, text in enumerate(documents)]
        scores = plain_scores(Asked(query), entries, 10 * cosines, entries, "english")
        assert [hit.score for hit in hits] == pytest.approx(sorted(scores, reverse=True))


@pytest.fixture
def index(store, tmp_path):
    with store.create(LOCATIONS[store](tmp_path), M) as index:
        yield index


@every_store
def test_certain_bits_count_more_than_others(index):
    """The cosine orders codes as their probability under independent bits does."""
    rng = np.random.default_rng(0)
    codes, logits = random_codes(rng, 150, M, 60), rng.normal(size=(3, M))
    queries = np.packbits(logits > 0, axis=1)
    index.add(np.concatenate([codes, queries]))
    found = index.search_ranked(queries, [BitRanking(row) for row in logits], 12)
    bits = np.unpackbits(np.concatenate([codes, queries]), axis=1, count=M)
    for row, hits in zip(logits, found, strict=True):
        p = 1 / (1 + np.exp(-row))
        log_p = (np.log(p) * bits + np.log(1 - p) * (1 - bits)).sum(axis=1)
        surest = np.log(np.maximum(p, 1 - p)).sum()
        expected = np.argsort(-np.round(log_p, 9), kind="stable")[:12]
        assert [hit.id for hit in hits] == expected.tolist()
        assert [hit.score for hit in hits] == pytest.approx(
            ((np.abs(row).sum() + 2 * (log_p - surest)) / np.sqrt(M) / np.linalg.norm(row))[expected].tolist()
        )


@every_store
def test_ties_are_in_insertion_order_and_far_documents_with_the_words_are_found(index):
    n = 3 * SHORTLIST
    near, far = np.zeros((n, 3), np.uint8), np.array([[255, 0, 0]] * 2, np.uint8)
    index.add(near, [f"near {i}" for i in range(n)], ["about prices"] * n)
    index.add(far, ["far", "farther"], ["the zyzzyva", "the zyzzyva and more"])
    index.add(near[:1], ["near 0"], ["about prices"])
    (hits,) = index.search_ranked(near[:1], [by_words("a zyzzyva")], 4)
    assert [hit.id for hit in hits] == ["far", "farther", "near 1", "near 2"]
    assert [hit.distance for hit in hits] == [8, 8, 0, 0]
    assert [hit.id for hit in index.search_ranked(near[:1], [by_words("!")], 2)[0]] == ["near 1", "near 2"]


@every_store
def test_of_many_documents_with_a_word_those_with_the_rarer_words_are_scored(index):
    """More documents have "common" than a shortlist holds; the one with "rare", too, is the last of them."""
    n = 3 * SHORTLIST
    index.add(np.zeros((n, 3), np.uint8), texts=["nothing"] * n)
    index.add(np.array([[255, 0, 0]] * n, np.uint8), texts=["common"] * (n - 1) + ["common rare"])
    (hits,) = index.search_ranked(np.zeros((1, 3), np.uint8), [by_words("common rare")], 1)
    assert hits[0].id == 2 * n - 1


@every_store
def test_the_document_with_the_id_of_the_query_is_the_first_hit(index):
    """Among more documents than a shortlist holds, and although others have more words of it; a filter holds."""
    n = 3 * SHORTLIST
    index.add(np.zeros((n, 3), np.uint8), texts=["numpy.linalg.inv"] * n)
    index.add(np.array([[255, 0, 0]] * 2, np.uint8), ["linalg.inv", " "], ["matrix", None], [{"y": 1}, {"y": 2}])
    for query, id in {"linalg.inv": "linalg.inv", " 17\n": 17, "inv": 0, "linalg.in": 0, "\ud800": 0, " ": 0}.items():
        (hits,) = index.search_ranked(np.zeros((1, 3), np.uint8), [by_words(query)], 5)
        assert [hits[0].id, len(hits), hits[0].score] == [id, 5, max(hit.score for hit in hits)], query
        assert len({hit.id for hit in hits}) == 5
    (hits,) = index.search_ranked(np.zeros((1, 3), np.uint8), [by_words("linalg.inv")], 5, {"y": 2})
    assert [hit.id for hit in hits] == [" "]
    (hits,) = index.search_ranked(np.zeros((1, 3), np.uint8), [WordRanking("7", None)], 5)
    assert [hit.id for hit in hits] == [7]  # found by its id alone
    assert (hits[0].why.parts, hits[0].why.passage, hits.unknown) == ({"id": 0}, "numpy.linalg.inv", ["7"])


@every_store
def test_filters_hold_in_every_stage(index):
    """A document that has the words, and one that is near, are both left out."""
    codes = np.array([[0, 0, 0], [255, 255, 255], [0, 0, 1]], np.uint8)
    index.add(codes, ["near", "words", "kept"], [None, "opec", "other"], [{"y": 1}, {"y": 1}, {"y": 2}])
    for one in (by_words("opec"), BitRanking(np.full(M, -1.0))):
        (hits,) = index.search_ranked(codes[:1], [one], 5, {"y": 2})
        assert [hit.id for hit in hits] == ["kept"]
        with pytest.raises(ValueError, match="'z'"):
            index.search_ranked(codes[:1], [one], 5, {"z": 2})


@every_store
def test_an_index_can_do_without_words(store, tmp_path):
    with store.create(LOCATIONS[store](tmp_path), 8, text_index=False) as index:
        assert not index.text_index
        index.add(np.zeros((2, 1), np.uint8), texts=["oil", None])
        index.add(np.zeros((1, 1), np.uint8), [0], ["price"])
        index.delete([1])
        (hits,) = index.search_ranked(np.zeros((1, 1), np.uint8), [BitRanking(np.full(8, -1.0))])
        assert [(hit.id, hit.score) for hit in hits] == [(0, pytest.approx(1.0))]
        with pytest.raises(ValueError, match="text_index=False"):
            index.search_ranked(np.zeros((1, 1), np.uint8), [by_words("oil")])


def test_words_are_in_the_transaction_of_their_documents(tmp_path):
    """A change that fails leaves the word index as it was."""
    with HammingIndex.create(tmp_path / "index", 8) as index:
        index.add(np.zeros((2, 1), np.uint8), ["a", "b"], ["oil price", "oil"])
        with suppress(ZeroDivisionError), index._writing():
            index.add(np.zeros((1, 1), np.uint8), ["c"], ["oil opec"])
            index.delete(["a"])
            1 / 0  # noqa: B018
        assert word_statistics(index, ["oil", "opec", "price"]) == (2, 12, {"oil": 2, "opec": 0, "price": 1})
        index.add(np.zeros((1, 1), np.uint8), ["c"], ["oil opec"])
    with HammingIndex.open(tmp_path / "index") as index:
        assert word_statistics(index, ["oil", "opec"]) == (3, 20, {"oil": 3, "opec": 1})


def test_counts_of_words_follow_what_other_processes_change(tmp_path):
    with HammingIndex.create(tmp_path / "index", 8) as index, HammingIndex.open(tmp_path / "index") as other:
        for n in (1, 2, 3):
            index.add(np.zeros((1, 1), np.uint8), texts=["oil"])
            assert word_statistics(other, ["oil"]).having == {"oil": n}


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.lists(st.none() | texts, max_size=4), st.integers(0, 9), texts), min_size=1, max_size=6
    ),
    few=st.sampled_from([0, 1, 3, 10_000]),
    remembered=st.sampled_from([0, 100, 2_000_000]),
    most_places=st.sampled_from([0, 2, 100_000]),
)
def test_what_is_remembered_of_words_changes_no_answer(tmp_path_factory, steps, few, remembered, most_places):
    """Whatever another process changes between two questions, and however little is read or kept of a word."""
    location = tmp_path_factory.mktemp("ranking") / "index"
    with (
        patch.multiple("ammi.search.embedded.word_index", _FEW=few, _REMEMBERED=remembered),
        patch("ammi.search.ranking._MOST_POSITIONS", most_places),
        HammingIndex.create(location, 8) as writer,
        HammingIndex.open(location) as index,
    ):
        for new, removed, query in steps:
            writer.add(np.zeros((len(new), 1), np.uint8), texts=new)
            writer.delete([id for id in list(writer) if id % 10 == removed])
            entries = [entry for block in writer.entries() for entry in block]
            for asked in (query, steps[0][2]):
                near = np.full(len(entries), 1.4)
                scores = plain_scores(Asked(asked), entries, near, entries, index.language)
                ranking = WordRanking(asked, BitRanking(np.full(8, -1.0)))
                (hits,) = index.search_ranked(np.zeros((1, 1), np.uint8), [ranking], 100)
                best = sorted(range(len(entries)), key=lambda row: -round(scores[row], 9))
                assert [hit.score for hit in hits] == pytest.approx([scores[row] for row in best])
                assert {hit.id: hit.text for hit in hits} == {entry.id: entry.text for entry in entries}


ENGLISH = ["the prices of oil rise", "it converts the old files", "converting of the currency", "oil and gas for all"]


@every_store
def test_the_language_is_detected_and_other_forms_of_a_word_are_found(index):
    """The first text tells no language; its words are stemmed nevertheless, once others tell it."""
    code = np.zeros((1, 3), np.uint8)
    index.add(code, ["first"], ["Conversions"])
    assert index.language is None
    index.add(np.repeat(code, 4, axis=0), [f"{n}" for n in range(4)], ENGLISH)
    assert index.language == "english"
    for query, found in {"convert": ["1", "2"], "conversion": ["first"], "price": ["0"]}.items():
        (hits,) = index.search_ranked(code, [by_words(query)], 10)
        assert [hit.id for hit in hits if hit.score > 1.5] == found
    (hits,) = index.search_ranked(code, [by_words("converting")], 2)
    assert [hit.id for hit in hits] == ["2", "1"]  # the exact form first
    with type(index).open(index.location) as again:
        assert again.language == "english"


def test_texts_tell_their_language():
    told = {
        "german": "Die Preise für Öl sind in diesem Jahr nicht so hoch wie in dem davor.",
        "french": "Les prix du pétrole ne sont pas aussi élevés que dans les années passées.",
        "spanish": "Los precios del petróleo no son tan altos como en los años anteriores.",
        "russian": "Цены на нефть в этом году не так высоки, как были до того.",
        "swedish": "Priset på olja är inte så högt som det var för ett år sedan.",
        None: "石油の価格 def f(x): return x + 1",
    }
    assert {detect_language([text]): text for text in told.values()} == told
    assert stems("german", ["preise", "x" * 65]) == ["preis", "x" * 65]
    with pytest.raises(ValueError, match="language is 'klingon', expected one of arabic"):
        HammingIndex.create("nowhere", text_index="klingon")


def test_segments_of_the_word_index_are_merged_if_they_are_large(tmp_path, monkeypatch):
    monkeypatch.setattr(word_index, "_FEW_PAGES", 1)
    with HammingIndex.create(tmp_path / "index", 8) as index:

        def segments() -> int:
            with index.snapshot():
                return index._database.execute("SELECT count(DISTINCT segid) FROM words_idx").fetchone()[0]

        index.optimize()
        for start in (0, 50, 100):
            index.add(np.zeros((50, 1), np.uint8), texts=[f"oil word{start + n}" for n in range(50)])
        assert segments() == 3
        before = word_statistics(index, ["oil", "word7", "word107"])
        index.optimize()
        assert segments() == 1
        assert word_statistics(index, ["oil", "word7", "word107"]) == before
        merged = index.state()
        index.optimize()
        assert index.state() == merged


def test_words_of_a_failed_change_are_not_taken_for_known(tmp_path):
    with HammingIndex.create(tmp_path / "index", 8, text_index="english") as index:
        with suppress(ZeroDivisionError), index._writing():
            index.add(np.zeros((1, 1), np.uint8), ["a"], ["converting"])
            1 / 0  # noqa: B018
        index.add(np.zeros((1, 1), np.uint8), ["a"], ["converting"])
        (hits,) = index.search_ranked(np.zeros((1, 1), np.uint8), [by_words("converted")])
        assert hits[0].score > 1.5


def test_an_sqlite_without_fts5_says_what_to_do(tmp_path):
    with HammingIndex.create(tmp_path / "index", 8) as index:
        with pytest.raises(ValueError, match=r"no such module: fts6.*text_index=False"), index._writing():
            index._database.execute("CREATE VIRTUAL TABLE more USING fts6(text)")
        assert len(index) == 0
