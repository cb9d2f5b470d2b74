"""The nearest documents by cosine, against all similarities written out."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse import random as random_sparse

from ammi.training import neighbours
from ammi.training.neighbours import nearest_documents


def cosines(X: np.ndarray) -> np.ndarray:
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    similarity = unit @ unit.T
    np.fill_diagonal(similarity, -np.inf)
    return similarity


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 30), k=st.integers(1, 6), sparse=st.booleans(), seed=st.integers(0, 99))
def test_nearest_documents_have_the_highest_cosines(n, k, sparse, seed):
    X = random_sparse(n, 12, 0.4, format="csr", random_state=seed)
    found = nearest_documents(X if sparse else X.toarray(), k, np.arange(n), np.random.default_rng(0))
    similarity = cosines(X.toarray())
    k = min(k, n - 1)
    assert found.shape == (n, k)
    assert not (found == np.arange(n)[:, None]).any()
    assert all(len(set(row)) == k for row in found)
    best = np.sort(similarity, axis=1)[:, ::-1][:, :k]
    np.testing.assert_allclose(np.take_along_axis(similarity, found, 1), best, atol=1e-12)


def test_those_of_a_large_collection_come_from_a_sample_of_it(monkeypatch):
    monkeypatch.setattr(neighbours, "MOST_CANDIDATES", 10)
    monkeypatch.setattr(neighbours, "_SIMILARITIES_AT_ONCE", 70)
    X = random_sparse(40, 12, 0.6, format="csr", random_state=0)
    found = nearest_documents(X, 3, np.arange(40), np.random.default_rng(0))
    assert len(set(found.ravel())) <= 10
    similarity = cosines(X.toarray())[:, np.sort(np.random.default_rng(0).choice(40, 10, replace=False))]
    best = np.sort(similarity, axis=1)[:, ::-1][:, :3]
    np.testing.assert_allclose(np.take_along_axis(cosines(X.toarray()), found, 1), best, atol=1e-12)


def test_documents_that_are_held_out_are_nobodys_neighbours_but_have_some():
    X = random_sparse(30, 12, 0.6, format="csr", random_state=0)
    among = np.arange(0, 30, 3)
    found = nearest_documents(X, 4, among, np.random.default_rng(0))
    assert found.shape == (30, 4)
    assert set(found.ravel()) <= set(among)


def test_progress_is_told_of_every_row(monkeypatch):
    monkeypatch.setattr(neighbours, "_SIMILARITIES_AT_ONCE", 300)
    told: list[int] = []
    nearest_documents(np.eye(25), 2, np.arange(25), np.random.default_rng(0), told.append)
    assert told == [12, 12, 1]


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 30), k=st.integers(1, 6), sparse=st.booleans(), views=st.integers(1, 3), seed=st.integers(0, 99)
)
def test_the_cosines_of_views_are_added(n, k, sparse, views, seed):
    X = random_sparse(n, 12, 0.4, format="csr", random_state=seed)
    rng = np.random.default_rng(seed)
    others = [rng.normal(size=(n, 5)) * rng.uniform(0.1, 9, (n, 1)) for _ in range(views)]  # of any length
    asked = [csr_matrix(view) if number % 2 else view for number, view in enumerate(others)]
    found = nearest_documents(X if sparse else X.toarray(), k, np.arange(n), rng, views=asked)
    similarity = cosines(X.toarray()) + sum(map(cosines, others))
    best = np.sort(similarity, axis=1)[:, ::-1][:, : min(k, n - 1)]
    np.testing.assert_allclose(np.take_along_axis(similarity, found, 1), best, atol=1e-12)


def test_a_view_is_looked_at_in_blocks_and_at_the_candidates(monkeypatch):
    monkeypatch.setattr(neighbours, "MOST_CANDIDATES", 10)
    monkeypatch.setattr(neighbours, "_SIMILARITIES_AT_ONCE", 70)
    X = random_sparse(40, 12, 0.6, format="csr", random_state=0)
    view = np.random.default_rng(1).normal(size=(40, 5)).astype(np.float32)
    found = nearest_documents(X, 3, np.arange(40), np.random.default_rng(0), views=[view])
    drawn = np.sort(np.random.default_rng(0).choice(40, 10, replace=False))
    similarity = cosines(X.toarray()) + cosines(view)
    best = np.sort(similarity[:, drawn], axis=1)[:, ::-1][:, :3]
    np.testing.assert_allclose(np.take_along_axis(similarity, found, 1), best, atol=1e-6)
