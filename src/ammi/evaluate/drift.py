"""Semantic drift: documents at growing distance from one code (the paper's Table 3)."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from ammi.search.hamming import Codes

DISTANCES = (0, 1, 5, 10, 20, 50, 90)


class Step(NamedTuple):
    """A document, by its distance and its position in the base."""

    distance: int
    position: int


def drift(code: Codes, base: Codes, distances: Iterable[int] = DISTANCES) -> list[Step]:
    """Return, for each distance, the nearest document at least that far away; among equals the first one inserted.

    A document that is found for several distances is named once. A distance beyond all documents has no step.
    """
    if base.ndim != 2 or np.shape(code) not in ((base.shape[1],), (1, base.shape[1])):
        raise ValueError(f"the code has the shape {np.shape(code)} and the base {base.shape}: pass codes of one model")
    away = np.bitwise_count(base ^ code).sum(axis=1, dtype=np.int64)  # (n,)
    steps: dict[Step, None] = {}
    for distance in sorted(distances):
        if (away >= distance).any():
            position = int(np.argmin(np.where(away >= distance, away, np.iinfo(np.int64).max)))
            steps[Step(int(away[position]), position)] = None
    return list(steps)
