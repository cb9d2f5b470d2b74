"""What takes the steps of training: torch, for any objective, or compiled loops for the one that most people train."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_matrix, vstack
from torch import Tensor, nn

from ammi.nets.units import BITS_PER_NAT
from ammi.training.adversaries import ExactAdversary
from ammi.training.batches import Batches
from ammi.training.kernels import Documents, Linear, Settings, take_steps
from ammi.training.objective import Objective
from ammi.training.threads import torch_threads

State = dict[str, Any]  # what a checkpoint holds


class Steps(ABC):
    """Trains an objective on batches, an epoch at a time."""

    @abstractmethod
    def epoch(self, batches: Batches) -> dict[str, float]:
        """Train on every document once; return the means of what the objective shows.

        Where a gradient is not finite, that is what is returned.
        """

    @abstractmethod
    def state_dict(self) -> State:
        """What a run that goes on needs of the optimiser."""

    @abstractmethod
    def load_state_dict(self, state: State) -> None:
        """Become the optimiser of a run that goes on."""


class TorchSteps(Steps):
    """Gradients by torch and its Adam, for any objective."""

    def __init__(self, objective: Objective, learning_rate: float, clip: float):
        self.objective, self.clip = objective, clip
        self._trained = list(objective.trained())
        self._optimiser = torch.optim.Adam(self._trained, lr=learning_rate, fused=True)

    def epoch(self, batches: Batches) -> dict[str, float]:
        totals: dict[str, Tensor] = {}
        for batch in batches:
            with torch_threads(1):  # a second one gains little at this size, and sums must not depend on it
                loss, figures = self.objective.loss(batch)
                self._optimiser.zero_grad()
                loss.backward()
                norm = self._shorten()
            if not norm.isfinite():
                return {"gradient": norm.item()}  # no step that follows would mend it
            self._optimiser.step()  # number by number, so the same on any number of threads
            for name, value in figures.items():
                totals[name] = totals.get(name, torch.zeros(())) + value.detach() * batch.size
        return {name: (total / batches.n_documents).item() for name, total in totals.items()}

    def _shorten(self) -> Tensor:
        """Shorten the gradient to a norm of `clip`; most of the time there is nothing to do. Return what it was."""
        gradients = self._gradients()
        norm = torch.stack([torch.linalg.vector_norm(gradient) for gradient in gradients]).norm()
        if norm > self.clip:
            for gradient in gradients:
                gradient.mul_(self.clip / norm)
        return norm

    def _gradients(self) -> list[Tensor]:
        return [p.grad for p in self._trained if p.grad is not None]

    def state_dict(self) -> State:
        return self._optimiser.state_dict()

    def load_state_dict(self, state: State) -> None:
        self._optimiser.load_state_dict(state)


class CompiledSteps(Steps):
    """The same steps for AMMI with independent bits, a linear encoder, an exact adversary and sparse rows.

    Args:
        weight: (V, m) and
        bias: (m,), the encoder, which are trained in place.
        adversary: whose prior is a chain.
    """

    def __init__(
        self,
        weight: nn.Parameter,
        bias: nn.Parameter,
        adversary: ExactAdversary,
        *,
        entropy_weight: float,
        learning_rate: float,
        clip: float,
    ):
        self._trained, self._adversary = (weight, bias), adversary
        self._means = [torch.zeros_like(one.detach()) for one in (weight, bias, weight, bias)]
        self._entropy_weight, self._learning_rate, self._clip = entropy_weight, learning_rate, clip
        self._n_steps = 0
        self._documents: Documents | None = None

    def epoch(self, batches: Batches) -> dict[str, float]:
        if self._documents is None:
            self._documents = _documents(batches)
        y, x = batches.draw()
        x = np.empty(0, np.int64) if x is None else x if batches.X is None else x + batches.Y.shape[0]
        settings = Settings(
            self._entropy_weight, batches.word_dropout, self._adversary.decay, self._learning_rate, self._clip
        )
        linear = Linear(*(np.atleast_2d(tensor.detach().numpy()) for tensor in (*self._trained, *self._means)))
        entropy = conditional = squares = 0.0
        start = 0
        with _without_denormals():
            while start < len(y):  # as many batches at once as see the bits in one order
                n_batches = self._adversary.begin()
                end = len(y) if n_batches is None else min(len(y), start + n_batches * batches.batch_size)
                windows, order = self._adversary.windows.numpy(), self._adversary.order.numpy()
                sums = take_steps(
                    self._documents,
                    y[start:end],
                    x[start:end],
                    batches.batch_size,
                    linear,
                    windows,
                    order,
                    self._n_steps,
                    settings,
                    batches.rng,
                )
                taken = -(-(end - start) // batches.batch_size)
                self._adversary.took(taken)
                self._n_steps, start = self._n_steps + taken, end
                entropy, conditional, squares = entropy + sums[0], conditional + sums[1], squares + sums[2]
        if not math.isfinite(squares):
            return {"gradient": math.sqrt(squares)}
        entropy, conditional = (total / len(y) * BITS_PER_NAT for total in (entropy, conditional))
        return {"entropy": entropy, "conditional_entropy": conditional, "information": entropy - conditional}

    def state_dict(self) -> State:
        return {"steps": self._n_steps, "means": self._means}

    def load_state_dict(self, state: State) -> None:
        self._n_steps, self._means = state["steps"], state["means"]


def _documents(batches: Batches) -> Documents:
    """All rows that batches are made of, the related documents behind the others."""
    rows: csr_matrix = batches.Y if batches.X is None else vstack([batches.Y, batches.X], format="csr")
    return Documents(rows.indptr, rows.indices, rows.data.astype(np.float32, copy=False))


@contextmanager
def _without_denormals() -> Iterator[None]:
    """Products of small probabilities become 0 instead of numbers too small for the processor to be fast with."""
    already = np.float32(1e-30) * np.float32(1e-10) == 0
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(bool(already))
