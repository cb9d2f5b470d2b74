r"""Words that are typical of some documents among others.

A word that a of A documents in a group have, and b of B others, has the log odds ratio

    δ = log((a + ½) / (A - a + ½)) - log((b + ½) / (B - b + ½)),

and δ / √(1 / (a + ½) + 1 / (b + ½)) tells how sure it is that it is more frequent in the group. Of a common word one
can be sure and learn nothing: one that has less than a quarter of its documents in the group counts for less.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

_MOST_WORDS = 20_000
_LEAST_DOCUMENTS = 3  # of a word, where there are many documents
_OWN_SHARE = 0.25  # of the documents that have a word, in the group that it is to name
_LEAST_LETTERS, _MOST_SHARE = 3, 0.4  # shorter words, and those that more documents have, are a name for nothing


class WordCounts:
    """Which of some documents have which words; documents without a text have none."""

    def __init__(self, texts: Sequence[str | None]):
        from ammi.features import WordFeatures

        self.words: list[str] = []
        self._has = csr_matrix((len(texts), 0), dtype=np.float32)
        given = [text or "" for text in texts]
        try:
            maker = WordFeatures(_MOST_WORDS, min_documents=min(_LEAST_DOCUMENTS, max(1, len(texts) // 10))).fit(given)
        except ValueError:  # there is no word
            return
        has = maker.transform(given, n_threads=1)
        has.data[:] = 1
        rare = np.asarray(has.sum(axis=0)).ravel() <= max(_MOST_SHARE * len(texts), _LEAST_DOCUMENTS)
        names = [len(word) >= _LEAST_LETTERS and not word.isdigit() for word in maker.vocabulary_]
        kept = np.flatnonzero(rare & np.array(names))
        self.words, self._has = [maker.vocabulary_[n] for n in kept], has[:, kept]

    def typical(self, groups: NDArray[np.bool_]) -> NDArray[np.float64]:
        """For each group of documents, a row of groups (g, n), how typical each word is of it, (g, V)."""
        size, n = groups.sum(axis=1)[:, None].astype(np.float64), groups.shape[1]
        inside = (self._has.T @ groups.T.astype(np.float32)).T.astype(np.float64)  # (g, V)
        outside = np.asarray(self._has.sum(axis=0), np.float64) - inside
        odds = np.log((inside + 0.5) / (size - inside + 0.5)) - np.log((outside + 0.5) / (n - size - outside + 0.5))
        own = inside / np.maximum(inside + outside, 1)
        return odds / np.sqrt(1 / (inside + 0.5) + 1 / (outside + 0.5)) * np.minimum(1, own / _OWN_SHARE)


def strongest(words: Sequence[str], scores: NDArray[np.floating], n: int) -> list[tuple[str, float]]:
    """The n words with the highest positive scores, and these."""
    order = np.argsort(-scores, kind="stable")[:n]
    return [(words[i], float(scores[i])) for i in order if scores[i] > 0]
