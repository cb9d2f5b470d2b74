"""A chain given some of its bits, against brute force."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import kl_divergence

from ammi import MarkovBits
from ammi.chain.condition import certain_logit, condition
from tests import oracles
from tests.chain.test_chain import close, random_logits


def random_known(seed: int, *shape: int) -> torch.Tensor:
    """Half of the bits unknown, the others 0 or 1."""
    known = torch.randint(0, 4, shape, generator=torch.Generator().manual_seed(seed))
    return torch.where(known > 1, -1, known)


@settings(max_examples=80, deadline=None)
@given(m=st.integers(1, 8), o=st.integers(0, 4), seed=st.integers(0, 2**32 - 1))
def test_the_conditional_equals_its_brute_force_twin(m, o, seed):
    logits, known = random_logits(seed, m, 2**o), random_known(seed, m)
    p = MarkovBits(logits)
    given_bits = p.condition(known)
    expected = torch.tensor(oracles.condition(logits.numpy(), known.numpy()))
    codes = p.enumerate_support()
    assert given_bits.order == o
    assert close(given_bits.log_prob(codes).exp(), expected)
    assert close(given_bits.entropy(), torch.special.entr(expected).sum())
    assert close(given_bits.mean, expected @ codes)
    assert close(given_bits.log_prob(given_bits.mode).exp(), expected.max())
    assert close(kl_divergence(given_bits, p), -condition(logits, known)[1])  # both weigh the codes that fit
    for z in (given_bits.mode, *given_bits.sample((5,))):
        assert ((known == -1) | (z == known)).all()


@settings(max_examples=30, deadline=None)
@given(m=st.integers(1, 6), o=st.integers(0, 3), seed=st.integers(0, 2**32 - 1))
def test_bits_may_become_known_one_after_the_other(m, o, seed):
    p, known = MarkovBits(random_logits(seed, m, 2**o)), random_known(seed, m)
    steps = p
    for i in range(m):
        steps = steps.condition(torch.where(torch.arange(m) == i, known, -1))
    codes = p.enumerate_support()
    assert close(steps.log_prob(codes).exp(), p.condition(known).log_prob(codes).exp())


def test_batches_of_chains_and_of_known_bits_broadcast():
    p, known = MarkovBits(random_logits(0, 3, 1, 5, 4)), random_known(1, 2, 5)
    both = p.condition(known)
    assert both.batch_shape == (3, 2)
    for i in range(3):
        for j in range(2):
            assert close(both.logits[i, j], MarkovBits(p.logits[i, 0]).condition(known[j]).logits)
    assert p.condition(known[:0]).batch_shape == (3, 0)
    assert torch.equal(p.condition(torch.full((5,), -1.0)).mode, p.mode)


@pytest.mark.parametrize("o", [0, 1, 3])
def test_gradients(o):
    p = random_logits(o, 2, 5, 2**o).requires_grad_()
    known = torch.tensor([-1, 1, -1, -1, 0])
    z = torch.tensor([0.0, 1, 1, 0, 0])
    assert torch.autograd.gradcheck(lambda p: MarkovBits(p).condition(known).entropy(), (p,))
    assert torch.autograd.gradcheck(lambda p: MarkovBits(p).condition(known).log_prob(z), (p,))
    assert torch.autograd.gradcheck(lambda p: condition(p, known)[1], (p,))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float64])
def test_what_is_known_is_certain_in_every_type(dtype):
    known = torch.tensor([1, 0, -1])
    p = MarkovBits(torch.zeros(3, 2, dtype=dtype)).condition(known)
    assert p.logits.dtype == dtype
    assert p.probs.tolist() == [[1, 1], [0, 0], [0.5, 0.5]]
    assert p.mean.tolist() == [1, 0, 0.5]
    assert p.variance.tolist() == [0, 0, 0.25]
    impossible = p.log_prob(torch.tensor([1, 1, 0]))
    assert impossible.exp() == 0
    assert impossible <= -certain_logit(dtype)


def test_the_mode_keeps_to_what_is_known_however_improbable_the_rest_becomes():
    logits = torch.zeros(2000, 2)
    logits[1:, 0] = -80  # after a 0 all is certain; after a 1, and ever after, each bit is a coin's
    logits[0] = -80
    known = torch.full((2000,), -1)
    known[:1000] = 1
    p = MarkovBits(logits).condition(known)
    assert (p.mode[:1000] == 1).all()
    assert p.log_prob(p.mode).isfinite()
    assert p.entropy().isfinite()


def test_long_chains_with_extreme_logits_stay_finite():
    logits = 60 * torch.sign(torch.randn(3, 1024, 4, generator=torch.Generator().manual_seed(0)))
    logits.requires_grad_()
    p = MarkovBits(logits).condition(random_known(0, 3, 1024))
    (gradient,) = torch.autograd.grad(1000 * p.entropy().sum(), logits)
    assert p.entropy().isfinite().all()
    assert gradient.isfinite().all()
    assert ((p.probs >= 0) & (p.probs <= 1)).all()


def test_what_cannot_be_known_is_refused():
    p = MarkovBits(torch.zeros(4, 2))
    with pytest.raises(ValueError, match="known bits are 0 or 1, and -1 where a bit is not known, got 2"):
        p.condition(torch.tensor([0, 1, 2, -1]))
    with pytest.raises(ValueError, match="4 bits in its last dimension, got"):
        p.condition(torch.tensor([0, 1]))
    with pytest.raises(ValueError, match=r"shape \(3, 4\) do not fit a batch of shape \(2,\)"):
        p.expand((2,)).condition(torch.zeros(3, 4))
    with pytest.raises(ValueError, match=r"float16 has no logit .* \.float\(\)"):
        MarkovBits(torch.zeros(4, 2, dtype=torch.float16)).condition(torch.zeros(4))
    with pytest.raises(ValueError, match="probability 0 here"):
        p.condition(torch.tensor([1, -1, -1, -1])).condition(torch.tensor([0, -1, -1, -1]))
