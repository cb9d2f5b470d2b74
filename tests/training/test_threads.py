"""Torch's threads within a block."""

import pytest
import torch

from ammi.training.threads import torch_threads


def test_there_are_so_many_within_and_as_before_after():
    before = torch.get_num_threads()
    with torch_threads(3):
        assert torch.get_num_threads() == 3
        with torch_threads(None):
            assert torch.get_num_threads() == 3
        with torch_threads(2):
            assert torch.get_num_threads() == 2
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == before


def test_also_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(KeyboardInterrupt), torch_threads(3):
        raise KeyboardInterrupt
    assert torch.get_num_threads() == before
