"""One in ten: the same documents whoever asks, and together all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ammi.data import every_tenth


@given(st.integers(0, 200))
def test_the_tenth_of_every_ten(n):
    assert np.flatnonzero(every_tenth(n)).tolist() == list(range(9, n, 10))
    for nth in range(1, 11):
        mask = every_tenth(n, nth=nth)
        assert (mask.dtype, mask.shape) == (bool, (n,))
        assert np.flatnonzero(mask).tolist() == list(range(nth - 1, n, 10))
    assert np.sum([every_tenth(n, nth=nth) for nth in range(1, 11)], axis=0).tolist() == [1] * n


@pytest.mark.parametrize("nth", [0, 11, -1])
def test_others_than_ten_are_refused(nth):
    with pytest.raises(ValueError, match=f"nth is {nth}: expected one of ten, 1 to 10"):
        every_tenth(5, nth=nth)
