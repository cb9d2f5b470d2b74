"""Near-duplicates: each document that is kept, with the later ones that are within a radius of it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.search.hamming import Codes, within

_PAIRS_AT_ONCE = 2**21  # at some 50 bytes a pair, if all are near each other
_BLOCK = 256


class Group(NamedTuple):
    """A document and its near-copies, by their positions; each copy with its distance from the one that is kept."""

    kept: int
    copies: list[tuple[int, int]]


def near_groups(codes: Codes, radius: int, advance: Callable[[int], None] = lambda n_documents: None) -> list[Group]:
    """The groups of two documents or more, in insertion order.

    In that order, a document that is in no group yet is kept, and all that are in none either and at most radius bits
    away from it are its copies: no chain of small steps makes two distant documents one. Different codes are compared
    with each other, so the time grows with the square of their number; `advance` is told how many documents are done.
    """
    if radius < 0:
        raise ValueError(f"radius is {radius}, but no distance is below 0")
    _, first, code_of, counts = np.unique(codes, axis=0, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)  # many copies of a code cost no more than one
    kept_by, distance = _assign(codes[first[order]], min(radius, 8 * codes.shape[1]), counts[order], advance)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    code_of = rank[code_of.reshape(-1)]
    return _groups(first[order][kept_by[code_of]], distance[code_of])


def _assign(
    codes: Codes, radius: int, counts: NDArray[np.int64], advance: Callable[[int], None]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """For each of these different codes the one that keeps it, perhaps itself, and the distance of the two.

    counts are the documents that have each code, of which advance is told.
    """
    n = len(codes)
    kept_by, distance = np.full(n, -1), np.zeros(n, np.int32)

    def take(keepers: NDArray[np.int64], free: NDArray[np.int64]) -> None:
        """Give the free codes to the first keeper that is near."""
        found = within(codes[free], codes[keepers], radius)
        for keeper, (distances, near) in zip(keepers[::-1], found[::-1], strict=True):  # so the first has the last word
            kept_by[free[near]], distance[free[near]] = keeper, distances

    for start in range(0, n, _BLOCK):
        end = min(start + _BLOCK, n)
        for row in range(start, end):
            if kept_by[row] < 0:
                take(np.array([row]), row + np.flatnonzero(kept_by[row:end] < 0))
        keepers = start + np.flatnonzero(kept_by[start:end] == np.arange(start, end))
        later = end + np.flatnonzero(kept_by[end:] < 0)
        step = max(1, _PAIRS_AT_ONCE // _BLOCK)
        for free in (later[i : i + step] for i in range(0, len(later), step)):
            take(keepers, free)
        advance(int(counts[start:end].sum()))
    return kept_by, distance


def _groups(kept: NDArray[np.int64], distance: NDArray[np.int32]) -> list[Group]:
    """The groups that have a copy, of the position that keeps each document and its distance from there."""
    order = np.argsort(kept, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(kept[order])) + 1)
    return [
        Group(int(part[0]), list(zip(part[1:].tolist(), distance[part[1:]].tolist(), strict=True)))
        for part in parts
        if len(part) > 1
    ]
