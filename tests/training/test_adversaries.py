"""The two adversaries: what each answers to a batch, and how its state is saved."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi import chain
from ammi.chain import Chain, Tree
from ammi.nets.prior import Prior
from ammi.training.adversaries import ExactAdversary, GradientAdversary, StructuredAdversary
from tests import oracles

STRUCTURE = Chain(8, 2)


def trees(order: list[int]) -> st.SearchStrategy[tuple[int, ...]]:
    """Draw the parents of a forest whose bits come in this order, parents first."""
    choices = [st.integers(-1, place - 1) for place in range(len(order))]
    places = {bit: place for place, bit in enumerate(order)}

    def parents(chosen: tuple[int, ...]) -> tuple[int, ...]:
        above = [chosen[places[bit]] for bit in range(len(order))]
        return tuple(-1 if place < 0 else order[place] for place in above)

    return st.tuples(*choices).map(parents)


def mean_windows(seed: int) -> torch.Tensor:
    logits = 2 * torch.randn(32, 8, 1, generator=torch.Generator().manual_seed(seed))
    return STRUCTURE.mean_statistics(Chain(8).read(logits))


def gradient_adversary(size: int, steps: int = 50) -> GradientAdversary:
    return GradientAdversary(Prior(STRUCTURE, 1, size), steps=steps, learning_rate=0.03, clip=10, init_range=0.1)


def test_the_exact_adversary_cannot_be_beaten_on_its_windows():
    adversary = ExactAdversary(STRUCTURE)
    first = mean_windows(0)
    prior = adversary.respond(first)
    best = chain.windows_cross_entropy(first, chain.best_prior(first))
    torch.testing.assert_close(chain.windows_cross_entropy(first, prior), best)
    adversary.respond(mean_windows(1))
    mixed = (0.9 * first + mean_windows(1)) / 1.9  # weights 0.09 and 0.1
    torch.testing.assert_close(adversary.prior(), chain.best_prior(mixed), rtol=1e-4, atol=1e-4)


def test_the_exact_adversary_forgets_by_its_decay():
    adversary = ExactAdversary(STRUCTURE, decay=0.0)
    adversary.respond(mean_windows(0))
    assert torch.equal(adversary.respond(mean_windows(1)), chain.best_prior(mean_windows(1)))


@pytest.mark.parametrize("size", [0, 12])
def test_the_gradient_adversary_comes_close_to_the_exact_one(size):
    torch.manual_seed(0)
    adversary = gradient_adversary(size)
    windows = mean_windows(0)
    before = chain.windows_cross_entropy(windows, adversary.prior())
    for _ in range(10):
        after = chain.windows_cross_entropy(windows, adversary.respond(windows))
    best = chain.windows_cross_entropy(windows, chain.best_prior(windows))
    assert best <= after < best + 0.01 * (before - best)


@pytest.mark.parametrize("make", [lambda: ExactAdversary(STRUCTURE), lambda: gradient_adversary(12, steps=2)])
def test_an_answer_is_the_prior_from_then_on_and_needs_no_gradient(make):
    torch.manual_seed(0)
    adversary: StructuredAdversary = make()
    assert adversary.structure == STRUCTURE
    answer = adversary.respond(mean_windows(0))
    assert answer.shape == STRUCTURE.shape
    assert not answer.requires_grad
    assert torch.equal(answer, adversary.prior())
    again = make()
    again.load_state_dict(adversary.state_dict())
    assert torch.equal(again.prior(), answer)


def test_saved_adversaries_keep_their_names():
    assert set(ExactAdversary(STRUCTURE).state_dict()) == {"windows", "order", "since"}
    assert set(gradient_adversary(0).state_dict()) == {"network.embedding"}


def test_the_exact_adversary_sees_the_bits_in_another_order_after_some_batches():
    torch.manual_seed(0)
    adversary = ExactAdversary(STRUCTURE, reorder=3)
    p = Chain(8).read(2 * torch.randn(32, 8, 1))
    orders = []
    for _ in range(7):
        seen = adversary.arranged(p)
        orders.append(adversary.order.tolist())
        assert torch.equal(seen.logits, p.logits[:, adversary.order])
        statistics = STRUCTURE.mean_statistics(seen)
        torch.testing.assert_close(adversary.respond(statistics), chain.best_prior(statistics), rtol=1e-4, atol=1e-4)
    assert orders[0] == orders[2] == list(range(8))
    assert orders[3] == orders[5] != orders[0]
    assert orders[6] not in (orders[0], orders[3])
    adversary.eval()
    assert torch.equal(adversary.arranged(p).logits, p.logits[:, orders[6]])


@settings(max_examples=25, deadline=None)
@given(parents=st.permutations(range(6)).flatmap(trees), width=st.integers(1, 3), seed=st.integers(0, 2**31))
def test_reordered_trees_are_those_of_brute_force(parents, width, seed):
    """The rows of the table and the parents move together."""
    torch.manual_seed(seed)
    p = Tree(6, parents).read(2 * torch.randn(3, 6, 2, dtype=torch.float64))
    adversary = ExactAdversary(Chain(6, width - 1), reorder=1).double()
    adversary.took(1)
    arranged = adversary.arranged(p)
    order = adversary.order.tolist()
    probs = np.exp([oracles.tree_log_probs(parents, table) for table in p.logits.numpy()])  # (3, 2**6)
    for i in range(6):
        bits = tuple(order[j] if j >= 0 else -1 for j in range(i - width + 1, i + 1))
        expected = [oracles.joint(one, bits) for one in probs]
        np.testing.assert_allclose(arranged.windows(width)[:, i], expected, atol=1e-9)


def test_chains_cannot_be_reordered():
    p = Chain(8, 1).read(torch.randn(4, 8, 2))
    with pytest.raises(ValueError, match=r"order=1\) cannot be put into another order: use reorder=0"):
        ExactAdversary(STRUCTURE, reorder=2).arranged(p)
    assert ExactAdversary(STRUCTURE).arranged(p) is p
