"""Uniform samples of streams: every item equally likely, in order, the same for the same seed, in bounded memory."""

import weakref
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import chi2, chisquare

from ammi.data import BadRecordError, VectorMatrix, uniform_sample


@given(st.integers(0, 60), st.integers(1, 80), st.integers(0, 2**32))
def test_a_sample_is_in_order_without_repetition_and_counts_what_it_read(length, n, seed):
    sample = uniform_sample(iter(range(length)), n, seed=seed)
    assert sample.seen == length
    assert len(sample.items) == min(n, length)
    assert sample.items == sorted(set(sample.items))
    assert set(sample.items) <= set(range(length))
    assert sample == uniform_sample(range(length), n, seed=seed)


@given(st.lists(st.integers()), st.integers(0, 5))
def test_a_sample_of_at_least_the_whole_stream_is_the_whole_stream_in_order(items, more):
    assert uniform_sample(items, max(1, len(items) + more)) == (items, len(items))


@pytest.mark.parametrize(("length", "n"), [(20, 1), (20, 3), (20, 19), (300, 7)])
def test_every_item_is_equally_likely(length, n):
    runs = 4000
    counts = np.bincount([i for seed in range(runs) for i in uniform_sample(range(length), n, seed=seed).items])
    # Items of one sample exclude each other, which makes the counts vary less than independent ones would.
    assert chisquare(counts).statistic / (1 - n / length) < chisquare_limit(length - 1)


def test_every_set_of_items_is_equally_likely():
    runs = 6000
    sets: dict[tuple[int, ...], int] = {chosen: n for n, chosen in enumerate(combinations(range(7), 3))}
    drawn = (tuple(uniform_sample(range(7), 3, seed=seed).items) for seed in range(runs))
    counts = np.bincount([sets[chosen] for chosen in drawn], minlength=len(sets))
    assert chisquare(counts).statistic < chisquare_limit(len(sets) - 1)


def chisquare_limit(freedom: int) -> float:
    """What chance exceeds once in ten thousand times."""
    return float(chi2.isf(1e-4, freedom))


def test_no_more_items_are_kept_than_the_sample_has():
    class Item:
        pass

    alive: weakref.WeakSet[Item] = weakref.WeakSet()

    def stream():
        for _ in range(2000):
            item = Item()
            alive.add(item)
            assert len(alive) <= 10 + 5  # and those that are on their way
            yield item

    assert len(uniform_sample(stream(), 10).items) == 10


@pytest.mark.parametrize("n", [0, -3])
def test_a_sample_of_nothing_is_refused(n):
    with pytest.raises(ValueError, match="expected a whole number from 1"):
        uniform_sample([1, 2], n)


@pytest.mark.parametrize("make", [np.asarray, csr_matrix])
def test_rows_of_a_matrix_are_sampled_with_all_that_belongs_to_them(make):
    X = np.random.default_rng(0).normal(size=(2500, 4))
    X[7, 1] = np.nan
    skipped: list[BadRecordError] = []
    ids, columns = [f"d{i}" for i in range(2500)], {"year": np.arange(2500)}
    matrix = VectorMatrix("m", make(X), ids=ids, columns=columns, on_error=skipped.append)
    drawn, seen = matrix.sample(300, seed=5)
    assert seen == 2499
    assert len(skipped) == 1
    assert len(drawn) == 300
    numbers = [int(str(document.id)[1:]) for document in drawn]
    assert numbers == sorted(set(numbers))
    assert [document.metadata["year"] for document in drawn] == numbers
    rows = drawn.in_memory()
    np.testing.assert_array_equal(rows if isinstance(rows, np.ndarray) else rows.toarray(), X[numbers])
    assert [document.id for document in matrix.sample(300, seed=5)[0]] == [f"d{i}" for i in numbers]


def test_a_document_of_a_matrix_does_not_keep_other_rows_in_memory():
    vectors = [document.vector for document in VectorMatrix("m", np.ones((10, 3), np.float32))]
    assert all(vector is not None and vector.base is None for vector in vectors)
