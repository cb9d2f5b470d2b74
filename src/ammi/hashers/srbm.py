"""S-RBM: semantic hashing with stacked restricted Boltzmann machines.

A machine gives words v and hidden units h the energy E(v, h) = -v·a - h·b - v W h, so that, the h summed out, the free
energy of v is F(v) = -v·a - Σ_j log(1 + exp(b_j + (v W)_j)). Machines are trained one on top of the other, each by one
step of contrastive divergence: min F(v) - F(v') with v' the words that the hidden units of v give back. The stack,
unrolled into an autoencoder, is then fine-tuned with noise on its code: max E[log p(x | σ(f(x) + ε))], z = [f(x) > 0].
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
import torch.nn.functional as F
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.trained import MOST_RATE, MOST_SIZE, TrainedHasher
from ammi.nets.decoder import WordDecoder
from ammi.nets.encoder import FirstLayer
from ammi.nets.matrix import Matrix
from ammi.nets.rows import Csr, Rows, product, to_rows
from ammi.training.batches import Batch, Batches
from ammi.training.objective import Figures, Objective
from ammi.training.progress import Advance, Progress
from ammi.training.threads import torch_threads

MOMENTUM = 0.5, 0.9  # while the weights are small, and after
WEIGHT_DECAY = 2e-4


class Machine(nn.Module):
    """A restricted Boltzmann machine of sigmoid units."""

    def __init__(self, n_visible: int, n_hidden: int):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(n_visible, n_hidden))
        self.visible_bias = nn.Parameter(torch.zeros(n_visible))
        self.hidden_bias = nn.Parameter(torch.zeros(n_hidden))

    def hidden(self, v: Rows) -> Tensor:
        """Return the probability (B, n_hidden) of each hidden unit, given the visible ones."""
        return torch.sigmoid(product(v, self.weight) + self.hidden_bias)

    def visible(self, h: Tensor) -> Tensor:
        """Return the probability (B, n_visible) of each visible unit, given the hidden ones."""
        return torch.sigmoid(h @ self.weight.T + self.visible_bias)

    def free_energy(self, v: Rows) -> Tensor:
        """Return F(v) (B,), minus the log probability of the visible units up to a constant."""
        bias = product(v, self.visible_bias[:, None])[:, 0]
        return -bias - F.softplus(product(v, self.weight) + self.hidden_bias).sum(1)

    def divergence(self, v: Rows, *, words: bool) -> Tensor:
        """Return the contrastive divergence of a batch after one step; its gradient is ⟨v h⟩_step - ⟨v h⟩_data.

        Visible words are drawn, so that products with them stay sparse; other units keep their probability.
        """
        with torch.no_grad():
            again = self.visible(torch.bernoulli(self.hidden(v).nan_to_num()))
        rows = (
            to_rows(csr_matrix(torch.bernoulli(again.nan_to_num()).cpu().numpy()), again.device, gradient=True)
            if words
            else again
        )
        return (self.free_energy(v) - self.free_energy(rows)).mean()


@dataclass(frozen=True)
class Pretraining:
    """The schedule of the machines' training."""

    epochs: int
    learning_rate: float
    init_range: float
    batch_size: int

    def machines(
        self, sizes: list[int], X: Matrix, rng: np.random.Generator, progress: Progress, device: torch.device
    ) -> list[Machine]:
        """Train machines of these sizes, one on top of the other."""
        machines = [Machine(*shape) for shape in pairwise(sizes)]
        for machine in machines:
            nn.init.uniform_(machine.weight, -self.init_range, self.init_range)
            machine.to(device)
        _set_word_frequencies(machines[0], X)
        batches = Batches(X, batch_size=self.batch_size, device=device, rng=rng)
        advance = progress.part("machines", len(machines) * self.epochs)
        with torch_threads(1):
            for depth, machine in enumerate(machines):
                self._train(machine, machines[:depth], batches, advance)
        return machines

    def _train(self, machine: Machine, below: list[Machine], batches: Batches, advance: Advance) -> None:
        biases = [machine.visible_bias, machine.hidden_bias]
        groups: list[dict[str, object]] = [
            {"params": [machine.weight], "weight_decay": WEIGHT_DECAY},
            {"params": biases},
        ]
        optimiser = torch.optim.SGD(groups, lr=self.learning_rate, fused=True)
        for epoch in range(self.epochs):
            for group in optimiser.param_groups:
                group["momentum"] = MOMENTUM[2 * epoch >= self.epochs]
            for batch in batches:
                v = presence(batch.y)
                with torch.no_grad():
                    for lower in below:
                        v = lower.hidden(v)
                optimiser.zero_grad()
                machine.divergence(v, words=not below).backward()
                optimiser.step()
            advance(1)


