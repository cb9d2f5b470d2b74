"""A store in one file: documents in the memory of this process, found by plain numpy. Its places are memory:NAME.

A package that has such a file announces it in its pyproject.toml, and `ammi.Collection.create("memory:news", model)`
knows it from then on:

    [project.entry-points."ammi.stores"]
    memory = "memory_store:MemoryStore"
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from os import fspath
from threading import RLock
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import words_of
from ammi.search.documents import Entry, Id, Metadata, Record, id_key
from ammi.search.filters import Filter, matches
from ammi.search.hamming import Codes
from ammi.search.ranking import Candidates, WordStatistics, rarity_of
from ammi.search.store import Store
from ammi.search.store_methods import About, Encode, Found, Location
from ammi.search.vectors import Packed, unpacked

BLOCK = 1000


@dataclass
class _Content:
    """What is at a location: documents by `id_key`, in insertion order."""

    about: About
    files: dict[str, bytes]
    text_index: bool
    entries: dict[Id, Entry] = field(default_factory=dict)
    number: int = 0
    lock: RLock = field(default_factory=RLock)


_PLACES: dict[str, _Content] = {}


class MemoryStore(Store):
    """A Store that lasts as long as the process."""

    def __init__(self, location: str):
        self.location, self._content = location, _PLACES[location]

    @classmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes], text_index: bool) -> Self:
        if location in _PLACES:
            raise FileExistsError(f"{location} holds an index: open it, or create the new one elsewhere")
        _PLACES[location] = _Content(about, files, text_index)
        return cls(location)

    @classmethod
    def open(cls, location: Location) -> Self:
        if not cls.exists(location):
            raise FileNotFoundError(f"there is no index in {location}: create it first")
        return cls(fspath(location))

    @classmethod
    def exists(cls, location: Location) -> bool:
        return fspath(location) in _PLACES

    def close(self) -> None:
        pass

    def _reading(self) -> AbstractContextManager[object]:
        return self._content.lock

    def _writing(self) -> AbstractContextManager[object]:
        return self._content.lock  # every change below is one assignment or cannot fail on the way

    def _about(self) -> About:
        return self._content.about

    def _count(self) -> int:
        return len(self._content.entries)

    def _next_number(self) -> int:
        return self._content.number

    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        for code, record, vector in zip(codes, records, self._unpacked(vectors, len(records)), strict=True):
            key = id_key(record.id)
            self._content.entries.pop(key, None)  # a document that is replaced comes last
            self._content.entries[key] = Entry(record.id, code, record.text, record.metadata, vector)
            if isinstance(key, int):
                self._content.number = max(self._content.number, key + 1)

    def _remove(self, ids: list[Id]) -> None:
        for id in ids:
            del self._content.entries[id_key(id)]

    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        for id, new in metadata.items():
            self._content.entries[id_key(id)] = self._content.entries[id_key(id)]._replace(metadata=new)

    def _fetch(self, ids: list[Id]) -> list[Entry | None]:
        return [self._content.entries.get(id_key(id)) for id in ids]

    def _nearest(self, queries: Codes, k: int, filter: Filter) -> Found:
        return [found[:k] for found in self._ranked(queries, filter)]

    def _within(self, queries: Codes, radius: int, filter: Filter) -> Found:
        return [[hit for hit in found if hit[0] <= radius] for found in self._ranked(queries, filter)]

    def _ranked(self, queries: Codes, filter: Filter) -> Iterator[list[tuple[int, Record]]]:
        """For each query all documents that the filter keeps, the nearest first, ties in insertion order."""
        kept = [entry for entry in self._content.entries.values() if matches(filter, entry.metadata)]
        records = [entry.record for entry in kept]
        base = np.array([entry.code for entry in kept], np.uint8).reshape(len(kept), queries.shape[1])
        for query in queries:
            distances = np.bitwise_count(base ^ query).sum(axis=1, dtype=np.int64)  # (n,)
            yield [(int(distances[row]), records[row]) for row in np.argsort(distances, kind="stable")]

    def _shortlists(
        self, queries: Codes, n: int, words: Sequence[Sequence[str]], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        entries = list(self._content.entries.values())
        kept = [location for location, entry in enumerate(entries) if matches(filter, entry.metadata)]
        place_of = {entry.id: location for location, entry in enumerate(entries)}
        for ranked, spoken in zip(self._ranked(queries, filter), words, strict=True):
            places = {place_of[record.id] for _, record in ranked[:n]}
            places |= set(self._having(spoken, kept, entries)[:n])
            chosen = [entries[location] for location in sorted(places)]
            codes = np.array([entry.code for entry in chosen], np.uint8).reshape(len(chosen), queries.shape[1])
            texts, vectors = [entry.text for entry in chosen], [entry.vector for entry in chosen]
            width = self._content.about.vectors.width if self._content.about.vectors else 0
            rows = np.array(vectors, np.float32).reshape(-1, width) if with_vectors else None
            yield Candidates(np.array(sorted(places), np.int64), codes, texts, rows)

    def _having(self, words: Sequence[str], kept: list[int], entries: list[Entry]) -> list[int]:
        """The places of documents that have one of the words, those first of which the words tell most."""
        statistics = self._word_statistics(words)
        if statistics is None:
            return []
        rarity = {word: rarity_of(count, statistics.texts) for word, count in statistics.having.items()}
        told: dict[int, float] = {}
        for location in kept:
            if having := rarity.keys() & words_of(entries[location].text or ""):
                told[location] = sum(rarity[word] for word in sorted(having))
        return sorted(told, key=lambda location: -told[location])

    def _at(self, places: NDArray[np.int64]) -> list[Record]:
        entries = list(self._content.entries.values())
        chosen = [entries[location] for location in places]
        return [entry.record for entry in chosen]

    def _word_statistics(self, words: Sequence[str]) -> WordStatistics | None:
        if not self._content.text_index:
            return None
        texts = [entry.text for entry in self._content.entries.values() if entry.text is not None]
        had = [set(words_of(text)) for text in texts] if words else []
        having = {word: sum(word in those for those in had) for word in words}
        return WordStatistics(len(texts), sum(map(len, texts)), having)

    def _blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        with self._reading():
            kept = [entry for entry in self._content.entries.values() if matches(filter, entry.metadata)]
        for start in range(0, len(kept), BLOCK):
            yield kept[start : start + BLOCK]

    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        with self._writing():  # others wait, so there is nothing to catch up with
            entries = list(self._content.entries.values())
            codes, vectors = encode(entries) if entries else (np.empty((0, 0), np.uint8), None)
            self._content.about, self._content.files = about, files
            recoded = [entry._replace(code=code) for entry, code in zip(entries, codes, strict=True)]
            if vectors is not None:
                rows = self._unpacked(vectors, len(entries))
                recoded = [entry._replace(vector=row) for entry, row in zip(recoded, rows, strict=True)]
            self._content.entries = {id_key(entry.id): entry for entry in recoded}

    def _unpacked(self, vectors: Packed | None, n: int) -> Iterable[NDArray[np.float32] | None]:
        kept = self._content.about.vectors
        return [None] * n if vectors is None or kept is None else unpacked(vectors, kept)

    def files(self) -> dict[str, bytes]:
        with self._reading():
            return dict(self._content.files)

    @property
    def keys_indexed(self) -> list[str]:
        return []  # every filter reads all metadata

    def _index_keys(self, keys: list[str]) -> None:
        pass
