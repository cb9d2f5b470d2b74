"""Measures of whole rankings, query by query: precision and nDCG of the first k documents, and average precision."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ammi import displays

Shares = NDArray[np.float64]  # (Q,), one for each query, from 0 to 1


class RankingScores(NamedTuple):
    """Scores of each query; the mean average precision (MAP) is the mean of the last."""

    precision: Shares
    ndcg: Shares
    average_precision: Shares

    def __repr__(self) -> str:
        means = ", ".join(f"{name}={mean:.4f}" for name, mean in self._means().items())
        return f"RankingScores of {len(self.precision)} queries, means: {means}"

    def _repr_html_(self) -> str:
        means = {name: f"{mean:.4f}" for name, mean in self._means().items()}
        return displays.framed(displays.facts(means, f"Means of {len(self.precision):,} queries"))

    def _means(self) -> dict[str, float]:
        return {name: float(np.mean(shares)) for name, shares in self._asdict().items()}


def ranking_scores(distances: ArrayLike, relevant: ArrayLike, k: int = 100) -> RankingScores:
    """Score the ranking of n documents by their distance to each of Q queries, equal distances in insertion order.

        precision          Σ_{i≤k} rel_i / k
        nDCG               Σ_{i≤k} rel_i / log2(i + 1), divided by the same sum of the best ranking
        average precision  mean over the relevant documents of the precision up to each, over all n documents

    If there are fewer than k documents, k is their number. A query without a relevant document scores 0.

    Args:
        distances: (Q, n), smaller is nearer: Hamming distances of codes, or negative cosines.
        relevant: (Q, n), whether a document is relevant to a query.
    """
    distances, relevant = np.asarray(distances), np.asarray(relevant, dtype=bool)
    if distances.ndim != 2 or distances.shape != relevant.shape or not distances.size or k < 1:
        raise ValueError(
            f"needs k >= 1 and two matrices (queries, documents) of one shape, got k = {k} and the shapes "
            f"{distances.shape} and {relevant.shape}"
        )
    order = np.argsort(distances, axis=1, kind="stable")
    hits = np.take_along_axis(relevant, order, axis=1)  # (Q, n), the nearest document first
    n = hits.shape[1]
    ranks, n_relevant, k = np.arange(1, n + 1), hits.sum(axis=1), min(k, n)
    discounts = 1 / np.log2(ranks[:k] + 1)
    best = np.concatenate(([0], np.cumsum(discounts)))[np.minimum(n_relevant, k)]
    precisions = hits * np.cumsum(hits, axis=1) / ranks
    return RankingScores(
        hits[:, :k].mean(axis=1), _share(hits[:, :k] @ discounts, best), _share(precisions.sum(axis=1), n_relevant)
    )


def _share(of: NDArray, whole: NDArray) -> Shares:
    """Return a quotient that is 0 where the whole is 0."""
    return np.divide(of, whole, out=np.zeros(len(of)), where=whole > 0)
