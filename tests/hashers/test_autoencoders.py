"""The autoencoders: each one's own identity against enumeration or samples, and their predictive form."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch.distributions import Bernoulli, Categorical, Normal

import ammi
from ammi.hashers import BMSH, DVQ, GMSH, NASH, VDSH
from ammi.nets.rows import to_rows
from ammi.training.batches import Batch
from tests.conftest import topics

CPU = torch.device("cpu")
QUICK: dict[str, Any] = {"batch_size": 32, "random_state": 0, "verbose": False}


@pytest.mark.parametrize("method", [BMSH, GMSH])
def test_divergence_of_a_trained_model_equals_its_sampled_estimate(method):
    X, _ = topics(100)
    model = method(6, components=5, hidden_size=16, epochs=5, **QUICK).fit(X).objective_.double()
    rows = torch.from_numpy(X[:3].toarray()).double()
    output = model.encoder(rows)
    q_c, q_z, p_z = Categorical(logits=output[:, -5:]), *distributions(model, output)
    torch.manual_seed(0)
    c, z = q_c.sample((100_000,)), q_z.sample((100_000,))  # (samples, 3), (samples, 3, 6)
    log_p = model.weights.log_softmax(0) + p_z.log_prob(z[..., None, :]).sum(-1)  # (samples, 3, 5)
    sampled = q_c.log_prob(c) + q_z.log_prob(z).sum(-1) - log_p.gather(-1, c[..., None])[..., 0]
    error = sampled.std(0) / math.sqrt(len(sampled))
    assert ((sampled.mean(0) - model.draw(rows)[1]).abs() < 5 * error + 1e-6).all()


def distributions(model: Any, output: torch.Tensor) -> tuple[Any, Any]:
    """q(z|y) and the components of the prior."""
    if hasattr(model, "gamma"):
        return Bernoulli(logits=output[:, :6]), Bernoulli(logits=model.gamma)
    return Normal(output[:, :6], (output[:, 6:12] / 2).exp()), Normal(model.means, (model.log_variances / 2).exp())


@pytest.mark.parametrize("dimension", [1, 3])
def test_a_bit_of_dvq_is_the_nearest_of_its_two_vectors(dimension):
    X, _ = topics(100)
    hasher = DVQ(8, dimension=dimension, epochs=3, learning_rate=0.03, **QUICK).fit(X)
    objective: Any = hasher.objective_
    with torch.no_grad():
        segments = objective.segments(to_rows(X, CPU)).numpy()  # (n, m, D)
    codebooks = objective.codebooks.detach().numpy()  # (m, 2, D)
    distances = np.linalg.norm(segments[:, :, None] - codebooks, axis=-1)
    clear = np.abs(distances[..., 0] - distances[..., 1]) > 1e-5
    assert np.array_equal(hasher.transform(X)[clear], distances.argmin(-1)[clear])
    assert 0 < hasher.transform(X).mean() < 1
    read, _ = objective.draw(to_rows(X, CPU))
    nearest = np.take_along_axis(codebooks[None], distances.argmin(-1)[..., None, None], 2)[:, :, 0]
    np.testing.assert_allclose(read.detach().numpy().reshape(nearest.shape)[clear], nearest[clear], atol=1e-5)


def test_dvq_moves_vectors_to_segments_and_segments_to_vectors():
    """The codebooks have no gradient but 2 Σ (C - e); segments have that of the decoder and 2 β (e - C)."""
    X, _ = topics(20)
    model: Any = DVQ(4, dimension=2, epochs=1, commitment=0.5, **QUICK).fit(X).objective_
    rows = to_rows(X.toarray(), CPU)
    segments = model.segments(rows)
    bits = model.nearest(segments)[..., None]
    chosen = torch.where(bits, model.codebooks[:, 1], model.codebooks[:, 0])
    read, cost = model.draw(rows)
    (found,) = torch.autograd.grad(read.sum() * 7 + cost.sum(), model.codebooks, retain_graph=True)
    pull = 2 * (chosen - segments).detach()
    torch.testing.assert_close(found, torch.stack([(pull * ~bits).sum(0), (pull * bits).sum(0)], 1))
    bias = model.encoder[-1].bias
    (found,) = torch.autograd.grad(read.sum() * 7 + cost.sum(), bias)
    torch.testing.assert_close(found, (7 - 0.5 * pull).sum(0).flatten())


@pytest.mark.parametrize("method", [VDSH, GMSH])
def test_thresholds_are_the_medians_of_the_training_documents(method):
    X, _ = topics()
    hasher = method(12, hidden_size=32, epochs=3, learning_rate=0.01, **QUICK).fit(X)
    with torch.no_grad():
        means = hasher.objective_.mean(to_rows(X, CPU)).numpy()
    np.testing.assert_allclose(hasher.objective_.medians.numpy(), np.median(means, axis=0), atol=1e-5)
    np.testing.assert_allclose(hasher.transform(X).mean(0), 0.5, atol=0.02)


def test_the_divergence_of_vdsh_counts_more_from_step_to_step():
    X, _ = topics(100)
    model: Any = VDSH(6, warm_up=4, hidden_size=16, dropout=0, epochs=1, **QUICK).fit(X[:1]).objective_
    assert model.step == 1
    full = model.draw(to_rows(X, CPU))[1]
    model.train()
    for share in (0.5, 0.75, 1, 1):
        torch.testing.assert_close(model.draw(to_rows(X, CPU))[1], share * full)


def test_nash_adds_noise_in_training_only():
    X, _ = topics(100)
    model: Any = NASH(6, hidden_size=16, dropout=0, epochs=1, **QUICK).fit(X).objective_
    rows = to_rows(X, CPU)
    bits = model.draw(rows)[0].detach()
    assert torch.equal(bits > 0.5, model.bits(rows))
    torch.testing.assert_close(bits, bits.round())
    model.train()
    noisy = model.draw(rows)[0].detach()
    assert (noisy - noisy.round()).abs().mean() > 0.05


def pairs() -> tuple[Any, Any]:
    """Documents, and for each another one of its topic."""
    X, labels = topics()
    order = np.argsort(labels, kind="stable")
    other = np.empty_like(order)
    for topic in np.unique(labels):
        members = order[labels[order] == topic]
        other[members] = np.roll(members, 1)
    return X, X[other]


@pytest.mark.parametrize("method", [BMSH, DVQ])
def test_predictive_form_reconstructs_the_related_document(method):
    X, R = pairs()
    model = method(8, epochs=1, **QUICK).fit(X, related=R).objective_.eval()
    y, x = to_rows(X, CPU), to_rows(R, CPU)
    read, _ = model.draw(y)
    expected = -model.decoder(read, x).mean() / math.log(2)
    torch.testing.assert_close(model.loss(Batch(y, x, X.shape[0]))[1]["reconstruction"], expected)


@pytest.mark.parametrize("method", [BMSH, DVQ])
def test_predictive_form_learns_is_saved_and_encodes_both_sides(method, tmp_path):
    X, R = pairs()
    settings = {**QUICK, "epochs": 15, "learning_rate": 0.02}
    hasher = method(16, **settings).fit(X, related=R)
    assert hasher.history_[-1]["reconstruction"] < hasher.history_[0]["reconstruction"]
    bits, related_bits = hasher.transform(X), hasher.transform(R)
    assert (bits != related_bits).mean() < 0.8 * (bits != np.roll(related_bits, 150, axis=0)).mean()
    assert np.array_equal(method(16, **settings).fit(X, related=R).encode(X), hasher.encode(X))
    hasher.save(tmp_path / "model")
    assert np.array_equal(ammi.load(tmp_path / "model").encode(R), hasher.encode(R))


def test_the_conditional_prior_of_bmsh_is_bounded():
    X, R = pairs()
    model: Any = BMSH(5, components=3, hidden_size=16, epochs=1, **QUICK).fit(X, related=R).objective_
    with torch.no_grad():
        model.conditional_prior[-1].bias += 1e6
    assert model.draw(to_rows(X, CPU))[1].max() < 3 * 5 * 20


@pytest.mark.parametrize(
    ("hasher", "message"),
    [
        (BMSH(8, components=0), "components must be a whole number from 1 to 65536, got 0"),
        (GMSH(8, components=2.5), "components must be a whole number from 1 to 65536, got 2.5"),  # type: ignore[arg-type]
        (DVQ(8, dimension=0), "dimension must be a whole number from 1 to 65536, got 0"),
        (DVQ(8, commitment=-1), "commitment must be from 0 up, got -1"),
        (NASH(8, divergence_weight=-1), "divergence_weight must be from 0 up, got -1"),
        (NASH(8, dropout=1), "dropout must be from 0 to below 1, got 1"),
        (VDSH(8, hidden_size=2.5), "hidden_size must be a whole number from 1 to 65536, got 2.5"),  # type: ignore[arg-type]
    ],
)
def test_parameters_that_do_not_fit_are_refused(hasher, message):
    with pytest.raises(ValueError, match=message):
        hasher.fit(topics()[0])


@pytest.mark.parametrize("method", [VDSH, NASH, GMSH])
def test_those_without_a_predictive_form_refuse_related_documents(method):
    X, _ = topics()
    with pytest.raises(ValueError, match="has no predictive form: use AMMI, BMMI, BMSH or DVQ"):
        method(8, verbose=False).fit(X, related=X)
