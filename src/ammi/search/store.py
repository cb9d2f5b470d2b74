"""Store: documents in, neighbours out. All that is the same for every store; what is not stands in `store`."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from os import fspath
from typing import Any, Self

import numpy as np

from ammi.plain import checked_id, checked_metadata
from ammi.search import filters
from ammi.search.checks import (
    DamagedError,
    check_codes,
    check_query_vectors,
    checked_bits,
    checked_fingerprint,
    checked_k,
    checked_keys,
    checked_radius,
    checked_shortlist,
    checked_vectors,
    packed_vectors,
)
from ammi.search.documents import (
    Entry,
    Hit,
    Hits,
    Id,
    Metadata,
    Record,
    as_list,
    checked_ids,
    checked_records,
    id_key,
    new_tuple,
    no_search_for_garbage,
)
from ammi.search.filters import Filter, Where
from ammi.search.hamming import Codes
from ammi.search.ranking import Candidates, Ranking, best
from ammi.search.store_methods import About, Found, Location, Repaired, StoreMethods
from ammi.search.vectors import KeptVectors, Packed, Rows
from ammi.urls import shown


class Store(StoreMethods):
    """Documents found by the Hamming distance of their codes: exactly, and with ties in insertion order.

    Codes are uint8 arrays (n, ceil(m / 8)) as numpy.packbits packs them. An id is a str or an int; 17 and "17" are one
    id. A document added under an id that is there replaces the old one and comes last in insertion order, also when one
    call brings both. Every change is made as a whole or not at all. Metadata is kept as JSON holds it: numpy's numbers
    and arrays become numbers and lists, dates their ISO form, NaN None. `where` is a filter as `filters` describes it.

    An index can remember the fingerprint of the model that makes its codes, and files beside them. A call that is told
    the fingerprint of its codes refuses those of another model.
    """

    @classmethod
    def create(
        cls,
        location: Location,
        n_bits: int = 64,
        *,
        fingerprint: str | None = None,
        keys: Iterable[str] = (),
        files: Mapping[str, bytes] | None = None,
        text_index: bool = True,
        vectors: KeptVectors | None = None,
    ) -> Self:
        """Make an empty index and open it.

        Args:
            location: a folder, or what else the store calls a location.
            n_bits: the length of the codes.
            fingerprint: that of the model that makes the codes.
            keys: the metadata keys to index, as by `index_keys`.
            files: what to keep beside the documents, such as the model.
            text_index: whether to index the words of the texts, so that a `WordRanking` can look for them.
            vectors: how to keep a vector of each document, so that a `VectorRanking` can compare it.
        """
        about = About(checked_bits(n_bits), checked_fingerprint(fingerprint), checked_vectors(vectors), text_index)
        return cls._create(fspath(location), about, checked_keys(keys), dict(files or {}))

    @classmethod
    def check(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> list[str]:
        """What is damaged at a location, a sentence for each; `advance` is told how many documents were looked at."""
        try:
            with cls.open(location) as index:
                index.files()
                for block in index.entries():
                    advance(len(block))
        except DamagedError as error:
            return [str(error)]
        return []

    @classmethod
    def repair(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> Repaired:
        """Keep all documents that are whole, and change over to an index of these in one step.

        Those who have the index open have to open it again.
        """
        raise ValueError(f"the store of {shown(location)} has no repair: restore a copy")

    def compact(self) -> tuple[int, int]:
        """Give back the space of what was deleted; returns the bytes on the disk before and after.

        Others may read meanwhile, and wait with their changes.
        """
        raise ValueError(f"the store of {self.location} has nothing to compact")

    def optimize(self) -> None:
        """Do what is better done once, after many documents were added, than with each of them: by default nothing."""

    @property
    def about(self) -> About:
        """The settings of the store, as they are now."""
        with self._reading():
            return self._about()

    @property
    def n_bits(self) -> int:
        """The length of the codes, in bits."""
        return self.about.n_bits

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the model that makes the codes."""
        return self.about.fingerprint

    @property
    def vectors(self) -> KeptVectors | None:
        """How the vectors of documents are kept; None if they are not."""
        return self.about.vectors

    @property
    def text_index(self) -> bool:
        """Whether there is a word index."""
        return self.about.text_index

    def snapshot(self) -> AbstractContextManager[object]:
        """For a block of calls that are to see one state of the index; one view is sooner there than one for each."""
        return self._reading()

    def state(self) -> str | None:
        """What is another after every change of the documents; None where the store cannot tell."""
        return None

    def add(
        self,
        codes: Codes,
        ids: Iterable[Id] | None = None,
        texts: Iterable[str | None] | None = None,
        metadata: Iterable[Mapping[str, Any]] | None = None,
        *,
        vectors: Rows | None = None,
        fingerprint: str | None = None,
    ) -> list[Id]:
        """Add or replace documents; without ids they get the next free numbers. Returns their ids.

        An index that keeps vectors takes a row of them (n, d) with every document, any other takes none.
        """
        codes = np.asarray(codes)
        records = checked_records(len(codes) if codes.ndim else 0, ids, texts, metadata)
        return self.add_records(codes, records, numbered=ids is None, vectors=vectors, fingerprint=fingerprint)

    def add_records(
        self,
        codes: Codes,
        records: Sequence[Record],
        *,
        numbered: bool = False,
        vectors: Rows | None = None,
        fingerprint: str | None = None,
    ) -> list[Id]:
        """Add or replace documents that were checked when they came in, a code for each; return their ids.

        With `numbered` the ids are the next free numbers, whatever those of the records are.
        """
        with self._writing():
            about = self._about()
            check_codes(codes, about, fingerprint, self.location)
            n, of_call = len(records), " of this call" if numbered else ""
            names = [f"document {record.id!r}{of_call}" for record in records]
            kept_vectors = packed_vectors(vectors, about.vectors, names, self.location)
            if numbered and n:
                number = about.next_number
                checked_id(number + n - 1, names[-1])
                records = [record._replace(id=number + row) for row, record in enumerate(records)]
            ids = [record.id for record in records]
            rows = sorted({id_key(id): row for row, id in enumerate(ids)}.values())  # of each id the last
            chosen = [records[row] for row in rows]
            self._put(codes[rows], chosen, None if kept_vectors is None else kept_vectors[rows])
        return ids

    def delete(self, ids: Iterable[Id]) -> None:
        """Delete documents, all of which must be there."""
        asked = list({id_key(id): id for id in checked_ids(ids)}.values())
        with self._writing():
            self._check_known(asked, self._has(asked))
            self._remove(asked)

    def set_metadata(self, ids: Iterable[Id], metadata: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> None:
        """Set these metadata keys of documents, one dict for all or one for each, and keep their other keys."""
        asked = checked_ids(ids)
        each = [metadata] * len(asked) if isinstance(metadata, Mapping) else as_list(metadata, "metadata", len(asked))
        new = [checked_metadata(keys, f"document {id!r}")[0] for id, keys in zip(asked, each, strict=True)]
        with self._writing():
            merged: dict[Id, Metadata] = {}
            for entry, keys in zip(self._found(asked), new, strict=True):
                merged[entry.id] = merged.get(entry.id, entry.metadata) | keys
            self._replace_metadata(merged)

    def get(self, ids: Iterable[Id]) -> list[Entry]:
        """The documents of these ids, all of which must be there."""
        asked = checked_ids(ids)
        with self._reading():
            return self._found(asked)

    def codes_of(self, ids: Iterable[Id]) -> list[Codes | None]:
        """The code of each document; None of one that is not there."""
        with self._reading():
            return [None if entry is None else entry.code for entry in self._fetch(checked_ids(ids))]

    def search(
        self, codes: Codes, k: int = 10, where: Where | None = None, *, fingerprint: str | None = None
    ) -> list[Hits]:
        """For each query, its k nearest documents, the nearest first."""
        return self._hits(self._nearest, codes, checked_k(k), where, fingerprint)

    def search_ranked(
        self,
        codes: Codes,
        rankings: Sequence[Ranking],
        k: int = 10,
        where: Where | None = None,
        *,
        shortlist: int | None = None,
        fingerprint: str | None = None,
    ) -> list[Hits]:
        """For each query, the k documents of a shortlist that its ranking scores highest, ties in insertion order.

        The shortlist has so many documents from each stage, or as many as the rankings want, 2 k at least.
        """
        filter, queries, k = filters.parse(where), np.asarray(codes), checked_k(k)
        n = checked_shortlist(shortlist, k) or max([2 * k, *(ranking.shortlist for ranking in rankings)])
        with self._reading():
            about = self._about()
            check_codes(queries, about, fingerprint, self.location)
            words, vectors = [one.words for one in rankings], [one.vector for one in rankings if one.vector is not None]
            if any(words) and not about.text_index:
                raise ValueError(
                    f"the index in {self.location} was made with text_index=False and cannot look for words: rank by "
                    "distance, or create it anew"
                )
            check_query_vectors(vectors, about.vectors, self.location)
            shortlists = self._shortlists(queries, n, words, filter, bool(vectors))
            found = [
                self._scored(query, ranking, candidates, k, about.n_bits)
                for query, ranking, candidates in zip(queries, rankings, shortlists, strict=True)
            ]
        if found and not any(found):
            self._check_filter(filter)
        return found

    def within(
        self, codes: Codes, radius: int, where: Where | None = None, *, fingerprint: str | None = None
    ) -> list[Hits]:
        """For each query, all documents at most radius bits away, the nearest first.

        Where that are too many to be held in memory, more than 250,000, it is refused.
        """
        return self._hits(self._within, codes, checked_radius(radius), where, fingerprint)

    def entries(self, where: Where | None = None) -> Iterator[list[Entry]]:
        """All documents that a filter keeps, in blocks, in insertion order, as they are when the first is asked for."""
        return self._entries(filters.parse(where))

    def export(self) -> tuple[list[Id], Codes]:
        """The ids and the codes of all documents, in insertion order."""
        entries = [entry for block in self._blocks(()) for entry in block]
        width = len(entries[0].code) if entries else -(-self.n_bits // 8)
        codes = np.array([entry.code for entry in entries], np.uint8).reshape(len(entries), width)
        codes.flags.writeable = False
        return [entry.id for entry in entries], codes

    def column(self, key: str) -> list[Any]:
        """The metadata value of every document, in insertion order; None where there is none."""
        return [entry.metadata.get(key) for block in self._blocks(()) for entry in block]

    def keys(self) -> dict[str, int]:
        """The metadata keys, and how many documents have a value for each."""
        return {key: sum(counts.values()) for key, counts in sorted(self._kinds().items())}

    def key_kinds(self) -> dict[str, dict[str, int]]:
        """For each metadata key, how many documents have values of which kinds, such as "number text"."""
        return self._kinds()

    def index_keys(self, keys: Iterable[str]) -> None:
        """Make filters on these metadata keys fast, from now on."""
        self._index_keys(checked_keys(keys))

    def recode(
        self,
        encode: Callable[[list[Entry]], tuple[Codes, Rows | None]],
        n_bits: int,
        *,
        fingerprint: str | None,
        files: Mapping[str, bytes] | None,
        width: int | None = None,
        advance: Callable[[int], None] = lambda n_documents: None,
    ) -> None:
        """Give every document a new code, and change over to the new codes, fingerprint and files in one step.

        Until then others read and write as before. What they add or change while it runs is encoded too, at the latest
        in that last step, during which they wait.

        Args:
            encode: makes codes of documents, and new vectors (n, width), or None where the vectors stay as they are.
            width: of the new vectors, where there are some.
            advance: is told how many documents were encoded.
        """
        old = self.about
        kept = old.vectors and (old.vectors._replace(width=width) if width else old.vectors)
        about = old._replace(n_bits=checked_bits(n_bits), fingerprint=checked_fingerprint(fingerprint), vectors=kept)

        def encode_and_check(entries: list[Entry]) -> tuple[Codes, Packed | None]:
            made, vectors = encode(entries)
            codes = np.asarray(made)
            check_codes(codes, about, None, self.location)
            if len(codes) != len(entries):
                raise ValueError(f"encode made {len(codes)} codes of {len(entries)} documents: return one for each")
            names = [f"document {entry.id!r}" for entry in entries]
            new = packed_vectors(vectors, kept if width else None, names, self.location)
            advance(len(entries))
            return codes, new

        self._recode(encode_and_check, about, dict(files or {}))

    def __contains__(self, id: object) -> bool:
        try:
            asked = checked_id(id, "this call")
        except ValueError:
            return False
        with self._reading():
            return self._has([asked])[0]

    def __len__(self) -> int:
        with self._reading():
            return self._count()

    def __iter__(self) -> Iterator[Id]:
        """The ids, in insertion order."""
        return iter(self.export()[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.location!r})"

    @no_search_for_garbage()
    def _hits(
        self,
        find: Callable[[Codes, int, Filter], Found],
        codes: Codes,
        limit: int,
        where: Where | None,
        fingerprint: str | None,
    ) -> list[Hits]:
        filter, queries = filters.parse(where), np.asarray(codes)
        with self._reading():
            about = self._about()
            check_codes(queries, about, fingerprint, self.location)
            found = find(queries, limit, filter)
        if found and not any(found):
            self._check_filter(filter)
        n = about.n_bits
        return [
            Hits([new_tuple(Hit, (id, d, 1 - d / n, text, kept)) for d, (id, text, kept, _) in hits]) for hits in found
        ]

    def _scored(self, query: Codes, ranking: Ranking, candidates: Candidates, k: int, n_bits: int) -> Hits:
        distances = np.bitwise_count(candidates.codes ^ query).sum(axis=1, dtype=np.int64)  # (n,)
        scores = ranking.scores(candidates, 1 - distances / n_bits, candidates.statistics)
        rows = best(scores, k)
        chosen = zip(distances[rows].tolist(), scores[rows].tolist(), candidates.records(rows), strict=True)
        return Hits(Hit(one.id, distance, score, one.text, one.metadata) for distance, score, one in chosen)

    def _entries(self, filter: Filter) -> Iterator[list[Entry]]:
        nothing = True
        for block in self._blocks(filter):
            nothing = False
            yield block
        if nothing:
            self._check_filter(filter)

    def _check_filter(self, filter: Filter) -> None:
        """Refuse a filter that kept nothing if it could not keep anything."""
        if filter and len(self) and (words := filters.complaint(filter, self._kinds())):
            raise ValueError(words)

    def _found(self, ids: list[Id]) -> list[Entry]:
        entries = self._fetch(ids)
        self._check_known(ids, [entry is not None for entry in entries])
        return [entry for entry in entries if entry is not None]

    def _check_known(self, ids: list[Id], known: list[bool]) -> None:
        if missing := [id for id, there in zip(ids, known, strict=True) if not there]:
            raise ValueError(f"no document has the id {missing[0]!r} ({len(missing)} of {len(ids)} ids are unknown)")
