"""The search written plainly in numpy, to compare the real one with."""

import numpy as np


def distances(base: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """(q, n): the number of bits in which each query and each code differ."""
    return np.unpackbits(queries[:, None] ^ base[None], axis=2).sum(axis=2, dtype=np.int32)


def ranking(base: np.ndarray, queries: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distances and positions of all codes of base, for each query, ties in insertion order."""
    unsorted = distances(base, queries)
    positions = np.argsort(unsorted, axis=1, kind="stable")
    return np.take_along_axis(unsorted, positions, axis=1), positions


def random_codes(rng: np.random.Generator, n: int, m: int, distinct: int) -> np.ndarray:
    """n packed codes of m bits, drawn from so few distinct ones that many are equally far from a query."""
    bits = rng.integers(0, 2, (distinct, m), dtype=np.uint8)
    return np.packbits(bits[rng.integers(0, distinct, n)], axis=1)
