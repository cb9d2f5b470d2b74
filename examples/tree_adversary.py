"""An adversary of one's own: its prior is the best tree over the bits (Chow and Liu 1968), found for each batch."""

import torch
from torch import Tensor

from ammi.chain import Distributions, chow_liu
from ammi.parts import register_part
from ammi.training.adversaries import Adversary


@register_part
class TreeAdversary(Adversary):
    """AMMI(16, adversary=TreeAdversary(16)). It sees what any two bits have in common, wherever they stand."""

    pairs: Tensor  # (m, m, 4), the joint probabilities of every two bits, averaged over batches

    def __init__(self, n_bits: int, decay: float = 0.9):
        super().__init__()
        self.n_bits, self.decay = n_bits, decay
        self.register_buffer("pairs", torch.full((n_bits, n_bits, 4), 0.25))

    def cross_entropy(self, p: Distributions) -> Tensor:
        pairs = p.mean_all_pairs()
        if self.training:
            self.pairs = self.decay * self.pairs + (1 - self.decay) * pairs.detach()
        tree = chow_liu(self.pairs)
        table = tree.best_prior(tree.statistics_among(self.pairs))
        return tree.cross_entropy_of(tree.statistics_among(pairs), table)
