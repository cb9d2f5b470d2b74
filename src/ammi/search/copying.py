"""Copy a whole collection from one location to another, whatever their stores: restartable, compared at the end.

And to one file, the backup, and back.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Record
from ammi.search.locations import open_store, store_class, store_exists
from ammi.search.store import Store
from ammi.search.store_methods import Location, Restored

_AT_ONCE = 1000
_SETTINGS = ("bits", "model", "vectors", "word index", "language")  # the first fields of About


class Copied(NamedTuple):
    """The result of a copy."""

    location: str
    documents: int
    there: int  # of these, documents that an earlier run had copied
    checksum: str  # of all documents in their order, the same at both locations


def copy_store(
    source: Store, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None
) -> Copied:
    """Copy a whole store to a location that is empty, or that holds the beginning of an earlier, unfinished copy.

    `advance` gets the number of documents twice: when they are written, and when they are compared.
    """
    with _target(source, location) as target:
        entries = (entry for block in source.entries() for entry in block)
        sent, arrived = _Digest(), _Digest()
        there = _skip_earlier(source, target, entries, sent, advance)
        while block := list(islice(entries, _AT_ONCE)):
            vectors = [entry.vector for entry in block if entry.vector is not None]
            codes, records = np.stack([entry.code for entry in block]), [entry.record for entry in block]
            target.add_records(codes, records, vectors=np.stack(vectors) if vectors else None)
            sent.add(block)
            advance(len(block))
        _use_numbers_before(target, source.about.next_number)
        _copy_word_counts(source, target)
        target.optimize()
        for found in target.entries():
            arrived.add(found)
            advance(len(found))
        if (arrived.count, arrived.hexdigest()) != (sent.count, sent.hexdigest()):
            raise DamagedError(
                f"{sent.count:,} documents of {source.location} with the checksum {sent.hexdigest()} were copied, "
                f"but {target.location} has {arrived.count:,} with {arrived.hexdigest()}: was it changed meanwhile? "
                "delete it and copy again"
            )
        return Copied(target.location, sent.count, there, sent.hexdigest())


def backup_store(source: Store, file: Path, *, advance: Callable[[int], None] = lambda n_steps: None) -> int:
    """Write a store to one file, as it is at one moment, and return its number of documents.

    Of a folder the file is a copy, page by page; another store is copied to a folder first.
    """
    from ammi.search.embedded.backup import write_backup
    from ammi.search.embedded.store import HammingIndex

    if isinstance(source, HammingIndex):
        return write_backup(Path(source.location), file, advance)
    with _folder_beside(file) as folder:
        copy_store(source, folder, advance=advance)
        return write_backup(folder, file, advance)


def restore_store(file: Path, location: Location, *, advance: Callable[[int], None] = lambda n_steps: None) -> Restored:
    """Make the store that a file of `backup_store` holds, at a location of any store.

    In a folder it replaces what is there, which is kept beside it; elsewhere only an empty location is taken.
    """
    from ammi.search.embedded.backup import restore_backup
    from ammi.search.embedded.store import HammingIndex

    if store_class(location) is HammingIndex:
        return restore_backup(file, Path(location), advance)
    with _folder_beside(file) as folder:
        restore_backup(file, folder, advance)
        with open_store(folder) as source:
            copied = copy_store(source, location, advance=advance)
        return Restored(copied.location, copied.documents, None)


@contextmanager
def _folder_beside(file: Path) -> Iterator[Path]:
    """Yield a folder for a while, on the disk of a file."""
    if not file.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {file.parent} for {file.name}: make it first")
    with TemporaryDirectory(prefix=".ammi-backup-", dir=file.parent) as folder:
        yield Path(folder, "copy")


class _Digest:
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
    """Return the digest of a whole document; the order of metadata keys does not matter."""
    spelled = json.dumps([entry.id, entry.text, entry.metadata], sort_keys=True).encode()
    vector = b"" if entry.vector is None else entry.vector.astype("<f4").tobytes()
    return blake2b(b"%d %d " % (len(spelled), len(entry.code)) + spelled + entry.code.tobytes() + vector).digest()


def _target(source: Store, location: Location) -> Store:
    """Open the store at a location, or create it; refuse one with other settings."""
    files, keys, about = source.files(), source.indexed_keys, source.about
    if not store_exists(location):
        return store_class(location).create(
            location,
            about.n_bits,
            fingerprint=about.fingerprint,
            keys=keys,
            files=files,
            text_index=about.words,
            vectors=about.vectors,
        )
    target = open_store(location)
    try:
        if target.location == source.location:
            raise ValueError(f"{target.location} is copied to itself: name another location")
        for name, found, wanted in zip(_SETTINGS, target.about, about, strict=False):
            if found != wanted:
                raise _other(source, target, f"its {name}: {_shortly(found)}, not {_shortly(wanted)}")
        if target.files() != files:
            raise _other(source, target, "its files are not the same")
        target.index_keys(keys)
    except BaseException:
        target.close()
        raise
    return target


def _skip_earlier(
    source: Store, target: Store, entries: Iterator[Entry], sent: _Digest, advance: Callable[[int], None]
) -> int:
    """Skip the documents that an earlier run brought, which must be the first of the source; return their number."""
    for block in target.entries():
        expected = list(islice(entries, len(block)))
        for n, entry in enumerate(block):
            if n >= len(expected) or _digest(entry) != _digest(expected[n]):
                raise _other(source, target, f"document {entry.id!r} is not the one that stands there in the source")
        sent.add(expected)
        advance(len(block))
    return sent.count


def _other(source: Store, target: Store, why: str) -> FileExistsError:
    return FileExistsError(
        f"{target.location} holds another collection than {source.location} ({why}): name another location, or "
        "delete it"
    )


def _shortly(value: object) -> str:
    return ("there" if value else "none") if value is None or isinstance(value, bool) else str(value)


def _copy_word_counts(source: Store, target: Store) -> None:
    with source._reading():
        counts = source._word_counts()
    if counts:
        with target._writing():
            target._keep_word_counts(counts)


def _use_numbers_before(target: Store, number: int) -> None:
    """Reserve the numbers below this one, which deleted documents may have had, by adding and deleting a document."""
    with target._writing():
        about = target._about()
        if about.next_number < number:
            code = np.zeros((1, -(-about.n_bits // 8)), np.uint8)
            vector = np.zeros((1, about.vectors.n_bytes), np.uint8) if about.vectors else None
            target._put(code, [Record(number - 1, None, {}, "{}")], vector)
            target._remove([number - 1])
