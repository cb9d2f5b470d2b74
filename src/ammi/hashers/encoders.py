"""Trained hashers with an encoder network: the ReLU layers of this package, or a user's own."""

import numpy as np
from torch import nn

from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.trained import MOST_SIZE, TrainedHasher
from ammi.nets.encoder import Encoder, Factory, build_network

MOST_LAYERS = 100


@estimator
class EncoderHasher(TrainedHasher):
    """A trained hasher with parameters for its encoder."""

    encoder: int | nn.Module | Factory | None = parameter(
        "the network: a number of ReLU layers; a torch module from rows to numbers, such as an nn.Sequential, a copy "
        "of which is trained; or a function (n_inputs, n_outputs) that makes one (ammi.parts says how it is saved). "
        "None takes hidden_layers.",
        default=None,
        optional=True,
    )
    hidden_layers: int = parameter(
        "ReLU layers of the encoder; 0 makes it linear.", default=0, whole=True, least=0, most=MOST_LAYERS
    )
    hidden_size: int = parameter("their width. Useful: 300 to 700.", default=512, whole=True, least=1, most=MOST_SIZE)

    def _encoder(self, n_features: int, n_outputs: int, dropout: float = 0.0) -> nn.Module:
        if callable(self.encoder):  # modules are, too
            return build_network(self.encoder, n_features, n_outputs)
        return Encoder(n_features, n_outputs, self._n_layers(), self.hidden_size, dropout)

    def _n_layers(self) -> int:
        return self.encoder if isinstance(self.encoder, int | np.integer) else self.hidden_layers

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.encoder is None or callable(self.encoder):
            return
        whole = isinstance(self.encoder, int | np.integer) and not isinstance(self.encoder, bool)
        if not whole or self.encoder not in range(MOST_LAYERS + 1):
            raise ValueError(
                f"encoder must be None, a number of layers from 0 to {MOST_LAYERS}, a torch module, or a function "
                f"(n_inputs, n_outputs) that gives one, got {self.encoder!r}"
            )
