"""Rankings score a shortlist just as their formulas say, on every store, whatever was added and deleted before."""

import math
from contextlib import suppress
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.features.alphabet import words_of
from ammi.features.occurrences import Occurrences
from ammi.search import HammingIndex, KeptVectors
from ammi.search.filters import matches, parse
from ammi.search.ranking import (
    MOST_WORDS,
    SHORTLIST,
    BitRanking,
    WordRanking,
    WordStatistics,
    most_told,
    opening,
    rarity_of,
)
from tests.search.plain import distances, random_codes
from tests.search.stores import LOCATIONS, every_store, with_examples, word_statistics

M = 24
VOCABULARY = ["oil", "price", "of", "opec", "ab", "a", "ÉTÉ", "été", "日本", "日本語", "नमस्ते", "x_1", "Oil", "oils"]
# "e\u0301" is é in two characters, U+1D7CE a digit beyond the first plane, "\0" no letter
pieces = st.sampled_from([*VOCABULARY, "e\u0301te", "\U0001d7ce\U0001d7cf", "\0", "--", "\n\n", "\n \n", "I", "'s"])
gaps = st.sampled_from([" ", "", ", ", "\n"])
texts = st.lists(st.tuples(pieces, gaps), max_size=30).map(lambda parts: "".join(piece + gap for piece, gap in parts))


def plain_scores(query: str, documents: list[str | None], shares: np.ndarray, everything: list[str]) -> list[float]:
    """The formula of WordRanking, term by term, over the words of every text."""
    asked = list(dict.fromkeys(words_of(query)))[:MOST_WORDS]
    n, average = len(everything), sum(map(len, everything)) / max(len(everything), 1)
    had = [set(words_of(text)) for text in everything]

    def rarity(word: str) -> float:
        having = sum(word in words for words in had)
        return math.log(1 + (n - having + 0.5) / (having + 0.5))

    def factor(length: float, usual: float) -> float:
        return 1.2 * (0.25 + 0.75 * length / usual)

    pairs = [pair for pair in dict.fromkeys(pairwise(words_of(query))) if set(pair) <= set(asked)]
    scores = []
    for text, share in zip(documents, shares.tolist(), strict=True):
        words, first = words_of(text or ""), opening(text or "")
        begun = words_of(first)
        score = share
        for word in asked:
            if count := words.count(word):
                score += rarity(word) * count * 2.2 / (count + factor(len(text or ""), average))
            if word in words and word in begun:
                score += 0.75 * 2.2 / (1 + factor(len(first), 100)) * rarity(word)
        for pair in pairs:
            weight = (rarity(pair[0]) + rarity(pair[1])) / 2
            if pair in pairwise(words):
                score += weight
                if pair in pairwise(begun):
                    score += 0.75 * 2.2 / (1 + factor(len(first), 100)) * weight
        scores.append(score)
    return scores


@settings(max_examples=300, deadline=None)
@given(many=st.lists(texts, max_size=5), words=st.lists(st.sampled_from(VOCABULARY).map(words_of), min_size=1))
def test_the_words_that_there_are_are_found(many, words):
    spoken = [word for those in words for word in those]
    all_words = [words_of(text) for text in many]
    for often in (0, 2, 150):
        with patch("ammi.features.occurrences._FOUND_BY_SEARCH", often):
            found = Occurrences(many)
            for word in spoken:
                assert found.counts(word).tolist() == [those.count(word) for those in all_words]
            for pair in pairwise(spoken):
                assert found.have(pair).tolist() == [pair in pairwise(those) for those in all_words]


@settings(max_examples=300, deadline=None)
@given(
    lists=st.lists(st.sets(st.integers(0, 40), max_size=30) | st.sets(st.integers(0, 40), max_size=3), max_size=5),
    n=st.integers(1, 12),
    more=st.integers(0, 1000),
)
def test_texts_with_most_of_the_words_are_those_of_the_plain_sum(lists, n, more):
    having = {f"word {i}": len(places) for i, places in enumerate(lists)}
    statistics = WordStatistics(41 + more, 1000, having)
    told: dict[int, float] = {}
    for places in sorted(lists, key=len):
        for location in places:
            told[location] = told.get(location, 0) + rarity_of(len(places), statistics.texts)
    expected = sorted(sorted(told), key=lambda location: -told[location])[:n]
    found = most_told(statistics, lambda word: np.array(sorted(lists[int(word[5:])]), np.int64), n)
    assert found.tolist() == sorted(expected)


