"""The choice between compiled steps and torch."""

import numpy as np
import torch

from ammi.chain import Chain
from ammi.nets.encoder import Encoder, FirstLayer
from ammi.nets.scaling import Scaling
from ammi.training.adversaries import ExactAdversary
from ammi.training.batches import Batches
from ammi.training.compiled_steps import CompiledSteps
from ammi.training.information import AMMIObjective
from ammi.training.objective import Objective
from ammi.training.steps import Steps, TorchSteps

MOST_COMPILED_ORDER = 7  # of the prior


def choose_steps(objective: Objective, batches: Batches, learning_rate: float, clip: float) -> Steps:
    """Return compiled steps for AMMI's standard case, and torch's for all others."""
    compiled = compiled_steps(objective, batches, learning_rate, clip)
    return TorchSteps(objective, learning_rate, clip) if compiled is None else compiled


def compiled_steps(objective: Objective, batches: Batches, learning_rate: float, clip: float) -> CompiledSteps | None:
    """Return compiled steps if they compute exactly what torch would compute for these parts, else None.

    The kernels know the formulas of the classes below and call none of their methods. So types are compared exactly: a
    subclass may override any part of the formulas, and torch has to train it.
    """
    if type(objective) is not AMMIObjective or objective.related_encoder is not None:
        return None
    encoder, adversary, scaling = objective.encoder, objective.adversary, objective.scaling
    if type(encoder) is not Encoder or not encoder.is_linear or type(encoder.first) is not FirstLayer:
        return None
    if type(scaling) is not Scaling or scaling.centre is not None:  # set by dense rows
        return None
    if type(objective.structure) is not Chain or objective.structure.order != 0:
        return None
    if type(adversary) is not ExactAdversary or type(adversary.structure) is not Chain:
        return None
    if adversary.structure.order > MOST_COMPILED_ORDER:
        return None
    if type(batches) is not Batches or any(isinstance(rows, np.ndarray) for rows in (batches.Y, batches.X)):
        return None
    layer = encoder.first
    if any(p.device.type != "cpu" or p.dtype != torch.float32 or not p.requires_grad for p in layer.parameters()):
        return None
    return CompiledSteps(
        layer.weight,
        layer.bias,
        adversary,
        entropy_weight=objective.entropy_weight,
        learning_rate=learning_rate,
        clip=clip,
    )
