"""Explorer: all views of a collection as it is at one time, each computed when it is first asked for."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.collection import Collection
from ammi.explore.bits import BitWords, TypicalDocuments, bit_words
from ammi.explore.colours import Coloured, coloured
from ammi.explore.figures import Figures, figures
from ammi.explore.layout import Places, fine_layout, rough_layout
from ammi.explore.once import once
from ammi.explore.regions import NONE, Region, find_regions
from ammi.explore.sample import MOST_POINTS, Sample
from ammi.search.documents import Id, id_key
from ammi.search.hamming import nearest

_MORE_LINKS = 2  # strong pairs beside those of the tree, in times the bits
_LEAST_INFORMATION = 1e-4  # of a pair that is worth a line


class Link(NamedTuple):
    """Two bits that go together: their mutual information, and whether they tend to be equal."""

    a: int
    b: int
    information: float
    same: bool


class Map(NamedTuple):
    """Where the documents of a sample are, and the regions of the map."""

    places: Places  # (n, 2)
    region_of: NDArray[np.uint8]  # (n,)
    regions: list[Region]


class Located(NamedTuple):
    """The point of a document on a map, or that of the one whose code is nearest."""

    id: Id
    point: int
    exact: bool


class Explorer:
    """The views of a collection.

    Args:
        most_points: documents on the map at most; of a larger collection it shows a sample.
    """

    def __init__(self, collection: Collection, most_points: int = MOST_POINTS):
        self.collection, self.n_bits, self.fingerprint = collection, collection.n_bits, collection.fingerprint
        ids, self._codes = collection.codes()
        self.n_documents = len(ids)
        self.sample = Sample(collection, ids, self._codes, most_points)

    @once
    def figures(self) -> Figures:
        """Counts, balance and information of all codes."""
        return figures(self._codes, self.n_bits)

    @once
    def links(self) -> list[Link]:
        """The best tree of bits, and the strongest pairs beside it; those with most information first."""
        found = self.figures
        a, b = np.triu_indices(self.n_bits, 1)
        order = np.argsort(-found.information[a, b], kind="stable")[: _MORE_LINKS * self.n_bits]
        pairs = {*zip(a[order].tolist(), b[order].tolist(), strict=True), *found.tree}
        links = [self._link(*pair) for pair in pairs]
        return sorted(
            (link for link in links if link.information > _LEAST_INFORMATION), key=lambda one: -one.information
        )

    def links_of(self, bit: int, n: int) -> list[Link]:
        """The n bits that go with one, the strongest first."""
        order = np.argsort(-self.figures.information[bit], kind="stable")[:n]
        links = [self._link(bit, int(other)) for other in order if other != bit]
        return [link for link in links if link.information > _LEAST_INFORMATION]

    def _link(self, a: int, b: int) -> Link:
        return Link(a, b, float(self.figures.information[a, b]), bool(self.figures.together[a, b] >= 0))

    @once
    def words(self) -> BitWords:
        """The words that push bits."""
        return bit_words(self.collection, self.sample)

    @once
    def typical(self) -> TypicalDocuments:
        """The documents that are sure of a bit."""
        return TypicalDocuments(self.collection, self.sample)

    @once
    def rough_map(self) -> Map:
        """A first map, without regions, in a moment."""
        places = rough_layout(self.sample.codes, self.n_bits)
        return Map(places, np.full(len(places), NONE, np.uint8), [])

    def map_of(self, places: Places) -> Map:
        """The map with these places, such as `fine_layout` makes of the sample's codes."""
        return Map(places, *find_regions(places, self.sample.texts, self.sample.read))

    @once
    def fine_map(self) -> Map:
        """The map with its regions; it takes some seconds, or half a minute."""
        return self.map_of(fine_layout(self.sample.codes, self.n_bits))

    def colours(self, key: str) -> Coloured | None:
        """The colours of a map by a metadata key, None where no document of the sample has it."""
        values = self.sample.columns.get(key)
        return None if values is None else coloured(values)

    def locate(self, ids: Sequence[Id]) -> list[Located]:
        """Where documents are on the map; unknown ones are left out."""
        point_of = self.sample.point_of
        exact = {id_key(id): point_of[id_key(id)] for id in ids if id_key(id) in point_of}
        others = [id for id in ids if id_key(id) not in exact and id in self.collection]
        near: dict[Id, int] = {}
        if others and len(self.sample):
            codes = np.stack([entry.code for entry in self.collection.get(others)])
            points = nearest(self.sample.codes, codes, 1)[1][:, 0].tolist()
            near = {id_key(id): point for id, point in zip(others, points, strict=True)}
        found = exact | near
        return [Located(id, found[id_key(id)], id_key(id) in exact) for id in ids if id_key(id) in found]
