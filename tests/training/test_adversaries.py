"""The two adversaries: what each answers to a batch, and how its state is saved."""

import pytest
import torch

from ammi import chain
from ammi.chain import Chain
from ammi.nets.prior import Prior
from ammi.training.adversaries import Adversary, ExactAdversary, GradientAdversary

STRUCTURE = Chain(8, 2)


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
    adversary: Adversary = make()
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
