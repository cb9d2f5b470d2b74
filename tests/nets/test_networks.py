"""Factories of encoder networks by name: registered, bound with arguments, saved as JSON and found again."""

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from torch import nn

from ammi.nets.networks import (
    build_network,
    network_from_json,
    network_to_json,
    networks,
    register_network,
)


def wide(n_inputs: int, n_outputs: int, *, width: int = 4, bias: bool = True) -> nn.Module:
    return nn.Sequential(nn.Linear(n_inputs, width, bias=bias), nn.Linear(width, n_outputs))


@pytest.fixture
def registered() -> Iterator[Callable[..., nn.Module]]:
    yield register_network(wide)
    del networks._registered["wide"]


def test_a_factory_is_found_again_by_its_own_name(registered):
    assert registered is wide  # it decorates, and changes nothing
    assert "wide" in networks.names()
    assert network_to_json(wide) == {"network": "wide", "arguments": {}}
    assert network_from_json({"network": "wide", "arguments": {}}) is wide


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
    saved = json.loads(json.dumps(network_to_json(factory)))
    assert saved == {"network": "wide", "arguments": arguments}
    again: Any = network_from_json(saved)
    assert again.keywords == arguments
    built = build_network(again, 3, 2)
    assert [tuple(p.shape) for p in built.parameters()] == [tuple(p.shape) for p in factory(3, 2).parameters()]


def test_what_cannot_be_saved_says_why(registered):
    with pytest.raises(ValueError, match=r"arguments without names: bind them by keyword"):
        network_to_json(partial(wide, 3))
    with pytest.raises(ValueError, match=r"arguments of the encoder 'wide' cannot be saved, since .* no form in JSON"):
        network_to_json(partial(wide, bias=nn.ReLU))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"the encoder <lambda> has no name to be saved by: decorate it with .*regist"):
        network_to_json(lambda n_inputs, n_outputs: nn.Linear(n_inputs, n_outputs))


def test_a_network_that_is_not_registered_is_named():
    with pytest.raises(ValueError, match=r"has the network 'wide', which is not registered: import the module"):
        network_from_json({"network": "wide", "arguments": {}})


def test_a_factory_that_makes_no_module_is_refused():
    with pytest.raises(ValueError, match=r"gave None, expected a torch module"):
        build_network(lambda n_inputs, n_outputs: None, 3, 2)  # type: ignore[arg-type, return-value]
