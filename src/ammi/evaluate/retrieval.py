"""Retrieval measures on packed codes, in percent.

Neighbours at equal distance come in insertion order (`ties="insertion"`), or all orders of them are equally likely and
the expected value is returned (`ties="expected"`). Both are deterministic.
"""

from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse

from ammi.search.hamming import Codes, nearest

Ties = Literal["insertion", "expected"]
Labels: TypeAlias = "NDArray[np.generic] | csr_matrix"  # a class for each document (n,), or 0/1 (n, L)
Relevance = Callable[[slice, NDArray[np.int64]], NDArray[np.bool_]]

_DISTANCES_AT_ONCE = 2**23
_MOST_LABEL_BYTES = 2**30


def precision_at_k(
    query_codes: Codes,
    query_labels: Labels,
    base_codes: Codes,
    base_labels: Labels,
    k: int = 100,
    *,
    ties: Ties = "insertion",
) -> float:
    """Return the mean share, in percent, of the k nearest base documents that have a label in common with the query.

    Labels are one class for each document (n,), or a 0/1 matrix (n, L), dense or sparse. If the base has fewer than k
    documents, all of them are retrieved.
    """
    relevant = _label_in_common(query_labels, query_codes, base_labels, base_codes)
    return _mean_hits(query_codes, base_codes, k, relevant, ties) / min(k, len(base_codes)) * 100


def leave_one_out_precision(codes: Codes, labels: Labels, k: int = 100) -> float:
    """Return the precision at k of each document among all the others, ties in insertion order."""
    if k < 1 or len(codes) < 2:
        raise ValueError(f"needs k >= 1 and two documents, got k = {k} and {len(codes)}")
    relevant = _label_in_common(labels, codes, labels, codes)
    k = min(k, len(codes) - 1)
    hits = sum(relevant(rows, _others(codes, rows, k)).sum() for rows in _blocks(len(codes), k + 1))
    return float(hits / (len(codes) * k) * 100)


def matching_at_k(codes: Codes, related_codes: Codes, k: int = 100, *, ties: Ties = "insertion") -> float:
    """Return the share of rows, in percent, whose related row (that of the same number) is among their k nearest."""
    if len(codes) != len(related_codes):
        raise ValueError(f"row i of both must be a pair: got {len(codes)} codes and {len(related_codes)} related codes")
    row_numbers = np.arange(len(codes))

    def relevant(rows: slice, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        return positions == row_numbers[rows][:, None]

    return _mean_hits(codes, related_codes, k, relevant, ties) * 100


def distinct_codes(codes: Codes) -> int:
    """Return how many different codes there are."""
    return len(np.unique(codes, axis=0))


def _mean_hits(queries: Codes, base: Codes, k: int, relevant: Relevance, ties: Ties) -> float:
    """Return the mean number of relevant documents among the k nearest."""
    if k < 1 or not len(queries) or not len(base):
        raise ValueError(f"needs k >= 1, a query and a base document, got k = {k}, {len(queries)} and {len(base)}")
    if ties == "insertion":
        found = ((rows, nearest(base, queries[rows], k)[1]) for rows in _blocks(len(queries), min(k, len(base))))
        return float(sum(relevant(rows, positions).sum() for rows, positions in found) / len(queries))
    if ties == "expected":
        return sum(_expected_hits(queries, base, k, relevant)) / len(queries)
    raise ValueError(f"ties must be 'insertion' or 'expected', got {ties!r}")


def _expected_hits(queries: Codes, base: Codes, k: int, relevant: Relevance) -> Iterator[float]:
    """Yield the expected numbers of relevant documents, in blocks, if ties at the k-th distance break at random."""
    everything = np.arange(len(base))[None]
    for rows in _blocks(len(queries), len(base)):
        distances = np.bitwise_count(queries[rows][:, None] ^ base).sum(-1, dtype=np.int32)  # (queries, base)
        limit = np.partition(distances, min(k, len(base)) - 1, axis=1)[:, [min(k, len(base)) - 1]]
        hit = relevant(rows, np.broadcast_to(everything, distances.shape))
        closer, tied = distances < limit, distances == limit
        chance = (min(k, len(base)) - closer.sum(1)) / tied.sum(1)
        yield ((hit & closer).sum(1) + (hit & tied).sum(1) * chance).sum()


def _others(codes: Codes, rows: slice, k: int) -> NDArray[np.int64]:
    """Return the k nearest of each of these documents without itself, also if equal codes come before it."""
    _, positions = nearest(codes, codes[rows], k + 1)
    left_out = positions == np.arange(len(codes))[rows][:, None]
    left_out[~left_out.any(axis=1), -1] = True
    return positions[~left_out].reshape(-1, k)


def _blocks(n_queries: int, per_query: int) -> Iterator[slice]:
    size = max(1, _DISTANCES_AT_ONCE // (32 * per_query))
    return (slice(start, start + size) for start in range(0, n_queries, size))


def _label_in_common(query_labels: Labels, query_codes: Codes, base_labels: Labels, base_codes: Codes) -> Relevance:
    queries, base = _label_rows(query_labels, query_codes, "query"), _label_rows(base_labels, base_codes, "base")
    if queries.shape[1] != base.shape[1]:
        raise ValueError(
            f"queries have {queries.shape[1]} bytes of labels and the base {base.shape[1]}: use the same labels"
        )
    single_class = np.ndim(query_labels) == 1

    def relevant(rows: slice, positions: NDArray[np.int64]) -> NDArray[np.bool_]:
        asked, found = queries[rows][:, None], base[positions]
        return (asked == found)[..., 0] if single_class else (asked & found).any(-1)

    return relevant


def _label_rows(labels: Labels, codes: Codes, which: str) -> NDArray:
    """Return labels as rows to compare: (n, 1) classes, or (n, bytes) of packed 0/1."""
    rows: Any = labels if issparse(labels) else np.asarray(labels)
    if rows.ndim not in (1, 2) or rows.shape[0] != len(codes):
        raise ValueError(
            f"{which} labels must be (n,) or (n, L) for the {len(codes)} {which} codes, got shape {rows.shape}"
        )
    if not issparse(rows):
        return rows[:, None] if rows.ndim == 1 else np.packbits(rows != 0, axis=1)
    n, n_labels = rows.shape
    if n * n_labels > 8 * _MOST_LABEL_BYTES:
        raise ValueError(f"{n:,} documents have {n_labels:,} different labels, too many to compare: name other labels")
    at_once = max(1, _DISTANCES_AT_ONCE // max(1, n_labels))
    packed = np.empty((n, -(-n_labels // 8)), np.uint8)
    for start in range(0, n, at_once):
        packed[start : start + at_once] = np.packbits(rows[start : start + at_once].toarray() != 0, axis=1)
    return packed
