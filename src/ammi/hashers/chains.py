"""What AMMI and BMMI share: an encoder p(z|y) with a structure, trained to maximise H(Z) - H(Z|X).

    max over the encoder of  β H(Z) - H(Z|Y)       documents alone           (the paper's equation 5)
                             β H(Z) - H⁺(Z|X)      with related documents    (the paper's equation 3)

H⁺(Z|X) is the cross entropy between p(z|y) and a second encoder q(z|x) of the related document. One encoder may read
both documents instead, p of the one and q of the other. Then either of them is predicted from the other: the
conditional entropy is the mean of H(p), H(p, q), H(q) and H(q, p), and H(Z) is of the codes of both. Without related
documents the collection gives its own: x is one of the nearest documents of y.
"""

from abc import abstractmethod
from typing import Any, Literal, NamedTuple

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
from ammi.hashers.stage import Stage
from ammi.nets.encoder import LINEAR, Encoder, initialise
from ammi.nets.matrix import Matrix
from ammi.nets.rows import Rows
from ammi.nets.scaling import SCALING, Scaling
from ammi.nets.units import BITS_PER_NAT
from ammi.training.batches import Batch
from ammi.training.neighbours import nearest_documents
from ammi.training.objective import Figures, Objective

MOST_ORDER = 20
_AT_MOST = 20  # one in so many documents is near


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
        conditional, codes = self._conditional_entropy(batch)
        code = self.code_entropy(codes)
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

    def _conditional_entropy(self, batch: Batch) -> tuple[Tensor, Distributions]:
        """Mean H(Z|Y), H⁺(Z|X), or what pairs that one encoder reads have for it; and the codes whose H(Z) counts."""
        p = self.distributions(batch.y)
        if batch.x is None:
            return p.entropy().mean(), p
        if self.related_encoder is not None:
            return p.cross_entropy(self._read(self.related_encoder, self.related_structure, batch.x)).mean(), p
        q = self.distributions(batch.x)
        means = [one.cross_entropy(other).mean() for one in (p, q) for other in (p, q)]
        return torch.stack(means).mean(), self.structure.read(torch.cat((p.logits, q.logits)))

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
    related_encoder: Literal["shared", "own"] = parameter(
        "with related documents, 'shared' has one encoder for both documents of a pair, 'own' the paper's two.",
        default="shared",
        choices=("shared", "own"),
    )
    related_order: int | None = parameter(
        "Markov order h of an own encoder of related documents, at least `order`, which is what None stands for.",
        default=None,
        whole=True,
        least=0,
        most=MOST_ORDER,
        optional=True,
    )
    neighbours: int = parameter(
        "without related documents, pair each document with one of this many nearest ones, or of a twentieth of all "
        "where that is less, drawn anew each time; 0 trains on documents alone, as the paper does. Useful: 10 to 100.",
        default=10,
        whole=True,
        least=0,
    )
    word_dropout: float = parameter(
        "where one encoder reads pairs, the share of the words of sparse rows that is left out, drawn anew each time. "
        "Useful: 0 to 0.3.",
        default=0.3,
        least=0,
        below=1,
    )
    entropy_weight: float = parameter("β, the weight of H(Z). The paper's grid: 1 to 3.5.", default=1.75, above=0)

    def bit_probabilities(self, X: Any) -> NDArray[np.float32]:
        """The probability (n, m) that each bit is 1."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        return self._marginals(X)

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

    def _marginals(self, X: Matrix) -> NDArray[np.float32]:
        with self._reading():
            return np.concatenate(
                [self._information().distributions(rows).marginals().cpu().numpy() for rows in self._blocks(X)]
            )

    def _information(self) -> InformationObjective:
        assert isinstance(self.objective_, InformationObjective)
        return self.objective_

    def _readers(self, n_features: int, predictive: bool) -> tuple[Reader, Reader | None]:
        """p(z|y) of order o and, for related documents, q(z|x) of order h."""
        two = predictive and self.related_encoder == "own"
        orders = [self.order, self._related_order()] if two else [self.order]
        readers = []
        for structure in (Chain(self.n_bits, order) for order in orders):
            network = self._encoder(n_features, structure.n_logits)
            if isinstance(network, Encoder):  # a network of one's own comes as it wants to start
                initialise(network, self.init_range)
            readers.append(Reader(network, structure))
        return readers[0], readers[1] if two else None

    def _related_order(self) -> int:
        return self.order if self.related_order is None else self.related_order

    def _looks_for_neighbours(self) -> bool:
        return self.neighbours > 0

    def _near_documents(self, stage: Stage) -> NDArray | None:
        return self._nearest(stage, self.neighbours)

    def _nearest(self, stage: Stage, k: int, codes: NDArray[np.float32] | None = None) -> NDArray | None:
        if not k or len(stage.rows) < 2:
            return None
        k = min(k, max(1, len(stage.rows) // _AT_MOST))
        advance = stage.progress.part("neighbours", len(stage.rows))
        return nearest_documents(stage.given.X, k, stage.rows, stage.rng, advance, stage.given.views, codes)

    def _sees_pairs(self, predictive: bool) -> bool:
        """Whether one encoder reads both documents of pairs: of related ones, or of those that are near."""
        return self.related_encoder == "shared" if predictive else self.neighbours > 0

    def _dropout(self, given: Given) -> float:
        return self.word_dropout if self._sees_pairs(given.related is not None) else 0.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self._related_order() < self.order:
            raise ValueError(
                f"related_order must be at least the encoder's order {self.order}, got {self.related_order}"
            )
        if self.related_encoder == "shared" and self._related_order() != self.order:
            raise ValueError(
                f"related_order is {self.related_order}, but a shared encoder has the one order {self.order}: leave it "
                "out, or set related_encoder='own'"
            )
