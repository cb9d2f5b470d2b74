"""Neighbours, batches, adversaries and checkpoints."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import random as random_sparse

from ammi import chain
from ammi.nets.prior import Prior
from ammi.nets.rows import product
from ammi.training import neighbours
from ammi.training.adversaries import ExactAdversary, GradientAdversary
from ammi.training.batches import Batches
from ammi.training.checkpoint import Checkpoint


def cosines(X: np.ndarray) -> np.ndarray:
    unit = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-12)
    similarity = unit @ unit.T
    np.fill_diagonal(similarity, -np.inf)
    return similarity


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 30), k=st.integers(1, 6), sparse=st.booleans(), seed=st.integers(0, 99))
def test_nearest_documents_have_the_highest_cosines(n, k, sparse, seed):
    X = random_sparse(n, 12, 0.4, format="csr", random_state=seed)
    found = neighbours.nearest_documents(X if sparse else X.toarray(), k, np.arange(n), np.random.default_rng(0))
    similarity = cosines(X.toarray())
    k = min(k, n - 1)
    assert found.shape == (n, k)
    assert not (found == np.arange(n)[:, None]).any()
    assert all(len(set(row)) == k for row in found)
    best = np.sort(similarity, axis=1)[:, ::-1][:, :k]
    np.testing.assert_allclose(np.take_along_axis(similarity, found, 1), best, atol=1e-12)


def test_nearest_documents_of_a_large_collection_come_from_a_sample_of_it(monkeypatch):
    monkeypatch.setattr(neighbours, "MOST_CANDIDATES", 10)
    monkeypatch.setattr(neighbours, "_SIMILARITIES_AT_ONCE", 70)
    X = random_sparse(40, 12, 0.6, format="csr", random_state=0)
    found = neighbours.nearest_documents(X, 3, np.arange(40), np.random.default_rng(0))
    candidates = sorted(set(found.ravel()))
    assert len(candidates) <= 10
    similarity = cosines(X.toarray())[:, np.sort(np.random.default_rng(0).choice(40, 10, replace=False))]
    best = np.sort(similarity, axis=1)[:, ::-1][:, :3]
    np.testing.assert_allclose(np.take_along_axis(cosines(X.toarray()), found, 1), best, atol=1e-12)


@pytest.mark.parametrize("pairs", ["none", "related", "neighbours"])
def test_every_document_comes_once_an_epoch_with_its_own_partner(pairs):
    Y = np.arange(10, dtype=np.float32)[:, None]
    near = np.stack([(np.arange(10) + 1) % 10, (np.arange(10) + 2) % 10], axis=1)
    batches = Batches(
        Y,
        Y + 100 if pairs == "related" else None,
        neighbours=near if pairs == "neighbours" else None,
        batch_size=4,
        rng=np.random.default_rng(0),
    )
    seen, sizes = [], []
    for batch in batches:
        y = product(batch.y, torch.eye(1)).ravel()
        seen += y.tolist()
        sizes.append(batch.size)
        if batch.x is None:
            assert pairs == "none"
            continue
        x = product(batch.x, torch.eye(1)).ravel()
        if pairs == "related":
            assert torch.equal(x, y + 100)
        else:
            assert set(((x - y) % 10).tolist()) <= {1.0, 2.0}
    assert sorted(seen) == list(range(10))
    assert sizes == [4, 4, 2]


def mean_windows(seed: int) -> torch.Tensor:
    logits = 2 * torch.randn(32, 8, 1, generator=torch.Generator().manual_seed(seed))
    return chain.mean_windows(logits, 3)


def test_the_exact_adversary_cannot_be_beaten_on_its_windows():
    adversary = ExactAdversary(8, 2)
    first = mean_windows(0)
    prior = adversary.respond(first)
    best = chain.windows_cross_entropy(first, chain.best_prior(first))
    torch.testing.assert_close(chain.windows_cross_entropy(first, prior), best)
    adversary.respond(mean_windows(1))
    mixed = (0.9 * first + mean_windows(1)) / 1.9  # weights 0.09 and 0.1
    torch.testing.assert_close(adversary.prior(), chain.best_prior(mixed), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("size", [0, 12])
def test_the_gradient_adversary_comes_close_to_the_exact_one(size):
    torch.manual_seed(0)
    adversary = GradientAdversary(Prior(8, 2, 1, size), steps=50, learning_rate=0.03, clip=10, init_range=0.1)
    windows = mean_windows(0)
    before = chain.windows_cross_entropy(windows, adversary.prior())
    for _ in range(10):
        after = chain.windows_cross_entropy(windows, adversary.respond(windows))
    best = chain.windows_cross_entropy(windows, chain.best_prior(windows))
    assert best <= after < best + 0.01 * (before - best)


def test_a_checkpoint_of_another_run_or_a_damaged_one_is_refused(tmp_path):
    checkpoint = Checkpoint(tmp_path / "run", {"bits": 8})
    assert checkpoint.load() is None
    checkpoint.save({"epoch": 3, "weights": torch.ones(2)})
    state = Checkpoint(tmp_path / "run", {"bits": 8}).load()
    assert state is not None
    assert state["epoch"] == 3
    with pytest.raises(ValueError, match=r"another run \(bits differ\)"):
        Checkpoint(tmp_path / "run", {"bits": 16}).load()
    (tmp_path / "run" / "checkpoint.pt").write_bytes(b"no checkpoint")
    with pytest.raises(ValueError, match="cannot be read as a checkpoint"):
        checkpoint.load()
