"""S-RBM: semantic hashing with stacked restricted Boltzmann machines.

A machine gives words v and hidden units h the energy E(v, h) = -v·a - h·b - v W h, so that, the h summed out, the free
energy of v is F(v) = -v·a - Σ_j log(1 + exp(b_j + (v W)_j)). Machines are trained one on top of the other, each by one
step of contrastive divergence: min F(v) - F(v') with v' the words that the hidden units of v give back. The stack,
unrolled into an autoencoder, is then fine-tuned with noise on its code: max E[log p(x | σ(f(x) + ε))], z = [f(x) > 0].
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from scipy.sparse import csr_matrix
from torch import Tensor, nn

from ammi.hashers.neural import NeuralHasher
from ammi.nets.decoder import WordDecoder
from ammi.nets.encoder import FirstLayer
from ammi.nets.rows import Csr, Rows, product, to_rows
from ammi.training.batches import Batch, Batches
from ammi.training.loop import one_thread
from ammi.training.progress import TrainingProgress

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
        """The probability (B, n_hidden) of each hidden unit, given the visible ones."""
        return torch.sigmoid(product(v, self.weight) + self.hidden_bias)

    def visible(self, h: Tensor) -> Tensor:
        """The probability (B, n_visible) of each visible unit, given the hidden ones."""
        return torch.sigmoid(h @ self.weight.T + self.visible_bias)

    def free_energy(self, v: Rows) -> Tensor:
        """F(v) (B,), minus the log probability of the visible units but for a constant."""
        bias = product(v, self.visible_bias[:, None])[:, 0]
        return -bias - F.softplus(product(v, self.weight) + self.hidden_bias).sum(1)

    def divergence(self, v: Rows, *, words: bool) -> Tensor:
        """Contrastive divergence of a batch after one step; its gradient is that of ⟨v h⟩_data - ⟨v h⟩_step.

        Visible words are drawn, since few are: the products with them stay sparse. Others keep their probability.
        """
        with torch.no_grad():
            again = self.visible(torch.bernoulli(self.hidden(v)))
        rows = (
            to_rows(csr_matrix(torch.bernoulli(again).cpu().numpy()), again.device, gradient=True) if words else again
        )
        return (self.free_energy(v) - self.free_energy(rows)).mean()


class Unrolled(nn.Module):
    """A stack of machines as an autoencoder: up to the code and down again to the words."""

    def __init__(self, machines: list[Machine], noise: float):
        super().__init__()
        self.noise = noise
        first, *above = machines
        self.up = nn.Sequential(_up(first), *(layer for machine in above for layer in (nn.Sigmoid(), _up(machine))))
        self.down = nn.Sequential(*(layer for machine in above[::-1] for layer in (_down(machine), nn.Sigmoid())))
        self.words = WordDecoder(*first.weight.T.shape)
        _copy(self.words, first.weight.T, first.visible_bias)

    def code(self, rows: Rows) -> Tensor:
        """f(x) (B, m): the code's units before their sigmoid."""
        return self.up(presence(rows))

    def loss(self, batch: Batch) -> tuple[Tensor, dict[str, Tensor]]:
        """Minus the log probability of the words, given noisy units; once trained, given the bits."""
        code = self.code(batch.y)
        noisy = torch.sigmoid(code + self.noise * torch.randn_like(code))
        units = noisy if self.training else (code > 0).to(code.dtype)
        loss = -self.words(self.down(units), batch.y).mean()
        return loss, {"reconstruction": loss}


def _up(machine: Machine) -> nn.Module:
    return _copy(FirstLayer(*machine.weight.shape), machine.weight, machine.hidden_bias)


def _down(machine: Machine) -> nn.Module:
    return _copy(FirstLayer(*machine.weight.T.shape), machine.weight.T, machine.visible_bias)


@torch.no_grad()
def _copy(layer: FirstLayer | WordDecoder, weight: Tensor, bias: Tensor) -> nn.Module:
    layer.weight.copy_(weight)
    layer.bias.copy_(bias)
    return layer


