"""Store: documents in, neighbours out. Everything that is the same for every store; `store_methods` has the rest."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from os import fspath
from typing import Any, NoReturn, Self

import numpy as np

from ammi.features.alphabet import terms_of
from ammi.plain import checked_id, checked_metadata, is_id
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
    codes_of,
    id_key,
    new_tuple,
    no_search_for_garbage,
)
from ammi.search.filters import Filter, Where
from ammi.search.hamming import Codes
from ammi.search.languages import checked_language, detect_language
from ammi.search.queries import parse
from ammi.search.ranking import Candidates, Ranking, best_hits, with_first
from ammi.search.store_methods import About, ChangeKey, Found, Location, Repaired, StoreMethods, Upgraded
from ammi.search.vectors import KeptVectors, Packed, Rows
from ammi.search.wanted import look_up
from ammi.search.word_counts import WordCount, added_counts, parsed_counts, this_month
from ammi.urls import shown


class Store(StoreMethods):
    """Documents found by the Hamming distance of their codes: exactly, and with ties in insertion order.

    Codes are uint8 arrays (n, ceil(m / 8)) as numpy.packbits packs them. An id is a str or an int; 17 and "17" are the
    same id. A document added with the id of another replaces it and comes last in insertion order, also within one
    call. Metadata is JSON: numpy's numbers and arrays become numbers and lists, dates their ISO form, NaN None. `where`
    is a filter as `filters` describes it. docs/reliability.md says which stores have transactions and snapshots.

    A store remembers the fingerprint of the model that makes its codes, and the model's files. A call that passes the
    fingerprint of its codes fails if they are of another model.
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
        text_index: bool | str = True,
        vectors: KeptVectors | None = None,
    ) -> Self:
        """Create an empty store and open it.

        Args:
            location: a folder, or a URL of the store.
            n_bits: length of the codes.
            fingerprint: of the model that makes the codes.
            keys: metadata keys to index, as by `index_keys`.
            files: to keep beside the documents, such as the model.
            text_index: whether to index the words of texts, for `WordRanking`; the first texts tell their language,
                unless it is named: as Snowball calls it, or "none".
            vectors: how to keep a vector of each document, for `VectorRanking`; None to keep none.
        """
        about = About(
            checked_bits(n_bits),
            checked_fingerprint(fingerprint),
            checked_vectors(vectors),
            bool(text_index),
            checked_language(text_index) if isinstance(text_index, str) else None,
        )
        return cls._create(fspath(location), about, checked_keys(keys), dict(files or {}))

    @classmethod
    def check(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> list[str]:
        """Return a sentence for each damaged part; `advance` is called with the number of documents just read."""
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
        """Replace a damaged store by one with all intact documents; whoever has it open must open it again."""
        raise ValueError(f"the store of {shown(location)} has no repair: restore a copy")

    @classmethod
    def upgrade(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> Upgraded:
        """Convert a store of an earlier format; whoever has it open must open it again."""
        raise ValueError(
            f"the store of {shown(location)} is not converted: export its documents with the ammi that wrote it, and "
            "build it again"
        )

    def compact(self) -> tuple[int, int]:
        """Free the space of deleted documents; return the bytes on disk before and after. Writers wait meanwhile."""
        raise ValueError(f"the store of {self.location} has nothing to compact")

    def optimize(self) -> None:
        """Do the work that is faster once after many additions than with each, such as building an index."""

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
    def language(self) -> str | None:
        """The language of the words; None if it is not known yet."""
        return self.about.language

    @property
    def text_index(self) -> bool:
        """Whether there is a word index."""
        return self.about.text_index

    def snapshot(self) -> AbstractContextManager[object]:
        """Enter a block of calls that see one snapshot, if the store has snapshots; faster than one for each call."""
        return self._reading()

    def state(self) -> str | None:
        """Return a text that differs after every change; None if the store cannot tell."""
        return None

    def add(
        self,
        codes: Codes,
        ids: Iterable[Id] | None = None,
        texts: Iterable[str | None] | None = None,
        metadata: Iterable[Mapping[str, object]] | None = None,
        *,
        vectors: Rows | None = None,
        fingerprint: str | None = None,
    ) -> list[Id]:
        """Add or replace documents and return their ids; without ids they get the next free numbers.

        A store that keeps vectors needs an array (n, d) of them; any other refuses vectors.
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
        words: WordCount | None = None,
    ) -> list[Id]:
        """Add or replace documents that are checked already, and return their ids.

        With `numbered` the ids are the next free numbers, whatever the records say. `words` are counted with those that
        were added in this month.
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
            if about.text_index and about.language is None:
                language = detect_language(record.text for record in chosen if record.text)
                if language:
                    self._set_language(language)
            self._put(codes[rows], chosen, None if kept_vectors is None else kept_vectors[rows])
            if words:
                self._keep_word_counts(added_counts(self._word_counts(), about.fingerprint, this_month(), words))
        return ids

    def word_counts(self) -> dict[str, WordCount]:
        """Return the words that were added, and those that the model did not know, by month of adding."""
        with self._reading():
            return parsed_counts(self._word_counts(), self._about().fingerprint)

    def count_words(self, words: WordCount, fingerprint: str | None, when: str) -> None:
        """Count words of documents that are there, if the model is still that of the fingerprint."""
        with self._writing():
            if self._about().fingerprint == fingerprint:
                self._keep_word_counts(added_counts(self._word_counts(), fingerprint, when, words))

    def once(self, key: ChangeKey | None, change: Callable[[], int]) -> int:
        """Make a change as a whole, and return the number that it returns.

        If a change was made under the key before, return the number of that one, and change nothing. Keys are known
        for a day, or for the last 10,000 changes; a store without transactions knows those of this process.
        """
        with self._writing():
            outcome = None if key is None else self._outcome(key)
            if outcome is None:
                outcome = change()
                if key is not None:
                    self._remember(key, outcome)
        return outcome

    def outcome(self, key: ChangeKey) -> int | None:
        """Return the number that the change under a key returned; None if there was none."""
        with self._reading():
            return self._outcome(key)

    def _outcome(self, key: ChangeKey) -> int | None:
        digest, outcome = self._remembered(key.name) or (key.digest, None)
        if digest != key.digest:
            raise ValueError("this key was used for another change: use a new key for each change")
        return outcome

    def delete(self, ids: Iterable[Id]) -> int:
        """Delete documents, all of which must exist, and return how many."""
        asked = list({id_key(id): id for id in checked_ids(ids)}.values())
        with self._writing():
            self._check_known(asked, self._has(asked))
            self._remove(asked)
        return len(asked)

    def delete_where(self, where: Where | None) -> int:
        """Delete the documents that pass a filter, in one transaction, and return how many."""
        filter = filters.parse(where)
        with self._writing():
            ids = self._matching_ids(filter)
            self._remove(ids)
        self._check_filter(filter, [ids])
        return len(ids)

    def ids(self, where: Where | None = None) -> list[Id]:
        """Return the ids of the documents that pass a filter, in insertion order."""
        filter = filters.parse(where)
        with self._reading():
            ids = self._matching_ids(filter)
        self._check_filter(filter, [ids])
        return ids

    def set_metadata(self, ids: Iterable[Id], metadata: Mapping[str, object] | Iterable[Mapping[str, object]]) -> None:
        """Set metadata keys of documents, one dict for all or one for each; other keys stay."""
        asked = checked_ids(ids)
        each = [metadata] * len(asked) if isinstance(metadata, Mapping) else as_list(metadata, "metadata", len(asked))
        new = [checked_metadata(keys, f"document {id!r}")[0] for id, keys in zip(asked, each, strict=True)]
        with self._writing():
            merged: dict[Id, Metadata] = {}
            for entry, keys in zip(self._found(asked), new, strict=True):
                merged[entry.id] = merged.get(entry.id, entry.metadata) | keys
            self._replace_metadata(merged)

    def get(self, ids: Iterable[Id]) -> list[Entry]:
        """Return the documents of these ids, all of which must exist."""
        asked = checked_ids(ids)
        with self._reading():
            return self._found(asked)

    def codes_of(self, ids: Iterable[Id]) -> list[Codes | None]:
        """Return the code of each document, None for one that does not exist."""
        with self._reading():
            return [None if entry is None else entry.code for entry in self._fetch(checked_ids(ids))]

    def search(
        self, codes: Codes, k: int = 10, where: Where | None = None, *, fingerprint: str | None = None
    ) -> list[Hits]:
        """Return the k nearest documents of each query, the nearest first."""
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
        """Return for each query the k documents that its ranking scores highest, ties in insertion order.

        The candidates are the nearest documents and those with the words of the query, `shortlist` of each; by default
        as many as the rankings want, and at least 2 k. A document whose id is the text of the query comes first.
        """
        filter, queries, k = filters.parse(where), np.asarray(codes), checked_k(k)
        n = checked_shortlist(shortlist, k) or max([2 * k, *(ranking.shortlist for ranking in rankings)])
        with self._reading():
            about = self._about()
            check_codes(queries, about, fingerprint, self.location)
            vectors = [one.vector for one in rankings if one.vector is not None]
            parsed = [parse(one.text) for one in rankings]
            if not about.text_index and any(terms_of(query.text) for query in parsed):
                raise ValueError(
                    f"{self.location} was created with text_index=False and cannot look for words: "
                    "rank by distance, or create it anew"
                )
            check_query_vectors(vectors, about.vectors, self.location)
            wanted = look_up(parsed, about.language, self, [one.knows for one in rankings])
            shortlists = self._shortlists(queries, n, wanted, filter, bool(vectors))
            named = self._named([one.text.strip() for one in rankings], filter)
            found = []
            for query, ranking, asked, candidates, own in zip(
                queries, rankings, wanted, shortlists, named, strict=True
            ):
                hits = best_hits(query, ranking, asked, candidates, k)
                if own is not None:
                    kept = about.vectors if ranking.vector is not None else None
                    alone = Candidates.of_entries([own], queries.shape[1], kept, candidates.statistics)
                    hits = with_first(own, best_hits(query, ranking, asked, alone, 1), query, hits, k)
                found.append(hits)
        self._check_filter(filter, found)
        return found

    def within(
        self, codes: Codes, radius: int, where: Where | None = None, *, fingerprint: str | None = None
    ) -> list[Hits]:
        """Return all documents at most radius bits from each query, the nearest first; refuse more than 250,000."""
        return self._hits(self._within, codes, checked_radius(radius), where, fingerprint)

    def entries(self, where: Where | None = None) -> Iterator[list[Entry]]:
        """Yield the documents that pass a filter, in blocks, in insertion order, as they are at the first block."""
        return self._entries(filters.parse(where))

    def export(self) -> tuple[list[Id], Codes]:
        """Return the ids and the codes of all documents, in insertion order."""
        entries = [entry for block in self._blocks(()) for entry in block]
        width = len(entries[0].code) if entries else -(-self.n_bits // 8)
        codes = codes_of(entries, width)
        codes.flags.writeable = False
        return [entry.id for entry in entries], codes

    def column(self, key: str) -> list[Any]:
        """Return the metadata value of every document, in insertion order; None for a document without one."""
        return [entry.metadata.get(key) for block in self._blocks(()) for entry in block]

    def keys(self) -> dict[str, int]:
        """Return how many documents have a value for each metadata key."""
        return {key: sum(counts.values()) for key, counts in sorted(self.key_kinds().items())}

    def index_keys(self, keys: Iterable[str]) -> None:
        """Make filters on these metadata keys fast."""
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
        """Give every document a new code, and switch to the new codes, fingerprint and files in one step.

        Others read and write meanwhile. Documents that they change are encoded again, at the latest in the last step,
        during which they wait.

        Args:
            encode: returns the codes of documents, and new vectors (n, width) or None to keep the old ones.
            width: of the new vectors, if there are any.
            advance: called with the number of documents just encoded.
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
        if not is_id(id):
            return False
        with self._reading():
            return self._has([checked_id(id, "this call")])[0]

    def __len__(self) -> int:
        with self._reading():
            return self._count()

    def __iter__(self) -> Iterator[Id]:
        """Iterate over the ids, in insertion order."""
        return iter(self.export()[0])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"an open store cannot be pickled or copied: hand over {self.location!r}, and open it there")

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
        self._check_filter(filter, found)
        n = about.n_bits
        return [
            Hits([new_tuple(Hit, (id, d, 1 - d / n, text, kept, None)) for d, (id, text, kept, _) in hits])
            for hits in found
        ]

    def _named(self, texts: list[str], filter: Filter) -> list[Entry | None]:
        """Return for each text, but for an empty one, the document that has it as its id and passes a filter."""
        ids = {id_key(text): text for text in texts if text and is_id(text)}
        found = dict(zip(ids, self._fetch([*ids.values()]), strict=True))
        passing = {id: entry for id, entry in found.items() if entry and filters.matches(filter, entry.metadata)}
        return [passing.get(id_key(text)) for text in texts]

    def _entries(self, filter: Filter) -> Iterator[list[Entry]]:
        block: list[Entry] = []
        for block in self._blocks(filter):
            yield block
        self._check_filter(filter, [block])

    def _check_filter(self, filter: Filter, found: Sequence[object]) -> None:
        """Refuse a filter that no document passed if none ever could, such as one on an unknown key."""
        is_empty = found and not any(found)
        if filter and is_empty and len(self) and (complaint := filters.complaint(filter, self.key_kinds())):
            raise ValueError(complaint)

    def _found(self, ids: list[Id]) -> list[Entry]:
        entries = self._fetch(ids)
        self._check_known(ids, [entry is not None for entry in entries])
        return [entry for entry in entries if entry is not None]

    def _check_known(self, ids: list[Id], known: list[bool]) -> None:
        if missing := [id for id, there in zip(ids, known, strict=True) if not there]:
            raise ValueError(f"no document has the id {missing[0]!r} ({len(missing)} of {len(ids)} ids are unknown)")
