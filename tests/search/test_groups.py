"""Near-duplicate groups against a plain search through the graph."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.search import groups, groups_within


def plain_groups(codes: np.ndarray, radius: int) -> list[list[int]]:
    bits = np.unpackbits(codes, axis=1)
    joined = (bits[:, None] != bits[None]).sum(-1) <= radius
    found, seen = [], set()
    for first in range(len(codes)):
        group, waiting = set(), [first]
        while waiting:
            document = waiting.pop()
            if document not in group:
                group.add(document)
                waiting += np.flatnonzero(joined[document]).tolist()
        if len(group) > 1 and first not in seen:
            found.append(sorted(group))
        seen |= group
    return found


@settings(deadline=None)
@given(
    n=st.integers(0, 60),
    width=st.integers(1, 9),
    values=st.sampled_from([1, 2, 4, 256]),
    radius=st.integers(0, 12),
    at_once=st.sampled_from([1, 100, 2**27]),
    seed=st.integers(0, 2**31),
)
def test_groups_equal_a_plain_search(n, width, values, radius, at_once, seed):
    codes = np.random.default_rng(seed).integers(0, values, (n, width), dtype=np.uint8)
    compared: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(groups, "_DISTANCES_AT_ONCE", at_once)  # many blocks, or one
        found = groups_within(codes, radius, compared.append)
    assert [group.tolist() for group in found] == plain_groups(codes, radius)
    assert sum(compared) == len(np.unique(codes, axis=0))


def test_a_chain_of_small_steps_is_one_group():
    codes = np.packbits(np.tri(60, dtype=np.uint8), axis=1)
    order = np.random.default_rng(0).permutation(60)
    (group,) = groups_within(codes[order], 1)
    assert group.tolist() == list(range(60))
    assert groups_within(codes, 0) == []


def test_a_radius_below_zero_is_refused():
    with pytest.raises(ValueError, match="radius is -1"):
        groups_within(np.zeros((2, 8), np.uint8), -1)
