"""`structure`, `prior` and `adversary` as objects: trees, and structures and adversaries of one's own."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import Tensor

import ammi
from ammi import AMMI, BMMI
from ammi.chain import Chain, Structure, Tree, chow_liu
from ammi.nets.prior import Prior
from ammi.nets.rows import to_rows
from ammi.parts import parts, register_part
from ammi.training.adversaries import Adversary, ExactAdversary, GradientAdversary
from ammi.training.sampled import SampledAdversary
from tests import oracles
from tests.conftest import topics

QUICK: dict[str, Any] = {"batch_size": 32, "learning_rate": 0.03, "epochs": 2, "random_state": 0, "verbose": False}
PLAIN: dict[str, Any] = {**QUICK, "first_bits": 0, "neighbours": 3}
BITS = 6
STAR, COMB = Tree(BITS, (-1, 0, 0, 0, 0, 0)), Tree(BITS, (2, 0, 4, 1, -1, 2))
X, _ = topics(64)


@dataclass(frozen=True)
class Reversed(Chain):
    """A structure of one's own: a chain whose priors are turned around, to be told from others."""

    def best_prior(self, statistics: Tensor) -> Tensor:
        return -super().best_prior(statistics)


class Halved(ExactAdversary):
    """An adversary of one's own, which answers with half of the best logits."""

    def __init__(self, structure: Structure, decay: float = 0.5):
        super().__init__(structure, decay)

    def respond(self, statistics: Tensor) -> Tensor:
        return super().respond(statistics) / 2


@pytest.fixture
def registered() -> Iterator[None]:
    for part in (Reversed, Halved):
        register_part(part)
    yield
    for part in (Reversed, Halved):
        del parts._registered[part.__name__]


@cache
def usual() -> str:
    """The fingerprint of a model without any of these objects."""
    return AMMI(BITS, **PLAIN).fit(X).fingerprint_


PARTS: dict[str, dict[str, Any]] = {
    "a chain as prior": {"prior": Chain(BITS, 2)},
    "a tree as prior": {"prior": STAR},
    "a tree as encoder": {"structure": COMB},
    "a tree as both": {"structure": COMB, "prior": STAR},
    "a structure of one's own": {"structure": Reversed(BITS, 1), "prior": Reversed(BITS, 2)},
    "an exact adversary": {"adversary": ExactAdversary(STAR, decay=0.5, reorder=2)},
    "an adversary of one's own": {"adversary": Halved(Chain(BITS, 2))},
    "a gradient adversary": {"adversary": GradientAdversary(Prior(STAR, 1, 4), 2, 0.03, 10.0, 0.1)},
    "a tree by gradient steps": {"prior": STAR, "adversary": "gradient"},
    "a sampled adversary": {"adversary": SampledAdversary(BITS, steps=2)},
    "codes sampled of a tree": {"structure": COMB, "adversary": "sampled"},
}


@pytest.mark.parametrize("name", PARTS)
def test_it_is_used_saved_loaded_and_cloned(name, registered, tmp_path):
    """What it is shows in the codes; a copy of it is trained, and the object itself stays as it was."""
    given = PARTS[name]
    before = json.dumps([repr(value) for value in given.values()])
    state = [value.state_dict() for value in given.values() if isinstance(value, Adversary)]
    hasher = AMMI(BITS, **given, **PLAIN).fit(X)
    assert hasher.fingerprint_ != usual()
    hasher.save(tmp_path / "model")
    loaded = ammi.load(tmp_path / "model")
    assert isinstance(loaded, AMMI)
    assert np.array_equal(loaded.encode(X), hasher.encode(X))
    assert loaded.score(X) == pytest.approx(hasher.score(X))
    assert json.dumps([repr(loaded.get_params()[name]) for name in given]) == before
    if name not in ("a gradient adversary", "a sampled adversary"):  # whose network is drawn when it is made
        assert clone(loaded).fit(X).fingerprint_ == hasher.fingerprint_
    assert clone(hasher).fit(X).fingerprint_ == hasher.fingerprint_
    for value, was in zip([v for v in given.values() if isinstance(v, Adversary)], state, strict=True):
        assert all(torch.equal(value.state_dict()[key], tensor) for key, tensor in was.items())


def test_related_documents_and_the_first_model():
    R, _ = topics(64, seed=1)
    AMMI(BITS, structure=COMB, prior=STAR, **QUICK).fit(X, related=R)
    two = AMMI(BITS, structure=COMB, related_encoder="own", **QUICK).fit(X, related=R)
    assert two.objective_.related_structure == COMB
    whole = AMMI(BITS, structure=COMB, prior=STAR, **QUICK).fit(X)  # its first model has 128 bits
    assert whole.transform(X).shape == (64, BITS)


