"""Deletion by a filter, and counts of words: the same on every store."""

import numpy as np
import pytest

from ammi.search.word_counts import WordCount, this_month
from tests.search.stores import LOCATIONS, create_store, every_store


@pytest.fixture
def index(store, tmp_path):
    with create_store(LOCATIONS[store](tmp_path), 16) as index:
        codes = np.arange(12, dtype=np.uint8).reshape(6, 2)
        years = [{"year": 1987 + n, "lang": "en" if n % 2 else "de"} for n in range(6)]
        index.add(codes, [f"d{n}" for n in range(6)], [f"text {n}" for n in range(6)], years)
        yield index


@every_store
def test_documents_that_pass_a_filter_are_deleted(index):
    assert index.ids({"year": {"<": 1990}}) == ["d0", "d1", "d2"]
    assert index.delete_where({"year": {"<": 1990}, "lang": "de"}) == 2
    assert index.ids() == ["d1", "d3", "d4", "d5"]
    assert index.delete_where({"year": 1801}) == 0
    assert len(index) == 4
    with pytest.raises(ValueError, match="'yaer'"):
        index.delete_where({"yaer": {"<": 1990}})
    assert index.search(np.zeros((1, 2), np.uint8), 10)[0][0].id == "d1"


@every_store
def test_words_are_counted_beside_the_files(index):
    assert index.word_counts() == {}
    assert index.files() == {}
    codes = np.zeros((1, 2), np.uint8)
    index.add_records(codes, index_records("a"), words=WordCount(10, 2))
    index.add_records(codes, index_records("b"), words=WordCount(5, 0))
    index.count_words(WordCount(7, 1), None, "before 2026-01")
    index.count_words(WordCount(7, 7), "another model", "2026-01")
    if type(index).__name__ == "MemoryStore":  # which keeps none
        assert index.word_counts() == {}
        return
    assert index.word_counts() == {this_month(): WordCount(15, 2), "before 2026-01": WordCount(7, 1)}
    assert index.files() == {}


@every_store
def test_a_change_of_the_model_begins_the_counts_anew(index):
    index.count_words(WordCount(7, 1), None, "2026-01")
    recoded = lambda entries: (np.zeros((len(entries), 2), np.uint8), None)  # noqa: E731
    index.recode(recoded, 16, fingerprint="another", files={"model": b"1"})
    assert index.word_counts() == {}
    assert index.files() == {"model": b"1"}


def index_records(name):
    from ammi.search.documents import checked_records

    return checked_records(1, [name], ["a text"], None)
