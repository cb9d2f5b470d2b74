"""Explorer: figures, map and bits of a collection at one time, each computed at its first use."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.explore.bits import BitRegion, BitWords, TypicalDocuments, bit_regions, bit_words
from ammi.explore.colours import Coloured, by_bit, coloured
from ammi.explore.figures import Figures, bits_of, figures
from ammi.explore.layout import Layout, fine_layout, rough_layout
from ammi.explore.once import once
from ammi.explore.regions import NONE, MapRegion, RegionOf, find_regions
from ammi.explore.sample import MOST_POINTS, Explored, Sample
from ammi.explore.words import WordCounts
from ammi.search.documents import Id, id_key
from ammi.search.hamming import nearest
from ammi.search.languages import STOP_WORDS

_PAIRS_PER_BIT = 2  # strongest pairs, beside those of the tree
_LEAST_INFORMATION = 1e-4  # bits, of a pair to show
_OF_FILES = {"path", "digest", "parts"}  # keys of collections of files, which tell nothing about their documents
_MOST_COLOURS = 20  # metadata keys to colour by


class BitPair(NamedTuple):
    """Two bits, their mutual information, and whether they tend to be equal."""

    a: int
    b: int
    information: float
    same: bool


class Map(NamedTuple):
    """A layout of the sample, and its regions."""

    layout: Layout  # (n, 2)
    region_of: RegionOf  # (n,) the finest region of each point
    regions: list[MapRegion]
    n_placed: int = 0  # points that came later, and were placed among those of the layout


class MapPoint(NamedTuple):
    """The point of a document on the map, or, if it is not exact, that of the document with the nearest code."""

    id: Id
    point: int
    exact: bool


class Explorer:
    """Figures, map and bits of a collection.

    Args:
        most_points: the most documents on the map, which shows a sample of a larger collection.
    """

    def __init__(self, collection: Explored, most_points: int = MOST_POINTS):
        self.collection, self.n_bits, self.fingerprint = collection, collection.n_bits, collection.fingerprint
        ids, self._codes = collection.codes()
        self.n_documents = len(ids)
        self.sample = Sample(collection, ids, self._codes, most_points)

    @once
    def figures(self) -> Figures:
        """Counts, balance and information of all codes."""
        return figures(self._codes, self.n_bits)

    @once
    def pairs(self) -> list[BitPair]:
        """Return the best tree of bits and the strongest other pairs, those with the most information first."""
        found = self.figures
        a, b = np.triu_indices(self.n_bits, 1)
        order = np.argsort(-found.information[a, b], kind="stable")[: _PAIRS_PER_BIT * self.n_bits]
        chosen = {*zip(a[order].tolist(), b[order].tolist(), strict=True), *found.tree}
        pairs = [self._pair(a, b) for a, b in chosen if found.information[a, b] > _LEAST_INFORMATION]
        return sorted(pairs, key=lambda pair: -pair.information)

    def pairs_of(self, bit: int, n: int) -> list[BitPair]:
        """Return the pairs of a bit with the n bits that tell most about it, the strongest first."""
        order = np.argsort(-self.figures.information[bit], kind="stable")[:n]
        pairs = [self._pair(bit, int(other)) for other in order if other != bit]
        return [pair for pair in pairs if pair.information > _LEAST_INFORMATION]

    def _pair(self, a: int, b: int) -> BitPair:
        return BitPair(a, b, float(self.figures.information[a, b]), bool(self.figures.together[a, b] >= 0))

    @once
    def word_counts(self) -> WordCounts:
        """Return which documents of the sample have which words."""
        stop_words = STOP_WORDS.get(self.collection.store.language or "", frozenset())
        return WordCounts(self.sample.texts, stop_words)

    @property
    def has_words(self) -> bool:
        """Whether the words are counted, which takes seconds."""
        return "word_counts" in vars(self)

    @once
    def words(self) -> BitWords:
        """Return the words of bits."""
        return bit_words(self.n_bits, self.sample, self.word_counts)

    @once
    def typical(self) -> TypicalDocuments:
        """Return the documents with the highest and lowest probabilities of each bit."""
        return TypicalDocuments(self.collection, self.sample)

    @once
    def rough_map(self) -> Map:
        """Return a first map without regions, which takes a moment."""
        layout = rough_layout(self.sample.codes, self.n_bits)
        return Map(layout, np.full(len(layout), NONE, np.uint16), [])

    def map_of(self, layout: Layout) -> Map:
        """Return the map with this layout of the sample's codes."""
        return Map(layout, *find_regions(layout, self.word_counts, self.sample.read))

    @once
    def fine_map(self) -> Map:
        """Return the final map with its regions, which takes seconds to half a minute."""
        return self.map_of(fine_layout(self.sample.codes, self.n_bits))

    def colours(self, key: str) -> Coloured | None:
        """Return the colours of the map by a metadata key; None if no document of the sample has it."""
        values = self.sample.columns.get(key)
        return None if values is None else coloured(values)

    def colours_of_bit(self, bit: int) -> Coloured:
        """Return the colours of the map by a bit."""
        return by_bit(bits_of(self.sample.codes, self.n_bits)[:, bit])

    def regions_of_bit(self, bit: int, map: Map) -> list[BitRegion]:
        """Return the regions of a map by the share of their documents in which a bit is 1, the largest first."""
        return bit_regions(self.colours_of_bit(bit).values, map.region_of, map.regions)

    def telling_colours(self, map: Map) -> dict[str, Coloured]:
        """Return the colours by each key that tells something, the one first that the regions tell most about."""
        columns = self.sample.columns
        hidden = _OF_FILES if {"path", "digest"} <= columns.keys() else set()
        found = {key: coloured(values) for key, values in columns.items() if key not in hidden}
        telling = {key: colours for key, colours in found.items() if colours.tells()}
        information = {key: information_of(colours.values, map.region_of) for key, colours in telling.items()}
        return {key: telling[key] for key in sorted(telling, key=lambda key: -information[key])[:_MOST_COLOURS]}

    def locate(self, ids: Sequence[Id]) -> list[MapPoint]:
        """Return where documents are on the map, without unknown ones."""
        point_of = self.sample.point_of
        exact = {id_key(id): point_of[id_key(id)] for id in ids if id_key(id) in point_of}
        others = [id for id in ids if id_key(id) not in exact and id in self.collection]
        near: dict[Id, int] = {}
        if others and len(self.sample):
            codes = np.stack([entry.code for entry in self.collection.get(others)])
            points = nearest(self.sample.codes, codes, 1)[1][:, 0].tolist()
            near = {id_key(id): point for id, point in zip(others, points, strict=True)}
        found = exact | near
        return [MapPoint(id, found[id_key(id)], id_key(id) in exact) for id in ids if id_key(id) in found]


def information_of(values: NDArray[np.uint8], region_of: RegionOf) -> float:
    """Return the mutual information of colours and regions, in bits; of a scale, eight steps count."""
    steps = values if values.max(initial=0) < 32 else values >> 5
    _, rows = np.unique(region_of, return_inverse=True)
    _, columns = np.unique(steps, return_inverse=True)
    counts = np.zeros((rows.max(initial=0) + 1, columns.max(initial=0) + 1))
    np.add.at(counts, (rows, columns), 1)
    joint = counts / max(len(values), 1)
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    return float((joint * np.log2(np.where(joint > 0, joint, 1) / np.where(joint > 0, apart, 1))).sum())
