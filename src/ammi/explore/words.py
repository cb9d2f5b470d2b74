r"""Words that are typical of a group of documents.

A word in a of the A documents of a group, and in b of the B others, has the log odds ratio

    δ = log((a + ½) / (A - a + ½)) - log((b + ½) / (B - b + ½)),

and its score is the z-value δ / √(1 / (a + ½) + 1 / (b + ½)). A common word can have a high z-value and still say
little: a word with less than a quarter of its documents in the group is scored down.

Words of a bit are its own if they go with this bit where the others are equal. With B the bits (n, m) and w the
presence of a word, both centred, the least squares fit of w by all bits has the coefficients β = (BᵀB)⁻¹ Bᵀw, and
t_i = β_i / (√[(BᵀB)⁻¹]_ii σ_w) is how surely bit i tells of the word beside the others; z_i = B_iᵀw / (‖B_i‖ σ_w) is
the same for bit i alone. A word that goes with many bits names none of them well: its score for bit i is
√(t_i z_i |t_i| / √Σ_j t_j²) with the sign of both, and 0 where their signs differ.
"""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

_MOST_WORDS = 20_000
_LEAST_DOCUMENTS = 3  # of a word, among many documents
_OWN_SHARE = 0.25  # of the documents with a word, in the group that it names
_LEAST_SHARE = 0.01  # of the documents, that have a bit's own word
_RIDGE = 1e-3  # of the variance of a bit, since two bits may be equal
_LEAST_LETTERS, _MOST_SHARE = 3, 0.4  # shorter and more frequent words name nothing


class WordCounts:
    """Which documents contain which words, but for stop words."""

    def __init__(self, texts: Sequence[str | None], stop_words: Collection[str] = ()):
        from ammi.features import WordFeatures

        self.words: list[str] = []
        self._has = csr_matrix((len(texts), 0), dtype=np.float32)
        known = [text or "" for text in texts]
        try:
            maker = WordFeatures(_MOST_WORDS, min_documents=min(_LEAST_DOCUMENTS, max(1, len(texts) // 10))).fit(known)
        except ValueError:  # there is no word
            return
        has = maker.transform(known, n_threads=1)
        has.data[:] = 1
        rare = np.asarray(has.sum(axis=0)).ravel() <= max(_MOST_SHARE * len(texts), _LEAST_DOCUMENTS)
        names = [
            len(word) >= _LEAST_LETTERS and not word.isdigit() and word not in stop_words for word in maker.vocabulary_
        ]
        kept = np.flatnonzero(rare & np.array(names))
        self.words, self._has = [maker.vocabulary_[n] for n in kept], has[:, kept]

    def having(self, words: Collection[str]) -> NDArray[np.float64]:
        """Return how many of these words each document has."""
        return np.asarray(self._has[:, np.isin(self.words, list(words))].sum(axis=1), np.float64).ravel()

    def own(self, bits: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return how much each word is a bit's own, (m, V), for the bits of the documents (n, m): below 0 for 0."""
        n, n_bits = bits.shape
        if not n or not self.words:
            return np.zeros((n_bits, len(self.words)))
        centred = bits - bits.mean(axis=0)
        together = centred.T @ centred + _RIDGE * n * np.eye(n_bits)
        inverse = np.linalg.inv(together)
        share = np.asarray(self._has.mean(axis=0), np.float64).ravel()
        products = (self._has.T @ centred).T / np.sqrt(share * (1 - share) + 1e-12)  # (m, V)
        t = inverse @ products / np.sqrt(np.diag(inverse))[:, None]
        z = products / np.sqrt(np.diag(together))[:, None]
        own = np.sign(t) * np.sqrt(np.abs(t * z) * np.abs(t) / np.sqrt((t**2).sum(axis=0) + 1e-12))
        return np.where((t * z > 0) & (share * n >= max(_LEAST_DOCUMENTS, _LEAST_SHARE * n)), own, 0)

    def typical(self, groups: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return how typical each word is of each group, (g, V), for groups of documents (g, n)."""
        size, n = groups.sum(axis=1)[:, None].astype(np.float64), groups.shape[1]
        inside = (self._has.T @ groups.T.astype(np.float32)).T.astype(np.float64)  # (g, V)
        outside = np.asarray(self._has.sum(axis=0), np.float64) - inside
        odds = np.log((inside + 0.5) / (size - inside + 0.5)) - np.log((outside + 0.5) / (n - size - outside + 0.5))
        own = inside / np.maximum(inside + outside, 1)
        return odds / np.sqrt(1 / (inside + 0.5) + 1 / (outside + 0.5)) * np.minimum(1, own / _OWN_SHARE)


def strongest(words: Sequence[str], scores: NDArray[np.floating], n: int) -> list[tuple[str, float]]:
    """Return the n words with the highest positive scores, with these."""
    order = np.argsort(-scores, kind="stable")[:n]
    return [(words[i], float(scores[i])) for i in order if scores[i] > 0]
