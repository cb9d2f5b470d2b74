"""The sparse product and its gradient against dense twins."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import random as random_sparse

from ammi.nets.rows import SparseRows, product, to_rows

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
    weight = torch.randn(words, out, generator=torch.Generator().manual_seed(seed), requires_grad=True)
    results = []
    for rows in (to_rows(X, CPU, gradient=True), to_rows(X.toarray(), CPU)):
        value = product(rows, weight)
        (gradient,) = torch.autograd.grad((value**2).sum(), weight)
        results.append((value.detach(), gradient))
    torch.testing.assert_close(results[0][0], results[1][0])
    torch.testing.assert_close(results[0][1], results[1][1])


def test_rows_are_float32_and_keep_their_columns_for_a_gradient_only():
    X = random_sparse(5, 9, 0.5, format="csr", random_state=0, dtype=np.float64)
    dense, read, trained = to_rows(X.toarray(), CPU), to_rows(X, CPU), to_rows(X, CPU, gradient=True)
    assert isinstance(dense, torch.Tensor)
    assert dense.dtype == torch.float32
    assert isinstance(read, SparseRows)
    assert isinstance(trained, SparseRows)
    assert read.by_column is None
    assert trained.by_column is not None
    for rows in (read, trained):
        assert torch.equal(product(rows, torch.eye(9)), dense)
