"""The sampled adversary: its estimates against sums over all codes, what it learns, and how it is saved."""

from typing import Any

import numpy as np
import pytest
import torch

from ammi.chain import Chain, Structure, Tree
from ammi.training.sampled import Autoregressive, SampledAdversary, by_bits, by_codes, sampled_cross_entropy
from tests import oracles

M, B, REPEATS = 4, 3, 10_000
STRUCTURES: list[Structure] = [Chain(M), Chain(M, 1), Tree(M, (2, -1, 1, 1))]


def made(structure: Structure) -> tuple[torch.Tensor, Autoregressive]:
    """Tables (B, ...) of encoders, and a prior whose bits depend on each other."""
    torch.manual_seed(0)
    prior = Autoregressive(M).double()
    for parameter in prior.parameters():
        torch.nn.init.normal_(parameter)
    return torch.randn(B, *structure.shape, dtype=torch.float64), prior


def log_q(prior: Autoregressive) -> np.ndarray:
    weight, bias = (parameter.detach().numpy() for parameter in (prior.weight, prior.bias))
    return np.array([oracles.autoregressive_log_prob(weight, bias, z) for z in oracles.all_codes(M)])


def log_p(structure: Structure, table: np.ndarray) -> np.ndarray:
    if isinstance(structure, Tree):
        return oracles.tree_log_probs(structure.parents, table)
    return np.array([oracles.log_prob(table, z) for z in oracles.all_codes(M)])


def exact(structure: Structure, tables: np.ndarray, prior: Autoregressive) -> float:
    """H⁺(Z) from its definition, over all codes."""
    return -np.mean([np.exp(log_p(structure, table)) @ log_q(prior) for table in tables])


def test_the_prior_is_that_of_brute_force_also_with_a_bit_changed():
    _, prior = made(STRUCTURES[0])
    codes = torch.tensor(oracles.all_codes(M), dtype=torch.float64)
    expected = -log_q(prior)
    np.testing.assert_allclose(prior(codes).detach(), expected)
    assert np.exp(-expected).sum() == pytest.approx(1)
    changed = np.arange(2**M)[:, None] ^ (2 ** np.arange(M)[::-1])  # (2**m, m), the numbers of the changed codes
    np.testing.assert_allclose(prior.flipped(codes).detach(), expected[changed])


def estimates(structure: Structure, draws: int, **arguments: Any) -> tuple[np.ndarray, np.ndarray, Autoregressive]:
    """The tables, many independent estimates of the gradient in them, and the prior."""
    tables, prior = made(structure)
    leaf = tables.repeat(REPEATS, 1, 1).requires_grad_()
    estimate = by_codes if draws > 1 else by_bits
    surrogate, _ = estimate(structure.read(leaf), prior, draws, **arguments)
    (gradient,) = torch.autograd.grad(REPEATS * surrogate, leaf)
    return tables.numpy(), gradient.unflatten(0, (REPEATS, B)).numpy(), prior


@pytest.mark.parametrize(("structure", "draws"), [(STRUCTURES[0], 1), *((one, 2) for one in STRUCTURES)], ids=str)
def test_the_gradient_is_without_bias(structure, draws):
    """Each entry of the mean of the estimates is within 5 standard errors of a finite difference over all codes."""
    tables, found, prior = estimates(structure, draws)
    expected = np.zeros(tables.shape)
    for place in np.ndindex(*tables.shape):
        step = np.zeros(tables.shape)
        step[place] = 1e-4
        above, below = (exact(structure, tables + sign * step, prior) for sign in (1, -1))
        expected[place] = (above - below) / 2e-4
    error = found.std(axis=0) / np.sqrt(REPEATS)
    assert (np.abs(found.mean(axis=0) - expected) < 5 * error + 1e-6).all()
    assert np.abs(expected).max() > 20 * error.max()  # so that the comparison says something


@pytest.mark.parametrize("structure", STRUCTURES, ids=str)
def test_the_value_is_without_bias(structure):
    tables, prior = made(structure)
    value = sampled_cross_entropy(structure.read(tables), prior, draws=20_000).item()
    assert value == pytest.approx(exact(structure, tables.numpy(), prior), rel=0.02)


def test_baseline_and_summed_bits_reduce_the_variance():
    plain, baseline, bits = (
        estimates(STRUCTURES[0], draws, **arguments)[1].var(axis=0).sum()
        for draws, arguments in ((2, {"baseline": False}), (2, {}), (1, {}))
    )
    assert bits < 0.2 * baseline < 0.1 * plain


def test_it_learns_what_any_bits_have_in_common():
    """Bits 0 and 5 are equal, which a chain of order 3 does not see: H(Z) is 5 bits of 6."""
    torch.manual_seed(0)
    adversary = SampledAdversary(6, learning_rate=0.1)
    for _ in range(60):
        bits = torch.randint(0, 2, (64, 6)).float()
        bits[:, 5] = bits[:, 0]
        p = Chain(6).read(10 * (2 * bits - 1).unsqueeze(-1))
        adversary.cross_entropy(p)
    adversary.eval()
    before = torch.get_rng_state()
    entropy = adversary.cross_entropy(p).item() / np.log(2)
    assert 4.5 < entropy < 5.5
    assert adversary.cross_entropy(p).item() / np.log(2) == entropy  # a score is the same each time
    assert torch.equal(torch.get_rng_state(), before)
    assert set(adversary.state_dict()) == {"prior.weight", "prior.bias"}
    with pytest.raises(ValueError, match="the adversary has 6 bits and the codes 4: make it of as many"):
        adversary.cross_entropy(Chain(4).read(torch.zeros(2, 4, 1)))
