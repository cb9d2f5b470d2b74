"""AMMI: codes learned by adversarially maximising mutual information (the paper's method).

max over the encoder, min over the prior, of β H⁺(Z) - H(Z|Y): H⁺(Z) is the cross entropy between the codes of a batch
and a prior q(z), a Markov chain of order r > o that an adversary fits to them.

By default each document is predicted from a near one. Which ones are near is decided twice: first by the words of the
documents, then by the codes of a first, wide model that was trained on those.
"""

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from torch import Tensor, nn

from ammi.chain import Chain, Distributions
from ammi.hashers.base import MOST_BITS
from ammi.hashers.chains import MOST_ORDER, ChainHasher, InformationObjective, Reader
from ammi.hashers.given import Given
from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.stage import Stage
from ammi.hashers.trained import MOST_RATE, MOST_SIZE
from ammi.nets.encoder import Encoder
from ammi.nets.matrix import Matrix
from ammi.nets.prior import Prior
from ammi.training.adversaries import Adversary, ExactAdversary, GradientAdversary
from ammi.training.batches import Batches
from ammi.training.progress import AsPart, Progress
from ammi.training.steps import CompiledSteps, Steps

MOST_COMPILED_ORDER = 7

# Chosen on the validation parts of the benchmark sets (LOG.md).
_FIRST_NEIGHBOURS, _FIRST_SHARE = 10, 2 / 3  # the share is of the epochs
_LEAN = 2.0  # to near ones, where a first model has found them
_EPOCHS_ALONE, _EPOCHS_OF_PAIRS = 40, 60
_PRIOR_ORDER, _PRIOR_ORDER_OF_PAIRS = 3, 5
_STEPS, _MOST_EPOCHS = 1500, 200  # small collections
_EPOCHS, _MOST_STEPS, _LEAST_EPOCHS = 10, 6000, 2  # large ones


class AMMIObjective(InformationObjective):
    """Its H(Z) is the upper bound that the adversary leaves."""

    def __init__(self, adversary: Adversary, encoder: Reader, related: Reader | None, entropy_weight: float):
        super().__init__(encoder, related, entropy_weight)
        self.adversary = adversary

    def code_entropy(self, p: Distributions) -> Tensor:
        prior = self.adversary.structure
        statistics = prior.mean_statistics(self.adversary.arranged(p))
        if not self.training:
            return prior.cross_entropy_of(statistics, self.adversary.prior())
        return prior.cross_entropy_of(statistics, self.adversary.respond(statistics.detach()))

    def pretrain(self, X: Matrix, rng: np.random.Generator, progress: Progress) -> None:
        self.scaling.learn(X, next(self.parameters()).device)

    def steps(self, batches: Batches, learning_rate: float, clip: float) -> Steps:
        if not self._is_compiled(batches):
            return super().steps(batches, learning_rate, clip)
        assert isinstance(self.encoder, Encoder)
        assert isinstance(self.adversary, ExactAdversary)
        layer = self.encoder.first
        return CompiledSteps(
            layer.weight,
            layer.bias,
            self.adversary,
            entropy_weight=self.entropy_weight,
            learning_rate=learning_rate,
            clip=clip,
        )

    def _is_compiled(self, batches: Batches) -> bool:
        """Whether there are compiled steps for such batches."""
        return (
            self.linear() is not None
            and self.related_encoder is None
            and isinstance(self.adversary, ExactAdversary)
            and self.adversary.structure.shape[1] <= 2**MOST_COMPILED_ORDER
            and not isinstance(batches.Y, np.ndarray)
            and batches.device.type == "cpu"
        )

    def trained(self) -> Iterator[nn.Parameter]:
        """All but the adversary's, which trains itself."""
        own = {id(parameter) for parameter in self.adversary.parameters()}
        return (parameter for parameter in self.parameters() if id(parameter) not in own)


