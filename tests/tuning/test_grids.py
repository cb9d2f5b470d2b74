"""Grids: what they vary is there to be varied, and only what matters is drawn."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ammi.tuning.experiments import default_parameters
from ammi.tuning.grids import GRIDS, choose, near_defaults


@pytest.mark.parametrize("method", sorted(GRIDS))
def test_a_grid_varies_what_the_method_has(method):
    known = default_parameters(method)
    for name, values in GRIDS[method].items():
        assert name in known
        assert len(set(values)) == len(values) > 1


@pytest.mark.parametrize("method", sorted(GRIDS))
def test_near_defaults_are_the_defaults_where_the_grid_has_them(method):
    defaults = default_parameters(method)
    for name, value in near_defaults(method, GRIDS[method], {}).items():
        values = GRIDS[method][name]
        assert value in values
        assert value == defaults[name] or defaults[name] not in values


@given(st.sampled_from(sorted(GRIDS)), st.data())
def test_what_is_drawn_is_on_the_grid_and_matters(method, data):
    chosen = choose(GRIDS[method], {}, lambda name, values: data.draw(st.sampled_from(values)))
    assert all(value in GRIDS[method][name] for name, value in chosen.items())
    left_out = GRIDS[method].keys() - chosen.keys()
    of_gradients = {"adversary_steps", "adversary_learning_rate", "adversary_size", "adversary_layers"}
    assert left_out <= {*of_gradients, "hidden_size", "dropout"}
    if "adversary" in chosen:
        assert ("adversary_steps" in chosen) == (chosen["adversary"] == "gradient")
        assert ("adversary_layers" in chosen) == bool(chosen.get("adversary_size"))  # a raw table has no layers
    if "hidden_size" in GRIDS[method]:
        assert ("hidden_size" in chosen) == (chosen.get("hidden_layers") != 0)


def test_what_is_fixed_decides_what_matters():
    grid = {"adversary_steps": (1, 2), "hidden_size": (300, 500)}
    first = {"adversary_steps": 1, "hidden_size": 300}
    assert choose(grid, {}, lambda name, values: values[0]) == first
    assert choose(grid, {"adversary": "exact"}, lambda name, values: values[0]) == {"hidden_size": 300}
    assert choose(grid, {"adversary": "gradient", "hidden_layers": 0}, lambda name, values: values[0]) == {
        "adversary_steps": 1
    }
