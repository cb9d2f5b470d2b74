"""Measures of whole rankings against plain loops and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import average_precision_score, ndcg_score

from ammi.evaluate import ranking_scores
from tests import oracles

shapes = st.tuples(st.integers(1, 4), st.integers(1, 9))


@given(
    shapes.flatmap(lambda shape: st.tuples(arrays(int, shape, elements=st.integers(0, 4)), arrays(bool, shape))),
    st.integers(1, 12),
)
def test_scores_are_those_of_plain_loops(matrices, k):
    distances, relevant = matrices
    scores = np.transpose(ranking_scores(distances, relevant, k))
    expected = [
        oracles.ranking_scores(list(away), list(hits), k) for away, hits in zip(distances, relevant, strict=True)
    ]
    assert scores == pytest.approx(np.array(expected))


def test_scores_are_those_of_scikit_learn_where_no_distances_are_equal():
    rng = np.random.default_rng(0)
    distances, relevant = rng.random((20, 50)), rng.random((20, 50)) < 0.3
    _, ndcg, precision = ranking_scores(distances, relevant, 10)
    assert ndcg.mean() == pytest.approx(ndcg_score(relevant, -distances, k=10))
    each = [average_precision_score(hits, -away) for hits, away in zip(relevant, distances, strict=True)]
    assert precision == pytest.approx(each)


def test_equal_distances_are_in_insertion_order():
    precision, ndcg, average = ranking_scores(np.zeros((1, 4)), [[True, False, False, True]], k=2)
    assert (precision.item(), average.item()) == (0.5, 0.75)
    assert ndcg.item() == pytest.approx(1 / (1 + 1 / np.log2(3)))


@pytest.mark.parametrize(
    ("distances", "relevant", "k"), [([[1, 2]], [[True]], 1), ([1, 2], [True, True], 1), ([[1]], [[True]], 0)]
)
def test_what_cannot_be_scored_is_refused(distances, relevant, k):
    with pytest.raises(ValueError, match="two matrices"):
        ranking_scores(distances, relevant, k)
