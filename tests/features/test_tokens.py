"""The compiled tokeniser, the plain one and the counters against regular expressions and dictionaries."""

import re
import unicodedata
from collections import Counter
from itertools import pairwise
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ammi.features.alphabet import (
    IS_OTHER,
    IS_UNSPACED,
    IS_WORD,
    UNSPACED,
    character_classes,
    class_of,
    distinct_terms,
    has_names,
    searched_terms,
    terms_of,
    words_of,
)
from ammi.features.occurrences import Occurrences
from ammi.features.tokens import WordCounts, look_up, make_table, tokenize
from ammi.search import HammingIndex
from ammi.search.duplicates.numbered import PHRASE, numbered
from tests import oracles
from tests.features.made import any_text, articles


def tokens(texts: list[str], shortest: int = 2) -> list[list[str]]:
    letters, begin, end, _, first = tokenize(texts, shortest)
    words = [letters[a:b].tobytes().decode() for a, b in zip(begin, end, strict=True)]
    return [words[a:b] for a, b in pairwise(first)]


@settings(max_examples=500, deadline=None)
@given(st.lists(any_text, max_size=4))
def test_features_duplicates_and_the_plain_tokenizer_agree_on_words(texts):
    expected = [oracles.words(text) for text in texts]
    assert [words_of(text) for text in texts] == expected
    assert tokens(texts) == expected
    with_short = [oracles.words(text, shortest=1) for text in texts]
    assert tokens(texts, shortest=1) == with_short
    _, first = numbered(texts)
    assert np.diff(first).tolist() == [max(len(found), PHRASE) for found in with_short]


def plain_terms(text: str) -> list[str]:
    """The words of a search: single characters too, and names that end in ++ or #, character by character."""
    text = unicodedata.normalize("NFKC", text).lower()
    found, end = [], 0
    for word in oracles.words(text, shortest=1):
        start = text.index(word, end)
        end = start + len(word)
        unspaced = re.fullmatch(f"[{UNSPACED}]+", word)
        rest = text[end : end + 3]
        if not unspaced and re.match(r"\+\+(?!\+)", rest) and not is_word(rest[2:]):
            word += "++"
        elif not unspaced and rest.startswith("#") and not is_word(rest[1:2]):
            word += "#"
        found.append(word)
        end -= len(word) - 1 if unspaced else 0  # the next pair shares a character
    return found


def is_word(character: str) -> bool:
    return bool(character) and class_of(character) == IS_WORD


names = st.sampled_from(
    ["C++", "C#", "f#m", "c+++", "a+b", "R", "_", "a_b", " ", ".", "é++", "convert", "converting", "日本", "日++"]
)


@settings(max_examples=500, deadline=None)
@given(st.lists(any_text | st.lists(names, max_size=6).map("".join), max_size=4), st.sampled_from([0, 2, 150]))
def test_the_word_index_and_its_vocabulary_and_the_score_agree_on_words(texts, by_search):
    expected = [plain_terms(text) for text in texts]
    assert [terms_of(text) for text in texts] == expected
    words = {word for found in expected for word in found}
    assert distinct_terms(texts) == words
    assert {*WordCounts(100).learn([text for text in texts if not has_names(text)])} == {
        word for text, found in zip(texts, expected, strict=True) if not has_names(text) for word in found
    }
    with patch("ammi.features.occurrences._FOUND_BY_SEARCH", by_search):
        occurrences = Occurrences(texts, 7)
        for n in (1, 3):
            for some in (sorted(words)[start : start + n] for start in range(0, len(words), n)):
                counts = occurrences.counts([some[:1], some[1:]])
                for word, found in counts.items():
                    starts = [[at for at, one in oracles.term_starts(text) if one == word] for text in texts]
                    blocks = [Counter(at // 7 for at in each) for each in starts]
                    parts = np.split(found, occurrences.first[1:])
                    assert [dict(Counter(np.repeat(np.arange(len(part)), part).tolist())) for part in parts] == blocks


@settings(max_examples=30, deadline=None)
@given(st.lists(any_text.map(lambda text: text.encode(errors="replace").decode()), min_size=1, max_size=4))
def test_the_word_index_finds_the_words_of_a_text(tmp_path_factory, texts):
    words = [searched_terms(text) for text in texts]
    with HammingIndex.create(tmp_path_factory.mktemp("index"), 8) as index:
        index.add(np.zeros((len(texts), 1), np.uint8), texts=texts)
        asked = sorted({word for found in words for word in found})[:20]
        with index.snapshot():
            statistics = index._tables.words.statistics(asked)
        assert statistics.having == {word: sum(word in found for found in words) for word in asked}


@pytest.mark.parametrize("corpus", ["reuters", "newsgroups", "tmc_small"])
def test_real_texts_have_the_same_words_compiled_and_plain(corpus):
    texts = articles(corpus, 500)
    assert tokens(texts) == [words_of(text) for text in texts]


def test_every_character_has_its_class():
    unspaced = re.compile(f"[{UNSPACED}]").match
    for code, found in enumerate(character_classes().tolist()):
        c = chr(code)
        is_word = c.isalnum() or c == "_" or unicodedata.category(c)[0] == "M"
        assert found == class_of(c) == (IS_UNSPACED if unspaced(c) else IS_WORD if is_word else IS_OTHER)


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(max_codepoint=0x24F) | st.sampled_from("ab ")))
@example("İstanbul naïve_Straße 3.14 a b")
def test_on_latin_text_words_are_those_of_scikit_learn(text):
    text = unicodedata.normalize("NFKC", text)
    if not any(unicodedata.category(c)[0] == "M" for c in text.lower()):
        assert tokens([text]) == [re.findall(r"(?u)\b\w\w+\b", text.lower())]


