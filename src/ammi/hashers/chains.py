"""What AMMI and BMMI share: an encoder p(z|y) with a structure, trained to maximise H(Z) - H(Z|X).

    max over the encoder of  β H(Z) - H(Z|Y)       documents alone           (the paper's equation 5)
                             β H(Z) - H⁺(Z|X)      with related documents    (the paper's equation 3)

H⁺(Z|X) is the cross entropy between p(z|y) and a second encoder q(z|x) of the related document. Without related
documents the collection can give its own: x is then one of the nearest documents of y, read by the same encoder, and
the conditional entropy is half H(Z|Y) and half H⁺(Z|X).
"""

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from ammi.chain import Chain, Distributions, Structure
from ammi.hashers.encoders import EncoderHasher
from ammi.hashers.given import Given, rows_beside
from ammi.hashers.hyperplanes import HyperplaneNames
from ammi.hashers.parameters import estimator, parameter
from ammi.nets.encoder import LINEAR, Encoder, initialise
from ammi.nets.rows import Rows
from ammi.nets.scaling import SCALING, Scaling
from ammi.nets.units import BITS_PER_NAT
from ammi.training.batches import Batch
from ammi.training.neighbours import nearest_documents
from ammi.training.objective import Figures, Objective
from ammi.training.progress import Progress

MOST_ORDER = 20


class Reader(NamedTuple):
    """A network, and the structure of the distributions that its outputs are."""

    network: nn.Module
    structure: Structure


class InformationObjective(Objective):
    """Encoders and the objective. A method says what H(Z) of a batch is, and whether dense rows are scaled."""

    rising = "information"

    def __init__(self, encoder: Reader, related: Reader | None, entropy_weight: float):
        super().__init__()
        self.scaling = Scaling()
        self.encoder, self.structure = encoder.network, encoder.structure
        self.related_encoder = related.network if related else None
        self.related_structure = related.structure if related else encoder.structure
        self.entropy_weight = entropy_weight

    @abstractmethod
    def code_entropy(self, p: Distributions) -> Tensor:
        """H(Z), or its upper bound, of a batch."""

    def distributions(self, rows: Rows) -> Distributions:
        """p(z|y) of each row."""
        return self._read(self.encoder, self.structure, rows)

    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        p = self.distributions(batch.y)
        conditional = self._conditional_entropy(p, batch.x)
        code = self.code_entropy(p)
        figures = {
            "entropy": code * BITS_PER_NAT,
            "conditional_entropy": conditional * BITS_PER_NAT,
            "information": (code - conditional) * BITS_PER_NAT,
        }
        return conditional - self.entropy_weight * code, figures

    def bits(self, rows: Rows) -> Tensor:
        return self.distributions(rows).mode()

    def linear(self) -> tuple[str, str] | None:
        independent = isinstance(self.structure, Chain) and self.structure.order == 0
        return LINEAR if independent and isinstance(self.encoder, Encoder) and self.encoder.is_linear else None

    def _conditional_entropy(self, p: Distributions, x: Rows | None) -> Tensor:
        """H(Z|Y), H⁺(Z|X), or half of each: the mean of cross entropies between p and one or two q."""
        if x is None:
            return p.entropy().mean()
        if self.related_encoder is None:
            return torch.stack([p.cross_entropy(q).mean() for q in (p, self.distributions(x))]).mean()
        return p.cross_entropy(self._read(self.related_encoder, self.related_structure, x)).mean()

    def _read(self, network: nn.Module, structure: Structure, rows: Rows) -> Distributions:
        return structure.read(structure.table(network(self.scaling(rows))))


@estimator
class ChainHasher(EncoderHasher):
    """An estimator around an InformationObjective whose structure is a Markov chain."""

    predictive = True

    order: int = parameter(
        "Markov order o of the encoder; 0 makes the bits independent given the document.",
        default=0,
        whole=True,
        least=0,
        most=MOST_ORDER,
    )
    related_order: int | None = parameter(
        "Markov order h of the encoder of related documents, at least `order`, which is what None stands for.",
        default=None,
        whole=True,
        least=0,
        most=MOST_ORDER,
        optional=True,
    )
    neighbours: int = parameter(
        "without related documents, pair each document with one of this many nearest ones (cosine), drawn anew each "
        "time; 0 trains on documents alone, as the paper does. Useful: 5 to 25.",
        default=10,
        whole=True,
        least=0,
    )
    entropy_weight: float = parameter("β, the weight of H(Z). The paper's grid: 1 to 3.5.", default=1.75, above=0)

    def bit_probabilities(self, X: Any) -> NDArray[np.float32]:
        """The probability (n, m) that each bit is 1."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        with self._reading():
            return np.concatenate(
                [self._information().distributions(rows).marginals().cpu().numpy() for rows in self._blocks(X)]
            )

    def score(self, X: Any, y: Any = None, *, related: Any = None) -> float:
        """The information estimate H(Z) - H(Z|Y) on these documents, in bits; with `related`, H(Z) - H⁺(Z|X)."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        related = None if related is None else rows_beside(self, related, "related", len_of=X)
        with self._reading():
            return self._measure(X, related)["information"]

    def hyperplanes(self) -> HyperplaneNames | None:
        names = super().hyperplanes()
        scaled = self._information().scaling.centre is not None
        return HyperplaneNames(*names[:3], *SCALING) if names and scaled else names

    def _information(self) -> InformationObjective:
        assert isinstance(self.objective_, InformationObjective)
        return self.objective_

    def _readers(self, n_features: int, predictive: bool) -> tuple[Reader, Reader | None]:
        """p(z|y) of order o and, for related documents, q(z|x) of order h."""
        orders = [self.order, self._related_order()] if predictive else [self.order]
        readers = []
        for structure in (Chain(self.n_bits, order) for order in orders):
            network = self._encoder(n_features, structure.n_logits)
            if isinstance(network, Encoder):  # a network of one's own comes as it wants to start
                initialise(network, self.init_range)
            readers.append(Reader(network, structure))
        return readers[0], readers[1] if predictive else None

    def _related_order(self) -> int:
        return self.order if self.related_order is None else self.related_order

    def _looks_for_neighbours(self) -> bool:
        return self.neighbours > 0

    def _near_documents(
        self, given: Given, among: NDArray, rng: np.random.Generator, progress: Progress
    ) -> NDArray | None:
        if not self.neighbours or len(among) < 2:
            return None
        advance = progress.part("neighbours", given.X.shape[0])
        return nearest_documents(given.X, self.neighbours, among, rng, advance, given.views)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._related_order() < self.order:
            raise ValueError(
                f"related_order must be at least the encoder's order {self.order}, got {self.related_order}"
            )
