"""`ammi index build --ray`: shards into a collection, by many workers."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ammi.cli.command import if_stopped
from ammi.cli.index.incoming import say_added
from ammi.cli.ray import note_skipped
from ammi.cli.screen import counter

if TYPE_CHECKING:
    from ammi.collection import Collection
    from ammi.scale.shards import Reading, Shard
    from ammi.stored_model import StoredModel


def build_on_ray(
    location: str,
    sources: list[str],
    model: Path,
    keys: list[str],
    keep_vectors: str | None,
    reading: dict[str, Any],
    workers: int,
    as_json: bool,
) -> None:
    """Add the documents of shards to a new collection, or to one that an interrupted build left."""
    from ammi.scale.load import load_shards
    from ammi.scale.shards import Reading, find_shards
    from ammi.stored_model import StoredModel

    shards, kept = find_shards(sources), StoredModel.of(model)
    how = Reading(**reading, reads=kept.reads, width=kept.whole.n_features_in_ if kept.reads == "vector" else None)
    with _opened(location, kept, model, keys, keep_vectors, shards[0], how) as collection:
        with (
            if_stopped(
                lambda: f"{len(collection):,} documents are in {collection.location}, and the same command goes on"
            ),
            counter(f"adding {len(shards):,} shards with {workers} workers") as advance,
        ):
            loaded = load_shards(collection, location, shards, kept.files, how, workers, advance)
        after = len(collection)
        report = {"added": loaded.added, "were there": loaded.there, "skipped": len(loaded.skipped)}
        report["replaced"] = loaded.there + loaded.added - after
        note_skipped(loaded.skipped)
        say_added(collection.location, report, after, as_json)


def _opened(
    location: str,
    kept: "StoredModel",
    model: Path,
    keys: list[str],
    keep_vectors: str | None,
    first: "Shard",
    reading: "Reading",
) -> "Collection":
    """A new collection, if the first documents are good; or the one that is there, if the same model made its codes."""
    from ammi.collection import Collection, check_location
    from ammi.ingest import blocks_of

    check_location(location)
    if not Collection.exists(location):
        for block in blocks_of(reading.documents(first, [])):
            block.codes(kept.whole, kept.fingerprint)
            break
        return Collection.create(location, model, keys=keys, vectors=keep_vectors)
    collection = Collection.open(location)
    if collection.fingerprint != kept.fingerprint:
        found = collection.fingerprint
        collection.close()
        raise FileExistsError(
            f"{collection.location} holds a collection of model {found}, not of {kept.fingerprint}: name another "
            "location, or that model"
        )
    return collection
