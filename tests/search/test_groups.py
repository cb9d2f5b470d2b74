"""Near-duplicate groups against a plain loop."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.search import Group, groups, near_groups
from tests.search.plain import distances


def plain_groups(codes: np.ndarray, radius: int) -> list[Group]:
    found: dict[int, list[tuple[int, int]]] = {}
    away = distances(codes, codes).tolist()
    for position in range(len(codes)):
        keeper = next((kept for kept in found if away[kept][position] <= radius), None)
        if keeper is None:
            found[position] = []
        else:
            found[keeper].append((position, away[keeper][position]))
    return [Group(kept, copies) for kept, copies in found.items() if copies]


@settings(deadline=None)
@given(
    n=st.integers(0, 60),
    width=st.integers(1, 9),
    values=st.sampled_from([1, 2, 4, 256]),
    radius=st.integers(0, 12) | st.just(2**40),
    block=st.sampled_from([1, 7, 256]),
    pairs=st.sampled_from([1, 100, 2**21]),
    seed=st.integers(0, 2**31),
)
def test_groups_equal_a_plain_loop(n, width, values, radius, block, pairs, seed):
    codes = np.random.default_rng(seed).integers(0, values, (n, width), dtype=np.uint8)
    compared: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "_BLOCK", block)
        patch.setattr(groups, "_PAIRS_AT_ONCE", pairs)
        found = near_groups(codes, radius, compared.append)
    assert found == plain_groups(codes, radius)
    assert sum(compared) == n


def test_a_chain_of_small_steps_is_no_group():
    """U1: a document at a distance from the one that is kept is no copy of it, whatever stands between them."""
    codes = np.packbits(np.tri(60, dtype=np.uint8), axis=1)
    assert near_groups(codes, 0) == []
    found = near_groups(codes, 2)
    assert found[:2] == [Group(0, [(1, 1), (2, 2)]), Group(3, [(4, 1), (5, 2)])]
    assert len(found) == 20


def test_many_codes_within_the_radius_need_little_memory():
    """A8: 12,000 random codes at radius 128 took 8 GB."""
    codes = np.random.default_rng(0).integers(0, 256, (12_000, 16), dtype=np.uint8)
    (group,) = near_groups(codes, 128)
    assert len(group.copies) == 11_999


def test_a_radius_below_zero_is_refused():
    with pytest.raises(ValueError, match="radius is -1"):
        near_groups(np.zeros((2, 8), np.uint8), -1)
