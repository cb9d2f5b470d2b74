"""What an objective is, where a method says no more than it must."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from ammi.training.batches import Batch
from ammi.training.objective import Objective
from ammi.training.progress import Silent
from tests.training.made import Middle


class Least(Objective):
    """Defines what it has to, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))

    def loss(self, batch: Batch) -> Any:
        return self.weight.sum(), {}

    def bits(self, rows: Any) -> torch.Tensor:
        return rows > self.weight


def test_loss_and_bits_are_all_that_is_asked_for():
    objective = Least()
    before = {name: value.clone() for name, value in objective.state_dict().items()}
    objective.pretrain(np.eye(2), np.random.default_rng(0), Silent())
    objective.after_epoch(lambda: [torch.eye(2)])
    assert objective.linear() is None
    assert list(objective.trained()) == list(objective.parameters())
    assert all(torch.equal(value, before[name]) for name, value in objective.state_dict().items())


@pytest.mark.parametrize("missing", ["loss", "bits"])
def test_without_them_there_is_none(missing):
    abstract = type("Without", (Least,), {missing: getattr(Objective, missing)})
    with pytest.raises(TypeError, match=rf"abstract method '?{missing}"):
        abstract()


def test_it_is_a_module_whose_state_is_saved():
    objective = Middle()
    assert set(objective.state_dict()) == {"point", "asleep"}
    again = Middle()
    again.load_state_dict({"point": torch.ones(3), "asleep": torch.ones(1)})
    assert again.bits(torch.tensor([[0.5, 1.0, 1.5]])).tolist() == [[False, False, True]]
