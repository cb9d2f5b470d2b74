"""The objectives of AMMI and BMMI: an encoder p(z|y) with a structure, trained to maximise H(Z) - H(Z|X).

    max over the encoder of  β H(Z) - H(Z|Y)       documents alone           (the paper's equation 5)
                             β H(Z) - H⁺(Z|X)      with related documents    (the paper's equation 3)

H⁺(Z|X) is the cross entropy between p(z|y) and a second encoder q(z|x) of the related document. One encoder may read
both documents instead, p of the one and q of the other. Then either of them is predicted from the other: the
conditional entropy is the mean of H(p), H(p, q), H(q) and H(q, p), and H(Z) is of the codes of both.
"""

from abc import abstractmethod
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ammi.chain import Chain, Distributions, Structure
from ammi.nets.divergences import BITS_PER_NAT
from ammi.nets.encoder import LINEAR, Encoder
from ammi.nets.matrix import Matrix
from ammi.nets.rows import Rows
from ammi.nets.scaling import Scaling
from ammi.training.adversaries import Adversary
from ammi.training.batches import Batch
from ammi.training.objective import Figures, Objective
from ammi.training.progress import Progress


class Reader(NamedTuple):
    """A network, and the structure of the distributions that its outputs parametrise."""

    network: nn.Module
    structure: Structure


class InformationObjective(Objective):
    """β H(Z) minus the conditional entropy; a subclass computes H(Z)."""

    def __init__(self, encoder: Reader, related: Reader | None, entropy_weight: float):
        super().__init__()
        self.scaling = Scaling()
        self.encoder, self.structure = encoder.network, encoder.structure
        self.related_encoder = related.network if related else None
        self.related_structure = related.structure if related else encoder.structure
        self.entropy_weight = entropy_weight

    @abstractmethod
    def code_entropy(self, p: Distributions) -> Tensor:
        """Return H(Z) of a batch, or an upper bound of it."""

    def distributions(self, rows: Rows) -> Distributions:
        """Return p(z|y) of each row."""
        return self._read(self.encoder, self.structure, rows)

    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        conditional, codes = self.conditional_entropy(batch)
        code = self.code_entropy(codes)
        figures = {
            "entropy": code * BITS_PER_NAT,
            "conditional_entropy": conditional * BITS_PER_NAT,
            "information": (code - conditional) * BITS_PER_NAT,
        }
        return conditional - self.entropy_weight * code, figures

    def bits(self, rows: Rows) -> Tensor:
        return self.distributions(rows).mode()

    def bit_probabilities(self, rows: Rows) -> Tensor:
        return self.distributions(rows).marginals()

    def linear(self) -> tuple[str, str] | None:
        # Exact types: a subclass may compute something else from the same weights.
        independent = type(self.structure) is Chain and self.structure.order == 0
        return LINEAR if independent and type(self.encoder) is Encoder and self.encoder.is_linear else None

    def conditional_entropy(self, batch: Batch) -> tuple[Tensor, Distributions]:
        """Return the mean H(Z|Y) or H⁺(Z|X) of a batch, and the distributions whose H(Z) counts."""
        p = self.distributions(batch.y)
        if batch.x is None:
            return p.entropy().mean(), p
        if self.related_encoder is not None:
            return p.cross_entropy(self._read(self.related_encoder, self.related_structure, batch.x)).mean(), p
        q = self.distributions(batch.x)
        means = [first.cross_entropy(second).mean() for first in (p, q) for second in (p, q)]
        return torch.stack(means).mean(), self.structure.read(torch.cat((p.logits, q.logits)))

    def _read(self, network: nn.Module, structure: Structure, rows: Rows) -> Distributions:
        return structure.read(structure.table(network(self.scaling(rows))))


class AMMIObjective(InformationObjective):
    """H(Z) is bounded by H⁺(Z), the cross entropy between the codes and the adversary's prior."""

    def __init__(self, adversary: Adversary, encoder: Reader, related: Reader | None, entropy_weight: float):
        super().__init__(encoder, related, entropy_weight)
        self.adversary = adversary

    def code_entropy(self, p: Distributions) -> Tensor:
        return self.adversary.cross_entropy(p)

    def pretrain(self, X: Matrix, rng: np.random.Generator, progress: Progress) -> None:
        self.scaling.learn(X, next(self.parameters()).device)

    def trained(self) -> Iterator[nn.Parameter]:
        """Return all parameters but the adversary's, which trains itself."""
        own = set(self.adversary.parameters())
        return (parameter for parameter in self.parameters() if parameter not in own)


class BMMIObjective(InformationObjective):
    """H(Z) is computed exactly, over all 2^m codes."""

    def code_entropy(self, p: Distributions) -> Tensor:
        return p.mixture_entropy()
