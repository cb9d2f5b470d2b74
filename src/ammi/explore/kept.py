"""The map as it is kept beside a collection, so that it is there at once the next time, and stays as it is.

A collection in a folder has it as map.npz in that folder. For another store, or a folder that cannot be written, it is
in the user's cache. Documents that were added or changed since are placed among those with the nearest codes. The file
is a copy of what can be computed again: a file that cannot be read is none.
"""

import json
import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple, Self
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from ammi.explore.colours import Coloured
from ammi.explore.explorer import Explorer, Map
from ammi.explore.layout import JITTER, Layout
from ammi.explore.regions import MapRegion, RegionOf, recounted
from ammi.explore.sample import Explored, Sample
from ammi.files import cache_folder, replacing_file
from ammi.notebook import busy
from ammi.search.documents import Id, id_key
from ammi.search.hamming import Codes, nearest

FILE = "map.npz"
_FORMAT = 1
_MOST_PLACED = 0.2  # of the points, before a new layout is computed
_NEIGHBOURS = 10  # of a document that is placed
_MOST_BYTES = 1 << 28  # of a file that is read
_SEED = 0


class KeptMap(NamedTuple):
    """A map, the documents on it, and the state of the collection that it shows."""

    state: str | None
    ids: list[Id]
    codes: Codes
    map: Map
    colours: dict[str, Coloured]

    @classmethod
    def of(cls, explorer: Explorer, state: str | None, map: Map, colours: dict[str, Coloured]) -> Self:
        """Return the map of an explorer, to keep it."""
        return cls(state, explorer.sample.ids, explorer.sample.codes, map, colours)

    def is_of(self, explorer: Explorer, state: str | None) -> bool:
        """Return whether the map shows this state of the collection."""
        return state is not None and self.state == state and self.ids == explorer.sample.ids

    def moved_to(self, sample: Sample) -> Map | None:
        """Return the map of another sample of the collection; None if too many points would have to be placed."""
        if sample.codes.shape[1:] != self.codes.shape[1:] or not len(sample) or not self.ids:
            return None
        known, rows = self._known(sample)
        n_placed = min(self.map.n_placed + len(sample) - int(known.sum()), len(sample))
        if n_placed > _MOST_PLACED * len(sample):
            return None
        layout = self.map.layout[rows].astype(np.float32)
        region_of = self.map.region_of[rows]
        new = ~known
        if new.any():
            layout[new], region_of[new] = self._placed(sample.codes[new])
        return Map(layout, region_of, recounted(self.map.regions, region_of), n_placed)

    def _known(self, sample: Sample) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return which documents of a sample are on the map with the code that they have, and their rows."""
        row_of = {id_key(id): row for row, id in enumerate(self.ids)}
        rows = np.array([row_of.get(id_key(id), -1) for id in sample.ids], np.int64)
        return (rows >= 0) & (self.codes[rows] == sample.codes).all(axis=1), rows

    def _placed(self, codes: Codes) -> tuple[Layout, RegionOf]:
        """Place each code in the region that most of its neighbours are in, between those of them."""
        distances, near = nearest(self.codes, np.ascontiguousarray(codes), min(_NEIGHBOURS, len(self.codes)))
        weight = (distances + 1.0) ** -2.0
        regions = self.map.region_of[near]
        share = ((regions[:, :, None] == regions[:, None, :]) * weight[:, None, :]).sum(axis=2)
        chosen = regions[np.arange(len(codes)), share.argmax(axis=1)]
        weight = weight * (regions == chosen[:, None])
        layout = (self.map.layout[near] * (weight / weight.sum(axis=1, keepdims=True))[..., None]).sum(axis=1)
        jitter = np.random.default_rng(_SEED).normal(0, JITTER, layout.shape)
        return np.clip(layout + jitter, 0, 1).astype(np.float32), chosen

    def save(self, collection: Explored) -> bool:
        """Write the map beside the collection; return whether it could be written."""
        colours = {key: one._replace(values=None)._asdict() for key, one in self.colours.items()}  # type: ignore[arg-type]
        about = {
            "format": _FORMAT,
            "fingerprint": collection.fingerprint,
            "n_bits": collection.n_bits,
            "state": self.state,
            "ids": self.ids,
            "regions": [region._asdict() for region in self.map.regions],
            "n_placed": self.map.n_placed,
            "colours": colours,
        }
        values = [one.values for one in self.colours.values()]
        for path in _paths(collection):
            with suppress(OSError, ValueError):
                path.parent.mkdir(parents=True, exist_ok=True)
                with replacing_file(path) as file:
                    np.savez(
                        file,
                        about=np.frombuffer(json.dumps(about).encode("utf-8", "surrogatepass"), np.uint8),
                        codes=self.codes,
                        layout=self.map.layout,
                        region_of=self.map.region_of,
                        colours=np.stack(values) if values else np.zeros((0, len(self.ids)), np.uint8),
                    )
                return True
        return False

    @classmethod
    def load(cls, collection: Explored) -> Self | None:
        """Read the map of a collection; None if there is none for its model."""
        for path in _paths(collection):
            with suppress(Exception):  # a damaged file, or one that was forged, may fail anywhere
                found = cls._read(path, collection)
                if found is not None:
                    return found
        return None

    @classmethod
    def _read(cls, path: Path, collection: Explored) -> Self | None:
        with ZipFile(path) as file:  # which may come from anybody
            if sum(part.file_size for part in file.infolist()) > _MOST_BYTES:
                return None
        with np.load(path, allow_pickle=False) as file:
            about: dict[str, Any] = json.loads(bytes(file["about"]))
            codes, layout, region_of, values = (file[name] for name in ("codes", "layout", "region_of", "colours"))
        made_by = about["format"], about["fingerprint"], about["n_bits"]
        regions = [MapRegion(**region) for region in about["regions"]]
        keys = zip(about["colours"].items(), values, strict=True)
        colours = {key: Coloured(**(fields | {"values": one})) for (key, fields), one in keys}
        n = len(about["ids"])
        shapes = codes.shape, layout.shape, region_of.shape, values.shape[1:]
        if (
            made_by != (_FORMAT, collection.fingerprint, collection.n_bits)
            or shapes != ((n, -(-collection.n_bits // 8)), (n, 2), (n,), (n,))
            or (codes.dtype, layout.dtype, region_of.dtype, values.dtype) != (np.uint8, np.float32, np.uint16, np.uint8)
        ):
            return None
        return cls(about["state"], about["ids"], codes, Map(layout, region_of, regions, about["n_placed"]), colours)


def current_map(collection: Explored) -> tuple[Explorer, KeptMap]:
    """Return the map of a collection as it is, and keep it: the kept one, if few documents changed, or a new one."""
    state, explorer, kept = collection.store.state(), Explorer(collection), KeptMap.load(collection)
    if kept is not None and kept.is_of(explorer, state):
        return explorer, kept
    map = kept and kept.moved_to(explorer.sample)
    if map is None:
        with busy("drawing the map"):
            map = explorer.fine_map
    new = KeptMap.of(explorer, state, map, explorer.telling_colours(map))
    new.save(collection)
    return explorer, new


def _paths(collection: Explored) -> list[Path]:
    """Return where the map of a collection may be: in its folder, and in the user's cache."""
    location, folder = collection.location, Path(collection.location)
    name = str(folder.resolve()) if folder.is_dir() else location
    cached = Path(cache_folder(), f"{blake2b(os.fsencode(name), digest_size=12).hexdigest()}.npz")
    return [folder / FILE, cached] if folder.is_dir() else [cached]
