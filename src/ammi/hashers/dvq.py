"""DVQ: decomposed vector quantisation, an autoencoder of words with a codebook of two vectors for each bit.

    min -log p(x | C[z(y)]) + Σ_i ‖sg(e_i) - C_i[z_i]‖² + β ‖e_i - sg(C_i[z_i])‖²

The encoder gives a segment e_i of D numbers for each bit, z_i is the nearer of the two vectors of C_i, sg stops the
gradient, and the gradient of C[z] goes straight through to e. In predictive hashing x is the related document.
"""

from typing import Any

import torch
from torch import Tensor, nn

from ammi.hashers.autoencoder import Autoencoder, AutoencoderHasher
from ammi.nets.rows import Rows


class DVQModel(Autoencoder):
    def __init__(self, dimension: int, commitment: float, *args: Any):
        super().__init__(*args)
        self.commitment = commitment
        self.codebooks = nn.Parameter(torch.empty(self.n_bits, 2, dimension))

    def segments(self, rows: Rows) -> Tensor:
        """e (B, m, D)."""
        return self.encoder(rows).unflatten(1, (self.n_bits, -1))

    def nearest(self, segments: Tensor) -> Tensor:
        """z (B, m): ‖e - C[1]‖² < ‖e - C[0]‖², which is on which side of their middle e lies."""
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


class DVQ(AutoencoderHasher):
    """An autoencoder with a vector-quantised code; takes `related` documents.

    Args:
        n_bits: length m of the codes.
        dimension: D, of the codebooks' vectors. The decoder's cost grows with it. Useful: 1 to 4.
        commitment: β, how strongly segments are drawn to their vectors. The paper's grid: 0.1 to 4.
        hidden_layers, hidden_size, dropout: ReLU layers of the encoder, their width, and the share of their units that
            is left out at random in training. Useful: 0 to 2 layers of 300 to 700.
        batch_size, learning_rate, init_range, clip, epochs, patience, checkpoint, device, n_jobs, random_state,
        verbose: as of AMMI.
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        dimension: int = 1,
        commitment: float = 1.0,
        hidden_layers: int = 0,
        hidden_size: int = 200,
        dropout: float = 0.0,
        batch_size: int = 128,
        learning_rate: float = 0.003,
        init_range: float = 0.1,
        clip: float = 10.0,
        epochs: int = 40,
        patience: int = 6,
        checkpoint: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = True,
    ):
        self.n_bits = n_bits
        self.dimension = dimension
        self.commitment = commitment
        self.hidden_layers = hidden_layers
        self.hidden_size = hidden_size
        self.dropout = dropout
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.init_range = init_range
        self.clip = clip
        self.epochs = epochs
        self.patience = patience
        self.checkpoint = checkpoint
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _build(self, n_features: int, predictive: bool) -> nn.Module:
        n_numbers = self.n_bits * self.dimension
        parts = self._parts(n_features, n_numbers, n_numbers)
        return self._initialised(DVQModel(self.dimension, self.commitment, *parts, self.n_bits))
