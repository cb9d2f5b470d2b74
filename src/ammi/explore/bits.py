"""The meaning of each bit: the words, regions of the map and documents of 0 and of 1."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.explore.figures import bits_of
from ammi.explore.regions import MapRegion, RegionOf, main_level, recounted
from ammi.explore.sample import Explored, Sample
from ammi.explore.words import WordCounts, strongest
from ammi.search.documents import Id

Weighted = list[tuple[str, float]]

_MOST_ENCODED = 2000  # documents whose probabilities are computed


class BitWords(NamedTuple):
    """How much each word is each bit's own, (m, V): above 0 for 1, below for 0."""

    words: list[str]
    own: NDArray[np.floating]

    def up(self, bit: int, n: int) -> Weighted:
        return strongest(self.words, self.own[bit], n)

    def down(self, bit: int, n: int) -> Weighted:
        return [(word, -own) for word, own in strongest(self.words, -self.own[bit], n)]


class BitRegion(NamedTuple):
    """A region of the map, and the share of its documents in which a bit is 1."""

    region: int
    ones: float


class TypicalDocument(NamedTuple):
    """A document typical of a value of a bit, and the probability that the bit is 1, if the model has it."""

    id: Id
    text: str | None
    point: int  # of the sample
    probability: float | None


def bit_words(n_bits: int, sample: Sample, counts: WordCounts) -> BitWords:
    """Return the words of the bits of a sample."""
    return BitWords(counts.words, counts.own(bits_of(sample.codes_read(), n_bits)))


def bit_regions(ones: NDArray[np.uint8], region_of: RegionOf, regions: list[MapRegion]) -> list[BitRegion]:
    """Return the regions of the level that fills the map, by the share of ones (n,) of a bit, the largest first."""
    numbers = main_level(regions)
    with_ones = recounted(regions, region_of[ones > 0])
    shares = [(with_ones[number].n_points / max(1, regions[number].n_points), number) for number in numbers]
    return [BitRegion(number, share) for share, number in sorted(shares, key=lambda one: -one[0])]


class TypicalDocuments:
    """The documents of a sample that are most typical of each bit."""

    def __init__(self, collection: Explored, sample: Sample):
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


def _probabilities(collection: Explored, texts: list[str | None]) -> NDArray[np.floating] | None:
    """Return the probabilities (n, m) of bits of texts; None if a text is missing or the model has no weights."""
    known = [text for text in texts if text is not None]
    if not known or len(known) < len(texts) or collection.word_weights() is None:
        return None
    return collection.bit_probabilities(known)
