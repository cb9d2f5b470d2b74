"""S-RBM: the machines against their energy, written out state by state, and what training makes of them."""

import itertools
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from ammi.hashers.srbm import SRBM, Machine, Pretraining, Unrolled, presence
from ammi.nets.rows import to_rows
from ammi.training.progress import Silent
from tests.conftest import topics

CPU = torch.device("cpu")
SMALL: dict[str, Any] = {
    "hidden_size": 24,
    "batch_size": 32,
    "epochs": 8,
    "learning_rate": 0.01,
    "random_state": 0,
    "verbose": False,
}
sizes = st.integers(1, 5)
seeds = st.integers(0, 2**32 - 1)


def random_machine(n_visible: int, n_hidden: int, seed: int) -> Machine:
    machine = Machine(n_visible, n_hidden).double()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in machine.parameters():
            parameter.copy_(torch.randn(parameter.shape, dtype=torch.float64, generator=generator))
    return machine


@settings(max_examples=40, deadline=None)
@given(n_visible=sizes, n_hidden=sizes, seed=seeds)
def test_a_machine_equals_its_energy_state_by_state(n_visible, n_hidden, seed):
    machine = random_machine(n_visible, n_hidden, seed)
    W, a, b = (p.detach().numpy() for p in (machine.weight, machine.visible_bias, machine.hidden_bias))
    v = np.array(list(itertools.product((0.0, 1.0), repeat=n_visible)))
    h = np.array(list(itertools.product((0.0, 1.0), repeat=n_hidden)))
    joint = np.exp((v @ a)[:, None] + h @ b + v @ W @ h.T)  # exp(-E) of every pair of states
    states, units = torch.from_numpy(v), torch.from_numpy(h)
    np.testing.assert_allclose(machine.free_energy(states).detach(), -np.log(joint.sum(axis=1)))
    np.testing.assert_allclose(machine.hidden(states).detach(), joint @ h / joint.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(machine.visible(units).detach(), joint.T @ v / joint.sum(axis=0)[:, None])


def test_the_gradient_of_the_divergence_is_the_difference_of_correlations():
    machine = random_machine(6, 4, seed=0)
    v = torch.from_numpy(np.random.default_rng(0).integers(0, 2, (5, 6)).astype(float))
    torch.manual_seed(1)
    machine.divergence(v, words=False).backward()
    torch.manual_seed(1)
    with torch.no_grad():
        h = machine.hidden(v)
        again = machine.visible(torch.bernoulli(h))
        correlations = v.T @ h - again.T @ machine.hidden(again)
    torch.testing.assert_close(machine.weight.grad, -correlations / 5)
    torch.testing.assert_close(machine.visible_bias.grad, (again - v).mean(0))


def shuffled_words(X: csr_matrix) -> csr_matrix:
    """Each word as often as in X, but in documents drawn for it alone: what is lost is which words go together."""
    rng = np.random.default_rng(0)
    return csr_matrix(np.stack([rng.permutation(column) for column in X.toarray().T], axis=1))


@pytest.mark.parametrize("dense", [False, True])
def test_the_free_energy_of_documents_falls_below_that_of_noise(dense):
    X, _ = topics(400)
    X = X.toarray() if dense else X
    noise = shuffled_words(csr_matrix(X))
    gaps = []
    for epochs in (0, 5):
        torch.manual_seed(0)
        pretraining = Pretraining(epochs, learning_rate=0.1, init_range=0.02, batch_size=32)
        machine, _ = pretraining.machines([120, 24, 8], X, np.random.default_rng(0), Silent(), CPU)
        with torch.no_grad():
            real, false = (machine.free_energy(presence(to_rows(rows, CPU))).mean().item() for rows in (X, noise))
        gaps.append(real - false)
    assert abs(gaps[0]) < 0.1
    assert gaps[1] < -5


def test_unrolled_the_stack_computes_what_its_machines_compute():
    X, _ = topics(20)
    rows = to_rows(X, CPU)
    machines = [Machine(120, 7), Machine(7, 5), Machine(5, 3)]
    for machine in machines:
        torch.nn.init.normal_(machine.weight)
        torch.nn.init.normal_(machine.visible_bias)
        torch.nn.init.normal_(machine.hidden_bias)
    model = Unrolled([120, 7, 5, 3], noise=1.0, pretraining=Pretraining(0, 0.1, 0.1, 32))
    model.start_from(machines)
    with torch.no_grad():
        units = machines[2].hidden(machines[1].hidden(machines[0].hidden(presence(rows))))
        torch.testing.assert_close(torch.sigmoid(model.code(rows)), units)
        hidden = machines[1].visible(machines[2].visible(units))
        torch.testing.assert_close(model.down(units), hidden)
        scores = hidden @ machines[0].weight.T + machines[0].visible_bias
        expected = (torch.log_softmax(scores, dim=1) * torch.from_numpy(X.toarray() > 0)).sum(1)
        torch.testing.assert_close(model.words(hidden, rows), expected)


def test_noise_on_the_code_drives_its_units_apart():
    X, _ = topics(400)
    settings = {**SMALL, "pretraining_epochs": 8, "epochs": 12}
    quiet, noisy = (SRBM(8, noise=noise, **settings).fit(X) for noise in (0.0, 4.0))
    objectives: list[Any] = [quiet.objective_, noisy.objective_]
    unsure = [(objective.code(to_rows(X, CPU)).abs() < 2).float().mean() for objective in objectives]
    assert unsure[1] < 0.9 * unsure[0]


def test_only_the_presence_of_words_matters():
    X, _ = topics()
    hasher = SRBM(8, **SMALL).fit(X)
    codes = hasher.encode(X)
    assert np.array_equal(hasher.encode(X > 0), codes)
    assert np.array_equal(hasher.encode(7 * X.toarray()), codes)
    assert np.array_equal(SRBM(8, **SMALL).fit(X > 0).encode(X), codes)


def test_related_documents_and_wrong_parameters_are_refused():
    X, _ = topics(40)
    with pytest.raises(ValueError, match="no predictive form"):
        SRBM(8, **SMALL).fit(X, related=X)
    for parameter, value in {
        "hidden_layers": -1,
        "hidden_size": 0,
        "pretraining_epochs": -1,
        "pretraining_learning_rate": 0.0,
        "noise": -1.0,
    }.items():
        with pytest.raises(ValueError, match=f"{parameter} must be .*, got {value}"):
            SRBM(8, **{**SMALL, parameter: value}).fit(X)