def test_the_opening_is_the_first_paragraph_or_a_hundred_characters():
    assert opening(" \n Compute the inverse.\n \nParameters\n") == "Compute the inverse."
    assert opening("a line\nand another") == "a line\nand another"
    assert opening("word " * 50) == "word " * 20
    assert opening("") == ""


@every_store
def test_words_are_scored_by_the_formula(store, tmp_path_factory):
    """After documents were added, replaced, deleted and recoded: the statistics are those of what is there."""

    @with_examples(
        store,
        first=st.lists(st.none() | texts, max_size=12),
        later=st.lists(st.none() | texts, max_size=6),
        query=texts,
        where=st.sampled_from([None, {"odd": True}]),
        k=st.integers(1, 20),
        seed=st.integers(0, 5),
    )
    def check(first, later, query, where, k, seed):
        rng = np.random.default_rng(seed)
        with store.create(LOCATIONS[store](tmp_path_factory.mktemp("ranking")), 8) as index:
            index.add(random_codes(rng, len(first), 8, 5), texts=first, metadata=[{"odd": False}] * len(first))
            replaced = list(range(0, 2 * len(later), 2))
            marks = [{"odd": bool(number % 4)} for number in replaced]
            index.add(random_codes(rng, len(later), 8, 5), replaced, later, marks)
            index.delete([id for id in list(index) if id % 5 == 3])
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
            everything = [entry.text for entry in entries if entry.text is not None]
            scores = plain_scores(query, [entry.text for entry in kept], 1 - away / M, everything)
            order = sorted(range(len(kept)), key=lambda row: -round(scores[row], 9))[:k]
            if kept or not entries:
                (hits,) = index.search_ranked(code, [WordRanking(query)], k, where)
                assert [hit.score for hit in hits] == pytest.approx([scores[row] for row in order])
                assert [hit.distance for hit in hits] == [away[[e.id for e in kept].index(hit.id)] for hit in hits]
                expected = {entry.id: (entry.text, entry.metadata) for entry in kept}
                assert all((hit.text, hit.metadata) == expected[hit.id] for hit in hits)


@every_store
def test_the_cosine_counts_three_times_what_the_words_tell_where_vectors_are_kept(store, tmp_path_factory):
    @with_examples(
        store, documents=st.lists(st.none() | texts, min_size=1, max_size=12), query=texts, seed=st.integers(0, 5)
    )
    def check(documents, query, seed):
        rng = np.random.default_rng(seed)
        rows, asked = rng.integers(-3, 4, (len(documents), 5)).astype(np.float64), rng.normal(size=5)
        location = LOCATIONS[store](tmp_path_factory.mktemp("ranking"))
        with store.create(location, M, vectors=KeptVectors("float16", 5)) as index:
            codes = random_codes(rng, len(documents), M, 5)
            index.add(codes, texts=documents, vectors=rows)
            (hits,) = index.search_ranked(codes[:1], [WordRanking(query, asked)], len(documents))
        lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
        cosines = np.divide(rows @ asked, lengths, out=np.zeros(len(rows)), where=lengths > 0)
        everything = [text for text in documents if text is not None]
        had = [set(words_of(text)) for text in everything]
        told = 0.0
        for word in list(dict.fromkeys(words_of(query)))[:MOST_WORDS]:
            having = sum(word in words for words in had)
            told += math.log(1 + (len(had) - having + 0.5) / (having + 0.5))
        weight = 3 * told if words_of(query) else 1
        scores = plain_scores(query, documents, weight * cosines, everything)
        assert [hit.score for hit in hits] == pytest.approx(sorted(scores, reverse=True))


@pytest.fixture
def index(store, tmp_path):
    with store.create(LOCATIONS[store](tmp_path), M) as index:
        yield index


@every_store
def test_certain_bits_count_more_than_others(index):
    """The asymmetric score is the log probability of a code under independent bits, less that of the likeliest one."""
    rng = np.random.default_rng(0)
    codes, logits = random_codes(rng, 150, M, 60), rng.normal(size=(3, M))
    index.add(codes)
    queries = np.packbits(logits > 0, axis=1)
    found = index.search_ranked(queries, [BitRanking(row) for row in logits], 12)
    bits = np.unpackbits(codes, axis=1, count=M)
    for row, hits in zip(logits, found, strict=True):
        p = 1 / (1 + np.exp(-row))
        log_p = (np.log(p) * bits + np.log(1 - p) * (1 - bits)).sum(axis=1)
        surest = np.log(np.maximum(p, 1 - p)).sum()
        expected = np.argsort(-np.round(log_p, 9), kind="stable")[:12]
        assert [hit.id for hit in hits] == expected.tolist()
        assert [hit.score for hit in hits] == pytest.approx((log_p - surest)[expected].tolist())


