"""Recipes: what the methods of this package hand to training, and a method of a user with one of its own."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from ammi import AMMI, BMMI, load
from ammi.evaluate import precision_at_k
from ammi.hashers import BMSH, NASH, methods
from ammi.hashers.hyperplanes import Hyperplanes
from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.projections import ProjectionHasher
from ammi.nets.encoder import Encoder
from ammi.nets.matrix import Matrix
from ammi.training.batches import Batch
from ammi.training.objective import Figures, Objective
from ammi.training.recipe import DataShape, Recipe
from examples.infonce import Contrastive, InfoNCE
from tests.conftest import topics
from tests.training.made import kept_array

ALONE, PAIRS = DataShape(1000, 30, predictive=False), DataShape(1000, 30, predictive=True)
QUICK: dict[str, Any] = {"batch_size": 32, "random_state": 0, "verbose": False}


def test_ammi_pairs_neighbours_by_a_first_model_and_keeps_the_last_epoch():
    recipe = AMMI(16).recipe(ALONE)
    assert (recipe.neighbours, recipe.sampling_exponent, recipe.word_dropout) == (100, 2.0, 0.3)
    assert (recipe.keep, recipe.rising) == ("last", "information")
    assert recipe.first_model is not None
    first = recipe.first_model()
    assert (first.neighbours, first.sampling_exponent, first.first_model) == (10, 1.0, None)
    assert first.epochs == -(-2 * recipe.epochs // 3)
    assert first.objective.encoder.first.weight.shape == (30, 128)  # type: ignore[union-attr]


@pytest.mark.parametrize("method", [AMMI, BMMI])
def test_related_documents_take_the_place_of_neighbours(method):
    assert method(8).recipe(PAIRS).neighbours == 0
    assert method(8).recipe(PAIRS).word_dropout == 0.3
    assert method(8, related_encoder="own").recipe(PAIRS).word_dropout == 0
    assert method(8, neighbours=0).recipe(ALONE).word_dropout == 0


def test_other_methods_have_the_schedule_of_their_parameters():
    recipe = NASH(8, epochs=7, learning_rate=0.5, patience=3, clip=2.0, batch_size=9).recipe(ALONE)
    assert (recipe.epochs, recipe.learning_rate, recipe.patience, recipe.clip, recipe.batch_size) == (7, 0.5, 3, 2, 9)
    assert (recipe.neighbours, recipe.keep, recipe.rising, recipe.word_dropout) == (0, "best", None, 0)
    assert BMSH(16).recipe(ALONE).learning_rate == 0.01
    assert BMSH(64).recipe(ALONE).learning_rate == 0.005
    assert BMSH(64, learning_rate=0.3).recipe(ALONE).learning_rate == 0.3


def test_a_validation_keeps_the_best_epoch_and_waits_only_if_the_last_was_to_be_kept():
    last = replace(AMMI(8).recipe(ALONE), keep="last").validated()
    best = replace(AMMI(8).recipe(ALONE), keep="best").validated()
    assert (last.keep, last.rising) == ("best", "information")
    assert (best.keep, best.rising) == ("best", None)


@estimator
class KeepsTheLast(Contrastive):
    """The example with a recipe of its own."""

    near: int = parameter("neighbours of each document.", default=10, whole=True, least=1)

    def recipe(self, shape: DataShape) -> Recipe:
        return replace(
            super().recipe(shape), neighbours=self.near, keep="last", word_dropout=0.2, sampling_exponent=1.5
        )


def test_a_method_of_ones_own_on_neighbours_that_keeps_the_last_epoch(tmp_path):
    X, labels = topics()
    new, new_labels = topics(seed=1)
    hasher = KeepsTheLast(16, epochs=12, **QUICK).fit(X, views=np.eye(4)[labels])
    assert hasher.best_epoch_ == len(hasher.history_) == 12
    assert [row["score"] for row in hasher.history_] == [0.0] * 12  # it names no figure that rises
    assert precision_at_k(hasher.encode(new), new_labels, hasher.encode(X), labels, k=20) > 80
    methods.register("keepsthelast", KeepsTheLast)
    try:
        hasher.save(tmp_path / "model")
        assert np.array_equal(load(tmp_path / "model").encode(new), hasher.encode(new))
    finally:
        del methods._registered["keepsthelast"]


class Watched(InfoNCE):
    """Notes how large batches are, and whether they are pairs."""

    seen: set[tuple[bool, int, bool]]

    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        self.seen.add((self.training, batch.size, batch.x is not None))
        return super().loss(batch)


@estimator
class Watching(Contrastive):
    """The example, watched."""

    def objective(self, n_features: int, predictive: bool) -> InfoNCE:
        made = Watched(Encoder(n_features, self.n_bits), 0.3)
        made.seen = set()
        return made


def test_an_objective_on_neighbours_is_validated_on_pairs():
    """A tenth is held out and paired among itself; the loss of these pairs decides which epoch is kept."""
    X, _ = topics()
    hasher = Watching(8, epochs=4, **QUICK).fit(X)
    assert hasher.objective_.seen == {(True, 32, True), (True, 14, True), (False, 30, True)}
    scores = [row["score"] for row in hasher.history_]
    assert hasher.best_epoch_ == 1 + int(np.argmax(scores))
    assert all(-np.log(30) < score < 0 for score in scores)


@estimator
class Classmates(Contrastive):
    """Pairs that a function finds, and a score of its own: no document is held out for it."""

    def recipe(self, shape: DataShape) -> Recipe:
        def next_ones(X: Matrix) -> Any:
            self.n_rows = X.shape[0]
            return (np.arange(X.shape[0])[:, None] + [4, 8]) % X.shape[0]

        def score(objective: Objective) -> float:
            return -abs(self.history_[-1]["epoch"] - 2)

        return replace(super().recipe(shape), neighbours=next_ones, score=score)


def test_pairs_and_a_score_of_ones_own(tmp_path):
    X, labels = topics()
    by_class = np.argsort(np.argsort(labels, kind="stable") % 75, kind="stable")  # documents i and i + 4 share a label
    X, labels = X[by_class], labels[by_class]
    hasher = Classmates(16, epochs=4, checkpoint=tmp_path, **QUICK).fit(X)
    assert (hasher.n_rows, hasher.best_epoch_) == (300, 2)
    assert [row["score"] for row in hasher.history_] == [-1, 0, -1, -2]
    pairs = kept_array(tmp_path / "neighbours.pt")
    assert pairs[:3].tolist() == [[4, 8], [5, 9], [6, 10]]
    with pytest.raises(ValueError, match="looks for none"):
        Classmates(16, epochs=4, **QUICK).fit(X, views=np.eye(300))


@estimator
class Mistaken(Contrastive):
    """Pairs with rows that do not exist."""

    def recipe(self, shape: DataShape) -> Recipe:
        return replace(super().recipe(shape), neighbours=lambda X: np.full((X.shape[0], 2), X.shape[0]))


def test_pairs_with_rows_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match=r"gave an array of shape \(30, 2\): expected the numbers of some of the 30"):
        Mistaken(8, epochs=1, **QUICK).fit(topics()[0])


@estimator
class TwoStages(KeepsTheLast):
    """The same with a first model, which has half of the bits."""

    def recipe(self, shape: DataShape) -> Recipe:
        first = KeepsTheLast(self.n_bits // 2, epochs=2)
        return replace(super().recipe(shape), first_model=lambda: first.recipe(shape))


def test_any_objective_can_be_a_first_model(tmp_path):
    X, _ = topics()
    parameters: dict[str, Any] = {"epochs": 4, "checkpoint": tmp_path, **QUICK}
    hasher = TwoStages(16, **parameters).fit(X)
    assert (tmp_path / "first" / "neighbours.pt").exists()
    again = TwoStages(16, **parameters).fit(X)
    assert again.fingerprint_ == hasher.fingerprint_ != KeepsTheLast(16, epochs=4, **QUICK).fit(X).fingerprint_


@estimator
class Columns(ProjectionHasher):
    """A method in closed form: bit j says whether word j is above its mean."""

    def learn(self, X: Matrix, rng: np.random.RandomState) -> Hyperplanes:
        return Hyperplanes(np.eye(X.shape[1], self.n_bits), np.asarray(X.mean(axis=0)).ravel()[: self.n_bits])


def test_a_method_in_closed_form_finds_hyperplanes():
    X, _ = topics()
    hasher = Columns(10).fit(X)
    assert np.array_equal(hasher.transform(X), X.toarray()[:, :10] > X.toarray()[:, :10].mean(0, dtype=np.float64))
    assert hasher.hyperplanes() is not None
