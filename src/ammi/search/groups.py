"""Near-duplicates: documents joined by steps of at most a radius, from one code to the next."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ammi.search.hamming import Codes, within

_DISTANCES_AT_ONCE = 2**27


def groups_within(
    codes: Codes, radius: int, advance: Callable[[int], None] = lambda n_codes: None
) -> list[NDArray[np.int64]]:
    """The groups of two documents or more whose codes are connected by distances of at most radius.

    Positions in a group and the groups themselves are in insertion order. Every pair of different codes is compared, so
    the time grows with the square of their number; `advance` is told how many codes were compared with all others.
    """
    if radius < 0:
        raise ValueError(f"radius is {radius}, but no distance is below 0")
    different, code_of = np.unique(codes, axis=0, return_inverse=True)  # many copies of a code cost no more than one
    group_of_code = np.arange(len(different))
    step = max(1, _DISTANCES_AT_ONCE // max(1, len(different)))
    for start in range(0, len(different), step):
        block = different[start : start + step]
        found = within(different[start:], block, radius)  # pairs with the codes before it were found there
        ends = np.concatenate([[0], *(positions + start for _, positions in found)])[1:]
        starts = np.repeat(np.arange(start, start + len(block)), [len(positions) for _, positions in found])
        if len(ends) > len(block):  # more than each code with itself
            group_of_code = _joined(group_of_code, starts, ends)
        advance(len(block))
    return _members(group_of_code[code_of.reshape(-1)])


def _joined(group_of: NDArray, starts: NDArray, ends: NDArray) -> NDArray:
    """The groups after joining, for each pair, the group of its start with that of its end."""
    n = len(group_of)
    pairs = coo_matrix((np.ones(len(starts), bool), (group_of[starts], group_of[ends])), shape=(n, n))
    return connected_components(pairs, directed=False)[1][group_of]


def _members(group_of: NDArray) -> list[NDArray[np.int64]]:
    """The positions in each group that has two or more."""
    order = np.argsort(group_of, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(group_of[order])) + 1)
    return sorted((group for group in groups if len(group) > 1), key=lambda group: group[0])
