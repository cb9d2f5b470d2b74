"""A whole collection from one place to another, whatever their stores: restartable, and compared at the end."""

import json
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple

import numpy as np

from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Record
from ammi.search.locations import create_store, open_store, store_exists
from ammi.search.store import Store
from ammi.search.store_methods import Location

_AT_ONCE = 1000


class Copied(NamedTuple):
    """What a copy came to."""

    location: str
    documents: int
    there: int  # of these, the documents that an earlier run had brought
    checksum: str  # of all documents in their order, the same at both places


def copy_store(
    source: Store, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None
) -> Copied:
    """Copy all that an index has to a location, which holds nothing yet, or what an earlier run brought there.

    `advance` is told of each document twice: when it is there, and when all are compared.
    """
    with _target(source, location) as target:
        coming = (entry for block in source.entries() for entry in block)
        given = _Sum()
        there = _skip_what_is_there(source, target, coming, given, advance)
        while block := list(islice(coming, _AT_ONCE)):
            vectors = [entry.vector for entry in block if entry.vector is not None]
            target.add(
                np.stack([entry.code for entry in block]),
                [entry.id for entry in block],
                [entry.text for entry in block],
                [entry.metadata for entry in block],
                vectors=np.stack(vectors) if vectors else None,
            )
            given.add(block)
            advance(len(block))
        _use_numbers_before(target, source.about.next_number)
        target.optimize()
        arrived = _Sum()
        for found in target.entries():
            arrived.add(found)
            advance(len(found))
        if (arrived.count, arrived.hexdigest()) != (given.count, given.hexdigest()):
            raise DamagedError(
                f"{given.count:,} documents of {source.location} with the checksum {given.hexdigest()} were copied, "
                f"but {target.location} has {arrived.count:,} with {arrived.hexdigest()}: was it changed meanwhile? "
                "delete it and copy again"
            )
        return Copied(target.location, given.count, there, given.hexdigest())


class _Sum:
    """A checksum of documents in their order, and their number."""

    def __init__(self) -> None:
        self.count = 0
        self._hash = blake2b(digest_size=16)

    def add(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            self._hash.update(_digest(entry))
            self.count += 1

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def _digest(entry: Entry) -> bytes:
    """Of all that a document is; the order of metadata keys is no part of it."""
    said = json.dumps([entry.id, entry.text, entry.metadata], sort_keys=True).encode()
    vector = b"" if entry.vector is None else entry.vector.astype("<f4").tobytes()
    return blake2b(b"%d %d " % (len(said), len(entry.code)) + said + entry.code.tobytes() + vector).digest()


def _target(source: Store, location: Location) -> Store:
    """The index at a location, which is made where there is none, and refused where it is of something else."""
    files, keys = source.files(), source.keys_indexed
    if not store_exists(location):
        return create_store(
            location,
            source.n_bits,
            fingerprint=source.fingerprint,
            keys=keys,
            files=files,
            text_index=source.text_index,
            vectors=source.vectors,
        )
    target = open_store(location)
    try:
        if target.location == source.location:
            raise ValueError(f"{target.location} is copied to itself: name another location")
        about = ("bits", "n_bits"), ("model", "fingerprint"), ("vectors", "vectors"), ("word index", "text_index")
        for name, attribute in about:
            has, wanted = getattr(target, attribute), getattr(source, attribute)
            if has != wanted:
                raise _other(source, target, f"its {name}: {_shortly(has)}, not {_shortly(wanted)}")
        if target.files() != files:
            raise _other(source, target, "its files are not the same")
        target.index_keys(keys)
    except BaseException:
        target.close()
        raise
    return target


def _skip_what_is_there(
    source: Store, target: Store, coming: Iterator[Entry], given: _Sum, advance: Callable[[int], None]
) -> int:
    """Go past the documents that an earlier run brought, which must be the first of those that come."""
    for block in target.entries():
        expected = list(islice(coming, len(block)))
        for entry, other in zip(block, [*expected, *[None] * (len(block) - len(expected))], strict=True):
            if other is None or _digest(entry) != _digest(other):
                raise _other(source, target, f"document {entry.id!r} is not the one that stands there in the source")
        given.add(expected)
        advance(len(block))
    return given.count


def _other(source: Store, target: Store, why: str) -> FileExistsError:
    return FileExistsError(
        f"{target.location} holds another collection than {source.location} ({why}): name another location, or "
        "delete it"
    )


def _shortly(value: object) -> str:
    return ("there" if value else "none") if value is None or isinstance(value, bool) else str(value)


def _use_numbers_before(target: Store, number: int) -> None:
    """Give no number below this one to a document that comes without an id: some were deleted that had one."""
    with target._writing():
        about = target._about()
        if about.next_number < number:
            code = np.zeros((1, -(-about.n_bits // 8)), np.uint8)
            vector = np.zeros((1, about.vectors.n_bytes), np.uint8) if about.vectors else None
            target._put(code, [Record(number - 1, None, {}, "{}")], vector)
            target._remove([number - 1])
