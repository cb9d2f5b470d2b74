"""The map of a collection as a picture in a notebook, and what Jupyter shows of a collection."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ammi import displays
from ammi.displays import Html, Label
from ammi.explore.colours import Coloured
from ammi.explore.explorer import Map
from ammi.explore.kept import KeptMap, current_map
from ammi.explore.regions import levels_of
from ammi.explore.sample import Explored

_REGIONS = 24  # at most, whose words are shown


class Described(Protocol):
    """A model that tells what it is."""

    def describe(self) -> dict[str, Any]: ...


@dataclass(frozen=True, repr=False)
class Picture:
    """A map, coloured by a metadata key; Jupyter draws it."""

    map: Map
    colour: str | None
    colours: Coloured | None

    def __repr__(self) -> str:
        by = f", coloured by {self.colour}" if self.colour else ""
        words = "; ".join(label.text for label in self._labels())
        return f"map of {len(self.map.layout):,} documents{by}: {words}"

    def _repr_html_(self) -> str:
        return displays.framed(self.drawn())

    def drawn(self) -> Html:
        """Return the picture with its legend."""
        n, colours = len(self.map.layout), self.colours
        palette = [displays.COLOURS[0]] * n if colours is None else _colours_of(colours)
        picture = displays.plane(self.map.layout, palette, self._labels(), f"map of {n} documents")
        legend = Html("") if colours is None else displays.legend(_names(colours))
        return Html(f"{legend}{picture}")

    def _labels(self) -> list[Label]:
        """Return the words of the regions of the finest level that is not too fine to read."""
        levels = [level for level in levels_of(self.map.regions) if len(level) <= _REGIONS]
        regions = [self.map.regions[number] for number in (levels[-1] if levels else [])]
        return [Label(one.x, one.y, " ".join(one.words[:2])) for one in regions if one.n_points]


def picture(collection: Explored, colour: str | None) -> Picture:
    """Draw the map of a collection, coloured by a metadata key or by the one that tells most."""
    explorer, kept = current_map(collection)
    if colour is None:
        return _picture(kept)
    colours = kept.colours.get(colour) or explorer.colours(colour)
    if colours is None:
        there = ", ".join(explorer.sample.columns) or "none"
        raise ValueError(f"no document on the map has the key {colour!r}: the keys there are {there}")
    return Picture(kept.map, colour, colours)


def _picture(kept: KeptMap) -> Picture:
    colour = next(iter(kept.colours), None)
    return Picture(kept.map, colour, kept.colours[colour] if colour else None)


def collection_html(collection: Explored, model: Described | None) -> str:
    """Return what Jupyter shows of a collection and its model: what they are, and the map if it is kept."""
    about, kept = _facts(collection, model), KeptMap.load(collection)
    if kept is None:
        return displays.framed(about, displays.note("The method map() draws the map."))
    old = kept.state is None or kept.state != collection.store.state()
    notes = [displays.note("Documents were changed since: the method map() renews the map.")] if old else []
    return displays.framed(about, _picture(kept).drawn(), *notes)


def _facts(collection: Explored, model: Described | None) -> Html:
    about = model.describe() if model else {}
    n_columns = about.get("vocabulary") or about.get("columns")
    size = sum(file.stat().st_size for file in Path(collection.location).glob("*") if file.is_file())
    values = {
        "documents": len(collection),
        "bits": collection.n_bits,
        "model": f"{about['method']} of {n_columns:,} {about['units']}" if n_columns else about.get("method"),
        "language": collection.store.language,
        "indexed keys": collection.indexed_keys(),
        "size": f"{size / 1e6:,.1f} MB" if size else None,
    }
    return displays.facts(values, f"Collection in {collection.location}")


def _names(colours: Coloured) -> list[tuple[str, str]]:
    """Return the names of a legend with their colours; of a scale, its ticks."""
    if colours.kind in ("number", "date"):
        steps = len(displays.SCALE) - 1
        ticks = enumerate(colours.ticks)
        return [
            (displays.in_words(tick), displays.SCALE[round(number * steps / (len(colours.ticks) - 1))])
            for number, tick in ticks
        ]
    counted = [f"{name} {count:,}" for name, count in zip(colours.names, colours.counts, strict=True)]
    others = [("others", displays.REST)] if len(counted) > len(displays.COLOURS) else []
    return [*zip(counted, displays.COLOURS, strict=False), *others]


def _colours_of(colours: Coloured) -> list[str]:
    """Return the colour of each document."""
    if colours.kind in ("number", "date"):
        last = len(displays.SCALE) - 1
        table = [displays.SCALE[round(value / 254 * last)] for value in range(255)] + [displays.REST]
    else:
        table = [*displays.COLOURS, *[displays.REST] * (256 - len(displays.COLOURS))]
    return [table[value] for value in colours.values.tolist()]
