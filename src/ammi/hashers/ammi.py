"""AMMI: codes learned by adversarially maximising mutual information (the paper's method).

max over the encoder, min over the prior, of β H⁺(Z) - H(Z|Y): H⁺(Z) is the cross entropy between the codes of a batch
and a prior q(z), a Markov chain of order r > o that an adversary fits to them.
"""

from collections.abc import Iterator
from typing import Literal

import numpy as np
from torch import Tensor, nn

from ammi.chain import Chain, Distributions
from ammi.hashers.chains import MOST_ORDER, ChainHasher, InformationObjective, Reader
from ammi.hashers.parameters import estimator, parameter
from ammi.nets.matrix import Matrix
from ammi.nets.prior import Prior
from ammi.training.adversaries import Adversary, ExactAdversary, GradientAdversary
from ammi.training.progress import Progress


class AMMIObjective(InformationObjective):
    """Its H(Z) is the upper bound that the adversary leaves."""

    def __init__(self, adversary: Adversary, encoder: Reader, related: Reader | None, entropy_weight: float):
        super().__init__(encoder, related, entropy_weight)
        self.adversary = adversary

    def code_entropy(self, p: Distributions) -> Tensor:
        prior = self.adversary.structure
        statistics = prior.mean_statistics(p)
        table = self.adversary.respond(statistics.detach()) if self.training else self.adversary.prior()
        return prior.cross_entropy_of(statistics, table)

    def pretrain(self, X: Matrix, rng: np.random.Generator, progress: Progress) -> None:
        self.scaling.learn(X, next(self.parameters()).device)

    def trained(self) -> Iterator[nn.Parameter]:
        """All but the adversary's, which trains itself."""
        own = {id(parameter) for parameter in self.adversary.parameters()}
        return (parameter for parameter in self.parameters() if id(parameter) not in own)


@estimator
class AMMI(ChainHasher):
    """Binary codes that keep as much information about the documents as possible."""

    prior_order: int = parameter(
        "Markov order r of the prior, at least `order`; r = order is allowed but poor, since the prior then cannot "
        "model what the codes of different documents have in common. Useful: order + 1 to order + 5.",
        default=3,
        whole=True,
        least=0,
        most=MOST_ORDER,
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
        "η' of these steps. The paper's grid: 0.001 to 0.03.", default=0.03, above=0
    )
    adversary_layers: int = parameter(
        "ReLU layers of its network. The paper's program: 0 to 2.", default=1, whole=True, least=0, most=100
    )
    adversary_size: int = parameter(
        "width H of its network; 0 makes it a raw table. The paper's program: 8 to 28.", default=16, whole=True, least=0
    )

    def objective(self, n_features: int, predictive: bool) -> AMMIObjective:
        readers = self._readers(n_features, predictive)
        return AMMIObjective(self._adversary(), *readers, self.entropy_weight)

    def _adversary(self) -> Adversary:
        structure = Chain(self.n_bits, self.prior_order)
        if self.adversary == "exact":
            return ExactAdversary(structure)
        network = Prior(structure, self.adversary_layers, self.adversary_size)
        return GradientAdversary(
            network, self.adversary_steps, self.adversary_learning_rate, self.clip, self.init_range
        )

    def _check_parameters(self) -> None:
        super()._check_parameters()
        Chain(self.n_bits, self.prior_order).check_prior(Chain(self.n_bits, self.order))
