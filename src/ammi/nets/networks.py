"""Encoder networks: the ReLU layers that every method has, and those that users and other packages add.

A factory is a function `(n_inputs, n_outputs, **arguments)` that gives a torch module from rows (B, V) to numbers
(B, n_outputs). To be saved with a model it has a name: by `register_network`, or as an entry point of the group
ammi.networks.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from torch import nn

from ammi.nets.encoder import Encoder
from ammi.plugins import Registry

Factory = Callable[..., nn.Module]

networks: Registry[Factory] = Registry("ammi.networks", "network", {})


def register_network(factory: Factory) -> Factory:
    """Let models with this factory be saved and loaded, under the factory's own name. A decorator."""
    networks.register(factory.__name__, factory)
    return factory


def build_encoder(
    encoder: int | Factory | None,
    n_inputs: int,
    n_outputs: int,
    *,
    hidden_layers: int,
    hidden_size: int,
    dropout: float = 0.0,
) -> nn.Module:
    """The encoder that a parameter asks for: a factory's, or so many ReLU layers (`hidden_layers` for None)."""
    if callable(encoder):
        return encoder(n_inputs, n_outputs)
    return Encoder(n_inputs, n_outputs, hidden_layers if encoder is None else encoder, hidden_size, dropout)


def network_to_json(factory: Factory) -> dict[str, Any]:
    """A factory by its name, and the arguments that functools.partial has bound."""
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
    return {"network": name, "arguments": arguments}


def network_from_json(saved: dict[str, Any]) -> Factory:
    """The factory that was saved."""
    try:
        factory = networks.get(saved["network"])
    except ValueError as error:
        raise ValueError(f"{error}; import the module that registers {saved['network']!r} first") from error
    return partial(factory, **saved["arguments"]) if saved["arguments"] else factory
