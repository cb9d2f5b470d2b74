"""Regions of the map: clusters of points, named by typical words, at levels from the whole map to a neighbourhood.

k-means finds the regions of the finest level; Ward's linkage of their middles joins them to those of each level above.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.explore.layout import Layout
from ammi.explore.words import WordCounts, strongest

NONE = 65535  # the region of a point without one
_LEVELS = (8, 24, 72, 216)  # number of regions, the coarsest level first
_LEAST_POINTS = 40  # on average, of a region
_WORDS, _SPARE = 3, 12
_POINTS_FITTED = 20_000
_SEED = 0

RegionOf = NDArray[np.uint16]


class MapRegion(NamedTuple):
    """A region: its level, 0 for the coarsest, the number of its region one level up, its middle, words and points."""

    level: int
    parent: int | None
    x: float
    y: float
    words: list[str]
    n_points: int


def find_regions(layout: Layout, counts: WordCounts, read: NDArray[np.int64]) -> tuple[RegionOf, list[MapRegion]]:
    """Return the finest region of each point, and the regions of all levels, the coarsest first.

    `counts` are those of the texts of the points in `read`.
    """
    from sklearn.cluster import KMeans

    most = min(_LEVELS[-1], len(layout) // _LEAST_POINTS)
    if most < 2:
        return np.full(len(layout), NONE, np.uint16), []
    clusters = KMeans(most, n_init=2, random_state=_SEED).fit(layout[:: max(1, len(layout) // _POINTS_FITTED)])
    _, finest = np.unique(clusters.predict(layout), return_inverse=True)
    middles = np.array([np.median(layout[finest == number], axis=0) for number in range(finest.max() + 1)])
    sizes = [n for n in _LEVELS if n <= len(middles) / 2]
    levels = [joined(middles, n) for n in sizes] + [np.arange(len(middles))]
    regions: list[MapRegion] = []
    names: set[tuple[str, ...]] = set()
    above, first_above = None, 0
    for level, group in enumerate(levels):
        own, first = group[finest], len(regions)
        typical = counts.typical(own[read][None] == np.arange(group.max() + 1)[:, None])
        for number in range(group.max() + 1):
            inside = layout[own == number]
            x, y = np.median(inside, axis=0).tolist()
            words = _new_name([word for word, _ in strongest(counts.words, typical[number], _WORDS + _SPARE)], names)
            names.add(tuple(words))
            parent = None if above is None else first_above + int(above[group == number][0])
            regions.append(MapRegion(level, parent, x, y, words, len(inside)))
        above, first_above = group, first
    return (first_above + finest).astype(np.uint16), regions


def _new_name(words: list[str], taken: set[tuple[str, ...]]) -> list[str]:
    """Return the first words, or the next best that no other region has: names are addresses."""
    return next((list(name) for name in combinations(words, _WORDS) if name not in taken), words[:_WORDS])


def in_region(number: int, region_of: RegionOf, regions: Sequence[MapRegion]) -> NDArray[np.bool_]:
    """Return which points are in a region: in one of the finest regions that belong to it."""
    own: list[bool] = []
    for one, region in enumerate(regions):
        own.append(one == number or (region.parent is not None and own[region.parent]))
    return np.isin(region_of, np.flatnonzero(own))


def joined(middles: NDArray[np.floating], n: int) -> NDArray[np.int64]:
    """Return for each region, by its middle, which of n larger ones it belongs to."""
    from scipy.cluster.hierarchy import fcluster, linkage

    if n >= len(middles):
        return np.arange(len(middles))
    groups = fcluster(linkage(middles, "ward"), n, "maxclust")
    return np.unique(groups, return_inverse=True)[1].reshape(-1)


def levels_of(regions: Sequence[MapRegion]) -> list[list[int]]:
    """Return the numbers of the regions of each level, the coarsest first."""
    levels: list[list[int]] = [[] for _ in range(1 + max((region.level for region in regions), default=-1))]
    for number, region in enumerate(regions):
        levels[region.level].append(number)
    return levels


def main_level(regions: Sequence[MapRegion]) -> list[int]:
    """Return the numbers of the regions of the finest level with at most 24 of them."""
    return max((level for level in levels_of(regions) if len(level) <= _LEVELS[1]), key=len, default=[])


def recounted(regions: Sequence[MapRegion], region_of: RegionOf) -> list[MapRegion]:
    """Return the regions with the numbers of their points."""
    n_points = np.bincount(region_of[region_of < len(regions)], minlength=len(regions)).tolist()
    for number in range(len(regions) - 1, -1, -1):  # those of a finer level first
        parent = regions[number].parent
        if parent is not None:
            n_points[parent] += n_points[number]
    return [region._replace(n_points=n) for region, n in zip(regions, n_points, strict=True)]
