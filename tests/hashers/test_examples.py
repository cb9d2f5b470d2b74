"""The examples that docs/extending.md shows: each fits, has its effect, and is saved, loaded and searched with."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.utils.estimator_checks import parametrize_with_checks

import ammi
from ammi import AMMI, Collection, DocumentHasher, hashers
from ammi.chain import Chain, Distributions, mutual_information
from ammi.evaluate import precision_at_k
from ammi.hashers import NASH
from ammi.hashers.quick import quick_codes
from ammi.nets.rows import to_rows
from examples.infonce import Contrastive
from examples.mixture_prior import MixtureAdversary
from examples.plugin_package.balanced_hasher import Balanced
from examples.residual_network import Residual, residual
from examples.skip_chain import SkipChain
from examples.tree_adversary import TreeAdversary
from tests import oracles
from tests.conftest import topics
from tests.hashers.test_documents import written

PACKAGE = Path(__file__).parents[2] / "examples" / "plugin_package"
SMALL: dict[str, Any] = {"batch_size": 32, "random_state": 0, "verbose": False}


@pytest.fixture
def registered() -> Iterator[None]:
    hashers.methods.register("balanced", Balanced)
    yield
    del hashers.methods._registered["balanced"]


@parametrize_with_checks([Balanced(8, epochs=1, **SMALL)])
def test_scikit_learn_checks_of_the_method(estimator, check):
    check(estimator)


def test_the_method_learns_balanced_bits():
    X, labels = topics()
    new, new_labels = topics(seed=1)
    hasher = Balanced(16, **SMALL).fit(X)
    assert precision_at_k(hasher.encode(new), new_labels, hasher.encode(X), labels, k=20) > 60  # chance is 25
    mostly_one = X[(labels == 0) | (np.arange(300) % 10 == 0)]
    free, held = (Balanced(16, balance=balance, **SMALL).fit(mostly_one).history_[-1] for balance in (0, 10))
    assert held["imbalance"] < free["imbalance"] / 3
    with pytest.raises(ValueError, match="balance must be from 0 up, got -1"):
        Balanced(8, balance=-1).fit(X)


def test_the_method_is_saved_loaded_and_searched_with(registered, tmp_path):
    texts, _ = written()
    model = DocumentHasher(Balanced(16, **SMALL)).fit(texts)
    model.save(tmp_path / "model")
    loaded = ammi.load(tmp_path / "model")
    assert isinstance(loaded, DocumentHasher)
    assert isinstance(loaded.hasher_, Balanced)
    assert loaded.hasher_.history_ == model.hasher_.history_
    assert np.array_equal(loaded.encode(texts), model.encode(texts))
    quick = quick_codes(model.to_files())
    assert quick is not None
    assert np.array_equal(quick.encode(texts), model.encode(texts))
    with Collection.create(tmp_path / "articles", tmp_path / "model") as articles:
        articles.add(texts)
        assert articles.search(texts[3], k=1)[0].distance == 0


def test_a_method_that_nobody_knows_says_how_it_is_made_known(tmp_path):
    Balanced(8, epochs=1, **SMALL).fit(topics()[0]).save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"a model of 'Balanced', a method .* does not know: register its class"):
        ammi.load(tmp_path / "model")


PROGRAM = """
import sys
import ammi
from ammi.hashers import by_name, methods
from tests.hashers.test_documents import written

print("balanced" in methods.names(), "balanced_hasher" in sys.modules)
told = ammi.load(sys.argv[1]).describe()
print(told["method"], told["bits"], told["balance"], by_name("balanced").__module__)
texts, _ = written()
with ammi.Collection.create(sys.argv[2], sys.argv[1]) as articles:
    articles.add(texts)
    print(articles.search(texts[0], k=1)[0].distance)
"""


@pytest.fixture(scope="session")
def installed(tmp_path_factory) -> dict[str, str]:
    """The environment of a process in which the package is installed."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run(
        [*command, "--no-build-isolation", "--no-index", "--target", folder, PACKAGE], check=True, capture_output=True
    )
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path}


@pytest.mark.slow
def test_the_installed_package_adds_its_method(installed, tmp_path):
    """To the command line in one process, whose model another one loads; there Python has the method as well."""

    def shown(*arguments: object) -> str:
        command = [sys.executable, *map(str, arguments)]
        root = Path(__file__).parents[2]
        return subprocess.run(command, env=installed, cwd=root, capture_output=True, text=True, check=True).stdout

    source, model = tmp_path / "texts.txt", tmp_path / "model"
    source.write_text("\n".join(written()[0]))
    settings = ("--method", "balanced", "--bits", 16, "--epochs", 2, "--set", "balance=3", "--json")
    assert json.loads(shown("-m", "ammi", "fit", source, "--out", model, *settings))["method"] == "Balanced"
    told = shown("-c", PROGRAM, model, tmp_path / "articles")
    assert told.splitlines() == ["True False", "Balanced 16 3.0 balanced_hasher", "0"]


