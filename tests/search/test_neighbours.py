"""The order of equally near documents by their words, beside plain numpy."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.search import Hit
from ammi.search.languages import stems
from ammi.search.neighbours import TIES, by_words, word_similarities
from tests.oracles import text_cosines

WORDS = ["the", "inverse", "inverses", "of", "a", "matrix", "C++", "日本語", "été"]
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(text=texts, others=st.lists(texts, max_size=8), language=st.sampled_from([None, "english"]))
def test_similarities_are_cosines(text, others, language):
    expected = text_cosines(text, others, lambda word: stems(language, [word])[0])
    assert word_similarities(text, others, language).tolist() == pytest.approx(expected, abs=1e-9)


def test_ties_are_ordered_and_distances_stay():
    documents = ["a matrix", None, "the inverse of a matrix", "other", "the inverse"]
    hits = [Hit(n, distance, 0.0, documents[n], {}) for n, distance in enumerate([0, 0, 0, 1, 1])]
    assert [hit.id for hit in by_words("inverse matrix", hits, 9, "english")] == [2, 0, 1, 4, 3]
    assert [hit.id for hit in by_words("inverse matrix", hits, 1, "english")] == [2]
    assert by_words(None, hits, 4, None) == hits[:4]
    assert by_words("a", [], 4, None) == []
    many = [Hit(n, 0, 0.0, "inverse" if n in (5, TIES) else "x", {}) for n in range(TIES + 5)]
    assert [hit.id for hit in by_words("inverse", many, 300, None)] == [5, *(n for n in range(TIES + 5) if n != 5)]
