"""BMMI: the encoder of AMMI without an adversary; H(Z) of each batch is computed over all 2^m codes.

max over the encoder of β H(Z) - H(Z|Y), with H(Z) the entropy of the batch's mixture (the paper's equation 2).
"""

from typing import Any

from torch import Tensor, nn

from ammi.chain import MAX_BRUTE_FORCE_BITS, mixture_entropy
from ammi.hashers.chains import ChainHasher, ChainModel


class BMMIModel(ChainModel):
    def code_entropy(self, p: Tensor, pi: Tensor) -> Tensor:
        return mixture_entropy(p)


class BMMI(ChainHasher):
    """Binary codes by brute force, up to 24 bits: the yardstick for AMMI's upper bound.

    Args:
        n_bits: length m of the codes, at most 24: every epoch visits all 2^m codes for each batch.
        order, related_order, neighbours, entropy_weight, hidden_layers, hidden_size, batch_size, learning_rate,
        init_range, clip, epochs, patience, checkpoint, device, n_jobs, random_state, verbose: as of AMMI.
    """

    def __init__(
        self,
        n_bits: int = 16,
        *,
        order: int = 0,
        related_order: int | None = None,
        neighbours: int = 10,
        entropy_weight: float = 1.75,
        hidden_layers: int = 0,
        hidden_size: int = 512,
        batch_size: int = 128,
        learning_rate: float = 0.01,
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
        self.order = order
        self.related_order = related_order
        self.neighbours = neighbours
        self.entropy_weight = entropy_weight
        self.hidden_layers = hidden_layers
        self.hidden_size = hidden_size
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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.n_bits > MAX_BRUTE_FORCE_BITS:
            raise ValueError(
                f"BMMI visits all 2^n_bits codes: at most {MAX_BRUTE_FORCE_BITS} bits, got {self.n_bits}: use AMMI"
            )

    def _build(self, n_features: int, predictive: bool) -> nn.Module:
        return BMMIModel(*self._encoders(n_features, predictive), self.n_bits, self.entropy_weight)