@pytest.mark.parametrize("order", [3, 4, 5])
def test_the_default_prior_is_richer_than_any_encoder(order):
    """With related documents it has the documented order 5, or one more than the encoder."""
    R, _ = topics(64, seed=1)
    few = {**QUICK, "epochs": 1}
    hasher = AMMI(8, order=order, **few).fit(X, related=R)
    assert hasher.objective_.adversary.structure == Chain(8, max(5, order + 1))  # type: ignore[union-attr]
    hasher = AMMI(8, order=order, first_bits=0, **few).fit(X)
    assert hasher.objective_.adversary.structure == Chain(8, order + 1)  # type: ignore[union-attr]


REFUSED: dict[str, dict[str, Any]] = {
    "prior has 8 bits and the codes 6": {"prior": Chain(8, 3)},
    "structure has 4 bits and the codes 6": {"structure": Chain(4)},
    "prior has 7 bits": {"adversary": ExactAdversary(Chain(7, 3))},
    "prior takes the place of prior_order": {"prior": STAR, "prior_order": 2},
    "structure takes the place of order": {"structure": STAR, "order": 1},
    "this adversary has its own prior": {"prior": STAR, "adversary": ExactAdversary(STAR)},
    "adversary has its own prior: leave out prior and": {"prior_order": 2, "adversary": "sampled"},
    "the adversary has 7 bits and the codes 6": {"adversary": SampledAdversary(7)},
    "too few as a prior of Chain": {"prior": STAR, "order": 2},
    "prior_order must be at least the order 1": {"structure": STAR, "prior_order": 0},
    "structure must be an object of Structure": {"structure": "tree"},
    "prior must be an object of Structure": {"prior": 3},
    "adversary must be 'exact' or 'gradient' or 'sampled' or an object of Adversary": {"adversary": ExactAdversary},
    r"bits of Chain\(n_bits=6, order=1\) cannot be put into another order: use reorder=0": {
        "order": 1,
        "adversary": ExactAdversary(Chain(BITS, 3), reorder=5),
    },
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_does_not_fit_together_is_refused(said):
    with pytest.raises(ValueError, match=said):
        AMMI(BITS, **REFUSED[said], **PLAIN).fit(X)


def test_without_a_name_it_fits_but_is_not_saved(tmp_path):
    hasher = AMMI(BITS, prior=Reversed(BITS, 2), **PLAIN).fit(X)
    with pytest.raises(ValueError, match=r"Reversed has no name to be saved by: decorate it with ammi\.parts\.regi"):
        hasher.save(tmp_path / "model")


def code_probs(hasher: Any, parents: tuple[int, ...]) -> np.ndarray:
    """The probability of every code given each document, (n, 2**m), by brute force."""
    with torch.no_grad():
        tables = hasher.objective_.distributions(to_rows(X, torch.device("cpu"))).logits.double().numpy()
    return np.exp([oracles.tree_log_probs(parents, table) for table in tables])


@pytest.mark.parametrize("reorder", [0, 2])
@pytest.mark.parametrize("prior", [STAR, Chain(BITS, 2)], ids=["tree", "chain"])
def test_a_tree_as_encoder_has_the_entropies_codes_and_probabilities_of_brute_force(prior, reorder):
    hasher: Any = AMMI(BITS, structure=COMB, prior=prior, reorder=reorder, **PLAIN).fit(X)
    p = code_probs(hasher, COMB.parents)
    codes = np.array(oracles.all_codes(BITS))
    assert np.array_equal(hasher.transform(X), codes[p.argmax(1)])
    np.testing.assert_allclose(hasher.bit_probabilities(X), p @ codes, atol=1e-5)
    adversary = hasher.objective_.adversary
    order, table = adversary.order.tolist(), adversary.prior().double().numpy()
    assert (order != list(range(BITS))) == bool(reorder)
    log_q = [
        oracles.tree_log_prob(prior.parents, table, tuple(z[order]))
        if isinstance(prior, Tree)
        else oracles.log_prob(table, tuple(z[order]))
        for z in codes
    ]
    expected = -(p.mean(0) @ log_q) + (p * np.log(p)).sum(1).mean()
    assert hasher.score(X) == pytest.approx(expected / np.log(2), rel=1e-4)


def test_bmmi_takes_a_tree():
    hasher = BMMI(BITS, structure=STAR, **QUICK).fit(X)
    p = code_probs(hasher, STAR.parents)
    expected = -(p.mean(0) @ np.log(p.mean(0))) + (p * np.log(p)).sum(1).mean()
    assert hasher.score(X) == pytest.approx(expected / np.log(2), rel=1e-4)


def test_the_best_tree_of_the_codes_is_a_better_prior_than_a_chain():
    """Which shows what a learned tree is for: the same encoder, and H⁺(Z) under the best prior of each structure."""
    hasher: Any = AMMI(BITS, reorder=0, **PLAIN).fit(X)
    with torch.no_grad():
        p = hasher.objective_.distributions(to_rows(X, torch.device("cpu")))
        tree = chow_liu(p.mean_all_pairs())
        bounds = [
            float(prior.cross_entropy_of(prior.mean_statistics(p), prior.best_prior(prior.mean_statistics(p))))
            for prior in (Chain(BITS, 0), Chain(BITS, 1), tree)
        ]
    assert bounds[2] <= bounds[1] <= bounds[0]
