"""HammingIndex: the tables of documents, codes, words and vectors as one Store."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Lock
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ammi.plain import as_json
from ammi.search import hamming
from ammi.search.documents import Entry, Id, Metadata, Record, checked_ids, checksums, id_key
from ammi.search.embedded.blocks import BLOCK, Blocks, CodeTable, Positions
from ammi.search.embedded.connections import FILE
from ammi.search.embedded.database import Database
from ammi.search.embedded.documents import DocumentTable
from ammi.search.embedded.vectors import VectorTable
from ammi.search.embedded.vectors import schema as vector_tables
from ammi.search.embedded.words import SCHEMA as WORD_TABLES
from ammi.search.filters import Filter
from ammi.search.hamming import Codes
from ammi.search.ranking import Candidates
from ammi.search.store import Store
from ammi.search.store_methods import About, Encode, Found, Location, Repaired
from ammi.search.vectors import Packed, unpacked

Near = Iterable[tuple[NDArray[np.int32], NDArray[np.int64]]]  # for each query, the distances and rows of its hits


class HammingIndex(Store):
    """A Store in a folder: documents found by the Hamming distance of their codes, exactly.

    A change is on the disk when its call returns. Any number of processes and threads may read while one writes; a
    search sees all that was changed before it began. Every page and every document is held to its checksum when it is
    read. A folder that cannot be written can be read. `index_keys` costs some space, and makes a filter on those keys
    as fast as what it keeps is small; a filter on another key reads the metadata of all documents, about a second for a
    million.
    """

    def __init__(self, store: Database, newest: "_NewestTable | None" = None):
        """Not for callers, who have `create` and `open`."""
        self.location = str(store.folder)
        self._store = store
        self._codes = Blocks(store)
        self._documents = DocumentTable(store)
        self._vectors = VectorTable(store)
        self._newest = newest or _NewestTable()
        self._known_about: tuple[int, About] | None = None  # after a change: a search asks for it a dozen times

    @classmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes]) -> Self:
        tables = (*(WORD_TABLES if about.text_index else ()), *vector_tables(about.vectors))
        return cls(Database.create(Path(location), about, keys, files, *tables))

    @classmethod
    def open(cls, location: Location) -> Self:
        return cls(Database.open(Path(location)))

    @classmethod
    def exists(cls, location: Location) -> bool:
        return (Path(location) / FILE).is_file()

    @classmethod
    def check(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> list[str]:
        from ammi.search.embedded.damage import find_damage

        return find_damage(Path(location), advance)

    @classmethod
    def repair(cls, location: Location, *, advance: Callable[[int], None] = lambda n_documents: None) -> Repaired:
        from ammi.search.embedded.damage import repair

        return repair(Path(location), advance)

    def state(self) -> str | None:
        with self._reading():
            state = self._store.state()
            return f"{state.uid.hex()[:8]}-{state.change}"

    def compact(self) -> tuple[int, int]:
        before = self._store.size()
        with self._writing():
            if self._documents.words.exists():
                self._documents.words.forget_removed()
        self._store.compact()
        return before, self._store.size()

    def close(self) -> None:
        self._store.close()
        self._newest.table = None

    def _reading(self) -> AbstractContextManager[object]:
        return self._store.reading()

    def _writing(self) -> AbstractContextManager[object]:
        return self._store.writing()

    def _about(self) -> About:
        known, change = self._known_about, self._store.state().change
        if known is None or known[0] != change or self._store.writes:
            settings = *self._store.codes_about(), self._vectors.kept(), self._documents.words.exists()
            known = change, About(*settings, self._store.state().number)
            if not self._store.writes:  # what may not come to pass is not kept
                self._known_about = known
        return known[1]

    def _count(self) -> int:
        return self._codes.count()

    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        ids = [record.id for record in records]
        self._remove_at(self._positions(ids))
        positions = self._store.take_places(map(id_key, ids))
        self._codes.append(positions, codes)
        self._documents.append(positions, records, codes)
        if vectors is not None:
            self._vectors.append(positions, vectors)

    def _remove(self, ids: list[Id]) -> None:
        self._remove_at(self._positions(ids))

    def _remove_at(self, positions: list[int]) -> None:
        chosen = np.sort(np.array(positions, np.int64))
        self._codes.remove(chosen)
        self._documents.remove(chosen)
        if self._vectors.kept():
            self._vectors.remove(chosen)

    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        new = dict(zip(self._positions(list(metadata)), metadata.values(), strict=True))
        there, codes = self._codes.at(np.sort(np.fromiter(new, np.int64)))
        self._documents.replace_metadata(there, [new[position] for position in there.tolist()], codes)

    def _has(self, ids: list[Id]) -> list[bool]:
        return [position is not None for position in self._documents.find(ids)]

    def _fetch(self, ids: list[Id]) -> list[Entry | None]:
        positions = self._documents.find(ids)
        there, entries = self._present(np.array([position for position in positions if position is not None], np.int64))
        at = dict(zip(there.tolist(), entries, strict=True))
        if without := [id for id, position in zip(ids, positions, strict=True) if position not in (None, *at)]:
            raise self._store.damaged(f"document {without[0]!r} has no code")
        return [None if position is None else at[position] for position in positions]

    def _nearest(self, queries: Codes, k: int, filter: Filter) -> Found:
        return self._search(lambda base: zip(*hamming.nearest(base, queries, k), strict=True), filter)

    def _within(self, queries: Codes, radius: int, filter: Filter) -> Found:
        return self._search(lambda base: hamming.within(base, queries, radius), filter)

    def _search(self, find: Callable[[Codes], Near], filter: Filter) -> Found:
        table = self._table()
        if filter:
            kept = table.rows(self._documents.matching(filter))
            near = [(distances, kept[rows]) for distances, rows in find(table.codes[kept])]
        else:
            near = list(find(table.codes))
        all_rows = np.concatenate([np.empty(0, np.int64), *(rows for _, rows in near)])
        positions = table.positions(all_rows)
        records = self._records(table, np.unique(all_rows))
        found = iter(positions.tolist())
        return [
            list(zip(distances.tolist(), map(records.__getitem__, islice(found, len(rows))), strict=True))
            for distances, rows in near
        ]

    def _shortlists(
        self, queries: Codes, n: int, words: Sequence[Sequence[str]], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        table = self._table()
        among = self._documents.matching(filter) if filter else None
        kept = None if among is None else table.rows(among)
        _, near = hamming.nearest(table.codes if kept is None else table.codes[kept], queries, n)
        for rows, spoken in zip(near, words, strict=True):
            places = np.sort(table.positions(rows if kept is None else kept[rows]))
            texts: dict[int, str] = {}
            if spoken:  # a text without any of the words adds nothing to a score, and is not read
                places, having = self._documents.words.shortlist(places, spoken, n, among)
                texts = self._documents.texts(having)
            found = [texts.get(location) for location in places.tolist()] if spoken else []
            vectors = self._vectors_at(places) if with_vectors else None
            statistics = self._documents.words.statistics(spoken) if spoken else None
            codes = table.codes[table.rows(places)]
            yield Candidates(codes, found, vectors, statistics, partial(self._records_at, places))

    def _records_at(self, positions: Positions, rows: NDArray[np.int64]) -> list[Record]:
        """Return the documents at the chosen ones of some positions."""
        table, chosen = self._table(), positions[rows]
        records = self._records(table, table.rows(np.sort(chosen)))
        return [records[position] for position in chosen.tolist()]

    def _records(self, table: CodeTable, rows: NDArray[np.int64]) -> dict[int, Record]:
        """The documents at sorted rows, by position."""
        return self._documents.records(table.positions(rows), table.codes[rows])

    def _vectors_at(self, places: Positions) -> NDArray[np.float32] | None:
        """The vectors at sorted places, (n, d), where there are any."""
        kept = self._vectors.kept()
        return unpacked(self._vectors.at(places, kept), kept) if kept else None

    def _blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        view = HammingIndex(self._store.view(), self._newest)
        with view._reading():
            positions = view._documents.matching(filter) if filter else view._table().positions()
            for start in range(0, len(positions), BLOCK):
                yield view._present(positions[start : start + BLOCK])[1]

    def export(self) -> tuple[list[Id], Codes]:
        with self._reading():
            return self._documents.ids(), self._table().codes

    def codes_of(self, ids: Iterable[Id]) -> list[Codes | None]:
        with self._reading():  # from memory: a search asks for those of its hits
            table, positions = self._table(), self._documents.find(checked_ids(ids))
            there = np.unique([position for position in positions if position is not None]).astype(np.int64)
            codes = dict(zip(there.tolist(), table.codes[table.rows(there)], strict=True))
            return [None if position is None else codes[position] for position in positions]

    def column(self, key: str) -> list[Any]:
        with self._reading():
            return [metadata.get(key) for _, metadata in self._documents.all_metadata()]

    def __iter__(self) -> Iterator[Id]:
        with self._reading():
            return iter(self._documents.ids())

    def files(self) -> dict[str, bytes]:
        with self._reading():
            return self._store.files()

    @property
    def keys_indexed(self) -> list[str]:
        with self._reading():
            return list(self._documents.keys.indexed())

    def _index_keys(self, keys: list[str]) -> None:
        with self._writing():
            self._documents.keys.index(keys, self._documents.all_metadata())

    def key_kinds(self) -> dict[str, dict[str, int]]:
        with self._reading():
            return self._documents.keys.kinds()

    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        with self._store.held():  # new vectors wait in a temporary table
            try:
                self._recode_all(encode, _Recoded(about), about, files)
            finally:
                with self._reading():
                    self._vectors.forget_renewed()

    def _recode_all(self, encode: Encode, recoded: "_Recoded", about: About, files: dict[str, bytes]) -> None:
        seen, before = -1, np.inf
        while True:
            with self._reading():
                change, late = self._store.state().change, self._documents.changed_since(seen)
            if not len(late) or len(late) >= before:  # others may change documents as fast as they are encoded
                break
            self._encode(late, encode, recoded)
            seen, before = change, len(late)
        with self._writing():
            while len(late := self._documents.changed_since(seen)):
                seen = self._store.state().change
                self._encode(late, encode, recoded)
            positions = self._table().positions()
            self._store.set_about(about)
            self._store.set_files(files)
            codes, new_checksums = recoded.at(positions)
            self._codes.replace(positions, codes)
            self._documents.renew_checksums(positions, new_checksums)
            if about.vectors:
                self._vectors.change_over(about.vectors)

    def _encode(self, positions: Positions, encode: Encode, recoded: "_Recoded") -> None:
        """Encode what is at positions; others wait only if this is called while writing."""
        for start in range(0, len(positions), BLOCK):
            with self._reading():
                there, entries = self._present(positions[start : start + BLOCK])
            if entries:
                codes, vectors = encode(entries)
                recoded.add(there, codes, entries)
                if vectors is not None:
                    with self._reading():
                        self._vectors.renew(there, vectors)

    def _present(self, positions: Positions) -> tuple[Positions, list[Entry]]:
        """Those of the positions that hold a document, sorted, and the documents."""
        there, codes = self._codes.at(np.unique(positions))
        records, vectors = self._documents.records(there, codes), self._vectors_at(there)
        chosen = map(records.__getitem__, there.tolist())
        found = zip(chosen, codes, [None] * len(there) if vectors is None else vectors, strict=True)
        return there, [Entry(one.id, code, one.text, one.metadata, vector) for one, code, vector in found]

    def _positions(self, ids: list[Id]) -> list[int]:
        """The positions of those documents that are there."""
        return [position for position in self._documents.find(ids) if position is not None]

    def _table(self) -> CodeTable:
        """The codes as they are now."""
        return self._newest.renewed(self._codes, keep=not self._store.writes)  # what may not come to pass is not kept


class _NewestTable:
    """The newest codes that any thread has read."""

    def __init__(self) -> None:
        self.table: CodeTable | None = None
        self._lock = Lock()

    def renewed(self, codes: Blocks, *, keep: bool) -> CodeTable:
        """The codes as the caller sees them."""
        with self._lock:
            table = codes.table(self.table)
            if keep and (self.table is None or table.change > self.table.change):
                self.table = table
            return table


class _Recoded:
    """New codes by position, and the checksums of the documents with them; of two for one position the later counts."""

    def __init__(self, about: About):
        self._positions = [np.empty(0, np.int64)]
        self._codes: list[Codes] = [np.empty((0, -(-about.n_bits // 8)), np.uint8)]
        self._checksums = [np.empty(0, np.uint32)]

    def add(self, positions: Positions, codes: Codes, entries: list[Entry]) -> None:
        self._positions.append(positions)
        self._codes.append(codes)
        spelled = [as_json(entry.metadata) for entry in entries]
        made = checksums([entry.id for entry in entries], [entry.text for entry in entries], spelled, codes)
        self._checksums.append(np.array(made, np.uint32))

    def at(self, positions: Positions) -> tuple[Codes, NDArray[np.uint32]]:
        """The codes and the checksums at positions, each of which has one."""
        known = np.concatenate(self._positions)
        order = np.argsort(known, kind="stable")
        rows = order[np.searchsorted(known[order], positions, side="right") - 1]
        return np.concatenate(self._codes)[rows], np.concatenate(self._checksums)[rows]