def test_scripts():
    found = tokens(
        ["Hello, World_2: x don't", "हिन्दी में", "日本語のテキスト and 中", "ภาษาไทย", "한국어 문서", "ﬁne", "Ελλάς"]
    )
    assert found == [
        ["hello", "world_2", "don"],
        ["हिन्दी", "में"],
        ["日本", "本語", "語の", "のテ", "テキ", "キス", "スト", "and", "中"],
        ["ภา", "าษ", "ษา", "าไ", "ไท", "ทย"],
        ["한국어", "문서"],
        ["fine"],
        ["ελλάς"],
    ]


words = st.text("abc日é", min_size=1, max_size=3)
documents = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=12)


@settings(deadline=None)
@given(st.lists(documents, max_size=4), st.integers(1, 12), st.integers(1, 3))
def test_document_frequencies(chunks, n, minimum):
    counts = WordCounts(limit=10_000)
    for chunk in chunks:
        counts.add(chunk)
    plain = Counter(word for chunk in chunks for text in chunk for word in set(oracles.words(text)))
    best = sorted(plain, key=lambda word: (-plain[word], word))[:n]
    expected = {word: plain[word] for word in sorted(best) if plain[word] >= minimum}
    found, frequencies = counts.most_frequent(n, minimum)
    assert dict(zip(found, frequencies.tolist(), strict=True)) == expected
    assert found == list(expected)
    assert counts.n_documents == sum(len(chunk) for chunk in chunks)


@settings(deadline=None)
@given(documents, st.sets(words.filter(lambda word: oracles.words(word) == [word])))
def test_look_up(texts, vocabulary):
    table = make_table(sorted(vocabulary))
    columns, first = look_up(table, tokenize(texts))
    number = {word: i for i, word in enumerate(sorted(vocabulary))}
    expected = [[number[word] for word in oracles.words(text) if word in number] for text in texts]
    assert [columns[a:b].tolist() for a, b in pairwise(first)] == expected


def test_memory_is_bounded_and_frequent_words_survive():
    counts = WordCounts(limit=1000)
    rng = np.random.default_rng(0)
    for start in range(0, 200_000, 500):  # each document has a word of its own, and one of a hundred
        counts.add([f"rare{start + i} word{rng.integers(100):02}" for i in range(500)])
        assert counts.n_words <= 1000
    assert max(map(len, counts.table)) < 10_000
    found, frequencies = counts.most_frequent(100, 2)
    assert found == [f"word{i:02}" for i in range(100)]
    assert 0 <= 200_000 - frequencies.sum() < 200


@pytest.mark.parametrize("limit", [10, 10_000])
def test_a_word_keeps_its_count_when_others_are_forgotten(limit):
    counts = WordCounts(limit)
    for i in range(300):
        counts.add([f"always new{i} new{i}b"])
    assert dict(zip(*counts.most_frequent(1, 1), strict=True)) == {"always": 300}