class SRBM(NeuralHasher):
    """Stacked restricted Boltzmann machines, on the words that are present (values above 0).

    They want some thousand documents: after a handful of steps every code is the same.

    Args:
        n_bits: length m of the codes.
        hidden_layers: layers between the words and the code.
        hidden_size: their width. The published stacks: 500 and 500.
        pretraining_epochs: passes of contrastive divergence over the documents, for each machine.
        pretraining_learning_rate: η of these. Useful: 0.05 to 0.1.
        noise: standard deviation of the noise on the code's units; the larger, the nearer they come to 0 and 1.
        batch_size, learning_rate, init_range, clip, epochs, patience, checkpoint, device, n_jobs, random_state,
        verbose: as of AMMI; all but batch_size, init_range and what follows epochs are of the fine-tuning alone.
    """

    machines_: list[Machine]
    _has_predictive_form = False

    def __init__(
        self,
        n_bits: int = 64,
        *,
        hidden_layers: int = 2,
        hidden_size: int = 500,
        pretraining_epochs: int = 5,
        pretraining_learning_rate: float = 0.1,
        noise: float = 4.0,
        batch_size: int = 128,
        learning_rate: float = 0.001,
        init_range: float = 0.02,
        clip: float = 10.0,
        epochs: int = 10,
        patience: int = 6,
        checkpoint: Any = None,
        device: str = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = True,
    ):
        self.n_bits = n_bits
        self.hidden_layers = hidden_layers
        self.hidden_size = hidden_size
        self.pretraining_epochs = pretraining_epochs
        self.pretraining_learning_rate = pretraining_learning_rate
        self.noise = noise
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
        for name, least in {"hidden_layers": 0, "hidden_size": 1, "pretraining_epochs": 0}.items():
            if not isinstance(getattr(self, name), (int, np.integer)) or getattr(self, name) < least:
                raise ValueError(f"{name} must be a whole number from {least} up, got {getattr(self, name)!r}")
        if not self.pretraining_learning_rate > 0:
            raise ValueError(f"pretraining_learning_rate must be above 0, got {self.pretraining_learning_rate!r}")
        if not self.noise >= 0:
            raise ValueError(f"noise must be 0 or above, got {self.noise!r}")

    def _pretrain(self, X: Any, rng: np.random.Generator, progress: TrainingProgress) -> None:
        """Train the machines one on top of the other; machines_ keeps them as they are before the fine-tuning."""
        machines = [machine.to(self._device()) for machine in self._new_machines(X.shape[1])]
        _set_word_frequencies(machines[0], X)
        batches = Batches(X, batch_size=self.batch_size, device=self._device(), rng=rng)
        advance = progress.part("machines", len(machines) * self.pretraining_epochs)
        with one_thread():
            for depth, machine in enumerate(machines):
                self._train_machine(machine, machines[:depth], batches, advance)
        self.machines_ = machines

    def _train_machine(
        self, machine: Machine, below: list[Machine], batches: Batches, advance: Callable[[int], None]
    ) -> None:
        weight: dict[str, Any] = {"params": [machine.weight], "weight_decay": WEIGHT_DECAY}
        biases: dict[str, Any] = {"params": [machine.visible_bias, machine.hidden_bias]}
        optimiser = torch.optim.SGD([weight, biases], lr=self.pretraining_learning_rate, fused=True)
        for epoch in range(self.pretraining_epochs):
            for group in optimiser.param_groups:
                group["momentum"] = MOMENTUM[2 * epoch >= self.pretraining_epochs]
            for batch in batches:
                v = presence(batch.y)
                with torch.no_grad():
                    for lower in below:
                        v = lower.hidden(v)
                optimiser.zero_grad()
                machine.divergence(v, words=not below).backward()
                optimiser.step()
            advance(1)

    def _build(self, n_features: int, predictive: bool) -> nn.Module:
        return Unrolled(getattr(self, "machines_", None) or self._new_machines(n_features), self.noise)

    def _new_machines(self, n_features: int) -> list[Machine]:
        sizes = [n_features] + [self.hidden_size] * self.hidden_layers + [self.n_bits]
        machines = [Machine(*shape) for shape in pairwise(sizes)]
        for machine in machines:
            nn.init.uniform_(machine.weight, -self.init_range, self.init_range)
        return machines

    def _module_bits(self, rows: Rows) -> Tensor:
        return self.model_.code(rows) > 0


def presence(rows: Rows) -> Rows:
    """1 for each word that is there, 0 for the others."""
    if isinstance(rows, Tensor):
        return (rows > 0).to(rows.dtype)

    def ones(csr: Csr) -> Csr:
        return csr._replace(values=(csr.values > 0).to(csr.values.dtype))

    return rows._replace(by_row=ones(rows.by_row), by_column=rows.by_column and ones(rows.by_column))


def _set_word_frequencies(machine: Machine, X: Any) -> None:
    """Start from visible units that are on as often as their words are there, whatever the hidden units do."""
    share = (np.asarray((X > 0).sum(axis=0)).ravel() + 0.5) / (X.shape[0] + 1)
    with torch.no_grad():
        machine.visible_bias.copy_(torch.from_numpy(np.log(share / (1 - share))))
