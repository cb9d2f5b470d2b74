"""Embeddings as short codes in one call, and how much of their cosine the codes keep: measured, not assumed.

The codes are those of ITQ, the project's method for fidelity to the cosine. A query keeps its numbers: its cosine with
a code is estimated as in `ammi.search.ranking`, Σ_j l_j (2 z_j - 1) / (sqrt(m) |l|), l_j being its logit of bit j.
"""

from typing import TYPE_CHECKING, NamedTuple

import faiss
import numpy as np
from numpy.typing import NDArray

from ammi.features import VectorFeatures
from ammi.search.hamming import Codes, nearest
from ammi.search.ranking import best, cosines_of_codes

if TYPE_CHECKING:
    from ammi.features.vectors import Documents
    from ammi.hashers import ITQ

_LEARNED_FROM = 100_000  # rows at most: more move the codes little
_QUERIES, _SHARE = 1000, 10  # rows to measure with: so many at most, and one in ten
_NEAREST, _CANDIDATES = 10, 100
_SHORTLIST = 1000  # codes by Hamming distance, of which the best are chosen by the estimated cosine
_EQUAL = 1e-6  # cosines that differ by less are equal

Rows = NDArray[np.float32]


class Nearest(NamedTuple):
    """What was found for each query, the best first."""

    positions: NDArray[np.int64]  # (q, k) rows of the embeddings
    scores: NDArray[np.float64]  # (q, k) estimates of the cosine, for comparison with each other


class Quantized:
    """The codes of embeddings, what makes them, and what they keep.

    Attributes:
        codes: (n, ceil(bits / 8)), packed as numpy.packbits packs.
        quantiser: the fitted ITQ, which reads rows of length 1. `save`, `push_to_hub` and `Collection.create` take it.
        recall: of the ten nearest by exact cosine, the share among the first ten by the codes; None if there were
            fewer than 20 embeddings to measure with.
        recall_at_100: the share among the first hundred: what is found if these are ordered by the exact cosine.
        n_queries: held-out queries that the recalls are means of.
    """

    def __init__(self, codes: Codes, quantiser: "ITQ", bytes_before: int):
        self.codes, self.quantiser, self.bytes_before = codes, quantiser, bytes_before
        self.recall: float | None = None
        self.recall_at_100: float | None = None
        self.n_queries = 0

    @property
    def bits(self) -> int:
        """Length of the codes."""
        return self.quantiser.n_bits

    @property
    def bytes(self) -> int:
        """Bytes of a code."""
        return self.codes.shape[1]

    def encode(self, embeddings: "Documents") -> Codes:
        """Return the codes of further embeddings, (n, ceil(bits / 8))."""
        return self.quantiser.encode(self._rows(embeddings))

    def search(self, queries: "Documents", k: int = 10) -> Nearest:
        """Return the k embeddings whose cosine with each query is highest, by their codes and the query's numbers."""
        return _search(self.quantiser, self.codes, self._rows(queries), k)

    def _rows(self, embeddings: "Documents") -> Rows:
        X, width = _unit(embeddings), self.quantiser.n_features_in_
        if X.shape[1] != width:
            raise ValueError(f"rows have {X.shape[1]} numbers, and the codes were made of {width}: embed both alike")
        return X

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        size = f"{self.bits} bits ({self.bytes:,} bytes a vector instead of {self.bytes_before:,})"
        if self.recall is None:
            return f"{size}: too few vectors to measure what the codes keep"
        return (
            f"{size}: of the ten nearest by cosine, {self.recall:.2f} are among the first ten by the codes and "
            f"{self.recall_at_100:.2f} among the first hundred ({self.n_queries:,} held-out queries)"
        )


def quantize(embeddings: "Documents", bits: int = 256, *, random_state: int = 0) -> Quantized:
    """Return short codes of embeddings, such as those of sentence-transformers, and the recall that they keep.

    One row in ten, at most 1,000 drawn at random, is held out as a query: nothing is learned from it, and the other
    rows are searched for its ten nearest, by exact cosine and by the codes. The recall is the mean share of the first
    that the second has. It is what a search among these rows keeps for queries of the same kind as the rows; short
    questions to long texts, or many times as many rows, may keep less. Rows whose cosine equals the tenth count as
    well. ITQ learns from the other rows, at most 100,000 of them.

    Args:
        embeddings: (n, d), an array of any length of rows: the codes are of rows divided by their length.
        bits: length of the codes; more bits than numbers in a row add nothing.
        random_state: the same number gives the same codes.
    """
    from ammi.hashers import ITQ

    X = _unit(embeddings)
    order = np.random.default_rng(random_state).permutation(len(X))
    n_queries = min(_QUERIES, len(X) // _SHARE) if len(X) >= 2 * _NEAREST else 0
    held_out, others = order[:n_queries], np.sort(order[n_queries:])
    sample = np.sort(order[n_queries : n_queries + _LEARNED_FROM])
    quantiser = ITQ(bits, random_state=random_state).fit(X[sample])
    item = getattr(getattr(embeddings, "dtype", None), "itemsize", X.itemsize)
    made = Quantized(quantiser.encode(X), quantiser, item * X.shape[1])
    if n_queries:
        made.n_queries = n_queries
        made.recall, made.recall_at_100 = _recalls(quantiser, made.codes[others], X[others], X[held_out])
    return made


def _recalls(quantiser: "ITQ", codes: Codes, X: Rows, queries: Rows) -> tuple[float, float]:
    """Return the share of the ten nearest rows X to queries that are among the first ten, and hundred, by codes."""
    cosines, _ = faiss.knn(queries, X, _NEAREST, metric=faiss.METRIC_INNER_PRODUCT)
    found = _search(quantiser, codes, queries, _CANDIDATES).positions
    right = np.einsum("qd,qkd->qk", queries, X[found]) >= cosines[:, -1:] - _EQUAL
    among_all = np.minimum(right.sum(axis=1), _NEAREST)  # more than ten may be as near as the tenth
    return float(right[:, :_NEAREST].mean()), float(among_all.mean() / _NEAREST)


def _search(quantiser: "ITQ", codes: Codes, queries: Rows, k: int) -> Nearest:
    from ammi.hashers.logits import bit_logits

    k = min(k, len(codes))
    logits = bit_logits(quantiser, queries)
    _, candidates = nearest(codes, np.packbits(logits > 0, axis=1), max(_SHORTLIST, k))
    positions, scores = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
    for row, (near, own) in enumerate(zip(candidates, logits.astype(np.float64), strict=True)):
        estimates = cosines_of_codes(codes[near], own)
        chosen = best(estimates, k)
        positions[row], scores[row] = near[chosen], estimates[chosen]
    return Nearest(positions, scores)


def _unit(embeddings: "Documents") -> Rows:
    """Return rows of length 1; a zero stays one."""
    made = VectorFeatures().fit(embeddings).transform(embeddings)
    X = np.asarray(made.toarray() if hasattr(made, "toarray") else made, np.float32)
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return np.divide(X, lengths, out=X.copy(), where=lengths > 0)
