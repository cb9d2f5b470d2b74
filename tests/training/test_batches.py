"""Batches: every document once an epoch, in an order of its own, with its own partner."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from ammi.nets.rows import Rows, product
from ammi.training.batches import Batches


def numbers(rows: Rows) -> list[float]:
    """The one column of each row."""
    return product(rows, torch.eye(1)).ravel().tolist()


@settings(max_examples=40, deadline=None)
@given(n=st.integers(1, 40), batch_size=st.integers(1, 50), sparse=st.booleans(), seed=st.integers(0, 99))
def test_every_document_comes_once_an_epoch_in_another_order_each_time(n, batch_size, sparse, seed):
    Y = np.arange(1, n + 1, dtype=np.float32)[:, None]
    batches = Batches(csr_matrix(Y) if sparse else Y, batch_size=batch_size, rng=np.random.default_rng(seed))
    assert batches.n_documents == n
    expected = np.random.default_rng(seed)
    for _ in range(3):
        seen, sizes = [], []
        for batch in batches:
            assert batch.x is None
            seen += numbers(batch.y)
            sizes.append(batch.size)
        assert seen == (expected.permutation(n) + 1).tolist()
        assert sizes == [batch_size] * (n // batch_size) + ([n % batch_size] if n % batch_size else [])


def test_only_the_rows_that_are_asked_for_come():
    Y, rows = np.arange(10, dtype=np.float32)[:, None], np.array([1, 4, 7])
    batches = Batches(Y, batch_size=2, rows=rows, rng=np.random.default_rng(0))
    assert batches.n_documents == 3
    assert sorted(number for batch in batches for number in numbers(batch.y)) == [1, 4, 7]


@pytest.mark.parametrize("sparse", [False, True])
def test_related_documents_come_row_for_row(sparse):
    Y = np.arange(10, dtype=np.float32)[:, None]
    X = csr_matrix(Y + 100) if sparse else Y + 100
    for batch in Batches(Y, X, batch_size=4, rng=np.random.default_rng(0)):
        assert batch.x is not None
        assert numbers(batch.x) == [number + 100 for number in numbers(batch.y)]


def test_neighbours_are_drawn_anew_each_time():
    Y = np.arange(10, dtype=np.float32)[:, None]
    near = np.stack([(np.arange(10) + 1) % 10, (np.arange(10) + 2) % 10], axis=1)
    batches = Batches(Y, neighbours=near, batch_size=4, rng=np.random.default_rng(0))
    steps: dict[float, set[float]] = {number: set() for number in range(10)}
    for _ in range(30):
        for batch in batches:
            assert batch.x is not None
            for y, x in zip(numbers(batch.y), numbers(batch.x), strict=True):
                steps[y].add((x - y) % 10)
    assert all(found == {1, 2} for found in steps.values())


@settings(max_examples=20, deadline=None)
@given(k=st.integers(1, 30), exponent=st.sampled_from([1.0, 1.5, 2.0, 3.0]), seed=st.integers(0, 99))
def test_a_sampling_exponent_above_1_draws_near_ones_more_often(k, exponent, seed):
    """Rank j is drawn as often as k u**exponent falls between j and j + 1."""
    n = 20_000
    near = np.broadcast_to(np.arange(k), (n, k))
    batches = Batches(
        np.zeros((n, 1)), neighbours=near, sampling_exponent=exponent, batch_size=n, rng=np.random.default_rng(seed)
    )
    drawn = batches.draw()[1]
    assert drawn is not None
    shares = np.bincount(drawn, minlength=k) / n
    np.testing.assert_allclose(np.cumsum(shares), (np.arange(1, k + 1) / k) ** (1 / exponent), atol=0.02)
