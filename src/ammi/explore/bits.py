"""What each bit says: the words that push it up and down, and the documents that are typical for 0 and for 1."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.collection import Collection
from ammi.explore.figures import bits_of
from ammi.explore.sample import Sample
from ammi.explore.words import WordCounts, strongest
from ammi.search.documents import Id

Weighted = list[tuple[str, float]]

_FREQUENT = 5000  # words that may be shown, the most frequent of the model: rare ones push hard, and hardly ever
_MOST_ASKED = 2000  # documents whose probabilities are computed


class BitWords(NamedTuple):
    """How much each word pushes each bit up, (m, V): by the weights of the model, or by what documents have."""

    words: list[str]
    push: NDArray[np.floating]
    source: Literal["weights", "documents"] | None

    def up(self, bit: int, n: int) -> Weighted:
        return strongest(self.words, self.push[bit], n)

    def down(self, bit: int, n: int) -> Weighted:
        return [(word, -push) for word, push in strongest(self.words, -self.push[bit], n)]


class Typical(NamedTuple):
    """A document that is sure of a bit, and the probability that the bit is 1, where the model tells it."""

    id: Id
    text: str | None
    point: int  # of the sample
    probability: float | None


def bit_words(collection: Collection, sample: Sample) -> BitWords:
    """What pushes the bits of a collection."""
    if found := collection.word_weights():
        words, weights = found
        return BitWords(words[:_FREQUENT], weights[:_FREQUENT].T, "weights")
    counts = WordCounts(sample.texts)
    if not counts.words:
        return BitWords([], np.zeros((collection.n_bits, 0)), None)
    ones = bits_of(sample.codes_read(), collection.n_bits).T.astype(bool)
    return BitWords(counts.words, counts.typical(ones), "documents")


class TypicalDocuments:
    """The documents of a sample that are surest of each bit."""

    def __init__(self, collection: Collection, sample: Sample):
        asked = np.arange(len(sample.read))[:_MOST_ASKED]
        if len(sample.read) > _MOST_ASKED:
            asked = np.linspace(0, len(sample.read) - 1, _MOST_ASKED).astype(np.int64)
        self._texts = [sample.texts[n] for n in asked.tolist()]
        self._points = sample.read[asked]
        self._ids = sample.ids_of(self._points)
        self._bits = bits_of(sample.codes[self._points], collection.n_bits)
        self._sure = _probabilities(collection, self._texts)

    def of(self, bit: int, value: int, n: int) -> list[Typical]:
        """The n documents that are typical for a value of a bit."""
        rows = np.flatnonzero(self._bits[:, bit] == value)
        if not len(rows):
            return []
        if self._sure is not None:
            sureness = self._sure[rows, bit] if value else 1 - self._sure[rows, bit]
        else:  # those in the middle of the group
            sureness = -np.abs(self._bits[rows] - self._bits[rows].mean(axis=0)).sum(axis=1)
        best = rows[np.argsort(-sureness, kind="stable")[:n]]
        return [
            Typical(self._ids[row], self._texts[row], int(self._points[row]), self._probability(row, bit))
            for row in best.tolist()
        ]

    def _probability(self, row: int, bit: int) -> float | None:
        return None if self._sure is None else float(self._sure[row, bit])


def _probabilities(collection: Collection, texts: list[str | None]) -> NDArray[np.floating] | None:
    """The probabilities (n, m), from texts that the model reads; None where it cannot be asked."""
    known = [text for text in texts if text is not None]
    if not known or len(known) < len(texts) or collection.word_weights() is None:
        return None
    return collection.bit_probabilities(known)
