"""Encoder networks that users and other packages add, beside the ReLU layers of encoder.py.

A factory is a function `(n_inputs, n_outputs, **arguments)` that returns a torch module from rows (B, V) to numbers
(B, n_outputs). To be saved with a model it needs a name: from `register_network`, or as an entry point of the group
ammi.networks.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

from ammi.plain import plain
from ammi.plugins import Registry

Factory = Callable[..., nn.Module]

networks: Registry[Factory] = Registry("ammi.networks", "network", {})


def register_network(factory: Factory) -> Factory:
    """Register a factory by its own name, so that models with it can be saved and loaded. A decorator."""
    networks.register(factory.__name__, factory)
    return factory


def build_network(factory: Factory, n_inputs: int, n_outputs: int) -> nn.Module:
    """Call a factory, and check that it returned a module."""
    network = factory(n_inputs, n_outputs)
    if not isinstance(network, nn.Module):
        raise ValueError(f"the encoder {factory!r} gave {network!r:.60}, expected a torch module: return one from it")
    return network


def network_to_json(factory: Factory) -> dict[str, Any]:
    """Return the name of a factory and the arguments bound by functools.partial, as JSON."""
    arguments: dict[str, Any] = {}
    while isinstance(factory, partial):
        if factory.args:
            raise ValueError(f"{factory!r} has arguments without names: bind them by keyword to save the model")
        arguments = {**factory.keywords, **arguments}
        factory = factory.func
    name = networks.name_of(factory)
    if name is None:
        raise ValueError(
            f"the encoder {getattr(factory, '__name__', factory)} has no name to be saved by: decorate it with "
            "ammi.nets.networks.register_network, or announce it as an entry point of the group ammi.networks"
        )
    try:
        return {"network": name, "arguments": plain(arguments)}
    except ValueError as error:
        raise ValueError(
            f"the arguments of the encoder {name!r} cannot be saved, since {error}: bind others"
        ) from error


def network_from_json(saved: dict[str, Any]) -> Factory:
    """Return the factory that `network_to_json` described."""
    name, arguments = saved["network"], saved.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise ValueError(f"{saved!r:.80} names no network: expected its name and its arguments")
    if name not in networks.names():
        raise ValueError(
            f"the model has the network {name!r}, which is not registered: import the module that registers it, or "
            "install the package that announces it"
        )
    factory = networks.get(name)
    return partial(factory, **arguments) if arguments else factory
