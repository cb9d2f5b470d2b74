"""MarkovBits as a torch distribution."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Bernoulli, Independent, kl_divergence

from ammi import MarkovBits
from tests import oracles


def random_chain(seed: int, *shape: int, **kwargs) -> MarkovBits:
    return MarkovBits(torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64), **kwargs)


@settings(max_examples=40, deadline=None)
@given(m=st.integers(1, 8), o=st.integers(0, 3), seed=st.integers(0, 1000))
def test_the_identities_hold_together(m, o, seed):
    p, q = random_chain(seed, 2, m, 2**o), random_chain(seed + 1, m, 2)
    codes = torch.tensor(oracles.all_codes(m), dtype=torch.float64).unsqueeze(1)  # (2**m, 1, m)
    log_probs = p.log_prob(codes)  # (2**m, 2)
    probs = log_probs.exp()
    torch.testing.assert_close(probs.sum(0), torch.ones(2, dtype=torch.float64))
    torch.testing.assert_close(p.entropy(), -(probs * log_probs).sum(0))
    torch.testing.assert_close(p.cross_entropy(p), p.entropy())
    torch.testing.assert_close(p.cross_entropy(q), -(probs * q.log_prob(codes)).sum(0))
    torch.testing.assert_close(kl_divergence(p, q), p.cross_entropy(q) - p.entropy())
    torch.testing.assert_close(p.mean, (probs.unsqueeze(-1) * codes).sum(0))
    torch.testing.assert_close(p.variance, p.mean * (1 - p.mean))
    torch.testing.assert_close(p.stddev, p.variance.sqrt())
    torch.testing.assert_close(p.perplexity(), p.entropy().exp())
    assert torch.equal(p.enumerate_support(), codes.expand(-1, 2, -1))
    assert torch.equal(p.enumerate_support(expand=False), codes)
    torch.testing.assert_close(p.log_prob(p.mode), log_probs.max(0).values)


@settings(max_examples=60, deadline=None)
@given(
    m=st.integers(1, 6),
    o=st.integers(0, 3),
    batch=st.lists(st.integers(0, 3), max_size=2).map(tuple),
    seed=st.integers(0, 1000),
)
def test_a_batch_of_any_shape_even_empty_is_its_chains_side_by_side(m, o, batch, seed):
    p, q = random_chain(seed, *batch, m, 2**o), random_chain(seed + 1, m, 4)
    singles = p.logits.reshape(math.prod(batch), m, 2**o).numpy()
    z = p.sample()
    twins = {
        p.entropy: lambda one: oracles.entropy(one),
        lambda: p.cross_entropy(q): lambda one: oracles.cross_entropy(one, q.logits.numpy()),
        lambda: kl_divergence(p, q): lambda one: oracles.kl_divergence(one, q.logits.numpy()),
        lambda: p.log_prob(p.mode): oracles.best_log_prob,
        lambda: p.mean: oracles.means,
        lambda: p.marginals(3): lambda one: oracles.window_marginals(one, 3),
        lambda: p.log_prob(p.enumerate_support()).exp().movedim(0, -1): oracles.code_probs,
    }
    for ours, twin in twins.items():
        value = ours()
        expected = np.array([twin(one) for one in singles]).reshape(value.shape)
        np.testing.assert_allclose(value.numpy(), expected, rtol=0, atol=1e-9)
    assert p.sample((2, 0)).shape == (2, 0, *batch, m)
    assert z.shape == p.mode.shape == p.variance.shape == (*batch, m)
    assert p.log_prob(z).shape == q.log_prob(z).shape == batch
    assert p.condition(z).entropy().abs().sum() == 0


@pytest.mark.parametrize("o", [0, 2])
def test_gradients_of_an_empty_batch_are_empty(o):
    logits = torch.zeros(0, 4, 2**o, requires_grad=True)
    p = MarkovBits(logits)
    total = p.entropy().sum() + p.marginals(2).sum() + p.log_prob(torch.zeros(4)).sum()
    (gradient,) = torch.autograd.grad(total, logits)
    assert gradient.shape == logits.shape


@settings(max_examples=30, deadline=None)
@given(m=st.integers(1, 6), o=st.integers(0, 3), seed=st.integers(0, 1000))
def test_probabilities_say_the_same_as_logits(m, o, seed):
    p = random_chain(seed, 2, m, 2**o)
    same = MarkovBits(probs=torch.sigmoid(p.logits))
    codes = p.enumerate_support()
    assert same.order == o
    assert "logits" not in same.__dict__  # not before they are asked for
    torch.testing.assert_close(same.log_prob(codes), p.log_prob(codes))
    torch.testing.assert_close(p.probs, same.probs)
    wide = same.expand((3, 2))
    torch.testing.assert_close(wide.entropy(), p.entropy().expand(3, 2))
    torch.testing.assert_close(wide.probs, p.probs.expand(3, -1, -1, -1))


def test_probabilities_of_0_and_1_are_clamped_as_torch_does_it():
    probs = torch.tensor([[0.0], [1.0], [0.5]])
    p, twin = MarkovBits(probs=probs), Independent(Bernoulli(probs=probs.squeeze(-1)), 1)
    z = p.enumerate_support()
    torch.testing.assert_close(p.log_prob(z), twin.log_prob(z))
    assert p.mode.tolist() == [0, 1, 0]
    assert p.entropy().item() == pytest.approx(math.log(2), abs=1e-5)
    leaf = probs.clone().requires_grad_()
    MarkovBits(probs=leaf).entropy().backward()
    assert leaf.grad is not None
    assert leaf.grad.isfinite().all()


@pytest.mark.parametrize("o", [0, 1, 3])
def test_sampled_frequencies_follow_the_marginals(o):
    torch.manual_seed(o)
    p = random_chain(o, 12, 2**o)
    n = 100_000
    z = p.sample((n,))
    assert z.shape == (n, 12)
    deviation = (z.mean(0) - p.mean) / (p.variance / n).sqrt()
    assert deviation.abs().max() < 5
    pairs = (2 * z[:, :-1] + z[:, 1:]).unsqueeze(-1) == torch.arange(4)
    expected = p.marginals(2)[1:]
    deviation = (pairs.double().mean(0) - expected) / (expected * (1 - expected) / n).sqrt()
    assert deviation.abs().max() < 5
    errors = -p.log_prob(z) - p.entropy()
    assert errors.mean().abs() < 5 * errors.std() / math.sqrt(n)


def test_order_zero_is_a_row_of_bernoullis():
    logits = torch.randn(3, 7, 1)
    p, twin = MarkovBits(logits), Independent(Bernoulli(logits=logits.squeeze(-1)), 1)
    z = p.sample((5,))
    assert (p.batch_shape, p.event_shape, p.sample().shape) == (twin.batch_shape, twin.event_shape, (3, 7))
    torch.testing.assert_close(p.log_prob(z), twin.log_prob(z))
    torch.testing.assert_close(p.entropy(), twin.entropy())


def test_batches_expand_and_broadcast():
    p = random_chain(0, 6, 4)
    wide = p.expand((3, 2))
    assert wide.batch_shape == (3, 2)
    assert wide.order == 2
    torch.testing.assert_close(wide.entropy(), p.entropy().expand(3, 2))
    assert wide.sample((4,)).shape == (4, 3, 2, 6)
    assert wide.mode.shape == (3, 2, 6)
    torch.testing.assert_close(wide.log_prob(p.mode), p.log_prob(p.mode).expand(3, 2))
    assert random_chain(1, 3, 1, 6, 2).cross_entropy(random_chain(2, 5, 6, 4)).shape == (3, 5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_results_have_the_type_of_the_logits(dtype):
    p = MarkovBits(torch.zeros(2, 5, 4, dtype=dtype))
    for value in (
        p.entropy(),
        p.sample(),
        p.mode,
        p.mean,
        p.log_prob(torch.zeros(5, dtype=torch.uint8)),
        p.marginals(2),
    ):
        assert value.dtype == dtype
    assert p.entropy()[0].item() == pytest.approx(5 * math.log(2), rel=1e-2)


def test_high_orders():
    p = random_chain(0, 20, 2**12)
    assert p.order == 12
    assert p.log_prob(p.mode) >= p.log_prob(p.sample((200,))).max()
    torch.testing.assert_close(p.marginals(13).sum(-1), torch.ones(20, dtype=torch.float64))


def test_bad_input_is_refused_with_what_was_expected():
    with pytest.raises(ValueError, match="power of two"):
        MarkovBits(torch.zeros(4, 3))
    with pytest.raises(ValueError, match=r"a chain is a floating-point tensor .* got ndarray"):
        MarkovBits(torch.zeros(4, 2).numpy())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="finite"):
        MarkovBits(torch.tensor([[float("nan")]]))
    with pytest.raises(ValueError, match="finite"):
        MarkovBits(torch.tensor([[float("inf")]]))
    with pytest.raises(ValueError, match="either logits or probs, got neither"):
        MarkovBits()
    with pytest.raises(ValueError, match="either logits or probs, got both"):
        MarkovBits(torch.zeros(4, 2), probs=torch.zeros(4, 2))
    with pytest.raises(ValueError, match="probs of a chain must be from 0 to 1"):
        MarkovBits(probs=torch.full((4, 2), 1.5))
    with pytest.raises(ValueError, match="probs of a chain must be from 0 to 1"):
        MarkovBits(probs=torch.full((4, 2), float("nan")))
    with pytest.raises(ValueError, match="at most 20 bits, got 21: use sample"):
        MarkovBits(torch.zeros(21, 2)).enumerate_support()
    with pytest.raises(ValueError, match="windows of 40 bits"):
        MarkovBits(torch.zeros(4, 2)).marginals(40)
    with pytest.raises(NotImplementedError):
        MarkovBits(torch.zeros(4, 2)).rsample()
    p = MarkovBits(torch.zeros(4, 2))
    with pytest.raises(ValueError, match=r"shape \(3, 4\) do not fit a batch of shape \(2,\)"):
        p.expand((2,)).log_prob(torch.zeros(3, 4))
    with pytest.raises(ValueError, match="4 bits"):
        p.log_prob(torch.zeros(5))
    with pytest.raises(ValueError, match="4 bits"):
        p.log_prob(torch.tensor(0))
    with pytest.raises(ValueError, match="0 and 1 only, got 2"):
        p.log_prob(torch.tensor([0, 1, 2, 0]))
    with pytest.raises(ValueError, match="same number of bits"):
        p.cross_entropy(MarkovBits(torch.zeros(5, 2)))


def test_validation_can_be_switched_off():
    p = MarkovBits(torch.full((2, 1), float("nan")), validate_args=False)
    assert p.log_prob(torch.zeros(2)).isnan()
