"""The method and the network that docs/extending.md shows: they fit, are saved, loaded and searched with."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import ammi
from ammi import AMMI, Collection, DocumentHasher, hashers
from ammi.evaluate import precision_at_k
from ammi.hashers import NASH
from ammi.hashers.quick import quick_codes
from examples.plugin_package.balanced_hasher import Balanced
from examples.residual_network import Residual, residual
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
