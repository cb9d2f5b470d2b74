"""Places: a folder, or what another engine calls one, SCHEME:..., such as a server's address."""

import re
from collections.abc import Callable, Iterable, Mapping

from ammi.plugins import Registry
from ammi.search.base import Index
from ammi.search.engine import Place, Repaired
from ammi.search.vectors import KeptVectors
from ammi.urls import shown

OWN = {
    "folder": "ammi.search.embedded.index:HammingIndex",
    "milvus": "ammi.search.milvus.index:MilvusIndex",
    "milvus-lite": "ammi.search.milvus.index:MilvusIndex",
    "postgres": "ammi.search.postgres.index:PostgresIndex",
    "postgresql": "ammi.search.postgres.index:PostgresIndex",
}
ENGINES: Registry[type[Index]] = Registry("ammi.engines", "engine", OWN)
_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]+):(//)?")


def open_index(place: Place) -> Index:
    """Open the index at a place, to read it and to change it."""
    return engine_of(place).open(place)


def create_index(
    place: Place,
    n_bits: int = 64,
    *,
    fingerprint: str | None = None,
    keys: Iterable[str] = (),
    files: Mapping[str, bytes] | None = None,
    text_index: bool = True,
    vectors: KeptVectors | None = None,
) -> Index:
    """Make an empty index at a place and open it; the arguments are those of `Index.create`."""
    engine = engine_of(place)
    return engine.create(
        place, n_bits, fingerprint=fingerprint, keys=keys, files=files, text_index=text_index, vectors=vectors
    )


def index_exists(place: Place) -> bool:
    """Whether there is an index at a place."""
    return engine_of(place).exists(place)


def check_index(place: Place, *, advance: Callable[[int], None] = lambda n_documents: None) -> list[str]:
    """What is damaged at a place; the arguments are those of `Index.check`."""
    return engine_of(place).check(place, advance=advance)


def repair_index(place: Place, *, advance: Callable[[int], None] = lambda n_documents: None) -> Repaired:
    """Keep what is whole at a place; the arguments are those of `Index.repair`."""
    return engine_of(place).repair(place, advance=advance)


def is_url(place: Place) -> bool:
    """Whether a place names another engine than that of folders."""
    found = _SCHEME.match(place) if isinstance(place, str) else None
    return found is not None and found[1] != "folder" and found[1] in ENGINES.names()


def is_served(place: Place) -> bool:
    """Whether a place is the address of a server of `ammi serve`, which is no engine but has a whole collection."""
    return isinstance(place, str) and place.startswith(("http://", "https://"))


def engine_of(place: Place) -> type[Index]:
    """The engine of a place: that of its scheme, or of folders where it has none. A folder's name may hold a colon."""
    found = _SCHEME.match(place) if isinstance(place, str) else None
    if found and is_url(place):
        return ENGINES.get(found[1])
    if found and found[2]:
        names = ", ".join(ENGINES.names())
        raise ValueError(f"no engine for {shown(place)!r}: there are {names}, and a folder has no scheme")
    return ENGINES.get("folder")
