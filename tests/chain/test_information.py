"""The terms of information and of its bounds, against brute force."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi import chain
from ammi.chain.information import bound_terms, certain, contrast_terms, cross_entropies, mixture_terms
from tests import oracles
from tests.chain.test_chain import close, random_logits


def one_part(n: int) -> list[torch.Tensor]:
    return [torch.arange(n)]


@settings(max_examples=25, deadline=None)
@given(m=st.integers(1, 7), o=st.integers(0, 2), n=st.integers(1, 6), seed=st.integers(0, 2**32 - 1))
def test_terms_of_chains_are_those_of_brute_force(m, o, n, seed):
    tables = random_logits(seed, n, m, 2**o)
    p = chain.Chain(m, o).read(tables)
    terms = mixture_terms(p)
    assert terms is not None
    assert close(terms, oracles.mixture_terms(tables.numpy()))
    assert close(terms.mean(), oracles.mixture_entropy(tables.numpy()))
    assert close(cross_entropies(p, p), [oracles.entropy(one) for one in tables.numpy()])
    codes = p.sample(torch.Size([2]))
    for shares in ((0.0,), (0.3,)):
        expected = np.mean([oracles.contrast(tables.numpy(), z.numpy(), *shares) for z in codes], axis=0)
        assert close(contrast_terms(p, codes, one_part(n), shares), expected)


def test_terms_of_trees():
    p = chain.Tree(5, (-1, 0, 0, 1, 1)).read(random_logits(0, 4, 5, 2))
    terms = mixture_terms(p)
    assert terms is not None
    assert close(terms.mean(), p.mixture_entropy())
    fold = torch.tensor([0, 1, 0, 1])
    assert bound_terms(p, p.sample(torch.Size([3])), fold, one_part(4))[1].shape == (4,)


def test_many_documents_are_enumerated_in_parts(monkeypatch):
    p = chain.Chain(8, 1).read(random_logits(0, 50, 8, 2))
    whole, codes = mixture_terms(p), p.sample(torch.Size([1]))
    contrasts, bounds = (
        contrast_terms(p, codes, one_part(50), (0.0,)),
        bound_terms(p, codes, codes[0, :, 0], one_part(50)),
    )
    monkeypatch.setattr("ammi.chain.information._AT_ONCE", 2**8)
    in_parts = mixture_terms(p)
    assert whole is not None
    assert in_parts is not None
    assert close(in_parts, whole)
    assert close(contrast_terms(p, codes, one_part(50), (0.0,)), contrasts)
    monkeypatch.setattr("ammi.chain.information._highest_order", lambda p: 7)  # as it was
    name, terms = bound_terms(p, codes, codes[0, :, 0], one_part(50))
    assert name == bounds[0]
    assert close(terms, bounds[1])


def test_certain_codes_are_counted_at_any_width():
    codes = torch.zeros(8, 100)
    codes[:2, 0] = 1  # two of one code, six of another
    terms = mixture_terms(certain(codes))
    assert terms is not None
    assert close(terms, [math.log(4)] * 2 + [math.log(4 / 3)] * 6)


def test_wider_codes_are_not_enumerated():
    assert mixture_terms(chain.Chain(25).read(random_logits(0, 3, 25, 1))) is None


def test_contrasts_in_parts_know_only_their_part():
    p = chain.Chain(6).read(random_logits(0, 10, 6, 1, scale=5))
    codes = p.sample(torch.Size([3]))
    parts = [torch.tensor([7, 0, 3]), torch.tensor([1, 2, 4, 5, 6, 8, 9])]
    terms = contrast_terms(p, codes, parts, (0.0,))
    for rows in parts:
        part = p.structure.read(p.logits[rows])
        assert close(terms[rows], contrast_terms(part, codes[:, rows], one_part(len(rows)), (0.0,)))
        assert (terms[rows] <= math.log(len(rows)) + 1e-9).all()


@pytest.mark.parametrize(
    ("structure", "best"),
    [(chain.Chain(12, 0), "0"), (chain.Chain(12, 2), "2"), (chain.Tree(12, (-1, 0) + 10 * (1,)), "tree")],
)
def test_the_prior_has_the_structure_of_the_codes(structure, best):
    source = structure.read(random_logits(3, *structure.shape, scale=3))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        codes = source.sample(torch.Size([2000]))
    p = certain(codes)
    name, terms = bound_terms(p, codes.unsqueeze(0), torch.arange(2000) % 5, one_part(2000))
    assert best in name
    assert terms.mean().item() == pytest.approx(source.entropy().item(), abs=0.15)