class Unrolled(Objective):
    """A stack of machines as an autoencoder: up to the code and down again to the words."""

    def __init__(self, sizes: list[int], noise: float, pretraining: Pretraining):
        super().__init__()
        self.sizes, self.noise, self.pretraining = sizes, noise, pretraining
        layers = list(pairwise(sizes))
        with torch.random.fork_rng(devices=[]):  # the machines' weights replace these
            above = [layer for shape in layers[1:] for layer in (nn.Sigmoid(), FirstLayer(*shape))]
            below = [layer for n, h in layers[:0:-1] for layer in (FirstLayer(h, n), nn.Sigmoid())]
            self.up = nn.Sequential(FirstLayer(*layers[0]), *above)
        self.down = nn.Sequential(*below)
        self.words = WordDecoder(*layers[0][::-1])

    def pretrain(self, X: Matrix, rng: np.random.Generator, progress: Progress) -> None:
        """Train the machines, and start from their weights."""
        self.start_from(self.pretraining.machines(self.sizes, X, rng, progress, self.words.weight.device))

    def start_from(self, machines: list[Machine]) -> None:
        """Take over the weights of machines, from the words up to the code."""
        for up, machine in zip(_linear(self.up), machines, strict=True):
            _copy(up, machine.weight, machine.hidden_bias)
        downs: list[FirstLayer | WordDecoder] = [*_linear(self.down), self.words]
        for down, machine in zip(downs, machines[::-1], strict=True):
            _copy(down, machine.weight.T, machine.visible_bias)

    def code(self, rows: Rows) -> Tensor:
        """Return f(x) (B, m), the code's units before their sigmoid."""
        return self.up(presence(rows))

    def bits(self, rows: Rows) -> Tensor:
        return self.code(rows) > 0

    def loss(self, batch: Batch) -> tuple[Tensor, Figures]:
        """Return minus the log probability of the words: in training given noisy units, afterwards given the bits."""
        code = self.code(batch.y)
        noisy = torch.sigmoid(code + self.noise * torch.randn_like(code))
        units = noisy if self.training else (code > 0).to(code.dtype)
        loss = -self.words(self.down(units), batch.y).mean()
        return loss, {"reconstruction": loss}


def _linear(layers: nn.Sequential) -> Iterator[FirstLayer]:
    return (layer for layer in layers if isinstance(layer, FirstLayer))


@torch.no_grad()
def _copy(layer: FirstLayer | WordDecoder, weight: Tensor, bias: Tensor) -> None:
    layer.weight.copy_(weight)
    layer.bias.copy_(bias)


@estimator
class SRBM(TrainedHasher):
    """Stacked restricted Boltzmann machines, on the words that are present (values above 0).

    They need some thousand documents: after a handful of steps every code is the same. The parameters
    learning_rate, clip, epochs and patience are those of the fine-tuning.
    """

    hidden_layers: int = parameter("layers between the words and the code.", default=2, whole=True, least=0, most=100)
    hidden_size: int = parameter(
        "their width. The published stacks: 500 and 500.", default=500, whole=True, least=1, most=MOST_SIZE
    )
    pretraining_epochs: int = parameter(
        "passes of contrastive divergence over the documents, for each machine.", default=5, whole=True, least=0
    )
    pretraining_learning_rate: float = parameter(
        "η of these. Useful: 0.05 to 0.1.", default=0.1, above=0, most=MOST_RATE
    )
    noise: float = parameter(
        "standard deviation of the noise on the code's units; the larger, the nearer they come to 0 and 1.",
        default=4.0,
        least=0,
    )
    learning_rate: float | None = 0.001
    init_range: float = 0.02
    epochs: int = 10

    def objective(self, n_features: int, predictive: bool) -> Unrolled:
        sizes = [n_features] + [self.hidden_size] * self.hidden_layers + [self.n_bits]
        pretraining = Pretraining(
            self.pretraining_epochs, self.pretraining_learning_rate, self.init_range, self.batch_size
        )
        return Unrolled(sizes, self.noise, pretraining)


def presence(rows: Rows) -> Rows:
    """Return 1 for each word that is present, 0 for the others."""
    if isinstance(rows, Tensor):
        return (rows > 0).to(rows.dtype)

    def ones(csr: Csr) -> Csr:
        return csr._replace(values=(csr.values > 0).to(csr.values.dtype))

    return rows._replace(by_row=ones(rows.by_row), by_column=rows.by_column and ones(rows.by_column))


def _set_word_frequencies(machine: Machine, X: Matrix) -> None:
    """Start from visible units that are on as often as their words occur, whatever the hidden units do."""
    share = (np.asarray((X > 0).sum(axis=0)).ravel() + 0.5) / (X.shape[0] + 1)
    with torch.no_grad():
        machine.visible_bias.copy_(torch.from_numpy(np.log(share / (1 - share))))
