"""Dense rows in AMMI: read from their centre in units of their spread, which are kept with the model."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

from ammi import AMMI, load
from ammi.evaluate import precision_at_k
from ammi.hashers.hyperplanes import Hyperplanes
from ammi.hashers.logits import bit_logits
from tests.conftest import topics
from tests.hashers.test_ammi import chains_of

SMALL: dict[str, Any] = {"batch_size": 32, "learning_rate": 0.03, "epochs": 5, "random_state": 0, "verbose": False}


def embeddings(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows of unit length around a point far from 0, a direction for each of eight topics, and the topic of each."""
    labels = np.random.default_rng(seed).integers(8, size=n)
    directions = np.random.default_rng(1).normal(size=(9, 64))
    noise = np.random.default_rng(seed + 2).normal(size=(n, 64))
    rows = 4 * directions[8] + directions[labels] + noise
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), labels


def precision(hasher: AMMI) -> float:
    (X, labels), (new, new_labels) = embeddings(), embeddings(seed=5)
    hasher.fit(X)
    return precision_at_k(hasher.encode(new), new_labels, hasher.encode(X), labels, k=20)


@pytest.mark.parametrize(
    "hasher",
    [AMMI(16, **SMALL), AMMI(16, hidden_layers=1, hidden_size=32, **SMALL)],
    ids=["linear", "a hidden layer"],
)
def test_codes_of_embeddings_are_learned_wherever_these_lie(hasher, monkeypatch):
    assert precision(hasher) > 75
    monkeypatch.setattr("ammi.nets.scaling.Scaling.learn", lambda *_: None)
    assert precision(hasher) < 25  # read as they are: chance is 12.5


@pytest.mark.parametrize(
    "hasher",
    [
        AMMI(16, **SMALL),
        AMMI(16, hidden_layers=1, hidden_size=24, **SMALL),
        AMMI(16, order=1, **SMALL),
    ],
    ids=["linear", "a hidden layer", "order 1"],
)
def test_it_is_saved_and_part_of_the_fingerprint(hasher, tmp_path):
    X, _ = embeddings()
    hasher.fit(X)
    hasher.save(tmp_path / "model")
    loaded = load(tmp_path / "model")
    assert isinstance(loaded, AMMI)
    assert loaded.fingerprint_ == hasher.fingerprint_
    assert np.array_equal(loaded.encode(X), hasher.encode(X))
    np.testing.assert_array_equal(loaded.bit_probabilities(X), hasher.bit_probabilities(X))
    scaling: Any = loaded.objective_.scaling
    np.testing.assert_allclose(scaling.centre, X.mean(0), rtol=1e-5, atol=1e-7)
    scaling.centre += 1
    assert loaded.fingerprint_ != hasher.fingerprint_


def test_the_hyperplanes_are_those_of_rows_as_they_are():
    X, _ = embeddings()
    hasher = AMMI(16, **SMALL).fit(X)
    names = hasher.hyperplanes()
    assert names is not None
    planes = Hyperplanes.among(hasher._arrays(), names, 16)
    sides = X @ planes.weights - planes.thresholds
    np.testing.assert_allclose(sides, chains_of(hasher, X)[..., 0], rtol=1e-3, atol=1e-3)
    assert np.array_equal(hasher.transform(X), sides > 0)
    np.testing.assert_array_equal(bit_logits(hasher, X), sides)


@pytest.mark.parametrize("hidden_layers", [0, 1])
def test_a_model_of_dense_rows_encodes_the_same_rows_in_any_form(hidden_layers):
    X, _ = embeddings()
    hasher = AMMI(16, hidden_layers=hidden_layers, hidden_size=24, **SMALL).fit(X)
    for form in (csr_matrix(X), X.astype(np.float64), X.tolist()):
        assert np.mean(hasher.transform(form) == hasher.transform(X)) > 0.999  # other sums, other last digits


def test_sparse_rows_give_the_same_model_written_out():
    X, _ = topics()
    sparse, written_out = (AMMI(8, **SMALL).fit(rows) for rows in (X, X.toarray()))
    assert "scaling.centre" not in written_out._arrays()
    assert np.mean(sparse.transform(X) == written_out.transform(X)) > 0.95


@pytest.mark.parametrize(
    "X",
    [
        np.ones((40, 6)),
        np.full((1, 6), 0.3),
        np.column_stack([np.random.default_rng(0).normal(5, 1, 40), np.full((40, 5), 1e6)]),
        np.random.default_rng(0).normal(size=(40, 6)) * 1e-20,
        np.random.default_rng(0).normal(size=(40, 6)) * 1e20,
    ],
    ids=["all alike", "one row", "constant columns", "tiny", "huge"],
)
def test_odd_rows_give_codes_and_finite_probabilities(X):
    hasher = AMMI(8, **SMALL).fit(X)
    assert np.isfinite(hasher.bit_probabilities(X)).all()
    assert hasher.transform(X).shape == (len(X), 8)


def test_related_documents_are_read_from_the_same_centre():
    X, labels = embeddings(400)
    order = np.argsort(labels, kind="stable")
    hasher = AMMI(16, **SMALL).fit(X[order][:-1], related=X[order][1:])
    assert np.isfinite(hasher.score(X[order][:-1], related=X[order][1:]))
    assert precision_at_k(hasher.encode(X), labels, hasher.encode(X), labels, k=20) > 80


def test_a_run_that_goes_on_has_the_centre_it_began_with(tmp_path):
    X, _ = embeddings()
    whole = AMMI(8, **SMALL).fit(X)
    seen = 0

    def stop(row):
        nonlocal seen
        seen += 1
        if seen == 3:
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError, match="stopped"):
        AMMI(8, checkpoint=tmp_path, **SMALL).fit(X, callbacks=[stop])
    again = AMMI(8, checkpoint=tmp_path, **SMALL).fit(X)
    assert again.fingerprint_ == whole.fingerprint_
    torch.testing.assert_close(again.objective_.state_dict(), whole.objective_.state_dict())
