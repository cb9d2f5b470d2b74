"""The meaning of each bit: words that push it up and down, and documents typical of 0 and of 1."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.collection import Collection
from ammi.explore.figures import bits_of
from ammi.explore.sample import Sample
from ammi.explore.words import WordCounts, strongest
from ammi.search.documents import Id

Weighted = list[tuple[str, float]]

_FREQUENT = 5000  # most frequent words of the model that may be shown: rare ones push hard, but seldom
_MOST_ENCODED = 2000  # documents whose probabilities are computed


class BitWords(NamedTuple):
    """How much each word pushes each bit up, (m, V): by the model's weights, or by the words of documents."""

    words: list[str]
    push: NDArray[np.floating]
    source: Literal["weights", "documents"] | None

    def up(self, bit: int, n: int) -> Weighted:
        return strongest(self.words, self.push[bit], n)

    def down(self, bit: int, n: int) -> Weighted:
        return [(word, -push) for word, push in strongest(self.words, -self.push[bit], n)]


class TypicalDocument(NamedTuple):
    """A document typical of a value of a bit, and the probability that the bit is 1, if the model has it."""

    id: Id
    text: str | None
    point: int  # of the sample
    probability: float | None


def bit_words(collection: Collection, sample: Sample) -> BitWords:
    """Return the words that push the bits of a collection."""
    if found := collection.word_weights():
        words, weights = found
        return BitWords(words[:_FREQUENT], weights[:_FREQUENT].T, "weights")
    counts = WordCounts(sample.texts)
    if not counts.words:
        return BitWords([], np.zeros((collection.n_bits, 0)), None)
    ones = bits_of(sample.codes_read(), collection.n_bits).T.astype(bool)
    return BitWords(counts.words, counts.typical(ones), "documents")


class TypicalDocuments:
    """The documents of a sample that are most typical of each bit."""

    def __init__(self, collection: Collection, sample: Sample):
        n = len(sample.read)
        chosen = np.linspace(0, max(n - 1, 0), min(n, _MOST_ENCODED)).astype(np.int64)
        self._texts = [sample.texts[row] for row in chosen.tolist()]
        self._points = sample.read[chosen]
        self._ids = sample.ids_of(self._points)
        self._bits = bits_of(sample.codes[self._points], collection.n_bits)
        self._probabilities = _probabilities(collection, self._texts)

    def of(self, bit: int, value: int, n: int) -> list[TypicalDocument]:
        """Return the n documents most typical of a value of a bit."""
        rows = np.flatnonzero(self._bits[:, bit] == value)
        if not len(rows):
            return []
        if self._probabilities is not None:
            typicality = self._probabilities[rows, bit] if value else 1 - self._probabilities[rows, bit]
        else:  # the most central documents of the group
            typicality = -np.abs(self._bits[rows] - self._bits[rows].mean(axis=0)).sum(axis=1)
        best = rows[np.argsort(-typicality, kind="stable")[:n]]
        return [
            TypicalDocument(self._ids[row], self._texts[row], int(self._points[row]), self._probability(row, bit))
            for row in best.tolist()
        ]

    def _probability(self, row: int, bit: int) -> float | None:
        return None if self._probabilities is None else float(self._probabilities[row, bit])


def _probabilities(collection: Collection, texts: list[str | None]) -> NDArray[np.floating] | None:
    """Return the probabilities (n, m) of bits of texts; None if a text is missing or the model has no weights."""
    known = [text for text in texts if text is not None]
    if not known or len(known) < len(texts) or collection.word_weights() is None:
        return None
    return collection.bit_probabilities(known)
