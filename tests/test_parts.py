"""Parts of a model by name: functions and objects, registered, saved as JSON with their arguments, and found again."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from torch import nn

from ammi.chain import Chain, Tree
from ammi.nets.encoder import build_network
from ammi.nets.prior import Prior
from ammi.parts import part_from_json, part_to_json, parts, register_part
from ammi.training.adversaries import ExactAdversary, GradientAdversary


def wide(n_inputs: int, n_outputs: int, *, width: int = 4, bias: bool = True) -> nn.Module:
    return nn.Sequential(nn.Linear(n_inputs, width, bias=bias), nn.Linear(width, n_outputs))


@pytest.fixture
def registered() -> Iterator[Callable[..., nn.Module]]:
    yield register_part(wide)
    del parts._registered["wide"]


def test_a_factory_is_found_again_by_its_own_name(registered):
    assert registered is wide  # it decorates, and changes nothing
    assert "wide" in parts.names()
    assert part_to_json(wide) == {"function": "wide", "arguments": {}}
    assert part_from_json({"function": "wide", "arguments": {}}) is wide


@pytest.mark.parametrize(
    ("factory", "arguments"),
    [
        (partial(wide, width=7), {"width": 7}),
        (partial(wide, width=np.int64(7)), {"width": 7}),  # type: ignore[arg-type]
        (partial(partial(wide, width=7, bias=True), bias=False), {"width": 7, "bias": False}),
    ],
    ids=["bound", "of numpy", "bound twice"],
)
def test_bound_arguments_come_back(registered, factory, arguments):
    saved = json.loads(json.dumps(part_to_json(factory)))
    assert saved == {"function": "wide", "arguments": arguments}
    again: Any = part_from_json(saved)
    assert again.keywords == arguments
    built = build_network(again, 3, 2)
    assert [tuple(p.shape) for p in built.parameters()] == [tuple(p.shape) for p in factory(3, 2).parameters()]


def test_what_cannot_be_saved_says_why(registered):
    with pytest.raises(ValueError, match=r"arguments without names: bind them by keyword"):
        part_to_json(partial(wide, 3))
    with pytest.raises(ValueError, match=r"arguments of 'wide' cannot be saved, since .* no form in JSON"):
        part_to_json(partial(wide, bias=nn.ReLU))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"<lambda> has no name to be saved by: decorate it with .*regist"):
        part_to_json(lambda n_inputs, n_outputs: nn.Linear(n_inputs, n_outputs))


@dataclass(frozen=True)
class Comb:
    """A part with arguments that JSON has and has not."""

    teeth: tuple[int, ...]
    handle: Tree
    name: str = "comb"


@pytest.fixture
def comb() -> Iterator[Comb]:
    register_part(Comb)
    yield Comb((1, 2), Tree(3, (-1, 0, 0)))
    del parts._registered["Comb"]


def test_objects_are_the_arguments_of_their_constructors(comb):
    for value in (Chain(8, 2), Tree(3, (-1, 0, 1)), comb):
        assert part_from_json(json.loads(json.dumps(part_to_json(value)))) == value
    adversary = part_from_json(part_to_json(ExactAdversary(Chain(8, 1), decay=0.5)))
    assert repr(adversary) == "ExactAdversary(structure=Chain(n_bits=8, order=1), decay=0.5, reorder=0)"
    gradient = part_from_json(part_to_json(GradientAdversary(Prior(Chain(8, 1), 2, 6), 1, 0.1, 10.0, 0.2)))
    assert repr(gradient.network) == "Prior(structure=Chain(n_bits=8, order=1), layers=2, size=6)"
    assert (gradient.steps, gradient.learning_rate, gradient.clip, gradient.init_range) == (1, 0.1, 10, 0.2)


def test_an_object_that_does_not_keep_its_arguments_says_so():
    class Forgetful:
        def __init__(self, size: int):
            pass

    with pytest.raises(ValueError, match="Forgetful has no name to be saved by: decorate it"):
        part_to_json(Forgetful(3))
    register_part(Forgetful)
    try:
        with pytest.raises(ValueError, match="Forgetful does not keep the argument 'size' of its constructor: let"):
            part_to_json(Forgetful(3))
    finally:
        del parts._registered["Forgetful"]


def test_damaged_arguments_are_refused():
    for saved in ({"object": "Chain", "arguments": {"bits": 8}}, {"object": 3, "arguments": {}}, {"object": "Chain"}):
        with pytest.raises(ValueError, match="arguments"):
            part_from_json(saved)


def test_a_network_that_is_not_registered_is_named():
    with pytest.raises(ValueError, match=r"has the part 'wide', which is not registered: import the module"):
        part_from_json({"function": "wide", "arguments": {}})


def test_a_factory_that_makes_no_module_is_refused():
    with pytest.raises(ValueError, match=r"gave None, expected a torch module"):
        build_network(lambda n_inputs, n_outputs: None, 3, 2)  # type: ignore[arg-type, return-value]
