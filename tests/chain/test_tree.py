"""Trees over the bits against their brute-force twins, beside chains and independent bits."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.chain import (
    Chain,
    Distributions,
    Structure,
    Tree,
    TreeDistributions,
    chow_liu,
    mutual_information,
    pairs_of_moments,
)
from ammi.training.adversaries import ExactAdversary
from tests import oracles
from tests.chain.test_chain import close, random_logits

seeds = st.integers(0, 2**32 - 1)
thorough = settings(max_examples=50, deadline=None)


@st.composite
def trees(draw, least: int = 1, most: int = 7) -> Tree:
    """Any forest: each bit hangs below one that was drawn before, and the bits are numbered at random."""
    m = draw(st.integers(least, most))
    order = draw(st.permutations(range(m)))
    parents = [-1] * m
    for place in range(1, m):
        parents[order[place]] = draw(st.sampled_from([-1, *order[:place]]))
    return Tree(m, tuple(parents))


@st.composite
def structures(draw, m: int) -> Structure:
    """A tree, independent bits or a chain over m bits."""
    return draw(st.one_of(trees(m, m), st.builds(Chain, st.just(m), st.integers(0, 3))))


def log_probs(p: Distributions) -> list[np.ndarray]:
    """The log probability of every code under each distribution of a batch, by definition."""
    tables = p.logits.detach().reshape(-1, *p.logits.shape[-2:]).numpy()
    if isinstance(p.structure, Tree):
        return [oracles.tree_log_probs(p.structure.parents, table) for table in tables]
    return [np.array([oracles.log_prob(table, z) for z in oracles.all_codes(p.n_bits)]) for table in tables]


def read(structure: Structure, seed: int, *batch: int, scale: float = 2.0) -> Distributions:
    return structure.read(random_logits(seed, *batch, *structure.shape, scale=scale))


def random_tree(seed: int, m: int) -> Tree:
    rng = np.random.default_rng(seed)
    return Tree(m, (-1, *(int(rng.integers(0, i)) for i in range(1, m))))


@thorough
@given(tree=trees(), seed=seeds)
def test_one_tree_equals_its_brute_force_twin(tree, seed):
    p = tree.read(random_logits(seed, *tree.shape))
    (expected,) = log_probs(p)
    codes = torch.tensor(oracles.all_codes(tree.n_bits))
    assert close(p.log_prob(codes), expected)
    assert close(p.log_prob(codes).exp().sum(), 1)
    assert close(p.marginals(), np.exp(expected) @ codes.numpy())
    assert close(p.entropy(), -np.sum(np.exp(expected) * expected))
    assert close(p.log_prob(p.mode()), expected.max())
    assert p.mode().dtype == p.logits.dtype
    edges = [oracles.joint(np.exp(expected), (j, i)) for i, j in enumerate(tree.parents)]
    assert close(p.edges, np.array(edges))


@thorough
@given(data=st.data(), m=st.integers(1, 7), seed=seeds)
def test_windows_and_pairs_of_any_structure(data, m, seed):
    p = read(data.draw(structures(m)), seed, 2)
    probs = np.exp(log_probs(p))
    width = data.draw(st.integers(1, 6))
    windows = [[oracles.joint(one, tuple(range(i - width + 1, i + 1))) for i in range(m)] for one in probs]
    assert close(p.windows(width), np.array(windows))
    assert close(p.mean_windows(width), np.mean(windows, axis=0))
    couples = [pair for pair in itertools.product(range(-1, m), range(m)) if pair[0] != pair[1]]
    chosen = data.draw(st.lists(st.sampled_from(couples), min_size=1))
    pairs = [[oracles.joint(one, pair) for pair in chosen] for one in probs]
    assert close(p.pairs(*zip(*chosen, strict=True)), np.array(pairs))
    assert close(p.mean_pairs(*zip(*chosen, strict=True)), np.mean(pairs, axis=0))
    every = [[oracles.joint(probs.mean(0), (i, j)) for j in range(m)] for i in range(m)]
    assert close(p.mean_all_pairs(), np.array(every))


@thorough
@given(data=st.data(), m=st.integers(1, 6), batch=st.integers(1, 3), seed=seeds)
def test_cross_entropy_of_any_structure_with_any_other(data, m, batch, seed):
    p, q = read(data.draw(structures(m)), seed, batch), read(data.draw(structures(m)), seed + 1, batch)
    expected = [-np.sum(np.exp(one) * other) for one, other in zip(log_probs(p), log_probs(q), strict=True)]
    assert close(p.cross_entropy(q), expected)
    assert (p.cross_entropy(q) - p.entropy() >= -1e-12).all()  # KL(p || q)
    assert close(q.structure.mean_statistics(p), q.structure.statistics(p).mean(0))
    assert q.structure.statistics(p).shape == (batch, *q.structure.statistics_shape)
    mixture = np.mean(np.exp(log_probs(p)), axis=0)
    assert close(p.mixture_entropy(), np.sum(-mixture[mixture > 0] * np.log(mixture[mixture > 0])))


@thorough
@given(data=st.data(), tree=trees(most=6), seed=seeds)
def test_the_best_prior_is_the_minimiser_and_its_cross_entropy_is_known(data, tree, seed):
    p = read(data.draw(structures(tree.n_bits)), seed, 3)
    statistics = tree.mean_statistics(p)
    minimum = tree.cross_entropy_of(statistics, tree.best_prior(statistics))
    step = 0.1 * random_logits(seed + 1, *tree.shape)
    assert minimum <= tree.cross_entropy_of(statistics, tree.best_prior(statistics) + step) + 1e-9
    assert minimum <= tree.cross_entropy_of(statistics, random_logits(seed + 2, *tree.shape)) + 1e-9
    assert minimum >= p.mixture_entropy() - 1e-9
    pairs = p.mean_all_pairs()
    assert close(tree.statistics_among(pairs), statistics)
    information = mutual_information(pairs)  # a bit with itself has its entropy
    edges = sum(float(information[i, j]) for i, j in enumerate(tree.parents) if j >= 0)
    assert close(minimum, information.trace() - edges)
    assert close(ExactAdversary(tree).double().respond(statistics), tree.best_prior(statistics))


@thorough
@given(data=st.data(), m=st.integers(1, 5), seed=seeds)
def test_chow_liu_is_the_best_of_all_spanning_trees(data, m, seed):
    p = read(data.draw(structures(m)), seed, 3)
    tree = chow_liu(p.mean_all_pairs())
    assert tree.parents.count(-1) == 1
    mixture = np.mean(np.exp(log_probs(p)), axis=0)

    def information(edges) -> float:
        return sum(oracles.mutual_information(mixture, i, j) for i, j in edges)

    own = information((i, j) for i, j in enumerate(tree.parents) if j >= 0)
    best = max(information(edges) for edges in oracles.spanning_trees(m)) if m > 1 else 0
    assert own == pytest.approx(best, abs=1e-9)
    assert chow_liu(p.mean_all_pairs().unflatten(-1, (2, 2))) == tree


def test_spanning_trees_are_as_many_as_cayley_says():
    assert [len(oracles.spanning_trees(m)) for m in (2, 3, 4, 5)] == [1, 3, 16, 125]


def test_chow_liu_finds_the_tree_that_codes_come_from():
    tree = random_tree(3, 12)
    table = 3 * torch.where(torch.arange(2) == 1, 1.0, -1.0).expand(12, 2)  # each bit mostly as its parent
    table = torch.where(torch.tensor(tree.parents).unsqueeze(1) < 0, 0.0, table)
    z = tree.read(table).sample(torch.Size((20_000,)))
    found = chow_liu(z.T @ z / len(z))
    assert edges_of(found) == edges_of(tree)
    assert edges_of(chow_liu(tree.read(table).mean_all_pairs())) == edges_of(tree)


def edges_of(tree: Tree) -> set[frozenset[int]]:
    return {frozenset((i, j)) for i, j in enumerate(tree.parents) if j >= 0}


def test_second_moments_are_pairs():
    p = read(Chain(6, 2), 0, 4)
    pairs = p.mean_all_pairs()
    moments = pairs[..., 3]
    assert close(pairs_of_moments(moments), pairs)
    assert chow_liu(moments) == chow_liu(pairs)
    independent = read(Chain(6), 1, 4)
    probs = independent.marginals()
    moments = (probs.T @ probs / 4).fill_diagonal_(0) + probs.mean(0).diag()
    assert close(pairs_of_moments(moments), independent.mean_all_pairs())


def test_samples_have_the_marginals_and_the_edges():
    tree = Tree(6, (2, 0, -1, 2, -1, 4))
    p = tree.read(random_logits(0, 2, *tree.shape, scale=1))
    torch.manual_seed(0)
    z = p.sample(torch.Size((20_000,)))
    assert z.shape == (20_000, 2, 6)
    assert set(z.unique().tolist()) == {0, 1}
    assert torch.allclose(z.mean(0), p.marginals(), atol=0.02)
    both = z.transpose(0, 1).transpose(1, 2) @ z.transpose(0, 1) / len(z)  # (2, 6, 6)
    assert torch.allclose(both.mean(0), p.mean_all_pairs()[..., 3], atol=0.02)


@pytest.mark.parametrize("tree", [Tree(5, (2, 0, -1, 2, -1)), Tree(5, (1, 2, 3, 4, -1)), Tree(5, (-1, 0, 0, 0, 0))])
def test_gradients(tree):
    own, other = random_logits(0, 2, 5, 2).requires_grad_(), random_logits(1, 2, 5, 4).requires_grad_()
    q, z = random_tree(1, 5), torch.tensor(oracles.all_codes(5)[11:13])
    for function in (
        lambda table: tree.read(table).entropy(),
        lambda table: tree.read(table).windows(3),
        lambda table: tree.read(table).mean_all_pairs(),
        lambda table: tree.read(table).mixture_entropy(),
        lambda table: tree.read(table).log_prob(z),
        lambda table: q.best_prior(q.mean_statistics(tree.read(table))),
    ):
        assert torch.autograd.gradcheck(function, (own,))
    for pair in (
        lambda p, q: tree.read(p).cross_entropy(Chain(5, 2).read(q)),
        lambda p, q: Chain(5, 2).read(q).cross_entropy(tree.read(p)),
    ):
        assert torch.autograd.gradcheck(pair, (own, other))
    independent = random_logits(2, 3, 5, 1).requires_grad_()
    assert torch.autograd.gradcheck(lambda p: Chain(5).read(p).mean_all_pairs(), (independent,))
    assert torch.autograd.gradcheck(lambda p: Chain(5, 2).read(p).mean_all_pairs(), (other,))
    assert torch.autograd.gradcheck(lambda p: tree.statistics(Chain(5).read(p)), (independent,))


def test_a_tree_that_is_a_path_is_a_chain_of_order_one():
    path, chain = Tree(9, tuple(range(-1, 8))), Chain(9, 1)
    table = random_logits(0, 4, 9, 2)
    p, q = path.read(table), chain.read(table)
    assert path.sequence == tuple(range(9))
    assert close(p.entropy(), q.entropy())
    assert close(p.windows(4), q.windows(4))
    assert close(path.mean_statistics(p), chain.mean_statistics(q))
    assert torch.equal(p.mode(), q.mode())
    assert close(p.mixture_entropy(), q.mixture_entropy())


def test_a_mode_prefers_zero_in_a_tie_and_follows_the_sign_of_a_single_logit():
    assert random_tree(0, 9).read(torch.zeros(9, 2)).mode().tolist() == [0] * 9
    tiny = torch.finfo(torch.float32).tiny
    logits = torch.tensor([tiny, -tiny, 0.0, 60, -60]).unsqueeze(-1).expand(5, 2)
    assert Tree(5, (-1,) * 5).read(logits).mode().tolist() == [1, 0, 0, 1, 0]


@pytest.mark.parametrize("tree", [random_tree(0, 256), Tree(256, (*range(1, 256), -1))], ids=["random", "path"])
def test_long_trees_with_extreme_logits_stay_finite(tree):
    signs = torch.randint(0, 2, (3, 256, 2), generator=torch.Generator().manual_seed(0)) * 2 - 1
    table = (60.0 * signs).requires_grad_()
    p, independent = tree.read(table), Chain(256).read(table[..., :1])
    q, prior = random_tree(1, 256), Chain(256, 3)
    assert isinstance(p, TreeDistributions)
    for quantity in (
        p.entropy(),
        p.log_prob(p.mode()),
        p.cross_entropy(q.read(-60.0 * signs[0])),
        q.cross_entropy_of(q.mean_statistics(p), q.best_prior(q.mean_statistics(p))),
        prior.cross_entropy_of(prior.mean_statistics(p), prior.best_prior(prior.mean_statistics(p))),
        independent.cross_entropy(p),
        q.cross_entropy_of(q.statistics_among(independent.mean_all_pairs()), torch.zeros(256, 2)),
    ):
        assert quantity.isfinite().all()
        (gradient,) = torch.autograd.grad(quantity.sum(), table, retain_graph=True)
        assert gradient.isfinite().all()
    assert (p.log_prob(p.mode()) >= p.log_prob(p.sample(torch.Size((20,)))).max(0).values - 1e-3).all()


def test_empty_batches_are_as_those_of_chains():
    tree, chain = random_tree(0, 5), Chain(5, 1)
    for p in (tree.read(torch.zeros(0, 5, 2)), chain.read(torch.zeros(0, 5, 2))):
        assert p.entropy().shape == (0,)
        assert p.cross_entropy(tree.read(torch.zeros(5, 2))).shape == (0,)
        assert p.cross_entropy(chain.read(torch.zeros(5, 2))).shape == (0,)
        assert p.mode().shape == p.marginals().shape == (0, 5)
        assert p.sample(torch.Size((2,))).shape == (2, 0, 5)
        assert p.windows(3).shape == (0, 5, 8)
        for mean in (tree.mean_statistics, chain.mean_statistics, lambda p: p.mean_all_pairs()):
            with pytest.raises(ValueError, match=r"at least one distribution, got a batch of shape \(0,\)"):
                mean(p)
        with pytest.raises(ValueError, match="at least one"):
            p.mixture_entropy()
    with pytest.raises(ValueError, match="at least one distribution"):
        Chain(5).read(torch.zeros(0, 5, 1)).mean_all_pairs()


def test_batches_of_any_shape():
    tree = random_tree(0, 5)
    p = read(tree, 0, 2, 3)
    assert p.entropy().shape == (2, 3)
    assert p.windows(2).shape == (2, 3, 5, 4)
    assert p.mode().shape == (2, 3, 5)
    one = tree.read(p.logits[1, 2])
    assert close(p.entropy()[1, 2], one.entropy())
    assert torch.equal(p.mode()[1, 2], one.mode())
    assert close(p.mean_all_pairs(), tree.read(p.logits.flatten(0, 1)).mean_all_pairs())
    assert close(tree.mean_statistics(one), one.edges)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_results_have_the_type_of_the_logits(dtype):
    p = random_tree(0, 5).read(torch.zeros(2, 5, 2, dtype=dtype))
    z = torch.zeros(5, dtype=torch.uint8)
    for value in (p.entropy(), p.mode(), p.sample(torch.Size()), p.windows(3), p.mean_all_pairs(), p.log_prob(z)):
        assert value.dtype == dtype
    assert p.entropy()[0].item() == pytest.approx(5 * math.log(2))


def test_trees_are_values():
    tree = Tree(np.int64(3), (np.int32(1), np.int32(-1), np.int32(1)))  # type: ignore[arg-type]
    assert tree == Tree(3, (1, -1, 1))
    assert repr(tree) == "Tree(n_bits=3, parents=(1, -1, 1))"
    assert len({tree, Tree(3, (1, -1, 1)), Tree(3, (-1, 0, 0))}) == 2
    assert tree.n_logits == 6
    assert tree.sequence == (1, 0, 2)


@pytest.mark.parametrize(
    ("n_bits", "parents", "said"),
    [
        (3, (-1, 0), "a tree of 3 bits has as many parents, got 2"),
        (2, (-1, 2), "a parent is a bit from 0 to 1, or -1 for a root, got 2"),
        (2, (-1, 0.5), r"got 0\.5"),
        (4, (-1, 2, 3, 1), "no circles, but no root is above bit 1: make a parent there -1"),
        (1, (0,), "no root is above bit 0"),
        (0, (), "a whole number of bits, from 1 up, got 0"),
    ],
)
def test_what_is_no_tree_is_refused(n_bits, parents, said):
    with pytest.raises(ValueError, match=said):
        Tree(n_bits, parents)


def test_what_does_not_fit_a_tree_is_refused():
    tree = random_tree(0, 4)
    with pytest.raises(ValueError, match=r"tables of shape \(\.\.\., 4, 2\), got torch.float32 of shape \(3, 4, 4\)"):
        tree.read(torch.zeros(3, 4, 4))
    with pytest.raises(ValueError, match="same number of bits, got 5 and 4"):
        tree.statistics(Chain(5).read(torch.zeros(5, 1)))
    with pytest.raises(ValueError, match="same number of bits, got 5 and 4"):
        tree.statistics_among(torch.zeros(5, 5, 4))
    with pytest.raises(ValueError, match="windows of 40 bits at 4 bits"):
        tree.read(torch.zeros(4, 2)).windows(40)
    for p in (tree.read(torch.zeros(4, 2)), Chain(4, 1).read(torch.zeros(4, 2))):
        with pytest.raises(ValueError, match="two different bits from 0 to 3, or -1 and a bit, got 2 and 2"):
            p.pairs((0, 2), (1, 2))
        with pytest.raises(ValueError, match="as many first as second bits, got 1 and 2"):
            p.pairs((0,), (1, 2))
        assert p.pairs((), ()).shape == (0, 4)
    with pytest.raises(ValueError, match=r"second moments \(m, m\), of every two bits, got a table of shape \(3, 4\)"):
        chow_liu(torch.zeros(3, 4))
    with pytest.raises(ValueError, match="finite"):
        chow_liu(torch.full((3, 3), torch.nan))


def test_priors_that_are_too_poor_are_refused():
    tree = random_tree(0, 8)
    for encoder in (Chain(8), Chain(8, 1), random_tree(1, 8)):
        tree.check_prior(encoder)
    Chain(8, 1).check_prior(tree)
    with pytest.raises(ValueError, match=r"too few as a prior of Chain\(n_bits=8, order=2\): take a chain"):
        tree.check_prior(Chain(8, 2))
    with pytest.raises(ValueError, match="prior_order must be at least the order 1, better above it, got 0"):
        Chain(8, 0).check_prior(tree)
