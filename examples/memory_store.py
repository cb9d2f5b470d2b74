"""A store in one file: documents in the memory of this process, found by plain numpy. Its locations are memory:NAME.

A package that has such a file announces it in its pyproject.toml, and `ammi.Collection.create("memory:news", model)`
works from then on:

    [project.entry-points."ammi.stores"]
    memory = "memory_store:MemoryStore"
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from os import fspath
from threading import RLock
from typing import Self

import numpy as np

from ammi.features.alphabet import terms_of
from ammi.search.documents import Entry, Id, Metadata, Record, codes_of, id_key
from ammi.search.filters import Filter, matches
from ammi.search.hamming import Codes
from ammi.search.headings import searched_text
from ammi.search.languages import stems as stems_of
from ammi.search.ranking import Candidates, best_by_terms
from ammi.search.store import Store
from ammi.search.store_methods import About, Encode, Found, Location
from ammi.search.vectors import Packed, unpacked
from ammi.search.wanted import MOST_COMPLETIONS, Wanted, WordStatistics

BLOCK = 1000


@dataclass
class Content:
    """The content of a location: documents by `id_key`, in insertion order."""

    about: About
    files: dict[str, bytes]
    entries: dict[Id, Entry] = field(default_factory=dict)
    lock: RLock = field(default_factory=RLock)


CONTENTS: dict[str, Content] = {}


class MemoryStore(Store):
    """A Store that lasts as long as the process."""

    def __init__(self, location: str):
        self.location, self._content = location, CONTENTS[location]

    @classmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes]) -> Self:
        if location in CONTENTS:
            raise FileExistsError(f"{location} holds a collection: open it, or create the new one elsewhere")
        CONTENTS[location] = Content(about, files)
        return cls(location)

    @classmethod
    def open(cls, location: Location) -> Self:
        if fspath(location) not in CONTENTS:
            raise FileNotFoundError(f"there is no collection in {location}: create it first")
        return cls(fspath(location))

    def _reading(self) -> AbstractContextManager[object]:
        return self._content.lock  # writers take it, too: no change below fails halfway

    def _about(self) -> About:
        return self._content.about

    def files(self) -> dict[str, bytes]:
        return self._content.files.copy()

    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        about, entries = self._content.about, self._content.entries
        rows = unpacked(vectors, about.vectors) if vectors is not None and about.vectors else [None] * len(records)
        for record, code, vector in zip(records, codes, rows, strict=True):
            entries.pop(id_key(record.id), None)  # a document that is replaced comes last
            entries[id_key(record.id)] = Entry(record.id, code, record.text, record.metadata, vector)
        numbers = [key + 1 for record in records if isinstance(key := id_key(record.id), int)]
        self._content.about = about._replace(next_number=max([about.next_number, *numbers]))

    def _remove(self, ids: list[Id]) -> None:
        for id in ids:
            del self._content.entries[id_key(id)]

    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        for id, new in metadata.items():
            self._content.entries[id_key(id)] = self._content.entries[id_key(id)]._replace(metadata=new)

    def _fetch(self, ids: list[Id]) -> list[Entry | None]:
        return [self._content.entries.get(id_key(id)) for id in ids]

    def _nearest(self, queries: Codes, k: int, filter: Filter) -> Found:
        kept = self._kept(filter)
        base = codes_of(kept, queries.shape[1])
        found: Found = []
        for query in queries:
            distances = np.bitwise_count(base ^ query).sum(axis=1, dtype=np.int64)  # (n,)
            rows = np.argsort(distances, kind="stable")[:k]
            found.append([(int(distances[row]), kept[row].record) for row in rows])
        return found

    def _shortlists(
        self, queries: Codes, n: int, wanted: Sequence[Wanted], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        kept = self._kept(filter)
        words = [words_of(entry) for entry in kept]
        for near, query in zip(self._nearest(queries, n, filter), wanted, strict=True):
            chosen = {id_key(record.id) for _, record in near}
            statistics = self._word_statistics(query.words) if query.terms else None
            if statistics:
                rows = best_by_terms(
                    statistics, query, lambda word, among: np.flatnonzero([word in each for each in words]), n
                )
                chosen |= {id_key(kept[row].id) for row in rows}
            entries = [entry for entry in kept if id_key(entry.id) in chosen]
            kept_as = self._content.about.vectors if with_vectors else None
            yield Candidates.of_entries(entries, queries.shape[1], kept_as, statistics)

    def _word_statistics(self, words: Sequence[str]) -> WordStatistics:
        texts = [entry.text for entry in self._content.entries.values() if entry.text is not None]
        having = {word: sum(word in each for each in self._words()) for word in words}
        return WordStatistics(len(texts), sum(map(len, texts)), having)

    def _words_with(self, stems: Collection[str]) -> Iterable[str]:
        words = [*set().union(*self._words())]
        found = zip(words, stems_of(self._content.about.language, words), strict=True)
        return [word for word, stem in found if stem in stems]

    def _words_from(self, prefix: str) -> Iterable[str]:
        found = {word for words in self._words() for word in words if word.startswith(prefix)}
        return sorted(found, key=lambda word: (len(word), word))[:MOST_COMPLETIONS]

    def _set_language(self, language: str) -> None:
        self._content.about = self._content.about._replace(language=language)

    def _words(self) -> list[set[str]]:
        return [words_of(entry) for entry in self._content.entries.values()]

    def _blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        kept = self._kept(filter)
        for start in range(0, len(kept), BLOCK):
            yield kept[start : start + BLOCK]

    def _kept(self, filter: Filter) -> list[Entry]:
        with self._reading():
            return [entry for entry in self._content.entries.values() if matches(filter, entry.metadata)]

    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        with self._writing():  # others wait, so no document changes meanwhile
            entries = self._kept(())
            codes, vectors = encode(entries) if entries else (np.empty((0, 0), np.uint8), None)
            if vectors is not None and about.vectors:
                rows = zip(entries, unpacked(vectors, about.vectors), strict=True)
                entries = [entry._replace(vector=row) for entry, row in rows]
            self._content.about, self._content.files = about, files
            for entry, code in zip(entries, codes, strict=True):
                self._content.entries[id_key(entry.id)] = entry._replace(code=code)


def words_of(entry: Entry) -> set[str]:
    """Return the words of a document's text, title and id; none without a text."""
    return set() if entry.text is None else set(terms_of(searched_text(entry.id, entry.text, entry.metadata)))
