"""Regions of the map: clusters of points, each named by typical words."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.explore.layout import Layout
from ammi.explore.words import WordCounts, strongest

NONE = 255  # the region of a point without one
_MOST_REGIONS, _LEAST_POINTS = 24, 40
_WORDS = 3
_POINTS_FITTED = 20_000
_SEED = 0


class MapRegion(NamedTuple):
    """A region: its middle, its words, and the number of its points."""

    x: float
    y: float
    words: list[str]
    n_points: int


def find_regions(
    layout: Layout, texts: list[str | None], read: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], list[MapRegion]]:
    """Return the region of each point, and the regions; `texts` are those of the points in `read`."""
    from sklearn.cluster import KMeans

    n = min(_MOST_REGIONS, len(layout) // _LEAST_POINTS)
    if n < 2:
        return np.full(len(layout), NONE, np.uint8), []
    clusters = KMeans(n, n_init=2, random_state=_SEED).fit(layout[:: max(1, len(layout) // _POINTS_FITTED)])
    region_of = clusters.predict(layout).astype(np.uint8)
    counts = WordCounts(texts)
    typical = counts.typical(region_of[read][None] == np.arange(n)[:, None])
    regions = []
    for number in range(n):
        inside = layout[region_of == number]
        x, y = np.median(inside, axis=0).tolist() if len(inside) else (0.5, 0.5)
        words = [word for word, _ in strongest(counts.words, typical[number], _WORDS)]
        regions.append(MapRegion(x, y, words, len(inside)))
    return region_of, regions
