"""ammi.information: exact figures and bounds on channels whose information is known, and what `score` is."""

import json
import math
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix

import ammi
from ammi import AMMI, BMMI, ITQ, LSH, DocumentHasher
from ammi.chain import cross_entropy, entropy, prior_cross_entropy
from ammi.nets.encoder import FirstLayer
from ammi.nets.rows import to_rows
from ammi.training.adversaries import GradientAdversary
from ammi.training.information import AMMIObjective
from tests import oracles
from tests.conftest import topics

SYMBOLS = 256


def rows(symbols: np.ndarray) -> csr_matrix:
    ones = np.ones(len(symbols), np.float32)
    return csr_matrix((ones, symbols, np.arange(len(symbols) + 1)), shape=(len(symbols), SYMBOLS))


def symbol_hasher(n_bits: int, certainty: float = 12.0) -> AMMI:
    """AMMI whose code of a symbol is its number in eight bits, over and over, each with this logit."""
    hasher = AMMI(n_bits, adversary="gradient", neighbours=0, epochs=1, random_state=0, verbose=False)
    hasher.fit(rows(np.arange(SYMBOLS)))
    bits = np.arange(SYMBOLS)[:, None] >> (np.arange(n_bits) % 8) & 1
    first = objective_of(hasher).encoder.get_submodule("0")
    assert isinstance(first, FirstLayer)
    with torch.no_grad():
        first.weight.copy_(torch.from_numpy(certainty * (2 * bits - 1)))
        first.bias.zero_()
    return hasher


def objective_of(hasher: AMMI) -> AMMIObjective:
    assert isinstance(hasher.objective_, AMMIObjective)
    return hasher.objective_


def symbols(n: int, seed: int = 0) -> np.ndarray:
    """The same number of each, shuffled."""
    return np.random.default_rng(seed).permutation(np.arange(n) % SYMBOLS)


@pytest.mark.parametrize("n_bits", [16, 64])
def test_256_symbols_without_noise_have_8_bits(n_bits):
    y = rows(symbols(1024))
    hasher = symbol_hasher(n_bits)
    for related in (None, y):
        found = ammi.information(hasher, y, related=related)
        assert found.at_least.value == pytest.approx(8, abs=0.02)
        assert 8 - 1e-6 <= found.at_most.value < 8.3
        assert (found.exact is None) == (n_bits > 24 or related is not None)
        assert found.conditional_entropy.value == pytest.approx(0, abs=0.02)
        if found.exact:
            assert found.exact.value == pytest.approx(8, abs=1e-3)
            assert found.entropy.kind == "exact"


@pytest.mark.parametrize("noise", [0.1, 0.5])
def test_symbols_with_noise_are_between_the_bounds(noise):
    rng, x = np.random.default_rng(1), symbols(2048)
    y = np.where(rng.random(len(x)) < noise, rng.integers(SYMBOLS, size=len(x)), x)
    each = noise / SYMBOLS
    same = 1 - noise + each
    truth = 8 + same * math.log2(same) + (SYMBOLS - 1) * each * math.log2(each)  # I(X, Y), and of these codes
    found = ammi.information(symbol_hasher(16), rows(y), related=rows(x))
    assert found.at_least.value <= truth + 0.1
    assert found.at_least.value == pytest.approx(truth, abs=0.4)
    assert found.at_most.value >= truth


@pytest.mark.parametrize("certainty", [0.5, 12.0])
@pytest.mark.parametrize("n_bits", [16, 64])
def test_100_documents_show_no_more_than_which_one_it_is(n_bits, certainty):
    hasher, y = symbol_hasher(n_bits, certainty), rows(symbols(SYMBOLS)[:100])
    for related in (None, y):
        found = ammi.information(hasher, y, related=related)
        figures = [found.at_least, found.at_most, *([found.exact] if found.exact else [])]
        assert found.ceiling == math.log2(100)
        assert all(figure.low <= figure.value <= figure.high <= math.log2(100) + 1e-9 for figure in figures)
        assert found.at_least.value <= found.at_most.value


def test_exact_figures_are_those_of_brute_force():
    X, _ = topics(40)
    hasher = AMMI(
        6, order=1, prior_order=2, adversary="gradient", neighbours=0, epochs=2, random_state=0, verbose=False
    )
    hasher.fit(X)
    with torch.no_grad():
        tables = objective_of(hasher).distributions(to_rows(X, torch.device("cpu"))).logits.double().numpy()
    found = ammi.information(hasher, X)
    conditional = np.mean([oracles.entropy(one) for one in tables]) / math.log(2)
    assert found.conditional_entropy.value == pytest.approx(conditional)
    assert found.entropy.value == pytest.approx(oracles.mixture_entropy(tables) / math.log(2))
    assert found.exact is not None
    assert found.exact.value == pytest.approx(found.entropy.value - conditional)
    assert found.entropy_bound.value >= found.entropy.value


