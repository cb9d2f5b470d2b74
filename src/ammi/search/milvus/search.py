"""The nearest documents in Milvus, exactly as filters and insertion order have it.

Milvus gives equally near documents in any order, so all of them are asked for that are as near as the last one; and an
expression may keep more than its filter does, so more are asked for than are wanted. Where that does not do, since a
server finds 16,384 at once, the codes are read and compared here.
"""

from collections.abc import Callable

import numpy as np

from ammi.search import hamming
from ammi.search.filters import Filter, matches
from ammi.search.hamming import Codes
from ammi.search.milvus.client import Row
from ammi.search.milvus.filters import NOTHING, to_expression
from ammi.search.milvus.rows import METADATA, Positions, Rows

MOST = 16_384  # that a server finds at once
_MOST_HITS = 50_000  # in one answer, for several queries

Hits = tuple[list[int], list[int]]  # the distances and the positions of documents, the nearest first
Near = list[Hits]  # for each query


def nearest(rows: Rows, queries: Codes, k: int, filter: Filter) -> Near:
    """The k nearest documents of each query."""

    def answer(found: list[Row], limit: int, kept: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
        last = (
            max(row["distance"] for row in found) if len(found) == limit else np.inf
        )  # some that are so far may be missing
        sure = [hit for hit in kept if hit[0] < last]
        return sure[:k] if last == np.inf or len(sure) >= k else None

    def compare(base: Codes, asked: Codes) -> list[hamming.Near]:
        return list(zip(*hamming.nearest(base, asked, k), strict=True))

    return _near(rows, queries, 2 * k + 32, filter, answer, compare)


def within(rows: Rows, queries: Codes, radius: int, filter: Filter) -> Near:
    """All documents of each query that are at most so far away."""

    def answer(found: list[Row], limit: int, kept: list[tuple[int, int]]) -> list[tuple[int, int]] | None:
        if len(found) == limit and max(row["distance"] for row in found) <= radius:
            return None
        return [hit for hit in kept if hit[0] <= radius]

    return _near(rows, queries, 1000, filter, answer, lambda base, asked: hamming.within(base, asked, radius))


def matching(rows: Rows, filter: Filter) -> tuple[Positions, Codes]:
    """The sorted positions of the documents that a filter keeps, and their codes."""
    positions: list[int] = []
    codes: list[bytes] = []
    for some in rows.scan(["position", "code", *(METADATA if filter else [])], to_expression(filter)):
        kept = _kept(rows, some, filter)
        positions += [row["position"] for row in kept]
        codes += [row["code"][0] for row in kept]
    packed = np.frombuffer(b"".join(codes), np.uint8)
    return np.array(positions, np.int64), packed.reshape(len(codes), -1) if codes else packed.reshape(0, 1)


def _near(
    rows: Rows,
    queries: Codes,
    limit: int,
    filter: Filter,
    answer: Callable[[list[Row], int, list[tuple[int, int]]], list[tuple[int, int]] | None],
    compare: Callable[[Codes, Codes], list[hamming.Near]],
) -> Near:
    expression = to_expression(filter)
    if not rows.count or expression == NOTHING:
        return [([], [])] * len(queries)
    found: dict[int, Hits] = {}
    missing = list(range(len(queries)))
    limit = min(limit, MOST)
    while missing and limit:
        at_once = max(1, _MOST_HITS // limit)
        for start in range(0, len(missing), at_once):
            some = missing[start : start + at_once]
            fields = ["position", *(METADATA if filter else [])]
            answers = rows.search([query.tobytes() for query in queries[some]], limit, expression, fields)
            for n, hits in zip(some, answers, strict=True):
                kept = sorted((row["distance"], row["position"]) for row in _kept(rows, hits, filter))
                if (sure := answer(hits, limit, kept)) is not None:
                    found[n] = [distance for distance, _ in sure], [position for _, position in sure]
        missing = [n for n in missing if n not in found]
        limit = min(MOST, 8 * limit) if limit < MOST else 0
    if missing:
        positions, codes = matching(rows, filter)
        base = codes if len(positions) else np.empty((0, queries.shape[1]), np.uint8)
        for n, (distances, places) in zip(missing, compare(base, queries[missing]), strict=True):
            found[n] = distances.tolist(), positions[places].tolist()
    return [found[n] for n in range(len(queries))]


def _kept(rows: Rows, found: list[Row], filter: Filter) -> list[Row]:
    """Those of the rows that the filter keeps."""
    if not filter:
        return found
    return [row for row, metadata in zip(found, rows.metadata(found), strict=True) if matches(filter, metadata)]
