"""Where the words of a query stand in a text, and the passage with the best of them, beside brute force."""

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.cli.screen import marked_passage
from ammi.features.alphabet import in_parts, normal, searched_terms, terms_of
from ammi.features.occurrences import _joins, phrase_places, places
from ammi.search.passages import LEAD, LENGTH, densest, explained, passage, rarities
from ammi.search.wanted import Term, Wanted, WordStatistics
from tests.oracles import phrase_places as phrase_places_of
from tests.oracles import word_places

# Characters that become several ones in normal form, or one together with others.
ODD = ["ﬁ", "e\u0301", "Σ", "İ", "ｶﾞ", "ㄱㅏ", "각", "½", "日本語", "の", "ภาษา", "नमस्ते", "\u0344", "㎏", "ǅ", "😀", "ª"]
pieces = st.sampled_from([*ODD, "oil", "Oil", "c++", "C#", "x", " ", " ", "\n", "-", "'", "\0"])
texts = st.lists(pieces | st.characters(exclude_categories=["Cs"]), max_size=12).map("".join)


def covered(parts: list[tuple[int, int]]) -> set[int]:
    return {at for start, end in parts for at in range(start, end)}


@settings(max_examples=200, deadline=None)
@given(text=texts, data=st.data())
def test_words_are_found_where_they_stand(text, data):
    terms = sorted({*searched_terms(text), "oil"})
    groups = [data.draw(st.sets(st.sampled_from(terms))) for _ in range(2)]
    expected = [(*place, n) for n, words in enumerate(groups) for place in word_places(text, words)]
    assert places(text, groups) == sorted(expected)


@settings(max_examples=200, deadline=None)
@given(text=st.lists(pieces | st.sampled_from(["oil_price", "_"]), max_size=12).map("".join), data=st.data())
def test_phrases_are_found_where_they_stand(text, data):
    words = data.draw(st.sampled_from([terms_of(text), terms_of(in_parts(normal(text)))]))
    first = data.draw(st.integers(0, len(words)))
    phrases = [words[first : first + length] for length in (1, 2, 3)] if first < len(words) else [["oil", "price"]]
    expected = [(*place, n) for n, phrase in enumerate(phrases) for place in phrase_places_of(text, phrase)]
    assert phrase_places(text, [[tuple(phrase)] for phrase in phrases]) == sorted(expected)


def test_only_marks_and_parts_of_hangul_join_the_character_before():
    for code in range(0x110000):
        first, *rest = unicodedata.decomposition(chr(code)).split() or [""]
        if rest and not first.startswith("<"):
            assert all(_joins(chr(int(second, 16))) for second in rest), hex(code)


@settings(max_examples=100, deadline=None)
@given(
    found=st.lists(st.tuples(st.integers(0, 900), st.integers(1, 300), st.integers(0, 3)), max_size=12),
    weights=st.lists(st.integers(1, 5), min_size=4, max_size=4),
)
def test_the_densest_part_has_the_rarest_words(found, weights):
    places = sorted((start, start + length, term) for start, length, term in found)
    best, expected = 0, (0, 0)
    for n, (start, _, _) in enumerate(places):
        part = places[n : n + 1]
        for one in places[n + 1 :]:
            if one[1] > start + LENGTH:
                break
            part.append(one)
        value = sum(weights[term] for term in {term for *_, term in part})
        if value > best:
            best, expected = value, (start, max(end for _, end, _ in part))
    assert densest(places, weights) == expected


@settings(max_examples=100, deadline=None)
@given(
    words=st.lists(st.tuples(st.text("ab", min_size=1, max_size=50), st.sampled_from([" ", "\n  "])), min_size=1),
    data=st.data(),
)
def test_a_passage_has_the_part_and_is_cut_between_words(words, data):
    text = "".join(word + gap for word, gap in words)
    words_at = [match.span() for match in re.finditer(r"\S+", text)]
    begin, last = data.draw(st.sampled_from(words_at))
    least = max(0, min(begin - LEAD, len(text) - LENGTH))
    start = min(start for start, _ in words_at if start >= least)
    end = max(end for _, end in words_at if end <= least + LENGTH)
    assert passage(text, begin, last) == (start, end)


def test_a_passage_shows_why_a_text_was_found():
    text = "It reads files. " * 30 + "It converts\n the oldest images, and 日本語 " + "or other files. " * 30
    terms = [Term({"converting": 1}, ("converting", "converts")), Term({"file": 1}, ("file", "files"))]
    statistics = WordStatistics(100, 10_000, {"converting": 1, "converts": 2, "file": 20, "files": 30})
    why = explained(text, Wanted(terms), rarities(terms, statistics), {"words": 2.0})
    assert [text[start:end] for start, end in why.words] == ["files"] * 30 + ["converts"] + ["files"] * 30
    assert text[why.start : why.start + len(why.passage)] == why.passage
    assert {piece for piece, is_match in why.marked() if is_match} == {"files", "converts"}
    assert "".join(piece for piece, _ in why.marked()) == why.passage
    line = marked_passage(why)
    assert line.plain.startswith("…It reads files.")
    assert {line.plain[span.start : span.end] for span in line.spans} == {"files", "converts"}
    assert explained(text, Wanted(), [], {})[:3] == (text[: len("It reads files. " * 15) - 1], 0, [])


def test_a_passage_shows_the_quoted_phrase():
    text = "Oil prices rose, crude prices. " * 30 + "He spoke of crude oil (Brent). " + "The oil is crude. " * 30
    terms = [Term({word: 1}, (word,)) for word in ("prices", "crude", "oil")]
    statistics = WordStatistics(100, 10_000, {"prices": 1, "crude": 10, "oil": 20})
    weights = rarities(terms, statistics)
    assert "crude oil" not in explained(text, Wanted(terms), weights, {}).passage
    why = explained(text, Wanted(terms, required=[(("crude", "oil"), ("sweet", "crude"))]), weights, {})
    assert why.passage.startswith("of crude oil (Brent)")
    assert {text[start:end].lower() for start, end in why.words} == {"prices", "crude", "oil"}
    absent = explained(text, Wanted(terms, required=[(("sweet", "crude"),)]), weights, {})
    assert absent == explained(text, Wanted(terms), weights, {})


def test_of_very_many_words_those_of_the_passage_are_told():
    text = "oil " * 3000 + "crude oil"
    terms = [Term({word: 1}, (word,)) for word in ("oil", "crude")]
    why = explained(text, Wanted(terms), [1, 1], {})
    assert why.words[:1000] == [(4 * n, 4 * n + 3) for n in range(1000)]
    assert [place for place in why.words[1000:] if place[1] <= why.start] == []
    assert {piece for piece, is_match in why.marked() if is_match} == {"oil", "crude"}
    assert [word for word, is_match in why.marked() if is_match] == [
        word for word in why.passage.split() if word in ("oil", "crude")
    ]


@pytest.mark.parametrize("text", ["", "  \n", "x" * 1000])
def test_a_text_without_the_words_has_its_beginning(text):
    why = explained(text, Wanted([Term({"oil": 1}, ("oil",))]), [1], {})
    assert (why.passage, why.words) == (text.strip()[:LENGTH], [])
