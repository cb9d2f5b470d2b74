"""Divergences against sums over all codes and against torch's own, and bits that let a gradient through."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.distributions import Bernoulli, Independent, Normal, kl_divergence

from ammi.nets.divergences import bernoulli_divergence, gaussian_divergence, mixture_divergence, straight_through
from tests.oracles import all_codes

sizes = {"n": st.integers(1, 4), "m": st.integers(1, 5), "k": st.integers(1, 4), "seed": st.integers(0, 999)}


def normal(*shape: int) -> torch.Tensor:
    return 2 * torch.randn(*shape, dtype=torch.double)


@settings(max_examples=40, deadline=None)
@given(**sizes, conditional=st.booleans())
def test_bernoulli_divergence_is_the_sum_over_all_codes(n, m, k, seed, conditional):
    torch.manual_seed(seed)
    logits, gamma = normal(n, m), normal(*([n] if conditional else []), k, m)
    z = torch.tensor(all_codes(m), dtype=torch.double)  # (2**m, m)
    log_q = Independent(Bernoulli(logits=logits[:, None]), 1).log_prob(z)  # (n, 2**m)
    log_p = Independent(Bernoulli(logits=gamma[..., None, :]), 1).log_prob(z)  # (n, k, 2**m) or (k, 2**m)
    expected = (log_q.exp()[:, None] * (log_q[:, None] - log_p)).sum(-1)
    torch.testing.assert_close(bernoulli_divergence(logits, gamma), expected)


@settings(max_examples=40, deadline=None)
@given(**sizes)
def test_gaussian_divergence_is_that_of_torch(n, m, k, seed):
    torch.manual_seed(seed)
    mean, log_variance, means, log_variances = normal(n, 1, m), normal(n, 1, m), normal(k, m), normal(k, m)
    p, q = Normal(mean, (log_variance / 2).exp()), Normal(means, (log_variances / 2).exp())
    found = gaussian_divergence(mean, log_variance, means, log_variances)
    torch.testing.assert_close(found, kl_divergence(p, q).sum(-1))


@settings(max_examples=40, deadline=None)
@given(**sizes)
def test_mixture_divergence_bounds_the_true_one_and_reaches_it_at_the_posterior(n, m, k, seed):
    """KL(q(z) ‖ Σ_c π_c p_c) ≤ E_q(c) ..., with equality where q(c) is the posterior of c; here for a sure code z."""
    torch.manual_seed(seed)
    z = torch.randint(2, (n, m)).double()
    logits, gamma, weights = 40 * (2 * z - 1), normal(k, m), normal(k)
    log_joint = weights.log_softmax(0) + Independent(Bernoulli(logits=gamma), 1).log_prob(z[:, None])  # (n, k)
    each = bernoulli_divergence(logits, gamma)
    true = -log_joint.logsumexp(1)  # the entropy of a sure code is 0
    torch.testing.assert_close(mixture_divergence(log_joint, weights, each), true)
    assert (mixture_divergence(normal(n, k), weights, each) >= true - 1e-9).all()


@pytest.mark.parametrize("drawn", [False, True])
def test_bits_are_discrete_and_learn_as_their_probabilities(drawn):
    torch.manual_seed(0)
    logits = torch.randn(2000, 3, requires_grad=True)
    bits = straight_through(logits, drawn)
    assert set(bits.detach().round(decimals=5).unique().tolist()) == {0.0, 1.0}
    weights = torch.randn(2000, 3)
    found = torch.autograd.grad((bits * weights).sum(), logits)
    torch.testing.assert_close(found, torch.autograd.grad((logits.sigmoid() * weights).sum(), logits))
    if drawn:
        torch.testing.assert_close(bits.mean(0), logits.sigmoid().mean(0), atol=0.05, rtol=0)
    else:
        assert torch.equal(bits.detach() > 0.5, logits > 0)
