"""DVQ: decomposed vector quantisation, an autoencoder of words with a codebook of two vectors for each bit.

    min -log p(x | C[z(y)]) + Σ_i ‖sg(e_i) - C_i[z_i]‖² + β ‖e_i - sg(C_i[z_i])‖²

The encoder gives a segment e_i of D numbers for each bit, z_i is the nearer of the two vectors of C_i, sg stops the
gradient, and the gradient of C[z] goes straight through to e. In predictive hashing x is the related document.
"""

import torch
from torch import Tensor, nn

from ammi.hashers.autoencoder import Autoencoder, AutoencoderHasher
from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.trained import MOST_SIZE
from ammi.nets.decoder import WordDecoder
from ammi.nets.rows import Rows


class DVQObjective(Autoencoder):
    def __init__(self, dimension: int, commitment: float, encoder: nn.Module, decoder: WordDecoder, n_bits: int):
        super().__init__(encoder, decoder, n_bits)
        self.commitment = commitment
        self.codebooks = nn.Parameter(torch.empty(self.n_bits, 2, dimension))

    def segments(self, rows: Rows) -> Tensor:
        """Return the segments e, (B, m, D)."""
        return self.encoder(rows).unflatten(1, (self.n_bits, -1))

    def nearest(self, segments: Tensor) -> Tensor:
        """Return z (B, m): whether ‖e - C[1]‖² < ‖e - C[0]‖², that is, on which side of their middle e lies."""
        zero, one = self.codebooks.unbind(1)  # (m, D)
        return ((segments - (zero + one) / 2) * (one - zero)).sum(-1) > 0

    def draw(self, rows: Rows) -> tuple[Tensor, Tensor]:
        segments = self.segments(rows)
        zero, one = self.codebooks.unbind(1)
        chosen = torch.where(self.nearest(segments).unsqueeze(-1), one, zero)  # (B, m, D)
        codebook = (segments.detach() - chosen) ** 2
        commitment = (segments - chosen.detach()) ** 2
        through = segments + (chosen - segments).detach()
        return through.flatten(1), (codebook + self.commitment * commitment).sum((1, 2))

    def bits(self, rows: Rows) -> Tensor:
        return self.nearest(self.segments(rows))


@estimator
class DVQ(AutoencoderHasher):
    """An autoencoder with a vector-quantised code; takes `related` documents."""

    predictive = True

    dimension: int = parameter(
        "D, of the codebooks' vectors. The decoder's cost grows with it. Useful: 1 to 4.",
        default=1,
        whole=True,
        least=1,
        most=MOST_SIZE,
    )
    commitment: float = parameter(
        "β, how strongly segments are drawn to their vectors. The paper's grid: 0.1 to 4.", default=1.0, least=0
    )
    hidden_layers: int = 0
    hidden_size: int = 200
    dropout: float = 0.0
    learning_rate: float | None = 0.003

    def objective(self, n_features: int, predictive: bool) -> DVQObjective:
        n_numbers = self.n_bits * self.dimension
        parts = self._parts(n_features, n_numbers, n_numbers)
        return self._initialised(DVQObjective(self.dimension, self.commitment, *parts, self.n_bits))
