"""The nearest documents by sums of cosines, against all similarities written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse

from ammi.training import neighbours
from ammi.training.neighbours import nearest_documents
from ammi.training.threads import for_each, torch_threads

WIDE = 12  # columns: as many dimensions has the SVD, whose cosines are then those of the rows


def cosines(X: np.ndarray) -> np.ndarray:
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    similarity = unit @ unit.T
    np.fill_diagonal(similarity, -np.inf)
    return similarity


def check_nearest(found: np.ndarray, similarity: np.ndarray, k: int) -> None:
    """Of each row those with the highest similarity, the nearest first, itself left out."""
    n = len(similarity)
    k = min(k, n - 1)
    assert found.shape == (n, k)
    assert all(len(set(row) - {i}) == k for i, row in enumerate(found))
    best = np.sort(similarity, axis=1)[:, ::-1][:, :k]
    np.testing.assert_allclose(np.take_along_axis(similarity, found, 1), best, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 30), k=st.integers(1, 6), sparse=st.booleans(), seed=st.integers(0, 99))
def test_nearest_documents_have_the_highest_cosines(n, k, sparse, seed):
    X = random_sparse(n, WIDE, 0.4, format="csr", random_state=seed)
    found = nearest_documents(X if sparse else X.toarray(), k, np.arange(n), np.random.default_rng(0))
    check_nearest(found, cosines(X.toarray()), k)


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 30), k=st.integers(1, 6), sparse=st.booleans(), views=st.integers(1, 3), seed=st.integers(0, 99)
)
def test_the_cosines_of_views_are_added_and_those_of_sparse_ones_twice(n, k, sparse, views, seed):
    X = random_sparse(n, WIDE, 0.4, format="csr", random_state=seed)
    rng = np.random.default_rng(seed)
    others = [rng.normal(size=(n, 5)) * rng.uniform(0.1, 9, (n, 1)) for _ in range(views)]  # of any length
    asked = [csr_matrix(view) if number % 2 else view for number, view in enumerate(others)]
    found = nearest_documents(X if sparse else X.toarray(), k, np.arange(n), rng, views=asked)
    of_views = sum((1 + number % 2) * cosines(view) for number, view in enumerate(others))  # the SVD of a sparse one
    check_nearest(found, (1 + sparse) * cosines(X.toarray()) + of_views, k)


@pytest.mark.parametrize("sparse", [True, False])
def test_beside_codes_the_rows_count_less(sparse):
    X = random_sparse(40, 60, 0.2, format="csr", random_state=0).toarray()
    codes = np.random.default_rng(1).uniform(-1, 1, (40, 16)).astype(np.float32)
    rows = csr_matrix(X) if sparse else X
    found = nearest_documents(rows, 5, np.arange(40), np.random.default_rng(0), codes=codes)
    check_nearest(found, cosines(codes) + (1 / 2 + sparse / 3) * cosines(X), 5)  # 50 dimensions hold 40 rows


def test_an_svd_knows_which_words_go_together():
    """Documents 0 and 1 share no word, but theirs stand together in others."""
    X = np.zeros((9, 120), np.float32)
    X[0, 0] = X[1, 1] = 1
    X[2:5, :2] = 1
    X[5:] = np.eye(4, 120, k=10)
    X[:5, 100] = 0.1
    found = nearest_documents(csr_matrix(X), 4, np.arange(9), np.random.default_rng(0))
    assert 1 in found[0]


def test_in_a_large_collection_nearly_all_are_found_in_the_nearest_cells(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 8))[rng.integers(20, size=3000)] + rng.normal(0, 0.3, (3000, 8))
    exact = nearest_documents(X, 10, np.arange(3000), np.random.default_rng(0))
    monkeypatch.setattr(neighbours, "EXACT", 1000)
    found = nearest_documents(X, 10, np.arange(3000), np.random.default_rng(0))
    assert not (found == np.arange(3000)[:, None]).any()
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact, found, strict=True)])
    assert recall > 0.95


def test_documents_that_are_held_out_are_nobodys_neighbours():
    X = random_sparse(30, 12, 0.6, format="csr", random_state=0)
    among = np.arange(0, 30, 3)
    found = nearest_documents(X, 4, among, np.random.default_rng(0))
    assert found.shape == (30, 4)
    assert set(found[among].ravel()) <= set(among)


def test_progress_is_told_of_every_row(monkeypatch):
    monkeypatch.setattr(neighbours, "_ROWS", 12)
    told: list[int] = []
    nearest_documents(np.eye(25), 2, np.arange(25), np.random.default_rng(0), told.append)
    assert told == [12, 12, 1]


@pytest.mark.parametrize("exact", [True, False])
def test_neighbours_are_the_same_on_any_number_of_threads(exact, monkeypatch):
    monkeypatch.setattr(neighbours, "_ROWS", 64)
    monkeypatch.setattr(neighbours, "EXACT", 10_000 if exact else 100)
    X = random_sparse(700, 200, 0.05, format="csr", random_state=0)
    found = []
    for n_threads in (1, 2, 4):
        with torch_threads(n_threads):
            found.append(nearest_documents(X, 10, np.arange(700), np.random.default_rng(0)))
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_an_error_in_a_block_ends_the_search():
    def fail(block: int) -> None:
        raise ValueError(f"block {block}")

    with pytest.raises(ValueError, match="block 0"), torch_threads(2):
        list(for_each(fail, range(5)))
