"""Figure 1 (a): the cross entropy of a batch of codes with a prior of order r, an upper bound on its entropy."""

import math
from typing import Any, TypedDict

import numpy as np
import torch
from torch import Tensor

from ammi.chain import Chain, best_prior, mean_windows, mixture_entropy, windows_cross_entropy
from ammi.hashers import BMMI
from ammi.nets.prior import Prior
from ammi.nets.rows import to_rows
from ammi.training.adversaries import GradientAdversary
from ammi.training.information import InformationObjective
from ammi.tuning.tasks import Task

CODE_BITS = 16
EPOCHS = 2
BATCH = 128
LEARNING_RATES = (0.1, 0.03, 0.01)
LAYERS = (0, 1)


class Bound(TypedDict):
    """A point of figure 1 (a), in bits: the entropy, and the cross entropy with two priors of an order."""

    order: int
    seed: int
    entropy: float
    exact: float  # with the best prior, in closed form
    gradient: float  # with the best of a few priors fitted by gradient steps
    gradient_setting: str


def partly_trained_batch(task: Task, seed: int, epochs: int = EPOCHS) -> Tensor:
    """Return the logits (B, m, 1) of p(z|y) for a random batch, by a BMMI after exactly a few epochs."""
    # At BMMI's default rate two epochs learn next to nothing.
    few_steps: dict[str, Any] = {"learning_rate": 0.01, "entropy_weight": 1.75, "epochs": epochs}
    hasher = BMMI(CODE_BITS, neighbours=0, random_state=seed, verbose=False, **few_steps)
    # A score that rises keeps the last epoch: the best one by precision is the same whatever the number of epochs.
    hasher.fit(task.documents, validation=lambda fitted: len(fitted.history_))
    documents = task.documents
    chosen = np.random.default_rng(seed).permutation(documents.shape[0])[:BATCH]
    objective = hasher.objective_
    assert isinstance(objective, InformationObjective)
    with torch.no_grad():
        return objective.distributions(to_rows(documents[np.sort(chosen)], torch.device("cpu"))).logits


def upper_bound(p: Tensor, order: int, steps: int, seed: int) -> Bound:
    """Return the entropy of a batch, and its bounds by a prior in closed form and by one fitted with gradient steps."""
    windows = mean_windows(p, order + 1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        adversaries = {
            f"{layers} layers, rate {rate}": GradientAdversary(
                Prior(Chain(CODE_BITS, order), layers, 16), steps, rate, 10.0, 0.1
            )
            for layers in LAYERS
            for rate in LEARNING_RATES
        }
    fitted = {name: adversary.respond(windows) for name, adversary in adversaries.items()}
    bounds = {name: _in_bits(windows_cross_entropy(windows, prior)) for name, prior in fitted.items()}
    best = min(bounds, key=lambda name: bounds[name])
    return {
        "order": order,
        "seed": seed,
        "entropy": _in_bits(mixture_entropy(p)),
        "exact": _in_bits(windows_cross_entropy(windows, best_prior(windows))),
        "gradient": bounds[best],
        "gradient_setting": best,
    }


def _in_bits(nats: Tensor) -> float:
    return nats.item() / math.log(2)
