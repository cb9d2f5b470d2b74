"""Controls: other objectives on the pairs of this package's recipe.

BMSH, DVQ and a binary InfoNCE learn from the same neighbours as “AMMI, recipe”, with the same words left out and as
many steps. The autoencoders reconstruct the words of the neighbour from the document's code. InfoNCE asks which x of a
batch belongs to y:

    min -mean_i log softmax_j (s(y_i, x_j) / τ)[i], in both directions,   s = z(y) · z(x) / m,  z in {-1, 1}^m
"""

from dataclasses import replace

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ammi.hashers import AMMI, BMSH, DVQ, methods
from ammi.hashers.encoders import EncoderHasher
from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.trained import TrainedHasher
from ammi.nets.divergences import BITS_PER_NAT, straight_through
from ammi.nets.encoder import Encoder, initialise
from ammi.nets.rows import Rows
from ammi.training.batches import Batch
from ammi.training.objective import Figures, Objective
from ammi.training.recipe import DataShape, Recipe
from ammi.tuning.grids import Grid


def _epochs() -> int | None:
    """Declare the epochs of a control: by default as many as the recipe has."""
    return parameter("largest number of epochs.", default=None, whole=True, least=1, optional=True)


@estimator
class _OnTheRecipesPairs(TrainedHasher):
    """A method that is trained as the recipe is, in all but its objective and learning rate."""

    epochs: int | None = _epochs()

    def recipe(self, shape: DataShape) -> Recipe:
        own, recipe = super().recipe(shape), AMMI(self.n_bits, epochs=self.epochs).recipe(shape)
        trained = replace(recipe, objective=own.objective, learning_rate=own.learning_rate, clip=own.clip)
        return replace(trained, rising=None, patience=recipe.epochs)  # all of its steps


@estimator
class NeighbourBMSH(_OnTheRecipesPairs, BMSH):
    """BMSH on the recipe's pairs."""

    epochs: int | None = _epochs()


@estimator
class NeighbourDVQ(_OnTheRecipesPairs, DVQ):
    """DVQ on the recipe's pairs."""

    epochs: int | None = _epochs()


class InfoNCEObjective(Objective):
    def __init__(self, encoder: nn.Module, n_bits: int, temperature: float):
        super().__init__()
        self.encoder, self.n_bits, self.temperature = encoder, n_bits, temperature

    def signs(self, rows: Rows) -> Tensor:
        """z (B, m) of -1 and 1, with the gradient of the probabilities."""
        return 2 * straight_through(self.encoder(rows), drawn=False) - 1

    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        y, x = self.signs(batch.y), self.signs(batch.y if batch.x is None else batch.x)
        similarity = y @ x.T / (self.n_bits * self.temperature)  # (B, B)
        own = torch.arange(batch.size)
        loss = (F.cross_entropy(similarity, own) + F.cross_entropy(similarity.T, own)) / 2
        return loss, {"contrast": loss * BITS_PER_NAT}

    def bits(self, rows: Rows) -> Tensor:
        return self.encoder(rows) > 0


@estimator
class NeighbourInfoNCE(_OnTheRecipesPairs, EncoderHasher):
    """A binary InfoNCE on the recipe's pairs."""

    epochs: int | None = _epochs()
    temperature: float = parameter("τ. Useful: 0.05 to 0.5.", default=0.1, above=0)

    def objective(self, n_features: int, predictive: bool) -> InfoNCEObjective:
        encoder = self._encoder(n_features, self.n_bits)
        if isinstance(encoder, Encoder):
            initialise(encoder, self.init_range)
        return InfoNCEObjective(encoder, self.n_bits, self.temperature)


methods.register("bmsh-neighbours", NeighbourBMSH)
methods.register("dvq-neighbours", NeighbourDVQ)
methods.register("infonce-neighbours", NeighbourInfoNCE)

CONTROL_GRIDS: dict[str, Grid] = {
    "bmsh-neighbours": {
        "learning_rate": (None, 0.01, 0.003, 0.001),
        "divergence_weight": (0.1, 0.5, 1.0, 2.0),
        "hidden_layers": (0, 1),
        "dropout": (0.0, 0.5),
        "components": (10, 50),
    },
    "dvq-neighbours": {
        "learning_rate": (0.01, 0.003, 0.001),
        "dimension": (1, 4),
        "commitment": (0.1, 0.25, 0.5, 1.0, 2.0, 4.0),
        "hidden_layers": (0, 1),
    },
    "infonce-neighbours": {
        "learning_rate": (0.03, 0.01, 0.003, 0.001),
        "temperature": (0.05, 0.1, 0.2, 0.5),
        "init_range": (0.1, 0.5),
    },
}
