"""Trained hashers with an encoder network: the ReLU layers of this package, or one's own."""

import numpy as np
from torch import nn

from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.trained import TrainedHasher
from ammi.nets.networks import Factory, build_encoder


@estimator
class EncoderHasher(TrainedHasher):
    """A trained hasher that says which encoder to train."""

    encoder: int | Factory | None = parameter(
        "the network: a number of ReLU layers, or a function (n_inputs, n_outputs) that gives a torch module from rows "
        "to numbers (ammi.nets.networks says how it is saved); None takes hidden_layers.",
        default=None,
        optional=True,
    )
    hidden_layers: int = parameter(
        "ReLU layers of the encoder; 0 makes it linear.", default=0, whole=True, least=0, most=100
    )
    hidden_size: int = parameter("their width. Useful: 300 to 700.", default=512, whole=True, least=1)

    def _encoder(self, n_features: int, n_outputs: int, dropout: float = 0.0) -> nn.Module:
        return build_encoder(
            self.encoder,
            n_features,
            n_outputs,
            hidden_layers=self.hidden_layers,
            hidden_size=self.hidden_size,
            dropout=dropout,
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        layers = isinstance(self.encoder, int | np.integer) and 0 <= self.encoder <= 100
        if not (self.encoder is None or layers or callable(self.encoder)):
            raise ValueError(
                "encoder must be None, a number of layers from 0 to 100, or a function (n_inputs, n_outputs) that "
                f"gives a torch module, got {self.encoder!r}"
            )
