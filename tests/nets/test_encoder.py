"""Encoders: sparse and dense rows alike, how they start, which of them are linear."""

import numpy as np
import pytest
import torch
from scipy.sparse import random as random_sparse

from ammi.nets.encoder import LINEAR, Encoder, draw_uniform, initialise
from ammi.nets.rows import to_rows

CPU = torch.device("cpu")


def encoder(hidden_layers: int, dropout: float = 0.0) -> Encoder:
    made = Encoder(30, 8, hidden_layers, 16, dropout)
    initialise(made, 0.1)
    return made


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_sparse_and_dense_rows_are_read_alike(layers):
    X = random_sparse(6, 30, 0.2, format="csr", dtype=np.float32, random_state=0)
    made = encoder(layers)
    assert sum(isinstance(layer, torch.nn.ReLU) for layer in made) == layers
    sparse, dense = made(to_rows(X, CPU)), made(to_rows(X.toarray(), CPU))
    assert sparse.shape == (6, 8)
    torch.testing.assert_close(sparse, dense)


def test_without_hidden_layers_it_is_one_product():
    X = np.random.default_rng(0).random((4, 30), dtype=np.float32)
    made = encoder(0)
    weights, biases = (made.state_dict()[name.removeprefix("encoder.")].numpy() for name in LINEAR)
    np.testing.assert_allclose(made(to_rows(X, CPU)).detach(), X @ weights + biases, rtol=1e-5)
    assert made.is_linear
    assert not encoder(1).is_linear


def test_dropout_is_between_the_layers_and_in_training_only():
    rows = torch.rand(50, 30)
    made = encoder(2, dropout=0.5)
    assert sum(isinstance(layer, torch.nn.Dropout) for layer in made) == 2
    assert not any(isinstance(layer, torch.nn.Dropout) for layer in encoder(2))
    assert not torch.equal(made(rows), made(rows))
    made.eval()
    assert torch.equal(made(rows), made(rows))


def test_parameters_are_drawn_uniformly():
    torch.manual_seed(0)
    parameter = torch.nn.Parameter(torch.empty(10_000))
    draw_uniform([parameter], 0.3)
    assert parameter.abs().max() <= 0.3
    shares = torch.histc(parameter.detach(), 10, -0.3, 0.3) / 10_000
    torch.testing.assert_close(shares, torch.full((10,), 0.1), atol=0.015, rtol=0)
    assert all(p.abs().max() <= 0.1 for p in encoder(2).parameters())