@pytest.mark.parametrize("method", [AMMI, NASH])
def test_the_network_learns_and_is_saved(method, tmp_path):
    X, labels = topics()
    new, new_labels = topics(seed=1)
    hasher = method(16, encoder=partial(residual, width=24, layers=1), epochs=15, **SMALL).fit(X)
    assert isinstance(hasher.objective_.encoder, Residual)
    assert precision_at_k(hasher.encode(new), new_labels, hasher.encode(X), labels, k=20) > 60
    hasher.save(tmp_path / "model")
    loaded = ammi.load(tmp_path / "model")
    assert isinstance(loaded, method)
    assert loaded.encoder.keywords == {"width": 24, "layers": 1}
    assert np.array_equal(loaded.encode(new), hasher.encode(new))


@pytest.mark.parametrize("name", ["infonce", "mixture_prior", "skip_chain", "tree_adversary"])
def test_a_part_is_a_file_of_forty_lines(name):
    assert len((PACKAGE.parent / f"{name}.py").read_text().splitlines()) <= 40


def test_infonce_works_as_it_comes():
    """Validated on pairs, it goes on as long as it gets better."""
    X, labels = topics(400, n_topics=8)
    new, new_labels = topics(seed=1, n_topics=8)
    hasher = Contrastive(16, **SMALL).fit(X)
    assert precision_at_k(hasher.encode(new), new_labels, hasher.encode(X), labels, k=20) > 95
    assert hasher.best_epoch_ > 10
    scores = [row["score"] for row in hasher.history_]
    assert hasher.best_epoch_ == 1 + int(np.argmax(scores))


ADVERSARIES: dict[str, Any] = {
    "a skip chain as prior": lambda: {"prior": SkipChain(12, 4)},
    "a skip chain as encoder": lambda: {"structure": SkipChain(12, 3)},
    "a mixture": lambda: {"adversary": MixtureAdversary(12, components=8)},
    "a tree": lambda: {"adversary": TreeAdversary(12)},
}


@pytest.mark.parametrize("name", ADVERSARIES)
def test_structures_and_adversaries_learn_and_are_saved(name, tmp_path):
    X, labels = topics()
    torch.manual_seed(0)
    hasher = AMMI(12, **ADVERSARIES[name](), neighbours=5, first_bits=0, epochs=8, learning_rate=0.03, **SMALL).fit(X)
    assert precision_at_k(hasher.encode(X), labels, hasher.encode(X), labels, k=20) > 80  # chance is 25
    hasher.save(tmp_path / "model")
    loaded = ammi.load(tmp_path / "model")
    assert isinstance(loaded, AMMI)
    assert np.array_equal(loaded.encode(X), hasher.encode(X))
    assert loaded.score(X) == pytest.approx(hasher.score(X))


@cache
def trained(name: str = "", **more: Any) -> Distributions:
    """The codes of an encoder of independent bits after training against a prior."""
    X, _ = topics(n_topics=8)
    torch.manual_seed(0)
    given = ADVERSARIES[name]() if name else more
    hasher: Any = AMMI(12, **given, neighbours=0, epochs=20, learning_rate=0.03, **SMALL).fit(X)
    with torch.no_grad():
        return hasher.objective_.distributions(to_rows(X, torch.device("cpu")))


def test_a_skip_chain_sees_what_bits_far_apart_have_in_common():
    """Which the encoder therefore avoids: bits four apart tell little of each other, other than under a chain."""
    skipping, plain = (
        mutual_information(p.mean_all_pairs()).diagonal(4).mean()
        for p in (trained("a skip chain as prior"), trained(prior_order=1))
    )
    assert skipping < 0.2 * plain


@pytest.mark.parametrize("name", ["a mixture", "a tree"])
def test_a_mixture_and_a_tree_see_what_any_bits_have_in_common(name):
    """H(Z) of the codes, computed exactly, is more than a bit above that under independent bits."""
    entropy, independent = (p.mixture_entropy() / np.log(2) for p in (trained(name), trained(prior_order=0)))
    assert entropy > independent + 1


def batch(m: int = 4, n: int = 5) -> Distributions:
    return Chain(m).read(2 * torch.randn(n, m, 1, generator=torch.Generator().manual_seed(0)).double())


def test_the_mixture_bounds_its_cross_entropy_from_above():
    p, adversary = batch(), MixtureAdversary(4, components=3).double()
    for _ in range(3):
        adversary.cross_entropy(p)  # it is fitted
    gamma = (adversary.sums / adversary.counts.unsqueeze(1)).clamp(0.01, 0.99).numpy()
    codes = np.array(oracles.all_codes(4))  # (16, 4)
    each = np.prod(np.where(codes[:, None] == 1, gamma, 1 - gamma), axis=2)  # (16, K)
    log_q = np.log(each @ adversary.counts.numpy())
    exact = -np.mean([oracles.code_probs(table) @ log_q for table in p.logits.numpy()])
    bound = adversary.eval().cross_entropy(p).item()
    assert exact <= bound < exact + 1
    before = MixtureAdversary(4, components=3).double().eval()
    assert bound < before.cross_entropy(p).item()


def test_the_tree_is_the_best_of_all_trees():
    p, adversary = batch(), TreeAdversary(4, decay=0.0).double()
    mean = np.mean([oracles.code_probs(table) for table in p.logits.numpy()], axis=0)  # (16,)
    alone = [oracles.joint(mean, (i,)) for i in range(4)]
    entropy = -sum((one * np.log(one)).sum() for one in alone)
    best = max(sum(oracles.mutual_information(mean, i, j) for i, j in tree) for tree in oracles.spanning_trees(4))
    assert adversary.cross_entropy(p).item() == pytest.approx(entropy - best)
