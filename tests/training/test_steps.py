"""Training steps: torch's own Adam, and compiled steps that are the same as torch's on any number of threads."""

import copy
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import njit
from scipy.sparse import random as random_sparse

from ammi import AMMI
from ammi.training.batches import Batches
from ammi.training.compiled import choose_steps
from ammi.training.compiled_steps import CompiledSteps
from ammi.training.information import AMMIObjective
from ammi.training.steps import Steps, TorchSteps
from ammi.training.team import claim, meet, run_together
from ammi.training.threads import torch_threads
from tests.training.made import Middle

WORDS = 30


def objective(n_bits: int, prior_order: int, *, pairs: bool, reorder: int = 0, seed: int = 0) -> AMMIObjective:
    torch.manual_seed(seed)
    hasher = AMMI(n_bits, prior_order=prior_order, reorder=reorder, init_range=2.0, neighbours=5 if pairs else 0)
    return hasher.objective(WORDS, predictive=False)


def batches(kind: str, n: int = 50, batch_size: int = 16, dropout: float = 0.0) -> Batches:
    """Documents alone, with neighbours, or with related documents."""
    rng = np.random.default_rng(0)
    X, related = (random_sparse(n, WORDS, 0.2, "csr", np.float32, random_state=seed) for seed in (0, 1))
    near = rng.integers(n, size=(n, 4)) if kind == "neighbours" else None
    return Batches(
        X, related if kind == "related" else None, neighbours=near, batch_size=batch_size, word_dropout=dropout, rng=rng
    )


def steps_of(made: AMMIObjective, how: type[Steps], **settings: Any) -> Steps:
    kind = settings.pop("kind", "neighbours")
    if how is TorchSteps:
        return TorchSteps(made, **settings)
    steps = choose_steps(made, batches(kind), **settings)
    assert isinstance(steps, CompiledSteps)
    return steps


def trained(how: type[Steps], kind: str, n_bits: int, prior_order: int, reorder: int, clip: float) -> Any:
    made = objective(n_bits, prior_order, pairs=kind != "alone", reorder=reorder)
    steps = steps_of(made, how, kind=kind, learning_rate=0.05, clip=clip)
    documents = batches(kind)
    torch.manual_seed(1)
    made.train()
    figures = [steps.epoch(documents) for _ in range(3)]
    return figures, {name: value.numpy() for name, value in made.state_dict().items()}


@settings(max_examples=25, deadline=None)
@given(
    kind=st.sampled_from(["alone", "neighbours", "related"]),
    n_bits=st.integers(1, 9),
    prior_order=st.integers(0, 5),
    reorder=st.sampled_from([0, 1, 3]),
    clip=st.sampled_from([0.1, 100.0]),
)
def test_compiled_steps_are_those_of_torch(kind, n_bits, prior_order, reorder, clip):
    by_torch, expected = trained(TorchSteps, kind, n_bits, prior_order, reorder, clip)
    compiled, found = trained(CompiledSteps, kind, n_bits, prior_order, reorder, clip)
    for mine, theirs in zip(compiled, by_torch, strict=True):
        assert mine == pytest.approx(theirs, rel=1e-3, abs=1e-3)
    assert set(found) == set(expected)
    for name, values in expected.items():
        np.testing.assert_allclose(found[name], values, rtol=5e-3, atol=5e-3, err_msg=name)


def test_words_that_are_dropped_are_drawn_anew_by_the_batches_own_chance():
    weights = []
    for dropout in (0.0, 0.5, 0.5):
        made = objective(6, 2, pairs=True)
        steps = steps_of(made, CompiledSteps, learning_rate=0.05, clip=10.0)
        made.train()
        documents = batches("neighbours", dropout=dropout)
        for _ in range(2):
            steps.epoch(documents)
        weights.append(made.state_dict()["encoder.0.weight"])
    assert torch.equal(weights[1], weights[2])
    assert not torch.equal(weights[0], weights[1])


