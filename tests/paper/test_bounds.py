"""Figure 1 (a): the bounds lie where theory says."""

import pytest
import torch

from reproduction.bounds import CODE_BITS, partly_trained_batch, upper_bound
from tests.tuning.small import small_task


def test_bounds_fall_with_the_order_towards_the_entropy():
    batch = partly_trained_batch(small_task(), seed=0)
    assert batch.shape == (128, CODE_BITS, 1)
    bounds = [upper_bound(batch, order, steps=2, seed=0) for order in (0, 1, 3, 7, CODE_BITS - 1)]
    exact = [bound["exact"] for bound in bounds]
    assert exact == sorted(exact, reverse=True)
    assert exact[0] > exact[-1]
    assert all(bound["gradient"] >= bound["exact"] - 1e-4 for bound in bounds)
    assert exact[-1] == pytest.approx(bounds[-1]["entropy"], abs=1e-3)  # a chain that remembers all is any distribution


def test_a_batch_is_of_a_model_after_exactly_so_many_epochs():
    """The epoch with the best precision, in place of the last one, was the same after 2, 4 and 8 epochs."""
    batches = [partly_trained_batch(small_task(), seed=0, epochs=epochs) for epochs in (2, 4, 8)]
    assert not torch.equal(batches[0], batches[1])
    assert not torch.equal(batches[1], batches[2])


@pytest.mark.slow
def test_enough_steps_reach_the_closed_form():
    bound = upper_bound(
        torch.randn(32, CODE_BITS, 1, generator=torch.Generator().manual_seed(0)) * 3, 1, steps=300, seed=0
    )
    assert bound["gradient"] == pytest.approx(bound["exact"], abs=0.01)