@estimator
class AMMI(ChainHasher):
    """Binary codes that keep as much information about the documents as possible."""

    prior_order: int | None = parameter(
        "Markov order r of the prior, at least `order`; r = order is allowed but poor, since the prior then cannot "
        "model what the codes of different documents have in common. Useful: order + 1 to order + 5. None stands for "
        "3, and for 5 where one encoder reads related documents.",
        default=None,
        whole=True,
        least=0,
        most=MOST_ORDER,
        optional=True,
    )
    adversary: Literal["exact", "gradient"] = parameter(
        "'exact', the best prior in closed form, or 'gradient', the paper's, which takes gradient steps.",
        default="exact",
        choices=("exact", "gradient"),
    )
    adversary_steps: int = parameter(
        "G, gradient steps a batch. The paper's grid: 1, 2, 4.", default=4, whole=True, least=1
    )
    adversary_learning_rate: float = parameter(
        "η' of these steps. The paper's grid: 0.001 to 0.03.", default=0.03, above=0, most=MOST_RATE
    )
    adversary_layers: int = parameter(
        "ReLU layers of its network. The paper's program: 0 to 2.", default=1, whole=True, least=0, most=100
    )
    adversary_size: int = parameter(
        "width H of its network; 0 makes it a raw table. The paper's program: 8 to 28.",
        default=16,
        whole=True,
        least=0,
        most=MOST_SIZE,
    )

    epochs: int | None = parameter(
        "at most so many. None stands for 60 with related documents, and for 40 without neighbours; with "
        "neighbours for as many as make 1,500 steps, or in large collections for 10, or for as many fewer as make "
        "6,000 steps.",
        default=None,
        whole=True,
        least=1,
        optional=True,
    )
    neighbours: int = 100
    entropy_weight: float = 2.25
    first_bits: int = parameter(
        "width of the first model, whose codes help to say which documents are near; 0 leaves it out. Useful: 128.",
        default=128,
        whole=True,
        least=0,
        most=MOST_BITS,
    )
    reorder: int = parameter(
        "where one encoder of independent bits reads pairs, the exact adversary puts the bits into another random "
        "order after so many batches, so that no two may come to say the same; 0 keeps the order. Useful: 5 to 20.",
        default=10,
        whole=True,
        least=0,
        most=2**31 - 1,
    )

    def objective(self, n_features: int, predictive: bool) -> AMMIObjective:
        readers = self._readers(n_features, predictive)
        return AMMIObjective(self._adversary(predictive), *readers, self.entropy_weight)

    def _adversary(self, predictive: bool) -> Adversary:
        structure = Chain(self.n_bits, self._prior_order(predictive))
        if self.adversary == "exact":
            reordered = self._sees_pairs(predictive) and self.order == 0
            return ExactAdversary(structure, reorder=self.reorder if reordered else 0)
        network = Prior(structure, self.adversary_layers, self.adversary_size)
        return GradientAdversary(
            network, self.adversary_steps, self.adversary_learning_rate, self.clip, self.init_range
        )

    def _prior_order(self, predictive: bool) -> int:
        if self.prior_order is not None:
            return self.prior_order
        return _PRIOR_ORDER_OF_PAIRS if predictive and self.related_encoder == "shared" else _PRIOR_ORDER

    def _near_documents(self, stage: Stage) -> NDArray | None:
        codes = self._first_codes(stage) if self.first_bits and self.neighbours and len(stage.rows) > 1 else None
        return self._nearest(stage, self.neighbours, codes)

    def _lean(self) -> float:
        return _LEAN if self.first_bits else 1.0

    def _first_codes(self, stage: Stage) -> NDArray[np.float32]:
        """What a first model, trained on neighbours by words, expects the bits of each document to be, from -1 to 1."""
        epochs = math.ceil(_FIRST_SHARE * self._n_epochs(stage.given.X.shape[0], predictive=False))
        first = clone(self).set_params(
            n_bits=self.first_bits,
            first_bits=0,
            neighbours=min(self.neighbours, _FIRST_NEIGHBOURS),
            reorder=0,
            epochs=epochs,
        )
        checkpoint = stage.checkpoint.part("first") if stage.checkpoint else None
        first_stage = replace(
            stage,
            given=replace(stage.given, validation=None),
            progress=AsPart(stage.progress, "first model"),
            checkpoint=checkpoint,
            saved=checkpoint.load() if checkpoint else None,
        )
        first._begin(first_stage)
        near = first._pairs_of_its_own(first_stage)
        if first._learn(first_stage, near, first._scorer(first_stage.given, None)).interrupted:
            raise KeyboardInterrupt
        codes = first._marginals(stage.given.X)
        codes *= 2
        codes -= 1
        return codes

    def _n_epochs(self, n_documents: int, predictive: bool) -> int:
        if self.epochs is not None:
            return self.epochs
        if predictive or not self.neighbours:
            return _EPOCHS_OF_PAIRS if predictive else _EPOCHS_ALONE
        steps = math.ceil(n_documents / self.batch_size)  # of an epoch
        small, large = math.ceil(_STEPS / steps), min(_EPOCHS, math.ceil(_MOST_STEPS / steps))
        return max(min(small, _MOST_EPOCHS), large, _LEAST_EPOCHS)

    def _keeps_last(self, given: Given) -> bool:
        return self._sees_pairs(given.related is not None)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        Chain(self.n_bits, self._prior_order(predictive=False)).check_prior(Chain(self.n_bits, self.order))
