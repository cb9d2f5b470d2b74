"""The steps of training by torch, for any objective; `compiled_steps` has faster ones for AMMI's standard case."""

from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor

from ammi.training.batches import Batches
from ammi.training.objective import Objective
from ammi.training.threads import torch_threads

State = dict[str, Any]  # the content of a checkpoint


class Steps(ABC):
    """Trains an objective on batches, an epoch at a time."""

    @abstractmethod
    def epoch(self, batches: Batches) -> dict[str, float]:
        """Train on every document once; return the mean of each figure.

        If a gradient is not finite, stop and return its norm as `gradient` instead.
        """

    @abstractmethod
    def state_dict(self) -> State:
        """Return the state of the optimiser, for a checkpoint."""

    @abstractmethod
    def load_state_dict(self, state: State) -> None:
        """Load the state of the optimiser from a checkpoint."""


class TorchSteps(Steps):
    """Gradients by torch and its Adam, for any objective."""

    def __init__(self, objective: Objective, learning_rate: float, clip: float):
        self.objective, self.clip = objective, clip
        self._trained = list(objective.trained())
        self._optimiser = torch.optim.Adam(self._trained, lr=learning_rate, fused=True)

    def epoch(self, batches: Batches) -> dict[str, float]:
        totals: dict[str, Tensor] = {}
        for batch in batches:
            with torch_threads(1):  # more gain little at this size, and sums must not depend on their number
                loss, figures = self.objective.loss(batch)
                self._optimiser.zero_grad()
                loss.backward()
                norm = self._shorten()
            if not norm.isfinite():
                return {"gradient": norm.item()}  # no later step would repair it
            self._optimiser.step()  # element-wise, so the same on any number of threads
            for name, value in figures.items():
                totals[name] = totals.get(name, torch.zeros(())) + value.detach() * batch.size
        return {name: (total / batches.n_documents).item() for name, total in totals.items()}

    def _shorten(self) -> Tensor:
        """Shorten the gradient to a norm of at most `clip`; return its norm before."""
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
