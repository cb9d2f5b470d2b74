"""AMMI: codes learned by adversarially maximising mutual information (the paper's method).

max over the encoder, min over the prior, of β H⁺(Z) - H(Z|Y): H⁺(Z) is the cross entropy between the codes of a batch
and a prior q(z), a Markov chain of order r > o that an adversary fits to them.
"""

from typing import Any, Literal

from torch import Tensor, nn

from ammi.chain import mean_windows, windows_cross_entropy
from ammi.hashers.chains import ChainHasher, ChainModel
from ammi.nets.prior import Prior
from ammi.training.adversaries import Adversary, ExactAdversary, GradientAdversary


class AMMIModel(ChainModel):
    """A ChainModel whose H(Z) is the upper bound that the adversary leaves."""

    def __init__(self, adversary: Adversary, prior_order: int, *args: Any):
        super().__init__(*args)
        self.adversary, self.prior_order = adversary, prior_order

    def code_entropy(self, p: Tensor, pi: Tensor) -> Tensor:
        windows = mean_windows(p, self.prior_order + 1, pi)
        prior = self.adversary.respond(windows.detach()) if self.training else self.adversary.prior()
        return windows_cross_entropy(windows, prior)


class AMMI(ChainHasher):
    """Binary codes that keep as much information about the documents as possible.

    Args:
        n_bits: length m of the codes.
        order: Markov order o of the encoder; 0 makes the bits independent given the document.
        prior_order: Markov order r of the prior, at least `order`; r = order is allowed but poor, since the prior then
            cannot model what the codes of different documents have in common. Useful: order + 1 to order + 5.
        related_order: Markov order h of the encoder of related documents, at least `order`, which is its default.
        neighbours: without related documents, pair each document with one of this many nearest ones (cosine), drawn
            anew each time; 0 trains on documents alone, as the paper does. Useful: 5 to 25.
        entropy_weight: β, the weight of H⁺(Z). The paper's grid: 1 to 3.5.
        adversary: "exact", the best prior in closed form, or "gradient", the paper's, which takes gradient steps.
        adversary_steps: G, gradient steps a batch. The paper's grid: 1, 2, 4.
        adversary_learning_rate: η' of these steps. The paper's grid: 0.001 to 0.03.
        adversary_layers: ReLU layers of its network. The paper's program: 0 to 2.
        adversary_size: width H of its network; 0 makes it a raw table. The paper's program: 8 to 28.
        hidden_layers: ReLU layers of the encoder; 0 makes it linear.
        hidden_size: their width.
        batch_size: N. The paper's grid: 16 to 128.
        learning_rate: η. The paper's grid: 0.0001 to 0.03.
        init_range: α, weights start uniform in (-α, α). The paper's: 0.1.
        clip: largest norm of a gradient.
        epochs: at most this many.
        patience: stop when the validation score has not risen for this many epochs.
        checkpoint: a folder; the run is written there after every epoch, and goes on from there when started again.
        device: "auto" takes a GPU where there is one; or a torch device.
        n_jobs: threads for encoding and validation; None leaves torch's setting. Results do not depend on it.
        random_state: the same number gives the same codes.
        verbose: show a progress bar.
    """

    def __init__(
        self,
        n_bits: int = 64,
        *,
        order: int = 0,
        prior_order: int = 3,
        related_order: int | None = None,
        neighbours: int = 10,
        entropy_weight: float = 1.75,
        adversary: Literal["exact", "gradient"] = "exact",
        adversary_steps: int = 4,
        adversary_learning_rate: float = 0.03,
        adversary_layers: int = 1,
        adversary_size: int = 16,
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
        self.prior_order = prior_order
        self.related_order = related_order
        self.neighbours = neighbours
        self.entropy_weight = entropy_weight
        self.adversary = adversary
        self.adversary_steps = adversary_steps
        self.adversary_learning_rate = adversary_learning_rate
        self.adversary_layers = adversary_layers
        self.adversary_size = adversary_size
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
        if self.prior_order < self.order:
            raise ValueError(
                f"prior_order must be at least the order {self.order}, better above it, got {self.prior_order}"
            )
        if self.adversary not in ("exact", "gradient"):
            raise ValueError(f"adversary must be 'exact' or 'gradient', got {self.adversary!r}")
        if self.adversary_steps < 1 or self.adversary_layers < 0 or self.adversary_size < 0:
            raise ValueError(
                "adversary_steps must be from 1 up, adversary_layers and adversary_size from 0 up, "
                f"got {self.adversary_steps}, {self.adversary_layers} and {self.adversary_size}"
            )

    def _build(self, n_features: int, predictive: bool) -> nn.Module:
        encoders = self._encoders(n_features, predictive)
        return AMMIModel(self._adversary(), self.prior_order, *encoders, self.n_bits, self.entropy_weight)

    def _adversary(self) -> Adversary:
        if self.adversary == "exact":
            return ExactAdversary(self.n_bits, self.prior_order)
        network = Prior(self.n_bits, self.prior_order, self.adversary_layers, self.adversary_size)
        return GradientAdversary(
            network, self.adversary_steps, self.adversary_learning_rate, self.clip, self.init_range
        )
