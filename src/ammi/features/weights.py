"""The weight of a term in a document.

A term that occurs c > 0 times in a document, and in n_t of the n training documents, has the weight

    (1 + ln c) · ln((n + 2) / (n_t + 1))

and every row that is not empty is divided by its length. Unlike the usual 1 + ln(n / n_t), the second factor is
nearly 0 for a word that is in every document, so that no language needs a list of stop words.
"""

import numpy as np
from numpy.typing import NDArray


def rarity(n_documents: int, frequencies: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the second factor of each term, from the number of documents that have it."""
    return np.log((n_documents + 2) / (frequencies + 1))


def unit_weights(
    counts: NDArray[np.integer], idf: NDArray[np.float64], row: NDArray[np.integer], n_rows: int
) -> NDArray[np.float32]:
    """Return the weights of terms in rows of unit length, from the count, second factor and row of each."""
    weights = (1 + np.log(counts)) * idf
    lengths = np.sqrt(np.bincount(row, weights**2, n_rows))
    return (weights / lengths[row]).astype(np.float32)
