"""AMMI: codes learned by adversarially maximising mutual information (the paper's method).

max over the encoder, min over the prior, of β H⁺(Z) - H(Z|Y): H⁺(Z) is the cross entropy between the codes of a batch
and a prior q(z) that an adversary fits to them: a Markov chain of order r > o, or another structure.

By default each document is predicted from one of its neighbours. Neighbours are found twice: first by words, then also
by the codes of a first, wide model that was trained on the first neighbours.
"""

import copy
import math
from dataclasses import replace
from functools import partial
from typing import Literal

from sklearn.base import clone
from torch import nn

from ammi.chain import Chain, Structure
from ammi.hashers.base import MOST_BITS
from ammi.hashers.information import MOST_ORDER, InformationHasher
from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.trained import MOST_RATE, MOST_SIZE
from ammi.nets.prior import Prior
from ammi.training.adversaries import Adversary, ExactAdversary, GradientAdversary, StructuredAdversary
from ammi.training.information import AMMIObjective
from ammi.training.recipe import DataShape, Recipe
from ammi.training.sampled import SampledAdversary

# Chosen on the validation parts of the benchmark sets (LOG.md).
_FIRST_NEIGHBOURS, _FIRST_SHARE = 10, 2 / 3  # the share is of the epochs
_SAMPLING_EXPONENT = 2.0  # prefers near ones, if a first model has found them
_EPOCHS_ALONE, _EPOCHS_OF_PAIRS = 40, 60
_PRIOR_ORDER, _PRIOR_ORDER_OF_PAIRS = 3, 5
_STEPS, _MOST_EPOCHS = 1500, 200  # small collections
_EPOCHS, _MOST_STEPS, _LEAST_EPOCHS = 10, 6000, 2  # large ones


@estimator
class AMMI(InformationHasher):
    """Binary codes that keep as much information about the documents as possible."""

    prior_order: int | None = parameter(
        "Markov order r of the prior, at least `order`; r = order is allowed but poor, since the prior then cannot "
        "model what the codes of different documents have in common. Useful: order + 1 to order + 5. By default 3, or "
        "5 if one encoder reads related documents, and more than `order`.",
        default=None,
        whole=True,
        least=0,
        most=MOST_ORDER,
        optional=True,
    )
    prior: Structure | None = parameter(
        "in place of prior_order, the structure of the prior, such as ammi.chain.Tree, or one of your own (ammi.parts "
        "says how it is saved).",
        default=None,
        types=(Structure,),
        optional=True,
    )
    adversary: Literal["exact", "gradient", "sampled"] | Adversary = parameter(
        "'exact', the best prior in closed form; 'gradient', the paper's, which takes gradient steps; 'sampled', an "
        "autoregressive prior in which each bit sees all bits before it, for documents alone (neighbours 0) with an "
        "entropy_weight of 1 to 1.5; or an object of your own, a copy of which is trained, with its own prior.",
        default="exact",
        choices=("exact", "gradient", "sampled"),
        types=(Adversary,),
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
        "largest number of epochs. By default 60 with related documents and 40 without neighbours; with neighbours as "
        "many as make 1,500 steps, in large collections 10, or fewer if 10 are more than 6,000 steps.",
        default=None,
        whole=True,
        least=1,
        optional=True,
    )
    neighbours: int = 100
    entropy_weight: float = 2.25
    first_bits: int = parameter(
        "width of the first model, whose codes help to find neighbours; 0 leaves it out. Useful: 128.",
        default=128,
        whole=True,
        least=0,
        most=MOST_BITS,
    )
    reorder: int = parameter(
        "if one encoder reads pairs and its bits are independent or a tree, the exact adversary takes another random "
        "order of the bits after this many batches, so that no two bits become equal; 0 keeps the order. Useful: 5 to "
        "20.",
        default=10,
        whole=True,
        least=0,
        most=2**31 - 1,
    )

    def objective(self, n_features: int, predictive: bool) -> AMMIObjective:
        readers = self._readers(n_features, predictive)
        return AMMIObjective(self._make_adversary(predictive), *readers, self.entropy_weight)

    def recipe(self, shape: DataShape) -> Recipe:
        return replace(
            super().recipe(shape),
            epochs=self._n_epochs(shape),
            sampling_exponent=_SAMPLING_EXPONENT if self.first_bits else 1.0,
            first_model=partial(self._first_recipe, shape) if self.first_bits else None,
        )

    def _first_recipe(self, shape: DataShape) -> Recipe:
        """Return the recipe of the first model: AMMI again, wider, on neighbours by words, for fewer epochs."""
        first = clone(self).set_params(
            n_bits=self.first_bits,
            first_bits=0,
            neighbours=min(self.neighbours, _FIRST_NEIGHBOURS),
            reorder=0,
            epochs=math.ceil(_FIRST_SHARE * self._n_epochs(shape)),
            # Objects are made for codes of n_bits bits; the first model has the defaults in their place.
            structure=None,
            prior=None,
            adversary="gradient" if self.adversary == "gradient" else "exact",
            encoder=None if isinstance(self.encoder, nn.Module) else self.encoder,
        )
        return first.recipe(shape)

    def _make_adversary(self, predictive: bool) -> Adversary:
        if isinstance(self.adversary, Adversary):
            return copy.deepcopy(self.adversary)
        if self.adversary == "sampled":
            return SampledAdversary(self.n_bits, init_range=self.init_range)
        prior, encoder = self._prior_structure(predictive), self._structure()
        if self.adversary == "exact":
            reordered = self._reads_pairs(predictive) and encoder.reordered(range(self.n_bits)) is not None
            return ExactAdversary(prior, reorder=self.reorder if reordered else 0)
        network = Prior(prior, self.adversary_layers, self.adversary_size)
        return GradientAdversary(
            network, self.adversary_steps, self.adversary_learning_rate, self.clip, self.init_range
        )

    def _prior_structure(self, predictive: bool) -> Structure:
        if self.prior is not None:
            return self.prior
        if self.prior_order is not None:
            return Chain(self.n_bits, self.prior_order)
        usual = _PRIOR_ORDER_OF_PAIRS if predictive and self.related_encoder == "shared" else _PRIOR_ORDER
        order = self._structure().shape[1].bit_length() - 1  # how many bits each bit of the encoder depends on
        return Chain(self.n_bits, max(usual, order + 1))

    def _n_epochs(self, shape: DataShape) -> int:
        if self.epochs is not None:
            return self.epochs
        if shape.predictive or not self.neighbours:
            return _EPOCHS_OF_PAIRS if shape.predictive else _EPOCHS_ALONE
        steps = math.ceil(shape.n_documents / self.batch_size)  # of an epoch
        small, large = math.ceil(_STEPS / steps), min(_EPOCHS, math.ceil(_MOST_STEPS / steps))
        return max(min(small, _MOST_EPOCHS), large, _LEAST_EPOCHS)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.prior is not None and self.prior_order is not None:
            raise ValueError("prior takes the place of prior_order: leave one of them out")
        prior: Structure | None = self._prior_structure(predictive=False)
        if isinstance(self.adversary, Adversary) or self.adversary == "sampled":
            if self.prior is not None or self.prior_order is not None:
                raise ValueError("this adversary has its own prior: leave out prior and prior_order")
            prior = self.adversary.structure if isinstance(self.adversary, StructuredAdversary) else None
        if prior is not None:
            self._check_bits("prior", prior)
            prior.check_prior(self._structure())
