"""Every function of the chain against its brute-force twin, and the identities that tie them together."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi import chain
from tests import oracles

orders = st.integers(0, 4)
lengths = st.integers(1, 10)
seeds = st.integers(0, 2**32 - 1)
thorough = settings(max_examples=60, deadline=None)


def random_logits(seed: int, *shape: int, scale: float = 2.0) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)) * scale


def close(actual: torch.Tensor, expected) -> bool:
    return torch.allclose(actual, torch.as_tensor(expected, dtype=torch.float64), rtol=0, atol=1e-9)


@thorough
@given(m=lengths, o=orders, seed=seeds)
def test_one_chain_equals_its_brute_force_twin(m, o, seed):
    logits = random_logits(seed, m, 2**o)
    table = logits.numpy()
    codes = torch.tensor(oracles.all_codes(m))
    probs = chain.log_prob(logits, codes).exp()
    assert close(probs, oracles.code_probs(table))
    assert close(probs.sum(), 1)
    assert close(chain.forward(logits), oracles.forward(table))
    assert close(chain.entropy(logits), oracles.entropy(table))
    mode, value = chain.viterbi(logits)
    assert close(value, oracles.best_log_prob(table))
    assert close(chain.log_prob(logits, mode), value)


@thorough
@given(m=lengths, o=orders, width=st.integers(1, 7), seed=seeds)
def test_window_marginals_of_any_width(m, o, width, seed):
    logits = random_logits(seed, m, 2**o)
    windows = chain.window_marginals(logits, width)
    assert close(windows, oracles.window_marginals(logits.numpy(), width))
    assert close(windows.sum(-1), torch.ones(m))
    assert torch.equal(chain.window_marginals(logits, width, chain.forward(logits)), windows)


@thorough
@given(m=lengths, o=orders, other=orders, seed=seeds)
def test_cross_entropy_and_divergence_for_any_pair_of_orders(m, o, other, seed):
    p, q = random_logits(seed, m, 2**o), random_logits(seed + 1, m, 2**other)
    assert close(chain.cross_entropy(p, q), oracles.cross_entropy(p.numpy(), q.numpy()))
    assert close(chain.kl_divergence(p, q), oracles.kl_divergence(p.numpy(), q.numpy()))
    assert close(chain.cross_entropy(p, q), chain.entropy(p) + chain.kl_divergence(p, q))
    assert chain.kl_divergence(p, q) >= -1e-12
    assert close(chain.kl_divergence(p, chain.with_order(p, max(o, other))), 0)
    assert close(chain.cross_entropy(p, chain.with_order(p, o + 1)), chain.entropy(p))


@thorough
@given(m=lengths, o=orders, r=orders, batch=st.integers(1, 5), seed=seeds)
def test_batch_form_of_the_upper_bound(m, o, r, batch, seed):
    p, q = random_logits(seed, batch, m, 2**o), random_logits(seed + 1, m, 2**r)
    expected = np.mean([oracles.cross_entropy(one, q.numpy()) for one in p.numpy()])
    assert close(chain.prior_cross_entropy(p, q), expected)
    windows = chain.mean_windows(p, r + 1)
    assert close(windows, np.mean([oracles.window_marginals(one, r + 1) for one in p.numpy()], axis=0))
    best = chain.best_prior(windows)
    minimum = chain.windows_cross_entropy(windows, best)
    assert minimum <= expected + 1e-9
    step = 0.1 * random_logits(seed + 2, m, 2**r)
    assert minimum <= chain.windows_cross_entropy(windows, best + step) + 1e-9
    assert minimum >= chain.mixture_entropy(p) - 1e-9  # an upper bound on the entropy of the mixture


@thorough
@given(m=lengths, o=orders, batch=st.integers(1, 5), seed=seeds)
def test_mixture_entropy_by_brute_force(m, o, batch, seed):
    p = random_logits(seed, batch, m, 2**o)
    assert close(chain.mixture_entropy(p), oracles.mixture_entropy(p.numpy()))
    assert close(chain.mixture_entropy(p[:1]), chain.entropy(p[0]))


def test_the_closed_form_prior_of_a_full_order_gives_the_entropy_of_the_mixture():
    p = random_logits(0, 3, 6, 1)
    windows = chain.mean_windows(p, 6)
    assert close(chain.windows_cross_entropy(windows, chain.best_prior(windows)), chain.mixture_entropy(p))


def test_mixture_entropy_in_blocks_equals_one_block():
    p = random_logits(0, 4, 9, 4).requires_grad_()
    whole = chain.mixture_entropy(p)
    (expected,) = torch.autograd.grad(whole, p)
    blocks = chain.mixture_entropy(p, codes_at_once=2**5)
    (gradient,) = torch.autograd.grad(blocks, p)
    assert close(blocks, whole.detach())
    assert close(gradient, expected)


def test_mixture_entropy_of_independent_bits_at_the_largest_size():
    p = random_logits(0, 1, 24, 1).requires_grad_()
    value = chain.mixture_entropy(p)
    assert close(value, chain.entropy(p[0]).detach())
    value.backward()
    assert p.grad is not None
    assert torch.allclose(p.grad[0], torch.autograd.grad(chain.entropy(p[0]), p)[0][0], atol=1e-7)


@pytest.mark.parametrize("o", [0, 1, 2, 3])
def test_gradients(o):
    p = random_logits(o, 2, 5, 2**o).requires_grad_()
    q = random_logits(o + 1, 5, 4).requires_grad_()
    z = torch.tensor(oracles.all_codes(5)[11:13])
    for function in (
        chain.entropy,
        chain.mixture_entropy,
        lambda p: chain.window_marginals(p, 3),
        lambda p: chain.log_prob(p, z),
        lambda p: chain.best_prior(chain.mean_windows(p, 3)),
    ):
        assert torch.autograd.gradcheck(function, (p,))
    for pair in (chain.cross_entropy, chain.kl_divergence, chain.prior_cross_entropy):
        assert torch.autograd.gradcheck(pair, (p, q))


@pytest.mark.parametrize("o", [0, 1, 2, 3])
def test_long_chains_with_extreme_logits_stay_finite(o):
    signs = torch.randint(0, 2, (3, 1024, 2**o), generator=torch.Generator().manual_seed(o)) * 2 - 1
    p = (60.0 * signs).requires_grad_()
    q = (-60.0 * signs[0]).requires_grad_()
    mode, value = chain.viterbi(p)
    torch.testing.assert_close(chain.log_prob(p, mode).detach(), value)
    quantities = [
        chain.entropy(p),
        chain.cross_entropy(p, q),
        chain.kl_divergence(p, q),
        chain.log_prob(p, mode),
        chain.prior_cross_entropy(p, q),
        chain.windows_cross_entropy(chain.mean_windows(p, 4), chain.best_prior(chain.mean_windows(p, 4))),
    ]
    for quantity in quantities:
        assert quantity.isfinite().all()
        assert all(
            gradient is None or gradient.isfinite().all()
            for gradient in torch.autograd.grad(quantity.sum(), (p, q), allow_unused=True, retain_graph=True)
        )


def test_brute_force_entropy_of_certain_codes_has_finite_gradients():
    p = torch.full((2, 16, 1), 60.0)
    p[1] = -60.0
    p.requires_grad_()
    value = chain.mixture_entropy(p)
    value.backward()
    assert value.item() == pytest.approx(math.log(2))
    assert p.grad is not None
    assert p.grad.isfinite().all()


def test_viterbi_prefers_zero_in_a_tie():
    assert chain.viterbi(torch.zeros(5, 4))[0].tolist() == [0] * 5


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_viterbi_of_order_zero_is_the_sign_of_each_logit(dtype):
    tiny = torch.finfo(dtype).tiny
    logits = torch.tensor([1e-9, -1e-9, tiny, -tiny, 0.0, -0.0, 60, -60], dtype=dtype).unsqueeze(-1)
    assert torch.nn.functional.logsigmoid(logits)[2] == torch.nn.functional.logsigmoid(-logits)[2]  # a tie, rounded
    mode, value = chain.viterbi(logits)
    assert mode.tolist() == [1, 0, 1, 0, 0, 0, 1, 0]
    torch.testing.assert_close(value, chain.log_prob(logits, mode))


@pytest.mark.parametrize("shape", [(4, 3), (4, 6), (4, 0), (0, 2), (4,)])
def test_a_table_of_the_wrong_shape_is_refused(shape):
    with pytest.raises(ValueError, match=r"power of two|shape \(\.\.\., m, 2\*\*order\)"):
        chain.entropy(torch.zeros(shape))


def test_orders_and_lengths_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="floating-point"):
        chain.entropy(torch.zeros(4, 2, dtype=torch.long))
    with pytest.raises(ValueError, match="same number of bits, got 4 and 5"):
        chain.cross_entropy(torch.zeros(4, 2), torch.zeros(5, 2))
    with pytest.raises(ValueError, match="same number of bits, got 4 and 5"):
        chain.kl_divergence(torch.zeros(4, 2), torch.zeros(5, 2))
    with pytest.raises(ValueError, match="order 2 needs windows of 3 bits"):
        chain.windows_cross_entropy(torch.full((4, 4), 0.25), torch.zeros(4, 4))
    with pytest.raises(ValueError, match="no table of the lower order 1"):
        chain.with_order(torch.zeros(4, 4), 1)
    with pytest.raises(ValueError, match="at least 1 bit"):
        chain.window_marginals(torch.zeros(4, 2), 0)
    with pytest.raises(ValueError, match=r"windows of 40 bits at 4 bits .* take narrower windows"):
        chain.window_marginals(torch.zeros(4, 2), 40)
    with pytest.raises(ValueError, match="windows of 40 bits"):
        chain.mean_windows(torch.zeros(3, 4, 1), 40)
    with pytest.raises(ValueError, match=r"4 bits and order 40 .* take a lower order"):
        chain.with_order(torch.zeros(4, 2), 40)
    with pytest.raises(ValueError, match="at least 2 entries"):
        chain.best_prior(torch.ones(4, 1))
    with pytest.raises(ValueError, match="at most 24 bits, got 25"):
        chain.mixture_entropy(torch.zeros(2, 25, 1))
    with pytest.raises(ValueError, match=r"\(B, m, 2\*\*order\)"):
        chain.mixture_entropy(torch.zeros(4, 1))


@pytest.mark.parametrize("o", [0, 2])
def test_the_mean_of_no_chains_is_refused(o):
    with pytest.raises(ValueError, match=r"at least one distribution, got a batch of shape \(0,\)"):
        chain.mean_windows(torch.zeros(0, 4, 2**o), 3)
    with pytest.raises(ValueError, match="at least one chain"):
        chain.mixture_entropy(torch.zeros(0, 4, 2**o))


NOT_A_TABLE, CHAINS, LONGER = torch.zeros(()), torch.zeros(2, 3, 4), torch.zeros(4, 2)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: chain.cross_entropy(NOT_A_TABLE, LONGER), "a chain is a floating-point tensor"),
        (lambda: chain.window_marginals(NOT_A_TABLE, 2), "a chain is a floating-point tensor"),
        (lambda: chain.pair_marginals(NOT_A_TABLE, [], []), "a chain is a floating-point tensor"),
        (
            lambda: chain.windows_cross_entropy(NOT_A_TABLE, LONGER),
            r"tables have the shape .*, got \(\)",
        ),
        (
            lambda: chain.cross_entropy(CHAINS, torch.zeros(5, 3, 4)),
            r"of shape \(5, 3, 4\) do not fit a batch",
        ),
        (lambda: chain.kl_divergence(CHAINS, torch.zeros(5, 3, 4)), r"do not fit a batch of shape \(2,\)"),
        (
            lambda: chain.log_prob(CHAINS, torch.zeros(5, 3)),
            r"codes of shape \(5, 3\) do not fit a batch",
        ),
        (lambda: chain.log_prob(CHAINS, torch.zeros(())), r"has 3 bits in its last dimension, got \(\)"),
        (lambda: chain.condition(CHAINS, torch.zeros(2, 1)), r"has 3 bits in its last dimension, got \(2, 1\)"),
        (lambda: chain.condition(CHAINS, torch.zeros(3, 3)), r"codes of shape \(3, 3\) do not fit a batch"),
        (
            lambda: chain.Tree(3, (-1, 0, 0)).read(torch.zeros(2, 3, 2)).log_prob(torch.zeros(5, 3)),
            "do not fit a batch",
        ),
        (lambda: chain.mutual_information(torch.zeros(3, 8)), r"have the shape \(m, m, 4\), got \(3, 8\)"),
        (lambda: chain.pairs_of_moments(torch.zeros(3)), r"have the shape \(m, m\), got \(3,\)"),
        (lambda: chain.MarkovBits(CHAINS).expand(torch.Size([])), r"of shape \(2,\) cannot be expanded to \(\)"),
        (lambda: chain.MarkovBits(CHAINS).expand(torch.Size([3])), r"do not fit a batch of shape \(2,\)"),
    ],
)
def test_shapes_that_do_not_go_together_are_refused(call, said):
    with pytest.raises(ValueError, match=said):
        call()
