"""The word decoder against dense twins."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import random as random_sparse

from ammi.nets.decoder import WordDecoder
from ammi.nets.rows import to_rows

CPU = torch.device("cpu")


def decoder(n_inputs: int, n_words: int, seed: int) -> WordDecoder:
    made = WordDecoder(n_inputs, n_words).double()
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.normal_(generator=torch.Generator().manual_seed(seed))
    return made


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(1, 6),
    words=st.integers(1, 12),
    density=st.floats(0, 1),
    sparse=st.booleans(),
    seed=st.integers(0, 99),
)
def test_log_probability_and_gradient_equal_a_dense_log_softmax(n, words, density, sparse, seed):
    X = random_sparse(n, words, density, format="csr", random_state=seed)
    made = decoder(3, words, seed)
    z = torch.randn(n, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(seed), requires_grad=True)
    value = made(z, to_rows(X if sparse else X.toarray(), CPU))
    present = torch.from_numpy((X.toarray() > 0).astype(float))
    expected = ((z @ made.weight + made.bias).log_softmax(1) * present).sum(1)
    torch.testing.assert_close(value, expected)
    inputs = (z, made.weight, made.bias)
    for ours, theirs in zip(
        torch.autograd.grad((value**2).sum(), inputs), torch.autograd.grad((expected**2).sum(), inputs), strict=True
    ):
        torch.testing.assert_close(ours, theirs)


def test_gradcheck():
    X = random_sparse(4, 6, 0.5, format="csr", random_state=0)
    made, rows = decoder(3, 6, 0), to_rows(X, CPU)
    z = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: made(z, rows), (z,))


@pytest.mark.parametrize("scale", [1e3, 1e4])
def test_large_scores_stay_finite(scale):
    made = decoder(3, 50, 0).float()
    z = (scale * torch.randn(4, 3)).requires_grad_()
    value = made(z, to_rows(np.eye(4, 50), CPU))
    value.sum().backward()
    assert value.isfinite().all()
    assert z.grad is not None
    assert z.grad.isfinite().all()
