"""The validation task: precision by labels, matching of pairs, and the documents that are held out for the loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from ammi.evaluate import matching_at_k, precision_at_k
from ammi.training.validation import hold_out, label_precision, pair_matching
from tests.conftest import topics


def signs(X: csr_matrix) -> np.ndarray:
    """The first sixteen words of each document, as a code."""
    return np.packbits((X[:, :16] > 0).toarray(), axis=1)


def test_labels_are_looked_for_among_the_training_documents():
    X, labels = topics(200)
    new, new_labels = topics(60, seed=1)
    expected = precision_at_k(signs(new), new_labels, signs(X), labels, k=100)
    assert label_precision(signs, new, new_labels, X, labels) == expected
    indicator = csr_matrix(np.eye(4)[labels]), csr_matrix(np.eye(4)[new_labels])
    assert label_precision(signs, new, indicator[1], X, indicator[0]) == pytest.approx(expected)


def test_pairs_are_encoded_on_both_sides():
    X, _ = topics(150)
    R, _ = topics(150, seed=1)
    assert pair_matching(signs, X, R) == matching_at_k(signs(X), signs(R), k=100)
    assert pair_matching(signs, X, X) > pair_matching(signs, X, R)


@given(n=st.integers(0, 30_000), seed=st.integers(0, 99))
def test_a_tenth_is_held_out_and_no_more_than_two_thousand(n, seed):
    rows, held_out = hold_out(n, np.random.default_rng(seed))
    if n < 20:
        assert held_out is None
        np.testing.assert_array_equal(rows, np.arange(n))
        return
    assert held_out is not None
    assert len(held_out) == min(n // 10, 2000)
    np.testing.assert_array_equal(np.sort(np.concatenate([rows, held_out])), np.arange(n))
    assert (np.diff(rows) > 0).all()
    assert (np.diff(held_out) > 0).all()
