"""Locations: a folder, or SCHEME:... of another store, such as the address of a server."""

import re
from collections.abc import Callable
from pathlib import Path

from ammi.hub import is_on_hub
from ammi.plugins import Registry
from ammi.search.store import Store
from ammi.search.store_methods import Location, Repaired
from ammi.urls import shown

OWN = {
    "folder": "ammi.search.embedded.store:HammingIndex",
    "milvus": "ammi.search.milvus.store:MilvusStore",
    "milvus-lite": "ammi.search.milvus.store:MilvusStore",
    "postgres": "ammi.search.postgres.store:PostgresStore",
    "postgresql": "ammi.search.postgres.store:PostgresStore",
}
STORES: Registry[type[Store]] = Registry("ammi.stores", "store", OWN)
_SAYS_NOTHING = {"collection", "data", "db", "index", "store"}  # names of folders
_SCHEME = re.compile("([A-Za-z][A-Za-z0-9+.-]+):(//)?")


def open_store(location: Location) -> Store:
    """Open the store at a location, to read it and to change it."""
    return store_class(location).open(location)


def store_exists(location: Location) -> bool:
    """Return whether there is a store at a location."""
    return store_class(location).exists(location)


def check_store(location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> list[str]:
    """Return what is damaged at a location; the arguments are those of `Store.check`."""
    return store_class(location).check(location, advance=advance)


def repair_store(location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> Repaired:
    """Keep what is intact at a location; the arguments are those of `Store.repair`."""
    return store_class(location).repair(location, advance=advance)


def check_folder(folder: Path) -> None:
    """Refuse a file, and a folder with other files than those of a collection, which may be damaged."""
    from ammi.search.embedded.acknowledged import FILE as ACKNOWLEDGED
    from ammi.search.embedded.connections import FILE

    if folder.is_file():
        raise FileExistsError(f"{folder} is a file: name a folder, or the URL of a collection on a server")
    is_ours = (folder / FILE).exists() or (folder / ACKNOWLEDGED).exists()
    if folder.is_dir() and not is_ours and any(folder.glob("[!.]*")):
        raise FileExistsError(f"{folder} holds other files: name a new or empty folder for the collection")


def is_url(location: Location) -> bool:
    """Return whether a location names another store than that of folders."""
    found = _SCHEME.match(location) if isinstance(location, str) else None
    return found is not None and found[1] != "folder" and found[1] in STORES.names()


def name_of(location: Location) -> str:
    """Return a name for people: the last part of a location, or the folder above if that one is called index."""
    if is_url(location):
        return re.split("[/#]", shown(location).rstrip("/#"))[-1].partition("?")[0] or "collection"
    folder = Path(location).resolve()
    names = [name for name in (folder.name, folder.parent.name) if name and name.lower() not in _SAYS_NOTHING]
    return names[0] if names else folder.name or "collection"


def is_served(location: Location) -> bool:
    """Return whether a location is the address of `ammi serve`, which is not a store but a collection."""
    return isinstance(location, str) and location.startswith(("http://", "https://"))


def store_class(location: Location) -> type[Store]:
    """Return the store of a location, by its scheme; a location without one, or with a colon in it, is a folder."""
    found = _SCHEME.match(location) if isinstance(location, str) else None
    if found and is_url(location):
        return STORES.get(found[1])
    if is_on_hub(location):
        raise ValueError(
            f"{location} can only be opened: write there with ammi push, or change a copy that ammi index copy makes"
        )
    if found and found[2]:
        names = ", ".join(STORES.names())
        raise ValueError(f"no store for {shown(location)!r}: there are {names}, and a folder has no scheme")
    return STORES.get("folder")
