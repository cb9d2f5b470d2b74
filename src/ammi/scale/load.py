"""Load shards of documents into a collection.

A server takes many writers: each worker adds its own shards in transactions. A folder has one writer, the process that
runs the command, which adds the blocks in the order of the files. Either way a block is added whole or not at all, and
loading the same shards again continues after the blocks that are there.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from ammi.collection import Advance, Collection
from ammi.data import Document, blocks
from ammi.ingest import Block, EncodedBlock
from ammi.scale.shards import Reading, Shard
from ammi.scale.workers import Handle, ModelFiles, Shared, Worker, original_errors, pool, run_jobs

_BLOCKS_AHEAD = 8  # blocks of a shard that may wait for the writer


@dataclass
class Loaded:
    """Outcome of loading: documents that were there, that were added, and bad records."""

    there: int
    added: int
    skipped: list[str]


class Loader(Worker):
    """A worker that encodes shards, and writes them if the store takes many writers."""

    def blocks(
        self, files: ModelFiles, shard: Shard, reading: Reading, n_there: int, keep_vectors: bool
    ) -> Iterator[tuple[EncodedBlock | None, list[str]]]:
        """Yield the blocks after the first `n_there` documents, which are in the collection, each with the bad records
        before it."""
        self.know(files)
        skipped: list[str] = []
        for documents in blocks(islice(reading.documents(shard, skipped), n_there, None)):
            yield Block(documents).encoded(self.kept, keep_vectors=keep_vectors), list(skipped)
            skipped.clear()
        if skipped:
            yield None, skipped

    def load(self, files: ModelFiles, shard: Shard, reading: Reading, location: str) -> Loaded:
        """Add the documents of a shard to a collection, after those that are there."""
        self.know(files)
        with Collection.open(location) as collection:
            skipped: list[str] = []
            n_there, rest = split_there(collection, reading.documents(shard, skipped))
            loaded = Loaded(n_there, 0, skipped)
            for documents in rest:
                block = Block(documents)
                block.encoded(self.kept, keep_vectors=collection.store.vectors is not None).add_to(collection.store)
                loaded.added += len(block)
            return loaded


def load_shards(
    collection: Collection,
    location: str,
    shards: Sequence[Shard],
    files: Mapping[str, bytes],
    reading: Reading,
    workers: int,
    advance: Advance,
) -> Loaded:
    """Add the documents of shards to a collection, which is open at this location and has the model of these files."""
    total, shared = Loaded(0, 0, []), Shared(dict(files))
    with pool(Loader, min(workers, len(shards))) as actors:
        if collection.store.shared:
            parts: Iterable[Loaded] = run_jobs(
                actors, shards, lambda actor, shard: actor.load.remote(shared, shard, reading, location)
            )
        else:
            parts = _in_order(collection, shared, shards, reading, actors)
        for part in parts:
            total.there += part.there
            total.added += part.added
            total.skipped += part.skipped
            advance(part.there + part.added)
    collection.store.optimize()
    return total


def split_there(collection: Collection, documents: Iterator[Document]) -> tuple[int, Iterator[list[Document]]]:
    """Return how many of the first documents are in a collection, unchanged, and the blocks of the others."""
    n_there, coming = 0, blocks(documents)
    for block in coming:
        if not _has(collection, block):
            return n_there, chain([block], coming)
        n_there += len(block)
    return n_there, coming


def _in_order(
    collection: Collection, files: ModelFiles, shards: Sequence[Shard], reading: Reading, actors: list[Handle]
) -> Iterator[Loaded]:
    """Write the blocks of all shards in their order, while workers encode the next ones."""
    import ray

    keep_vectors = collection.store.vectors is not None
    coming = _remaining(collection, shards, reading)
    streams: deque[tuple[Handle, int, Handle]] = deque()

    def begin(actor: Handle) -> None:
        for shard, n_there in islice(coming, 1):
            method = actor.blocks.options(num_returns="streaming", _generator_backpressure_num_objects=_BLOCKS_AHEAD)
            streams.append((actor, n_there, method.remote(files, shard, reading, n_there, keep_vectors)))

    for actor in actors:
        begin(actor)
    with original_errors():
        while streams:
            actor, n_there, stream = streams.popleft()
            yield Loaded(n_there, 0, [])
            for reference in stream:
                encoded, skipped = ray.get(reference)
                if encoded is not None:
                    encoded.add_to(collection.store)
                yield Loaded(0, 0 if encoded is None else len(encoded.block), skipped)
            begin(actor)


def _remaining(collection: Collection, shards: Sequence[Shard], reading: Reading) -> Iterator[tuple[Shard, int]]:
    """Yield each shard with the number of its first documents that are in the collection.

    Blocks are written in order, so no shard after the first incomplete one has any.
    """
    complete = len(collection) > 0
    for shard in shards:
        n_there = 0
        if complete:
            n_there, rest = split_there(collection, reading.documents(shard, []))
            complete = next(rest, None) is None
        yield shard, n_there


def _has(collection: Collection, block: list[Document]) -> bool:
    try:
        entries = collection.get([document.id for document in block])
    except ValueError:  # an id does not exist
        return False
    return all(
        (entry.text, entry.metadata) == (document.text, document.metadata)
        for entry, document in zip(entries, block, strict=True)
    )
