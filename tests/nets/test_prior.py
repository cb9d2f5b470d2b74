"""The prior's network: the table of its structure, from more numbers than the table has."""

import pytest
import torch

from ammi.chain import Chain
from ammi.nets.encoder import initialise
from ammi.nets.prior import Prior


@pytest.mark.parametrize(("layers", "size"), [(0, 0), (2, 0), (0, 5), (2, 7)])
def test_a_prior_is_a_table_of_its_structure(layers, size):
    structure = Chain(6, 3)
    prior = Prior(structure, layers, size)
    initialise(prior, 0.1)
    assert prior().shape == structure.shape
    structure.read(prior()).entropy().backward()
    assert all(parameter.grad is not None for parameter in prior.parameters())


def test_without_a_size_the_table_itself_is_learned():
    prior = Prior(Chain(6, 3), layers=2, size=0)
    initialise(prior, 0.1)
    assert list(prior.state_dict()) == ["embedding"]
    assert torch.equal(prior(), prior.embedding)


def test_saved_priors_keep_their_names():
    assert {name: tuple(value.shape) for name, value in Prior(Chain(6, 3), 1, 5).state_dict().items()} == {
        "embedding": (6, 5),
        "network.0.weight": (5, 5),
        "network.0.bias": (5,),
        "network.2.weight": (8, 5),
        "network.2.bias": (8,),
    }
