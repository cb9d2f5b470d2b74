"""Which steps train what: a part that a user replaces is never passed over by the compiled steps."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy.sparse import csr_matrix, vstack
from torch import nn

from ammi import AMMI
from ammi.chain import Chain, Tree
from ammi.nets.encoder import Encoder, FirstLayer, initialise
from ammi.nets.scaling import Scaling
from ammi.training.adversaries import ExactAdversary
from ammi.training.batches import Batches
from ammi.training.compiled import choose_steps, compiled_steps
from ammi.training.information import AMMIObjective, Reader
from ammi.training.steps import TorchSteps
from tests.conftest import topics

WORDS, BITS = 120, 6
X, _ = topics(80)
PRIOR, INDEPENDENT = Chain(BITS, 1), Chain(BITS, 0)
STAR = Tree(BITS, (-1, 0, 0, 0, 0, 0))
calls: list[str] = []


def counted(cls: type, name: str) -> Any:
    """A subclass whose method `name` records its calls, and does what it did."""

    def method(self: Any, *arguments: Any) -> Any:
        calls.append(name)
        return getattr(cls, name)(self, *arguments)

    return type(f"Counted{cls.__name__}", (cls,), {name: method})


def make(
    objective: type = AMMIObjective,
    adversary: type = ExactAdversary,
    prior: Any = PRIOR,
    structure: Any = INDEPENDENT,
    encoder: Callable[[int, int], nn.Module] = Encoder,
    layer: Callable[[nn.Module], None] = lambda module: None,
) -> AMMIObjective:
    """AMMI's objective for the standard case, with one part replaced."""
    torch.manual_seed(0)
    network = encoder(WORDS, structure.n_logits)
    layer(network)
    initialise(network, 1.0)
    return objective(adversary(prior), Reader(network, structure), None, 2.0)


def batches(rows: Any = X, related: Any = None) -> Batches:
    return Batches(rows, related, batch_size=16, rng=np.random.default_rng(0))


def trained(objective: AMMIObjective, by_torch: bool) -> dict[str, torch.Tensor]:
    documents = batches()
    steps = TorchSteps(objective, 0.05, 10.0) if by_torch else choose_steps(objective, documents, 0.05, 10.0)
    objective.train()
    for _ in range(2):
        steps.epoch(documents)
    return objective.state_dict()


def test_the_standard_case_is_compiled():
    assert compiled_steps(make(), batches(), 0.1, 1.0) is not None
    assert compiled_steps(make(), batches(related=X), 0.1, 1.0) is not None


OVERRIDES: dict[str, Callable[[], AMMIObjective]] = {
    "loss": lambda: make(objective=counted(AMMIObjective, "loss")),
    "conditional_entropy": lambda: make(objective=counted(AMMIObjective, "conditional_entropy")),
    "code_entropy": lambda: make(objective=counted(AMMIObjective, "code_entropy")),
    "distributions": lambda: make(objective=counted(AMMIObjective, "distributions")),
    "trained": lambda: make(objective=counted(AMMIObjective, "trained")),
    "respond": lambda: make(adversary=counted(ExactAdversary, "respond")),
    "prior": lambda: make(adversary=counted(ExactAdversary, "prior")),
    "arranged": lambda: make(adversary=counted(ExactAdversary, "arranged")),
    "best_prior": lambda: make(prior=counted(Chain, "best_prior")(BITS, 1)),
    "mean_statistics": lambda: make(prior=counted(Chain, "mean_statistics")(BITS, 1)),
    "read": lambda: make(structure=counted(Chain, "read")(BITS, 0)),
    "forward": lambda: make(encoder=counted(Encoder, "forward")),
}


@pytest.mark.parametrize("name", OVERRIDES)
def test_an_overridden_method_is_called(name):
    """Compiled steps would not call it, and train the encoder as if it were not there."""
    calls.clear()
    mine = trained(OVERRIDES[name](), by_torch=False)
    assert set(calls) == {name}
    for key, value in trained(OVERRIDES[name](), by_torch=True).items():
        assert torch.equal(mine[key], value), key


def scaled() -> AMMIObjective:
    objective = make()
    objective.scaling.centre, objective.scaling.spread = torch.ones(WORDS), torch.tensor(2.0)
    return objective


def frozen() -> AMMIObjective:
    objective = make()
    assert isinstance(objective.encoder, Encoder)
    objective.encoder.first.bias.requires_grad_(False)
    return objective


def with_another_layer(network: nn.Module) -> None:
    class Doubled(FirstLayer):
        def forward(self, rows: Any) -> torch.Tensor:
            return 2 * super().forward(rows)

    assert isinstance(network, Encoder)
    network[0] = Doubled(WORDS, BITS)


def with_another_scaling() -> AMMIObjective:
    class Half(Scaling):
        def forward(self, rows: Any) -> Any:
            return rows._replace(by_row=rows.by_row._replace(values=rows.by_row.values / 2))

    objective = make()
    objective.scaling = Half()
    return objective


OTHER_PARTS: dict[str, Callable[[], AMMIObjective]] = {
    "a tree as prior": lambda: make(prior=STAR),
    "a tree as encoder": lambda: make(prior=STAR, structure=STAR),
    "a scaling that was learned": scaled,
    "a scaling of one's own": with_another_scaling,
    "a layer of one's own": lambda: make(layer=with_another_layer),
    "a bias that is not trained": frozen,
    "double precision": lambda: make().double(),
    "a prior of high order": lambda: make(prior=Chain(BITS, 8)),
}


@pytest.mark.parametrize("name", OTHER_PARTS)
def test_other_parts_are_trained_by_torch(name):
    assert compiled_steps(OTHER_PARTS[name](), batches(), 0.1, 1.0) is None
    if name == "double precision":
        return
    mine, by_torch = trained(OTHER_PARTS[name](), by_torch=False), trained(OTHER_PARTS[name](), by_torch=True)
    for key, value in by_torch.items():
        assert torch.equal(mine[key], value), key
    standard = trained(make(), by_torch=True)
    weight = "encoder.0.weight"
    assert mine[weight].shape != standard[weight].shape or not torch.allclose(mine[weight], standard[weight])


class BatchesOfOnesOwn(Batches):
    pass


@pytest.mark.parametrize(
    "rows",
    [
        lambda: batches(X.toarray()),
        lambda: batches(X, X.toarray()),
        lambda: BatchesOfOnesOwn(X, batch_size=16, rng=np.random.default_rng(0)),
    ],
    ids=["dense rows", "dense related rows", "a subclass"],
)
def test_other_batches_are_trained_by_torch(rows):
    assert compiled_steps(make(), rows(), 0.1, 1.0) is None


def test_a_subclass_of_the_linear_encoder_decides_what_a_code_is():

    class Reversed(Encoder):
        def forward(self, rows: Any) -> torch.Tensor:
            return -super().forward(rows)

    def network(n_inputs: int, n_outputs: int) -> nn.Module:
        made = Reversed(n_inputs, n_outputs)
        initialise(made, 0.1)
        return made

    few: dict[str, Any] = {"epochs": 2, "random_state": 0, "verbose": False, "neighbours": 0}
    hasher = AMMI(BITS, encoder=network, **few).fit(X)
    assert hasher.hyperplanes() is None
    arrays = hasher._arrays()
    sides = X @ arrays["encoder.0.weight"] + arrays["encoder.0.bias"]
    assert np.array_equal(hasher.transform(vstack([X, csr_matrix(X)])), np.vstack([sides < 0] * 2))