@pytest.mark.parametrize("method", [ITQ(12, random_state=0), LSH(40, random_state=0)])
def test_codes_without_probabilities_are_counted(method):
    X, _ = topics(200)
    hasher = method.fit(X)
    _, counts = np.unique(hasher.encode(X), axis=0, return_counts=True)
    found = ammi.information(hasher, X)
    assert found.conditional_entropy.value == 0
    assert found.exact is not None
    assert found.exact.value == pytest.approx(-(counts / 200 * np.log2(counts / 200)).sum())
    assert found.at_least == found.exact
    pairs = ammi.information(hasher, X, related=X)
    assert 0 < pairs.at_least.value <= found.exact.value + 1e-6


@pytest.mark.parametrize("encoder", ["shared", "own"])
def test_score_is_the_difference_of_entropies_of_the_paper(encoder):
    (X, _), (R, _) = topics(60), topics(60, seed=1)
    hasher = AMMI(8, related_encoder=encoder, adversary="gradient", epochs=2, random_state=0, verbose=False)
    objective = objective_of(hasher.fit(X, related=R))
    assert isinstance(objective.adversary, GradientAdversary)
    cpu = torch.device("cpu")
    with torch.no_grad():
        p = objective.distributions(to_rows(X, cpu)).logits
        q = objective.related_distributions(to_rows(R, cpu)).logits
        prior = objective.adversary.prior()
        alone = prior_cross_entropy(p, prior) - entropy(p).mean()
        paired = prior_cross_entropy(p, prior) - cross_entropy(p, q).mean()
    assert hasher.score(X) == pytest.approx(alone.item() / math.log(2), abs=1e-5)
    assert hasher.score(X, related=R) == pytest.approx(paired.item() / math.log(2), abs=1e-5)


def test_score_is_no_estimate_where_information_is():
    y = rows(symbols(1024))
    hasher = symbol_hasher(16)
    found = ammi.information(hasher, y)
    assert found.exact is not None
    assert hasher.score(y) > 12 > found.at_most.value  # the prior of the training knows nothing of these codes


def test_a_model_of_texts_and_its_figures_for_json():
    texts = [f"{word} {other} rice" for word in ("tea", "cups", "trains") for other in ("red", "blue", "new", "old")]
    model = DocumentHasher(BMMI(8, epochs=2, random_state=0, verbose=False)).fit(texts)
    found = ammi.information(model, texts, related=texts[::-1])
    kept = json.loads(json.dumps(found.to_dict()))
    assert kept["documents"] == 12
    assert kept["at_least"]["value"] == found.at_least.value
    assert kept["conditional_entropy"]["kind"] == "upper bound"
    shown = str(ammi.information(model, texts))
    assert "8 bits, 12 documents (log2 n = 3.58)" in shown
    names = [line.split()[0] for line in shown.splitlines()[1:]]
    assert names == ["H(Z)", "H⁺(Z)", "H(Z|Y)", "I(Y,Z)", "I(Y,Z)"]


def test_two_codes_of_a_model_count_together():
    texts = [f"{word} {other} rice" for word in ("tea", "cups", "trains") for other in ("red", "blue", "new", "old")]
    beside = DocumentHasher(LSH(3, random_state=1))
    model = DocumentHasher(LSH(2, random_state=0), beside=beside).fit(texts)
    found = ammi.information(model, texts)
    counts = np.unique(model.encode(texts), axis=0, return_counts=True)[1]
    assert (found.bits, found.conditional_entropy.value) == (5, 0)
    assert found.entropy.value == pytest.approx(float(-(counts / 12 * np.log2(counts / 12)).sum()))
    for order in (0, 1):
        quick: dict[str, Any] = {"order": order, "epochs": 2, "random_state": 0, "verbose": False}
        model = DocumentHasher(BMMI(4, **quick), beside=beside).fit(texts)
        alone = ammi.information(model.hasher_, model.rows(texts)[0])
        found = ammi.information(model, texts, related=texts)
        assert found.bits == 7
        assert ammi.information(model, texts).conditional_entropy == alone.conditional_entropy
    model = DocumentHasher(LSH(2, random_state=0), beside=DocumentHasher(BMMI(4, **quick))).fit(texts)
    with pytest.raises(ValueError, match=r"has two codes, .* measure two models of one code each"):
        ammi.information(model, texts)


def test_the_same_figures_again_and_no_random_state_is_touched():
    X, _ = topics(50)
    hasher = ITQ(8, random_state=0).fit(X)
    before = torch.get_rng_state()
    assert ammi.information(hasher, X) == ammi.information(hasher, X)
    assert ammi.information(hasher, X, random_state=1) != ammi.information(hasher, X)
    assert torch.equal(torch.get_rng_state(), before)


def test_large_collections_are_compared_in_parts(monkeypatch):
    monkeypatch.setattr("ammi.hashers.measured._LARGEST_CONTRAST", 512)
    found = ammi.information(symbol_hasher(40), rows(symbols(2048)))
    assert 7.3 < found.at_least.value <= 8  # of at most log2 512
    assert 8 <= found.at_most.value < 9


def test_too_few_documents_are_refused():
    X, _ = topics(50)
    with pytest.raises(ValueError, match="at least 10 documents, got 9: pass more"):
        ammi.information(ITQ(8).fit(X), X[:9])
    with pytest.raises(ValueError, match="related"):
        ammi.information(ITQ(8).fit(X), X, related=X[:40])
