"""Exact Hamming search over packed codes, by FAISS, with every tie in insertion order.

The distance of two codes is d(z, z') = Σ_i |z_i − z'_i|. Codes are rows of bytes as numpy.packbits packs them, the
padding bits zero, so any number of bits will do.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise

import faiss
import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.uint8]  # (n, ceil(m / 8))
Near = tuple[NDArray[np.int32], NDArray[np.int64]]  # the distances and the rows of the codes that were found

MOST_FOUND = 250_000  # of `within`: so many hits take some hundreds of megabytes
_PAIRS_AT_ONCE = 1 << 24  # some 650 MB where all of them are found


def nearest(base: Codes, queries: Codes, k: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Find the k codes of base nearest to each query: their distances and their rows in base, both (q, min(k, n)).

    Sorted by distance and then by row, also among equals of the k-th: FAISS orders its heap by the pair of them.
    """
    base, queries = _aligned(base, queries)
    k = min(int(k), len(base))
    if k == 0:  # FAISS would look at the top of an empty heap
        return np.zeros((len(queries), 0), np.int32), np.zeros((len(queries), 0), np.int64)
    with _no_more_threads_than(len(queries)):
        return faiss.knn_hamming(queries, base, k, variant="hc")


def alone() -> None:
    """Let FAISS search with one thread from this thread on: beside others, more threads would only wait for cores."""
    faiss.omp_set_num_threads(1)


@contextmanager
def _no_more_threads_than(queries: int) -> Iterator[None]:
    """Limit FAISS to a thread per query: it gives whole queries to threads, and a thread that only waits costs time."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(min(before, max(queries, 1)))  # of those that this thread starts
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def within(base: Codes, queries: Codes, radius: int) -> list[Near]:
    """Find all codes of base at most radius away from each query, sorted as `nearest` does.

    More than MOST_FOUND for all queries together are refused.
    """
    base, queries = _aligned(base, queries)
    radius = min(int(radius), 8 * base.shape[1])  # FAISS takes none beyond 32 bits
    at_once = max(1, _PAIRS_AT_ONCE // max(1, len(base)))  # each query may find all
    hits: list[Near] = []
    n_found = 0
    for start in range(0, len(queries), at_once):
        hits += _within(base, queries[start : start + at_once], radius)
        n_found += sum(len(positions) for _, positions in hits[start:])
        if n_found > MOST_FOUND:
            raise too_many_within(radius)
    return hits


def too_many_within(radius: int) -> ValueError:
    """Return the error for more than MOST_FOUND hits."""
    return ValueError(
        f"more than {MOST_FOUND:,} codes are at most {radius} bits away: take a smaller radius or fewer queries at "
        "once, or search for the k nearest"
    )


def _within(base: Codes, queries: Codes, radius: int) -> list[Near]:
    found = faiss.RangeSearchResult(len(queries))
    search = faiss.hamming_range_search  # type: ignore[attr-defined]  # IndexBinaryFlat would need a copy of base
    a, b = faiss.swig_ptr(queries), faiss.swig_ptr(base)
    with _no_more_threads_than(len(queries)):
        search(a, b, len(queries), len(base), radius + 1, base.shape[1], found)  # it finds what is below a radius
    ends = faiss.rev_swig_ptr(found.lims, len(queries) + 1).tolist()
    distances = faiss.rev_swig_ptr(found.distances, ends[-1]).astype(np.int32)
    positions = faiss.rev_swig_ptr(found.labels, ends[-1]).astype(np.int64)
    hits = []
    for start, end in pairwise(ends):
        order = np.lexsort((positions[start:end], distances[start:end]))
        hits.append((distances[start:end][order], positions[start:end][order]))
    return hits


def _aligned(base: Codes, queries: Codes) -> tuple[Codes, Codes]:
    """Return both contiguous and padded to 4 bytes, which FAISS compares faster than fewer."""
    width = base.shape[1]
    if queries.shape[1] != width:
        raise ValueError(
            f"the queries have {queries.shape[1]} bytes a code, but the base has {width}: pass codes of one model"
        )
    if width < 4:
        base, queries = (np.pad(codes, ((0, 0), (0, 4 - width))) for codes in (base, queries))
    return np.ascontiguousarray(base), np.ascontiguousarray(queries)