@every_store
def test_ties_are_in_insertion_order_and_far_documents_with_the_words_are_found(index):
    n = 3 * SHORTLIST
    near, far = np.zeros((n, 3), np.uint8), np.full((2, 3), 255, np.uint8)
    index.add(near, [f"near {i}" for i in range(n)], ["about prices"] * n)
    index.add(far, ["far", "farther"], ["the zyzzyva", "the zyzzyva and more"])
    index.add(near[:1], ["near 0"], ["about prices"])
    (hits,) = index.search_ranked(near[:1], [WordRanking("a zyzzyva")], 4)
    assert [hit.id for hit in hits] == ["far", "farther", "near 1", "near 2"]
    assert [hit.distance for hit in hits] == [M, M, 0, 0]
    assert [hit.id for hit in index.search_ranked(near[:1], [WordRanking("!")], 2)[0]] == ["near 1", "near 2"]


@every_store
def test_of_many_documents_with_a_word_those_with_the_rarer_words_are_scored(index):
    """More documents have "common" than a shortlist holds; the one with "rare", too, is the last of them."""
    n = 3 * SHORTLIST
    index.add(np.zeros((n, 3), np.uint8), texts=["nothing"] * n)
    index.add(np.full((n, 3), 255, np.uint8), texts=["common"] * (n - 1) + ["common rare"])
    (hits,) = index.search_ranked(np.zeros((1, 3), np.uint8), [WordRanking("common rare")], 1)
    assert hits[0].id == 2 * n - 1


@every_store
def test_filters_hold_in_every_stage(index):
    """A document that has the words, and one that is near, are both left out."""
    codes = np.array([[0, 0, 0], [255, 255, 255], [0, 0, 1]], np.uint8)
    index.add(codes, ["near", "words", "kept"], [None, "opec", "other"], [{"y": 1}, {"y": 1}, {"y": 2}])
    for ranking in (WordRanking("opec"), BitRanking(np.full(M, -1.0))):
        (hits,) = index.search_ranked(codes[:1], [ranking], 5, {"y": 2})
        assert [hit.id for hit in hits] == ["kept"]
        with pytest.raises(ValueError, match="'z'"):
            index.search_ranked(codes[:1], [ranking], 5, {"z": 2})


@every_store
def test_an_index_can_do_without_words(store, tmp_path):
    with store.create(LOCATIONS[store](tmp_path), 8, text_index=False) as index:
        assert not index.text_index
        index.add(np.zeros((2, 1), np.uint8), texts=["oil", None])
        index.add(np.zeros((1, 1), np.uint8), [0], ["price"])
        index.delete([1])
        (hits,) = index.search_ranked(np.zeros((1, 1), np.uint8), [BitRanking(np.full(8, -1.0))])
        assert [(hit.id, hit.score) for hit in hits] == [(0, 0.0)]
        with pytest.raises(ValueError, match="text_index=False"):
            index.search_ranked(np.zeros((1, 1), np.uint8), [WordRanking("oil")])


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
            statistics = word_statistics(other, ["oil"])
            assert statistics is not None
            assert statistics.having == {"oil": n}


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
        patch("ammi.search.ranking._MOST_PLACES", most_places),
        HammingIndex.create(location, 8) as writer,
        HammingIndex.open(location) as index,
    ):
        for new, removed, query in steps:
            writer.add(np.zeros((len(new), 1), np.uint8), texts=new)
            writer.delete([id for id in list(writer) if id % 10 == removed])
            entries = [entry for block in writer.entries() for entry in block]
            everything = [entry.text for entry in entries if entry.text is not None]
            for asked in (query, steps[0][2]):
                scores = plain_scores(asked, [entry.text for entry in entries], np.ones(len(entries)), everything)
                (hits,) = index.search_ranked(np.zeros((1, 1), np.uint8), [WordRanking(asked)], 100)
                best = sorted(range(len(entries)), key=lambda row: -round(scores[row], 9))
                assert [hit.score for hit in hits] == pytest.approx([scores[row] for row in best])
                assert {hit.id: hit.text for hit in hits} == {entry.id: entry.text for entry in entries}


def test_an_sqlite_without_fts5_says_what_to_do(tmp_path):
    with HammingIndex.create(tmp_path / "index", 8) as index:
        with pytest.raises(ValueError, match=r"no such module: fts6.*text_index=False"), index._writing():
            index._database.execute("CREATE VIRTUAL TABLE more USING fts6(text)")
        assert len(index) == 0
