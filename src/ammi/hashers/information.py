"""What AMMI and BMMI share: the parameters of an InformationObjective, and its encoders."""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ammi.chain import Chain, Structure
from ammi.hashers.encoders import EncoderHasher
from ammi.hashers.hyperplanes import HyperplaneNames
from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.running import bit_probabilities
from ammi.hashers.training_data import rows_beside
from ammi.nets.encoder import Encoder, initialise
from ammi.nets.matrix import MatrixLike
from ammi.nets.scaling import SCALING
from ammi.training.information import InformationObjective, Reader
from ammi.training.recipe import DataShape, Recipe
from ammi.training.validation import mean_figures

MOST_ORDER = 20


@estimator
class InformationHasher(EncoderHasher):
    """An estimator around an InformationObjective, whose structure is a Markov chain by default."""

    predictive = True

    order: int = parameter(
        "Markov order o of the encoder; 0 makes the bits independent given the document.",
        default=0,
        whole=True,
        least=0,
        most=MOST_ORDER,
    )
    structure: Structure | None = parameter(
        "in place of the order, the structure of the encoder's bits given the document, such as ammi.chain.Tree, or "
        "one of your own (ammi.parts says how it is saved).",
        default=None,
        types=(Structure,),
        optional=True,
    )
    related_encoder: Literal["shared", "own"] = parameter(
        "with related documents: 'shared' uses one encoder for both documents of a pair, 'own' the paper's two.",
        default="shared",
        choices=("shared", "own"),
    )
    related_order: int | None = parameter(
        "Markov order h of the related documents' own encoder, at least `order`, which is the default.",
        default=None,
        whole=True,
        least=0,
        most=MOST_ORDER,
        optional=True,
    )
    neighbours: int = parameter(
        "without related documents, pair each document with one of its nearest ones, this many or a twentieth of all, "
        "drawn anew each time; 0 trains on documents alone, as the paper does. Useful: 10 to 100.",
        default=10,
        whole=True,
        least=0,
    )
    word_dropout: float = parameter(
        "if one encoder reads pairs, the share of words left out of sparse rows, drawn anew each time. "
        "Useful: 0 to 0.3.",
        default=0.3,
        least=0,
        below=1,
    )
    entropy_weight: float = parameter("β, the weight of H(Z). The paper's grid: 1 to 3.5.", default=1.5, above=0)

    def recipe(self, shape: DataShape) -> Recipe:
        return replace(
            super().recipe(shape),
            keep="last" if self._reads_pairs(shape.predictive) else "best",
            rising="information",
            neighbours=0 if shape.predictive else self.neighbours,
            word_dropout=self.word_dropout if self._reads_pairs(shape.predictive) else 0.0,
        )

    def bit_probabilities(self, X: MatrixLike) -> NDArray[np.float32]:
        """Return the probability (n, m) of each bit to be 1."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        with self._reading():
            return bit_probabilities(self.objective_, X, self._device())

    def score(self, X: MatrixLike, y: object = None, *, related: MatrixLike | None = None) -> float:
        """Return the information estimate H(Z) - H(Z|Y) on these documents, in bits; with `related`, H(Z) - H⁺(Z|X)."""
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        related = None if related is None else rows_beside(self, related, "related", len_of=X)
        with self._reading():
            return mean_figures(self.objective_, X, related, self._device())["information"]

    def hyperplanes(self) -> HyperplaneNames | None:
        assert isinstance(self.objective_, InformationObjective)
        names, scaled = super().hyperplanes(), self.objective_.scaling.centre is not None
        return HyperplaneNames(*names[:3], *SCALING) if names and scaled else names

    def _readers(self, n_features: int, predictive: bool) -> tuple[Reader, Reader | None]:
        """Make p(z|y) and, if related documents have an encoder of their own, q(z|x)."""
        two = predictive and self.related_encoder == "own"
        structures = [self._structure(), self._related_structure()] if two else [self._structure()]
        readers = []
        for structure in structures:
            network = self._encoder(n_features, structure.n_logits)
            if isinstance(network, Encoder) and not callable(self.encoder):  # a user's network comes initialised
                initialise(network, self.init_range)
            readers.append(Reader(network, structure))
        return readers[0], readers[1] if two else None

    def _structure(self) -> Structure:
        """Return the structure of p(z|y)."""
        return Chain(self.n_bits, self.order) if self.structure is None else self.structure

    def _related_structure(self) -> Structure:
        """Return the structure of q(z|x), which is that of p(z|y) unless an order is given."""
        return self._structure() if self.related_order is None else Chain(self.n_bits, self.related_order)

    def _reads_pairs(self, predictive: bool) -> bool:
        """Return whether one encoder reads both documents of pairs, be they related documents or neighbours."""
        return self.related_encoder == "shared" if predictive else self.neighbours > 0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        self._check_bits("structure", self.structure)
        if self.structure is not None and (self.order or self.related_order is not None):
            raise ValueError("structure takes the place of order and related_order: leave these out")
        if self.related_order is not None and self.related_order < self.order:
            raise ValueError(
                f"related_order must be at least the encoder's order {self.order}, got {self.related_order}"
            )
        if self.related_encoder == "shared" and self.related_order not in (None, self.order):
            raise ValueError(
                f"related_order is {self.related_order}, but a shared encoder has the one order {self.order}: leave it "
                "out, or set related_encoder='own'"
            )

    def _check_bits(self, name: str, structure: Structure | None) -> None:
        """Refuse a structure of codes of another length."""
        if structure is not None and structure.shape[0] != self.n_bits:
            raise ValueError(f"{name} has {structure.shape[0]} bits and the codes {self.n_bits}: make it of as many")
