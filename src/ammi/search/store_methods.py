"""What a store implements to hold a collection. `store.Store` checks arguments, and does the rest."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from hashlib import blake2b
from os import PathLike
from typing import NamedTuple, Self

from ammi.search.documents import Entry, Id, Metadata, Record
from ammi.search.filters import Filter, count_kinds
from ammi.search.hamming import MOST_FOUND, Codes, too_many_within
from ammi.search.ranking import Candidates
from ammi.search.vectors import KeptVectors, Packed
from ammi.search.wanted import Wanted, WordStatistics

Location = str | PathLike[str]
Encode = Callable[[list[Entry]], tuple[Codes, Packed | None]]  # codes, and vectors if these change too
MOST_REMEMBERED = 10_000  # changes whose keys are known

Found = list[list[tuple[int, Record]]]  # for each query, the distance and the document of each hit, in order


class About(NamedTuple):
    """The settings of a store, and the next number that it gives to a document without an id."""

    n_bits: int
    fingerprint: str | None  # of the model that makes the codes
    vectors: KeptVectors | None = None  # how vectors are kept, if they are
    text_index: bool = True  # whether there is a word index
    language: str | None = None  # of the words of texts; None until it is known
    next_number: int = 0  # the number after the greatest that was ever an id

    @property
    def words(self) -> bool | str:
        """The setting `text_index` of a store like this one."""
        return self.language or True if self.text_index else False


class Repaired(NamedTuple):
    """The result of a repair."""

    kept: int  # documents
    lost: list[Id]  # documents whose ids could be read
    unnamed: int  # further documents
    damage: list[str]  # a sentence for each damaged part
    old: str | None  # where the damaged file is now; None if nothing was damaged


class Restored(NamedTuple):
    """The result of a restore."""

    location: str
    documents: int
    old: str | None  # where the file is that was there before


class Upgraded(NamedTuple):
    """The result of an upgrade."""

    format: int  # that it had before
    now: int  # the format that it has
    documents: int
    old: str | None  # where the old file of a folder is now; None if nothing was converted


class ChangeKey(NamedTuple):
    """The name of a change and a digest of what it is, both as numbers of 64 bits: a change is made once under a name.

    A client that does not know whether its request was answered sends it again under the same name.
    """

    name: int
    digest: int

    @classmethod
    def of(cls, name: str, request: bytes) -> Self:
        """Return the key of a request."""
        return cls(
            *(int.from_bytes(blake2b(part, digest_size=8).digest(), signed=True) for part in (name.encode(), request))
        )


class StoreMethods(ABC):
    """The part of a Store that differs from store to store: sixteen abstract methods, and others with a default.

    Arguments are checked already. The ids of one call differ from each other by `id_key`, and ids to remove or to
    alter exist. Unless its docstring says otherwise, a method whose name begins with _ is called inside of `_reading`
    or `_writing`.
    """

    location: str
    shared = False  # whether processes on several machines may write to the location at the same time

    @classmethod
    @abstractmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes]) -> Self:
        """Create an empty store, with these metadata keys indexed, and open it; FileExistsError if there is one."""

    @classmethod
    @abstractmethod
    def open(cls, location: Location) -> Self:
        """Open the store at a location, to read it and to change it; FileNotFoundError if there is none."""

    @abstractmethod
    def _about(self) -> About:
        """Return the settings as they are now. Every search asks for them, so this should be fast."""

    @abstractmethod
    def files(self) -> dict[str, bytes]:
        """Return the files that are kept beside the documents, by name. Called outside of `_reading`."""

    @abstractmethod
    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        """Append documents, in place of documents with the same ids; with vectors if and only if these are kept."""

    @abstractmethod
    def _remove(self, ids: list[Id]) -> None:
        """Delete documents."""

    @abstractmethod
    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        """Give documents new metadata; their order stays."""

    @abstractmethod
    def _fetch(self, ids: list[Id]) -> list[Entry | None]:
        """Return the document of each id, None for an id that is not there."""

    @abstractmethod
    def _nearest(self, queries: Codes, k: int, filter: Filter) -> Found:
        """Return the k nearest documents that pass a filter for each query, ties in insertion order."""

    @abstractmethod
    def _shortlists(
        self, queries: Codes, n: int, wanted: Sequence[Wanted], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        """Yield the candidates of each query, in insertion order: its n nearest documents that pass a filter, and the
        n that its words find (`ranking.best_by_terms`). Texts come if the query has terms, vectors if asked for."""

    @abstractmethod
    def _words_with(self, stems: Collection[str]) -> Iterable[str]:
        """Return the words of all texts that have one of these stems, in the store's language; perhaps also words that
        only deleted texts had."""

    @abstractmethod
    def _words_from(self, prefix: str) -> Iterable[str]:
        """Return the MOST_COMPLETIONS shortest words of all texts that begin with these letters, of equally long ones
        the first by code points; perhaps also words that only deleted texts had."""

    @abstractmethod
    def _word_statistics(self, words: Sequence[str]) -> WordStatistics:
        """Count the texts, their characters, and the texts that have each of these words."""

    @abstractmethod
    def _set_language(self, language: str) -> None:
        """Set the language of the words, also of those that are there."""

    @abstractmethod
    def _blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        """Yield the documents that pass a filter, in insertion order, some at a time, as they were at the start. Called
        outside of `_reading`; the caller may use and change the store before it asks for the next block."""

    @abstractmethod
    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        """Do what `Store.recode` promises. Called outside of `_writing`."""

    # A store overrides the methods below if it can do better.

    @classmethod
    def exists(cls, location: Location) -> bool:
        """Return whether there is a store at a location."""
        try:
            cls.open(location).close()
        except FileNotFoundError:
            return False
        return True

    def close(self) -> None:
        """Release all resources; the store must not be used after it."""
        return

    def _reading(self) -> AbstractContextManager[object]:
        """Enter a block whose reads see one snapshot, if the store has snapshots."""
        return nullcontext()

    def _writing(self) -> AbstractContextManager[object]:
        """Enter a block whose changes are made together when it ends, or not at all, if the store has transactions. A
        block may be inside of another one, which then ends the transaction."""
        return self._reading()

    def _remembered(self, name: int) -> tuple[int, int] | None:
        """Return the digest of the change that was made under a name, and what it returned; None if there is none.

        A store without transactions remembers it only in this process.
        """
        return self._changes_made.get(name)

    def _remember(self, key: ChangeKey, outcome: int) -> None:
        """Remember a change that was made under a key, in the same transaction; forget the oldest ones."""
        self._changes_made[key.name] = key.digest, outcome
        if len(self._changes_made) > MOST_REMEMBERED:
            del self._changes_made[next(iter(self._changes_made))]

    @cached_property
    def _changes_made(self) -> dict[int, tuple[int, int]]:
        return {}

    def _has(self, ids: list[Id]) -> list[bool]:
        """Return whether each document exists."""
        return [entry is not None for entry in self._fetch(ids)]

    def _count(self) -> int:
        """Return the number of documents."""
        return sum(len(block) for block in self._blocks(()))

    def _within(self, queries: Codes, radius: int, filter: Filter) -> Found:
        """Return all documents at most radius bits from each query, as `_nearest` does; refuse more than MOST_FOUND."""
        nearest = self._nearest(queries, max(self._count(), 1), filter)
        found = [[hit for hit in hits if hit[0] <= radius] for hits in nearest]
        if sum(map(len, found)) > MOST_FOUND:
            raise too_many_within(radius)
        return found

    @property
    def indexed_keys(self) -> list[str]:
        """The indexed metadata keys. Read outside of `_reading`."""
        return []

    def _index_keys(self, keys: list[str]) -> None:
        """Index metadata keys. Called outside of `_writing`."""
        return

    def metadata_blocks(self) -> Iterator[list[tuple[Id, Metadata]]]:
        """Yield ids and metadata of all documents, in insertion order. Read inside of one snapshot."""
        for block in self._blocks(()):
            yield [(entry.id, entry.metadata) for entry in block]

    def _word_counts(self) -> bytes | None:
        """Return what `_keep_word_counts` kept; None if there is nothing, as in a store that keeps none."""
        return None

    def _keep_word_counts(self, content: bytes) -> None:
        """Keep counts of words beside the model's files, apart from `files`, in the same transaction."""
        return

    def _matching_ids(self, filter: Filter) -> list[Id]:
        """Return the ids of the documents that pass a filter, in insertion order."""
        return [entry.id for block in self._blocks(filter) for entry in block]

    def key_kinds(self) -> dict[str, dict[str, int]]:
        """Return for each metadata key how many documents have values of which kinds, such as "number text"."""
        return count_kinds(entry.metadata for block in self._blocks(()) for entry in block)
