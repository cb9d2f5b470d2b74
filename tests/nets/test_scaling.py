"""Dense rows from their centre, in units of their spread, against plain numpy; sparse rows as they are."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from torch import Tensor

from ammi.nets.rows import to_dense, to_rows
from ammi.nets.scaling import Scaling

CPU = torch.device("cpu")


def dense(n: int = 40, columns: int = 7, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(rng.normal(0, 3, columns), rng.uniform(0.1, 2, columns), (n, columns))


def learned(X) -> Scaling:
    scaling = Scaling()
    scaling.learn(X, CPU)
    return scaling


@settings(max_examples=30, deadline=None)
@given(n=st.integers(2, 50), columns=st.integers(1, 9), seed=st.integers(0, 99), dtype=st.sampled_from(["f4", "f8"]))
def test_rows_have_mean_0_and_one_length(n, columns, seed, dtype):
    X = dense(n, columns, seed).astype(dtype)
    found = learned(X)(to_rows(X, CPU))
    assert isinstance(found, Tensor)
    lengths = np.linalg.norm(X - X.mean(0), axis=1)
    expected = (X - X.mean(0)) / np.sqrt((lengths**2).mean()) * 6
    np.testing.assert_allclose(found.numpy(), expected, atol=1e-3)


def test_many_rows_are_read_in_blocks(monkeypatch):
    X = dense()
    whole = learned(X)
    monkeypatch.setattr("ammi.nets.scaling.ROWS_AT_ONCE", 7)
    in_blocks = learned(X)
    assert in_blocks.spread is not None
    assert whole.spread is not None
    assert in_blocks.spread.item() == pytest.approx(whole.spread.item())


@pytest.mark.parametrize("X", [csr_matrix(dense()), np.eye(6), np.eye(2)], ids=["sparse", "zeros", "half zeros"])
def test_rows_whose_zeros_mean_something_stay_as_they_are(X):
    scaling = learned(X)
    rows = to_rows(X, CPU)
    assert scaling(rows) is rows
    assert not scaling.state_dict()


@pytest.mark.parametrize("X", [np.full((5, 3), 0.1), np.full((5, 3), 0.1, np.float32), dense(1), dense()[[0] * 9]])
def test_equal_rows_have_no_spread_to_be_divided_by(X):
    found = learned(X)(to_rows(X, CPU))
    assert isinstance(found, Tensor)
    np.testing.assert_allclose(found.numpy(), 0, atol=1e-5)


def test_sparse_rows_are_read_as_the_dense_ones_they_stand_for():
    X, scaling = dense(), learned(dense())
    X[::3] = 0
    X[:, 2] = 0
    torch.testing.assert_close(scaling(to_rows(csr_matrix(X), CPU)), scaling(to_rows(X, CPU)))
    np.testing.assert_allclose(to_dense(to_rows(csr_matrix(X), CPU), 7).numpy(), X.astype(np.float32))


def test_a_saved_state_brings_its_centre_and_spread():
    state = learned(dense()).state_dict()
    assert set(state) == {"centre", "spread"}
    fresh = Scaling()
    fresh.load_state_dict(state)
    torch.testing.assert_close(fresh.state_dict(), state)
    fresh.load_state_dict({})
    assert not fresh.state_dict()
