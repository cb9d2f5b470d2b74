"""BOW: no learning. A bit for each word, 1 if the document contains it, so that a code is the set of its words.

The Hamming distance between two documents is |A Δ B|, the number of words that only one of them contains.
"""

from typing import Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ammi.hashers.base import Arrays, Bits, Facts, Hasher
from ammi.nets.matrix import Matrix, MatrixLike

_BITS_AT_ONCE = 2**26


class BOW(Hasher):
    """Codes as long as the vocabulary: the yardstick for the gain of learning.

    A word is present if its value is above 0; the code of a dense embedding is therefore its signs. `transform` returns
    a byte for each word of each document; `encode` packs block by block and needs an eighth of that: 2,500 bytes a
    document for 20,000 words.
    """

    @property
    def n_bits(self) -> int:  # type: ignore[override]
        """The number of words."""
        return self.n_features_in_

    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Learn only the number of words of rows X (n, V)."""
        self._check_rows(X, reset=True)
        return self

    def encode(self, X: MatrixLike) -> Bits:
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
