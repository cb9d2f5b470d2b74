"""A method of one's own: an autoencoder of words each of whose bits is on for half of the documents.

min -E[log p(y|z)] + β Σ_j (mean of q_j over the batch - 1/2)², z drawn from Bern(q(y)), a bit of a code is [q_j > 1/2].
"""

from torch import Tensor

from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.trained import TrainedHasher
from ammi.nets.decoder import WordDecoder
from ammi.nets.divergences import straight_through
from ammi.nets.encoder import LINEAR, Encoder, initialise
from ammi.nets.rows import Rows
from ammi.training.batches import Batch
from ammi.training.objective import Figures, Objective


class BalancedObjective(Objective):
    def __init__(self, n_words: int, n_bits: int, balance: float):
        super().__init__()
        self.encoder, self.decoder, self.balance = Encoder(n_words, n_bits), WordDecoder(n_bits, n_words), balance

    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        logits = self.encoder(batch.y)  # (B, m)
        reconstruction = -self.decoder(straight_through(logits, drawn=self.training), batch.y).mean()
        imbalance = (logits.sigmoid().mean(0) - 0.5).square().sum()
        return reconstruction + self.balance * imbalance, {"reconstruction": reconstruction, "imbalance": imbalance}

    def bits(self, rows: Rows) -> Tensor:
        return self.encoder(rows) > 0

    def linear(self) -> tuple[str, str]:
        return LINEAR  # where the weights are, so that a query is encoded without torch


@estimator
class Balanced(TrainedHasher):
    """An autoencoder with balanced bits."""

    balance: float = parameter("β, the weight of the balance. Useful: 1 to 100.", default=10.0, least=0)
    epochs: int = 20

    def objective(self, n_features: int, predictive: bool) -> BalancedObjective:
        objective = BalancedObjective(n_features, self.n_bits, self.balance)
        initialise(objective, self.init_range)
        return objective
