"""The sparse product and its gradient against dense twins."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import random as random_sparse

from ammi.nets.encoder import Encoder, initialise
from ammi.nets.prior import Prior
from ammi.nets.rows import product, to_rows

CPU = torch.device("cpu")


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 8),
    words=st.integers(1, 12),
    out=st.integers(1, 5),
    density=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_sparse_product_and_gradient_equal_the_dense_ones(n, words, out, density, seed):
    X = random_sparse(n, words, density, format="csr", random_state=seed)
    weight = torch.randn(words, 3, generator=torch.Generator().manual_seed(seed), requires_grad=True)
    results = []
    for rows in (to_rows(X, CPU, gradient=True), to_rows(X.toarray(), CPU)):
        value = product(rows, weight)
        (gradient,) = torch.autograd.grad((value**2).sum(), weight)
        results.append((value.detach(), gradient))
    torch.testing.assert_close(results[0][0], results[1][0])
    torch.testing.assert_close(results[0][1], results[1][1])


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_an_encoder_reads_sparse_and_dense_rows_alike(layers):
    X = random_sparse(6, 30, 0.2, format="csr", dtype=np.float32, random_state=0)
    encoder = Encoder(30, 8, layers, 16)
    initialise(encoder, 0.1)
    assert all(p.abs().max() <= 0.1 for p in encoder.parameters())
    assert sum(isinstance(layer, torch.nn.ReLU) for layer in encoder) == layers
    sparse, dense = encoder(to_rows(X, CPU)), encoder(to_rows(X.toarray(), CPU))
    assert sparse.shape == (6, 8)
    torch.testing.assert_close(sparse, dense)


@pytest.mark.parametrize(("layers", "size"), [(0, 0), (0, 5), (2, 5)])
def test_a_prior_is_a_table_of_logits(layers, size):
    prior = Prior(10, 3, layers, size)
    initialise(prior, 0.1)
    assert prior().shape == (10, 8)
