"""Documents that no neighbour explains, by codes and words.

The neighbours of a document are the K = 50 documents with the nearest codes. With c of them having a word w, and a
share q of all documents having it, the neighbours explain the word by

    g(w) = log((c + q) / ((K + 1) q)),

how much more frequent it is among them. Of a document with n words, Σ_w (g(w) - ḡ) / (n + 20) is the explained part,
where ḡ is the mean over all words of all documents. A document is odd if its neighbours are far and explain little:
its score is the sum of the mean distance and of the unexplained part, each in standard deviations from the mean.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ammi.explore.sample import Explored
from ammi.features import WordFeatures
from ammi.search.documents import Entry, Id
from ammi.search.hamming import Codes, nearest

_NEIGHBOURS, _SHRINKAGE = 50, 20.0
_MOST_COMPARED = 20_000  # documents among which neighbours are looked for
_MOST_WORDS = 200_000

Values = NDArray[np.float64]  # (n,)


class Outlier(NamedTuple):
    """A document, how odd it is, in standard deviations, and the mean distance to its neighbours in bits."""

    id: Id
    score: float
    distance: float


def find_outliers(collection: Explored, k: int, advance: Callable[[int], None]) -> list[Outlier]:
    """Return the k documents that their neighbours explain least, the oddest first."""
    if k < 1:
        raise ValueError(f"the number of outliers is {k}: ask for 1 or more")
    with collection.store.snapshot():
        ids, codes = collection.codes()
        if len(ids) < 3:
            return []
        compared = np.unique(np.linspace(0, len(ids) - 1, min(len(ids), _MOST_COMPARED)).astype(np.int64))
        neighbours = _Neighbours(collection.get([ids[row] for row in compared.tolist()]), codes[compared])
        advance(len(ids))
        parts: list[tuple[Values, Values, Values]] = []
        start = 0
        for block in collection.store.entries():
            rows = np.arange(start, start + len(block))
            own = np.searchsorted(compared, rows)  # the neighbour that the document itself is, if it is one
            own[compared[np.minimum(own, len(compared) - 1)] != rows] = -1
            parts.append(neighbours.explain(block, codes[rows], own))
            start += len(block)
            advance(len(block))
    distance, gain, n_words = map(np.concatenate, zip(*parts, strict=True))
    explained = (gain - gain.sum() / max(n_words.sum(), 1) * n_words) / (n_words + _SHRINKAGE)
    score = _standard(distance) - _standard(explained)
    order = np.argsort(-score, kind="stable")[:k].tolist()
    return [Outlier(ids[row], float(score[row]), float(distance[row])) for row in order]


class _Neighbours:
    """The documents among which neighbours are looked for."""

    def __init__(self, entries: list[Entry], codes: Codes):
        self._codes = np.ascontiguousarray(codes)
        try:
            self._words: WordFeatures | None = WordFeatures(_MOST_WORDS).fit(entry.text or "" for entry in entries)
        except ValueError:  # there is no word
            self._words = None
            return
        self._has = self._words_of(entries)
        self._documents = np.asarray(self._has.sum(axis=0), np.float64).ravel()  # with each word

    def _words_of(self, entries: list[Entry]) -> csr_matrix:
        assert self._words is not None
        has = self._words.transform([entry.text or "" for entry in entries], n_threads=1)
        has.data[:] = 1
        return has

    def explain(self, entries: list[Entry], codes: Codes, own: NDArray[np.int64]) -> tuple[Values, Values, Values]:
        """Return the mean distance of each document, the sum of g over its words, and their number."""
        n = len(entries)
        distances, near = nearest(self._codes, np.ascontiguousarray(codes), _NEIGHBOURS + 1)
        chosen = near != own[:, None]
        chosen[chosen.all(axis=1), -1] = False  # of a document that is not among its neighbours, the farthest is left
        n_neighbours = chosen.sum(axis=1)
        mean: Values = (distances * chosen).sum(axis=1) / n_neighbours
        if self._words is None:
            return mean, np.zeros(n), np.zeros(n)
        has = self._words_of(entries)
        ends = np.arange(n + 1) * near.shape[1]
        at = csr_matrix((chosen.ravel().astype(np.float32), near.ravel(), ends), (n, len(self._codes)))
        among = csr_matrix((at @ self._has).multiply(has) + has)  # the neighbours with each word, and 1 to keep it
        row = np.repeat(np.arange(n), np.diff(among.indptr))
        others = self._documents[among.indices] - (own[row] >= 0)
        share = (others + 1) / len(self._codes)
        gains = np.log((among.data - 1 + share) / ((n_neighbours[row] + 1) * share))
        return mean, np.bincount(row, gains, n).astype(np.float64), np.diff(among.indptr).astype(np.float64)


def _standard(values: Values) -> Values:
    """Return values in standard deviations from their mean."""
    return (values - values.mean()) / (values.std() or 1.0)
