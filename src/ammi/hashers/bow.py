"""BOW: no learning. A bit for each word, 1 where the document has it, so that a code is the set of its words.

The Hamming distance between two documents is |A Δ B|, the number of words that one has and the other has not.
"""

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ammi.hashers.base import Arrays, Bits, Facts, Hasher
from ammi.nets.matrix import Matrix

_BITS_AT_ONCE = 2**26


class BOW(Hasher):
    """Codes as long as the vocabulary: the yardstick for what learning gains.

    A word is present where its value is above 0; of dense embeddings the code is therefore the signs. `transform` gives
    an array of documents by words, a byte each; `encode` packs block by block and needs an eighth of that: 2,500 bytes
    a document for 20,000 words.
    """

    @property
    def n_bits(self) -> int:  # type: ignore[override]
        """The number of words."""
        return self.n_features_in_

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn nothing from rows X (n, V) but the number of words."""
        self._check_rows(X, reset=True)
        return self

    def encode(self, X: Any) -> Bits:
        check_is_fitted(self)
        X = self._check_rows(X, reset=False)
        step = max(1, _BITS_AT_ONCE // self.n_bits)
        blocks = [X[start : start + step] for start in range(0, X.shape[0], step)]
        return np.concatenate([np.packbits(self._bits(block), axis=1) for block in blocks])

    def _bits(self, X: Matrix) -> Bits:
        present = X > 0
        return (present if isinstance(present, np.ndarray) else present.toarray()).view(np.uint8)

    def _arrays(self) -> Arrays:
        return {"n_words": np.array([self.n_features_in_])}

    def _restore(self, arrays: Arrays, facts: Facts) -> None:
        if arrays["n_words"].tolist() != [self.n_features_in_]:
            raise ValueError(f"{arrays['n_words']} words, expected {self.n_features_in_}")
