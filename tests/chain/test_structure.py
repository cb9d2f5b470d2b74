"""A structure as AMMI sees it: the Markov chain against its functions, and another structure in a few lines."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from ammi import chain
from ammi.chain import Chain
from ammi.nets.prior import Prior
from ammi.training.adversaries import ExactAdversary, GradientAdversary
from examples.skip_chain import SkipChain
from tests import oracles
from tests.chain.test_chain import close, random_logits

orders = st.integers(0, 3)
seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=40, deadline=None)
@given(m=st.integers(1, 8), o=orders, h=orders, r=orders, batch=st.integers(1, 4), seed=seeds)
def test_the_three_entropies_of_the_objective(m, o, h, r, batch, seed):
    encoder, related, prior = Chain(m, o), Chain(m, h), Chain(m, r)
    outputs = random_logits(seed, batch, encoder.n_logits)
    p, q = encoder.read(encoder.table(outputs)), related.read(random_logits(seed + 1, batch, *related.shape))
    table = random_logits(seed + 2, *prior.shape)
    singles = p.logits.numpy()
    assert close(p.entropy(), [oracles.entropy(one) for one in singles])
    assert close(
        p.cross_entropy(q), [oracles.cross_entropy(*pair) for pair in zip(singles, q.logits.numpy(), strict=True)]
    )
    upper_bound = prior.cross_entropy_of(prior.mean_statistics(p), table)
    assert close(upper_bound, np.mean([oracles.cross_entropy(one, table.numpy()) for one in singles]))
    assert close(prior.mean_statistics(p), prior.statistics(p).mean(0))
    assert prior.statistics(p).shape == (batch, *prior.statistics_shape)
    assert close(p.mixture_entropy(), oracles.mixture_entropy(singles))
    assert close(p.marginals(), np.array([oracles.means(one) for one in singles]))
    assert torch.equal(p.mode(), chain.viterbi(p.logits)[0])
    assert p.sample(torch.Size((2,))).shape == (2, batch, m)


def test_passes_are_made_once_and_give_the_gradients_of_single_ones():
    outputs, others, table = random_logits(0, 3, 5 * 4), random_logits(1, 3, 5 * 4), random_logits(2, 5, 16)
    encoder, prior = Chain(5, 2), Chain(5, 4)

    def together(outputs: Tensor) -> Tensor:
        p = encoder.read(encoder.table(outputs))
        q = encoder.read(encoder.table(others))
        assert isinstance(p, chain.ChainDistributions)
        assert p.windows(3) is p.windows(3)
        assert p.pi is p.pi
        return (p.entropy() + p.cross_entropy(q)).mean() - prior.cross_entropy_of(prior.mean_statistics(p), table)

    def apart(outputs: Tensor) -> Tensor:
        p, q = outputs.unflatten(1, (5, 4)), others.unflatten(1, (5, 4))
        return (chain.entropy(p) + chain.cross_entropy(p, q)).mean() - chain.prior_cross_entropy(p, table)

    leaf = outputs.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(together(leaf), leaf)
    (expected,) = torch.autograd.grad(apart(leaf), leaf)
    assert close(together(leaf), apart(leaf).detach())
    assert close(gradient, expected)
    assert torch.autograd.gradcheck(together, (leaf,))


@settings(max_examples=30, deadline=None)
@given(m=st.integers(1, 7), o=orders, skip=st.integers(2, 4), batch=st.integers(1, 3), seed=seeds)
def test_another_structure_is_one_file(m, o, skip, batch, seed):
    structure = SkipChain(m, skip)
    p = Chain(m, o).read(random_logits(seed, batch, m, 2**o))
    table = random_logits(seed + 1, *structure.shape)
    q = np.array(  # the same as a chain: entry [i, c] for the `skip` bits before, c
        [[row[2 * (c >> (skip - 1)) + c % 2] for c in range(2**skip)] for row in table.numpy()]
    )
    expected = np.mean([oracles.cross_entropy(one, q) for one in p.logits.numpy()])
    statistics = structure.mean_statistics(p)
    assert statistics.shape == structure.statistics_shape
    assert close(structure.cross_entropy_of(statistics, table), expected)
    assert close(structure.cross_entropy_of(structure.statistics(p), table).mean(), expected)
    assert close(p.cross_entropy(structure.read(table)).mean(), expected)
    best = ExactAdversary(structure).double().respond(statistics)
    assert structure.cross_entropy_of(statistics, best) <= expected + 1e-9
    start = GradientAdversary(Prior(structure, 1, 4), 4, 0.03, 10, 0.1).double()
    before = structure.cross_entropy_of(statistics, start.prior())
    assert structure.cross_entropy_of(statistics, start.respond(statistics)) < before


def test_a_prior_that_is_too_poor_is_refused():
    Chain(8, 2).check_prior(Chain(8, 2))
    Chain(8, 2).check_prior(SkipChain(8, 3))
    with pytest.raises(ValueError, match="prior_order must be at least the order 3, better above it, got 2"):
        Chain(8, 2).check_prior(Chain(8, 3))


@pytest.mark.parametrize(
    ("n_bits", "order", "said"),
    [
        (64, 40, r"a chain of 64 bits and order 40 has 64 \* 2\*\*40 logits, more than the 67108864 .* lower order"),
        (8, 10**9, "order 1000000000"),
        (10**9, 0, "1000000000 bits and order 0 .* fewer bits"),
        (0, 1, "a whole number of bits, from 1 up, got 0"),
        (8.5, 1, r"got 8\.5"),
        (8, -1, "order of a chain is a whole number from 0 up, got -1"),
        (8, 1.0, r"got 1\.0"),
    ],
)
def test_absurd_sizes_are_refused_before_memory_is_asked_for(n_bits, order, said):
    with pytest.raises(ValueError, match=said):
        Chain(n_bits, order)


def test_chains_are_values():
    assert Chain(8, 2) == Chain(np.int64(8), np.int32(2))  # type: ignore[arg-type]
    assert repr(Chain(np.int64(8), np.int32(2))) == "Chain(n_bits=8, order=2)"  # type: ignore[arg-type]
    assert len({Chain(8, 2), Chain(8, 2), Chain(8)}) == 2
    assert Chain(8, 2).n_logits == 32
    with pytest.raises(ValueError, match=r"order=2\) has tables of shape \(\.\.\., 8, 4\), got \(3, 8, 2\)"):
        Chain(8, 2).read(torch.zeros(3, 8, 2))
