"""Controls: the recipe's pairs and steps with another objective."""

import numpy as np
import pytest
import torch

from ammi.hashers import AMMI, by_name
from ammi.nets.rows import to_rows
from ammi.training.batches import Batch
from ammi.training.recipe import DataShape
from reproduction.controls import CONTROL_GRIDS, NeighbourInfoNCE
from tests.conftest import topics

PAIRS = ("epochs", "batch_size", "neighbours", "sampling_exponent", "word_dropout", "keep")


@pytest.mark.parametrize("method", CONTROL_GRIDS)
def test_all_but_the_objective_is_the_recipes(method):
    shape = DataShape(1000, 50, predictive=False)
    control, recipe = by_name(method)(16).recipe(shape), AMMI(16).recipe(shape)
    assert [getattr(control, name) for name in PAIRS] == [getattr(recipe, name) for name in PAIRS]
    assert control.first_model is not None
    assert type(control.first_model().objective) is type(recipe.objective)
    assert type(control.objective) is not type(recipe.objective)


@pytest.mark.parametrize("method", CONTROL_GRIDS)
def test_a_control_learns_from_neighbours(method):
    X, _ = topics(120)
    fitted = by_name(method)(16, epochs=2, random_state=0, verbose=False).fit(X)
    assert fitted.encode(X).shape == (120, 2)
    assert len(fitted.history_) == 2


def test_infonce_is_the_cross_entropy_of_the_right_pair():
    X, _ = topics(8)
    objective = NeighbourInfoNCE(16, temperature=0.2).objective(X.shape[1], predictive=False)
    y, x = (to_rows(X[rows], torch.device("cpu")) for rows in (slice(0, 4), slice(4, 8)))
    loss, _ = objective.loss(Batch(y, x, 4))
    signs = [2.0 * objective.bits(rows).numpy() - 1 for rows in (y, x)]
    similarity = signs[0] @ signs[1].T / 16 / 0.2
    right = np.diag(similarity)
    expected = [np.log(np.exp(similarity).sum(axis)) - right for axis in (0, 1)]
    assert loss.item() == pytest.approx(np.mean(expected), rel=1e-5)
