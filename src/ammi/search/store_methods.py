"""What a store implements, and nothing else: one file a location to keep documents in. `base.Store` does the rest."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ammi.search.documents import Entry, Id, Metadata, Record
from ammi.search.filters import Filter, count_kinds
from ammi.search.hamming import Codes
from ammi.search.ranking import Candidates, WordStatistics
from ammi.search.vectors import KeptVectors, Packed

Location = str | PathLike[str]
Encode = Callable[[list[Entry]], tuple[Codes, Packed | None]]  # codes, and new vectors where they change too
Found = list[list[tuple[int, Record]]]  # for each query, the distance and the document of each hit, in order


class About(NamedTuple):
    """The codes of an index: their length, and the fingerprint of the model that makes them; how vectors are kept."""

    n_bits: int
    fingerprint: str | None
    vectors: KeptVectors | None = None


class Repaired(NamedTuple):
    """What a repair kept, and what it could not keep."""

    kept: int  # documents
    lost: list[Id]  # documents whose ids could be read
    unnamed: int  # further documents
    damage: list[str]  # a sentence for all that was damaged
    old: str | None  # where the damaged file is now; None where nothing was damaged


class StoreMethods(ABC):
    """The part of a Store that differs from store to store.

    All arguments were checked. The ids of one call differ from each other by `id_key`, and those to remove or to alter
    are there. Unless it says otherwise, a method that begins with _ is called inside of `_reading` or `_writing`.
    """

    location: str
    shared = False  # whether processes on several machines may write to the location at the same time

    @classmethod
    @abstractmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes], text_index: bool) -> Self:
        """Make an empty index, with a word index or without, and open it; FileExistsError where there is one."""

    @classmethod
    @abstractmethod
    def open(cls, location: Location) -> Self:
        """Open the index at a location, to read it and to change it; FileNotFoundError where there is none."""

    @classmethod
    @abstractmethod
    def exists(cls, location: Location) -> bool:
        """Whether there is an index at a location."""

    @abstractmethod
    def close(self) -> None:
        """Let go of all that is held open; the index is of no use after it."""

    @abstractmethod
    def _reading(self) -> AbstractContextManager[object]:
        """One view of the index for as long as the block lasts, whatever others change meanwhile."""

    @abstractmethod
    def _writing(self) -> AbstractContextManager[object]:
        """A change that is made when the block ends, and not at all when it fails."""

    @abstractmethod
    def _about(self) -> About: ...

    @abstractmethod
    def _count(self) -> int: ...

    @abstractmethod
    def _next_number(self) -> int:
        """The number after the greatest that was ever an id, or 0."""

    @abstractmethod
    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        """Add documents at the end, in place of those of the same ids; with vectors just where these are kept."""

    @abstractmethod
    def _remove(self, ids: list[Id]) -> None: ...

    @abstractmethod
    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        """Give documents new metadata and leave them where they are."""

    @abstractmethod
    def _fetch(self, ids: list[Id]) -> list[Entry | None]: ...

    def _has(self, ids: list[Id]) -> list[bool]:
        """Whether each document is there."""
        return [entry is not None for entry in self._fetch(ids)]

    @abstractmethod
    def _nearest(self, queries: Codes, k: int, filter: Filter) -> Found: ...

    @abstractmethod
    def _within(self, queries: Codes, radius: int, filter: Filter) -> Found: ...

    @abstractmethod
    def _shortlists(
        self, queries: Codes, n: int, words: Sequence[Sequence[str]], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        """For each query, of the documents that a filter keeps, the n nearest together with n that have most of its
        words: `ranking.most_told` says what that is. They come with their texts where the query has words, and with
        their vectors where these are asked for and kept."""

    @abstractmethod
    def _at(self, places: NDArray[np.int64]) -> list[Record]:
        """The documents at these places of candidates."""

    @abstractmethod
    def _word_statistics(self, words: Sequence[str]) -> WordStatistics | None:
        """What is known of these words; None where the index was made without a word index."""

    @abstractmethod
    def _blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        """The documents that a filter keeps, in insertion order and as they are when it begins. It is called outside of
        `_reading`, and the index may be used, and changed, before it ends."""

    @abstractmethod
    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        """What `Store.recode` promises; called outside of `_writing`."""

    @abstractmethod
    def files(self) -> dict[str, bytes]:
        """The files that are kept beside the documents, by name."""

    @property
    @abstractmethod
    def keys_indexed(self) -> list[str]:
        """The metadata keys by which a filter finds documents without reading all metadata."""

    @abstractmethod
    def _index_keys(self, keys: list[str]) -> None: ...

    def _kinds(self) -> dict[str, dict[str, int]]:
        """For each metadata key, how many documents have values of which kinds; called outside of `_reading`."""
        return count_kinds(entry.metadata for block in self._blocks(()) for entry in block)