def test_compiled_steps_go_on_where_they_were():
    whole, again = (objective(6, 2, pairs=True, reorder=2) for _ in range(2))
    documents = [batches("neighbours") for _ in range(2)]
    steps, more = (steps_of(made, CompiledSteps, learning_rate=0.05, clip=10.0) for made in (whole, again))
    for made in (whole, again):
        made.train()
    torch.manual_seed(1)
    steps.epoch(documents[0])
    documents[1].draw()
    saved = copy.deepcopy((whole.state_dict(), steps.state_dict(), torch.get_rng_state()))
    steps.epoch(documents[0])
    again.load_state_dict(saved[0])
    more.load_state_dict(saved[1])
    torch.set_rng_state(saved[2])
    more.epoch(documents[1])
    for name, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name


@pytest.mark.parametrize(
    "parameters", [{"order": 1}, {"adversary": "gradient"}, {"encoder": 1}, {"prior_order": 8}], ids=str
)
def test_what_is_not_compiled_is_trained_by_torch(parameters):
    made = AMMI(6, **parameters).objective(WORDS, predictive=False)
    assert isinstance(choose_steps(made, batches("neighbours"), 0.1, 1.0), TorchSteps)


def test_dense_rows_are_trained_by_torch():
    dense = Batches(np.eye(WORDS), batch_size=8, rng=np.random.default_rng(0))
    assert isinstance(choose_steps(objective(6, 2, pairs=True), dense, 0.1, 1.0), TorchSteps)


def test_small_numbers_are_slow_again_when_steps_are_done():
    made = objective(6, 2, pairs=True)
    steps_of(made, CompiledSteps, learning_rate=0.05, clip=10.0).epoch(batches("neighbours"))
    assert np.float32(1e-30) * np.float32(1e-10) > 0


@pytest.mark.parametrize(("clip", "length"), [(10.0, 5.0), (1.0, 1.0)])
def test_a_gradient_is_shortened_to_the_largest_norm(clip, length):
    objective = Middle()
    steps = TorchSteps(objective, learning_rate=0.1, clip=clip)
    objective.point.grad = torch.zeros_like(objective.point)
    objective.point.grad[:2] = torch.tensor([3.0, 4.0])
    steps._shorten()
    assert objective.point.grad.norm().item() == pytest.approx(length)
    torch.testing.assert_close(objective.point.grad[:2], torch.tensor([3.0, 4.0]) / 5 * length)


@pytest.mark.parametrize(("n_bits", "prior_order"), [(1, 0), (9, 2), (40, 3)])
def test_steps_are_the_same_on_any_number_of_threads(n_bits, prior_order):
    found = []
    for n_threads in (1, 2, 4):
        with torch_threads(n_threads):
            found.append(trained(CompiledSteps, "neighbours", n_bits, prior_order, 3, 0.1))
    for figures, weights in found[1:]:
        assert figures == found[0][0]
        assert all(np.array_equal(value, found[0][1][name]) for name, value in weights.items())


def test_a_thread_that_fails_does_not_leave_the_others_waiting():
    @njit(nogil=True)
    def wait(team):
        return meet(team, 3)

    def work(team):
        if threading.current_thread() is threading.main_thread():
            raise MemoryError("no room")
        return wait(team)

    with ThreadPoolExecutor(2) as pool, pytest.raises(MemoryError, match="no room"):
        run_together(pool, 3, work)


def test_blocks_are_claimed_once_and_phases_do_not_overlap():
    @njit(nogil=True)
    def count(team, n_threads, counts):
        for phase in range(200):
            block = claim(team)
            while block < counts.shape[1]:
                counts[phase, block] += 1 if phase == 0 else counts[phase - 1, counts.shape[1] - 1 - block]
                block = claim(team)
            meet(team, n_threads)

    counts = np.zeros((200, 7), np.int64)
    with ThreadPoolExecutor(3) as pool:
        run_together(pool, 4, lambda team: count(team, 4, counts))
    assert (counts == 1).all()
