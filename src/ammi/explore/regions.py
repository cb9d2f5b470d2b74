"""Regions of a map: groups of places, each with a name of typical words."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.explore.layout import Places
from ammi.explore.words import WordCounts, strongest

NONE = 255  # the region of a place that has none
_MOST, _LEAST_PLACES = 24, 40  # regions, and places in one
_WORDS = 3
_SEED = 0


class Region(NamedTuple):
    """A region: its middle, its words, and how many places it has."""

    x: float
    y: float
    words: list[str]
    n_places: int


def find_regions(
    places: Places, texts: list[str | None], read: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], list[Region]]:
    """The region of each place, and the regions; `texts` are of the places that `read` names."""
    from sklearn.cluster import KMeans

    n = min(_MOST, len(places) // _LEAST_PLACES)
    if n < 2:
        return np.full(len(places), NONE, np.uint8), []
    grouping = KMeans(n, n_init=2, random_state=_SEED).fit(places[:: max(1, len(places) // 20_000)])
    region_of = grouping.predict(places).astype(np.uint8)
    counts = WordCounts(texts)
    typical = counts.typical(region_of[read][None] == np.arange(n)[:, None])
    regions = []
    for number in range(n):
        inside = places[region_of == number]
        x, y = np.median(inside, axis=0).tolist() if len(inside) else (0.5, 0.5)
        words = [word for word, _ in strongest(counts.words, typical[number], _WORDS)]
        regions.append(Region(x, y, words, len(inside)))
    return region_of, regions
