"""Drift against a plain loop over sorted documents."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from ammi.evaluate import drift


def plain_drift(code: np.ndarray, base: np.ndarray, distances: list[int]) -> list[tuple[int, int]]:
    away = sorted((int(np.unpackbits(code ^ other).sum()), position) for position, other in enumerate(base))
    steps = [next((step for step in away if step[0] >= distance), None) for distance in sorted(distances)]
    return list(dict.fromkeys(step for step in steps if step))


@settings(deadline=None)
@given(
    n=st.integers(0, 40),
    width=st.integers(1, 4),
    distances=st.lists(st.integers(0, 40), max_size=8),
    seed=st.integers(0, 2**31),
)
def test_drift_equals_a_plain_loop(n, width, distances, seed):
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 4, (n, width), dtype=np.uint8)  # few different codes: ties
    code = rng.integers(0, 256, width, dtype=np.uint8)
    assert drift(code, base, distances) == plain_drift(code, base, distances)


def test_a_line_of_codes():
    base = np.packbits(np.tri(64, dtype=np.uint8), axis=1)  # document i is i + 1 bits from zero
    assert [step.distance for step in drift(np.zeros(8, np.uint8), base)] == [1, 5, 10, 20, 50]
