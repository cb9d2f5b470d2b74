"""Shards of documents into a store: actors encode them, and what writes depends on the store.

A server takes many writers: each actor adds its own shards in transactions. A folder has one writer, the process that
runs the command, which adds the blocks in the order of the files. Either way a block is added whole or not at all, and
loading the same shards again continues after the blocks that are there.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.collection import Collection
from ammi.data import Document, blocks
from ammi.ingest import Block
from ammi.scale.shards import Reading, Shard
from ammi.scale.workers import Kept, Worker, each_in_turn, in_one_sentence, pool

_BLOCKS_AHEAD = 8  # of a shard, that wait for the writer

Advance = Callable[[int], None]


class EncodedBlock(NamedTuple):
    """Documents with all that a collection keeps of them."""

    documents: list[Document]
    codes: NDArray[np.uint8]
    vectors: Any
    skipped: list[str]  # bad records before them


@dataclass
class Loaded:
    """What was done with shards: documents that were there, that were added, and bad records."""

    there: int
    added: int
    skipped: list[str]


class Loader(Worker):
    """Encodes shards, and writes them where the store takes many writers."""

    def blocks(self, files: Kept, shard: Shard, reading: Reading, there: int, keep: bool) -> Iterator[EncodedBlock]:
        """The documents of a shard, without as many at its beginning as are there."""
        self.know(files)
        skipped: list[str] = []
        for block in blocks(islice(reading.documents(shard, skipped), there, None)):
            yield self._encoded(block, keep, skipped)
            skipped.clear()
        if skipped:
            yield EncodedBlock([], np.empty((0, 0), np.uint8), None, skipped)

    def load(self, files: Kept, shard: Shard, reading: Reading, location: str) -> Loaded:
        """Add the documents of a shard to a collection, after those that are there."""
        self.know(files)
        with Collection.open(location) as collection:
            skipped: list[str] = []
            there, rest = split_there(collection, reading.documents(shard, skipped))
            loaded = Loaded(there, 0, skipped)
            for block in rest:
                encoded = self._encoded(block, collection.store.vectors is not None, skipped)
                loaded.added += add(collection, encoded, self.kept.fingerprint)
            return loaded

    def _encoded(self, documents: list[Document], keep: bool, skipped: list[str]) -> EncodedBlock:
        block, fingerprint = Block(documents), self.kept.fingerprint
        if keep:
            return EncodedBlock(documents, *block.codes_and_vectors(self.model, fingerprint), list(skipped))
        return EncodedBlock(documents, block.codes(self.model, fingerprint), None, list(skipped))


def load_shards(
    collection: Collection,
    location: str,
    shards: Sequence[Shard],
    files: Mapping[str, bytes],
    reading: Reading,
    workers: int,
    advance: Advance = lambda n_documents: None,
) -> Loaded:
    """Add the documents of shards to a collection, open at its location, whose model is that of the files."""
    total, kept = Loaded(0, 0, []), Kept(dict(files))
    with pool(Loader, min(workers, len(shards))) as actors:
        if collection.store.shared:
            parts: Iterable[Loaded] = each_in_turn(
                actors, list(shards), lambda actor, shard: actor.load.remote(kept, shard, reading, location)
            )
        else:
            parts = _in_order(collection, kept, shards, reading, actors)
        for part in parts:
            total.there += part.there
            total.added += part.added
            total.skipped += part.skipped
            advance(part.there + part.added)
    collection.store.optimize()
    return total


def split_there(collection: Collection, documents: Iterator[Document]) -> tuple[int, Iterator[list[Document]]]:
    """How many documents at the beginning are in a collection as they are here, and the blocks of the rest."""
    there, coming = 0, blocks(documents)
    for block in coming:
        if not _has(collection, block):
            return there, chain([block], coming)
        there += len(block)
    return there, coming


def add(collection: Collection, encoded: EncodedBlock, fingerprint: str) -> int:
    """Add a block in one transaction; return how many documents it has."""
    block = Block(encoded.documents)
    if encoded.documents:
        collection.store.add_records(
            encoded.codes, block.records, numbered=block.numbered, vectors=encoded.vectors, fingerprint=fingerprint
        )
    return len(encoded.documents)


def _in_order(
    collection: Collection, files: Kept, shards: Sequence[Shard], reading: Reading, actors: list[Any]
) -> Iterator[Loaded]:
    """Write the blocks of all shards in their order, while actors encode those that come next."""
    import ray

    keep, fingerprint = collection.store.vectors is not None, collection.fingerprint
    assert fingerprint is not None
    coming = _left(collection, shards, reading)
    streams: deque[tuple[Any, int, Any]] = deque()

    def begin(actor: Any) -> None:
        for shard, there in islice(coming, 1):
            method = actor.blocks.options(num_returns="streaming", _generator_backpressure_num_objects=_BLOCKS_AHEAD)
            streams.append((actor, there, method.remote(files, shard, reading, there, keep)))

    for actor in actors:
        begin(actor)
    with in_one_sentence():
        while streams:
            actor, there, stream = streams.popleft()
            yield Loaded(there, 0, [])
            for reference in stream:
                encoded = ray.get(reference)
                yield Loaded(0, add(collection, encoded, fingerprint), encoded.skipped)
            begin(actor)


def _left(collection: Collection, shards: Sequence[Shard], reading: Reading) -> Iterator[tuple[Shard, int]]:
    """The shards, each with the number of documents at its beginning that are there: all of those before the first
    that is not, since blocks are written in order."""
    whole = len(collection) > 0
    for shard in shards:
        there = 0
        if whole:
            there, rest = split_there(collection, reading.documents(shard, []))
            whole = next(rest, None) is None
        yield shard, there


def _has(collection: Collection, block: list[Document]) -> bool:
    try:
        entries = collection.get([document.id for document in block])
    except ValueError:  # some are not there
        return False
    return all(
        (entry.text, entry.metadata) == (document.text, document.metadata)
        for entry, document in zip(entries, block, strict=True)
    )
