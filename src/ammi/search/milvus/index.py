"""MilvusStore: documents in Milvus, on a server or in a milvus-lite file, found by its exact search of codes."""

import json
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from os import fspath
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ammi.plain import as_json
from ammi.search.documents import Entry, Id, Metadata, Record, id_key
from ammi.search.filters import Filter, count_kinds, matches
from ammi.search.hamming import Codes
from ammi.search.milvus.client import Client, Row
from ammi.search.milvus.files import put_files, read_files
from ammi.search.milvus.filters import to_expression
from ammi.search.milvus.recode import recode
from ammi.search.milvus.rows import BLOCK, METADATA, Positions, Rows, entry
from ammi.search.milvus.search import Near, matching, nearest, within
from ammi.search.milvus.server import holds_index, parsed_address
from ammi.search.milvus.state import Head, View
from ammi.search.milvus.store import Tables
from ammi.search.ranking import Candidates, KnownCounts, WordStatistics, most_told
from ammi.search.store import Store
from ammi.search.store_methods import About, Encode, Found, Location
from ammi.search.vectors import Packed, unpacked


class MilvusStore(Store):
    """A Store in Milvus: milvus-lite:FILE, or milvus://HOST:PORT/DATABASE#NAME on a server.

    A change is on the server when its call returns. Any number of threads may read while one writes, and on a server
    any number of processes; a milvus-lite file is open in one process at a time. A search sees all that was changed
    before it began. Every document is held to its checksum when it is read.
    """

    def __init__(self, store: Tables):
        """Not for callers, who have `create` and `open`."""
        self.location = store.location
        self.shared = store.client.address.file is None
        self._store = store
        self._let_go = weakref.finalize(self, store.client.close)  # also when forgotten
        self._counts = KnownCounts()

    @classmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes]) -> Self:
        address = parsed_address(location)
        if address.file:
            address.file.absolute().parent.mkdir(parents=True, exist_ok=True)
        client = Client(address)
        try:
            store = Tables(client)
            store.create(about.text_index, about)
            head = Head("", 0, None, None, about.text_index, tuple(keys)).of(about)
            store.begin(put_files(store, head, 0, files))
            return cls.open(location)
        finally:
            client.close()

    @classmethod
    def open(cls, location: Location) -> Self:
        address = parsed_address(fspath(location))
        if address.file and not address.file.is_file():
            raise FileNotFoundError(f"there is no index in {address.location}: create it first")
        index = cls(Tables(Client(address)))
        try:
            index._store.open()
        except BaseException:
            index.close()
            raise
        return index

    @classmethod
    def exists(cls, location: Location) -> bool:
        address = parsed_address(fspath(location))
        if address.file:
            return holds_index(address.file, address.name)
        client = Client(address)
        try:
            return address.name in client.names() and Tables(client).has_records()
        finally:
            client.close()

    def state(self) -> str | None:
        with self._reading():
            return f"{self._view.head.uid[:8]}-{self._view.head.change}"

    def compact(self) -> tuple[int, int]:
        """Delete what was removed, as far as nobody reads it; a server does the rest, and says nothing of bytes."""
        before = self._size()
        with self._writing():
            pass
        return before, self._size()

    def _size(self) -> int:
        file = self._store.client.address.file
        return file.stat().st_size if file else 0

    def close(self) -> None:
        self._store.closed = True
        self._let_go()

    def _reading(self) -> AbstractContextManager[object]:
        return self._store.reading()

    def _writing(self) -> AbstractContextManager[object]:
        return self._store.writing()

    @property
    def _view(self) -> View:
        """Of the block that reads or writes."""
        return self._store.view()

    @property
    def _rows(self) -> Rows:
        return Rows(self._store, self._view)

    def _about(self) -> About:
        return self._view.head.about()

    def _count(self) -> int:
        return self._view.head.count

    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        self._remove([record.id for record in records])
        first = self._view.head.positions
        self._append(list(range(first, first + len(records))), codes, records, vectors)
        numbers = [key + 1 for record in records if isinstance(key := id_key(record.id), int)]
        head = self._view.head
        self._view.head = replace(head, positions=first + len(records), number=max([head.number, *numbers]))

    def _append(self, positions: list[int], codes: Codes, records: list[Record], vectors: Any) -> None:
        """Write rows for documents at positions, and count them."""
        head = self._view.head
        rows = range(head.rows, head.rows + len(records))
        self._rows.write(rows, positions, records, codes, vectors)
        texts = [len(record.text) for record in records if record.text is not None]
        self._view.head = replace(
            head,
            rows=rows.stop,
            count=head.count + len(records),
            texts=head.texts + len(texts),
            characters=head.characters + sum(texts),
        )

    def _remove(self, ids: list[Id]) -> None:
        self._remove_rows(list(self._rows.find(ids, ["characters"]).values()))

    def _remove_rows(self, rows: list[Row]) -> None:
        """Say of rows that they count no more."""
        view = self._view
        assert view.newly is not None
        view.newly += [row["row"] for row in rows]
        texts = [row["characters"] for row in rows if row["characters"] >= 0]
        view.head = replace(
            view.head,
            count=view.head.count - len(rows),
            texts=view.head.texts - len(texts),
            characters=view.head.characters - sum(texts),
        )

    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        found = self._rows.find(metadata, ["position", "characters"])
        old = self._rows.stored([row["position"] for row in found.values()], vectors=True)
        self._remove_rows(list(found.values()))
        new = [
            (old[row["position"]], metadata_of)
            for key, metadata_of in ((id_key(id), new) for id, new in metadata.items())
            if (row := found[key])
        ]
        for start in range(0, len(new), BLOCK):
            some = new[start : start + BLOCK]
            records = [
                one.record._replace(metadata=metadata_of, json=as_json(metadata_of)) for one, metadata_of in some
            ]
            vectors = [one.vector for one, _ in some] if self._about().vectors else None
            codes = np.array([one.code for one, _ in some])
            self._append([one.position for one, _ in some], codes, records, vectors)

    def _has(self, ids: list[Id]) -> list[bool]:
        found = self._rows.find(ids)
        return [id_key(id) in found for id in ids]

    def _fetch(self, ids: list[Id]) -> list[Entry | None]:
        found = self._rows.find(ids, ["position"])
        stored = self._rows.stored([row["position"] for row in found.values()], vectors=True)
        kept = self._about().vectors
        return [entry(stored[found[key]["position"]], kept) if (key := id_key(id)) in found else None for id in ids]

    def _nearest(self, queries: Codes, k: int, filter: Filter) -> Found:
        return self._hits_of(nearest(self._rows, queries, k, filter))

    def _within(self, queries: Codes, radius: int, filter: Filter) -> Found:
        return self._hits_of(within(self._rows, queries, radius, filter))

    def _hits_of(self, near: Near) -> Found:
        stored = self._rows.stored(sorted({position for _, positions in near for position in positions}))
        return [
            [(distance, stored[position].record) for distance, position in zip(*hits, strict=True)] for hits in near
        ]

    def _shortlists(
        self, queries: Codes, n: int, words: Sequence[Sequence[str]], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        near = nearest(self._rows, queries, n, filter)
        among = matching(self._rows, filter)[0] if filter and any(words) else None
        kept = self._about().vectors if with_vectors else None
        width = queries.shape[1]
        for (_, positions), spoken in zip(near, words, strict=True):
            places = np.unique(np.array([*positions, *self._having(spoken, n, among)], np.int64))
            stored = self._rows.stored(places.tolist(), vectors=with_vectors)
            chosen = [stored[position] for position in places.tolist()]
            codes = np.array([one.code for one in chosen], np.uint8).reshape(len(chosen), width)
            texts = [one.record.text for one in chosen] if spoken else []
            vectors = [np.frombuffer(one.vector or b"", np.uint8) for one in chosen] if kept else []
            rows = unpacked(np.array(vectors, np.uint8).reshape(len(chosen), kept.n_bytes), kept) if kept else None
            statistics = self._word_statistics(spoken) if spoken else None
            yield Candidates(codes, texts, rows, statistics, partial(self._records_at, places))

    def _having(self, words: Sequence[str], n: int, among: Positions | None) -> Iterable[int]:
        """The positions of documents that have most of the words, of these or of all."""
        if not words:
            return []
        statistics = self._word_statistics(words)

        def positions_of(word: str) -> Positions:
            found = self._rows.positions_of(word, statistics.having[word])
            return found if among is None else np.intersect1d(found, among, assume_unique=True)

        return most_told(statistics, positions_of, n).tolist()

    def _records_at(self, positions: Positions, rows: NDArray[np.int64]) -> list[Record]:
        chosen = positions[rows].tolist()
        stored = self._rows.stored(chosen)
        return [stored[position].record for position in chosen]

    def _word_statistics(self, words: Sequence[str]) -> WordStatistics:
        view = self._view
        known = self._counts.after(view.head.change) if view.newly is None else {}  # a change that is not made yet
        for word in words:
            if word not in known:
                known[word] = self._rows.count_word(word)
        return WordStatistics(view.head.texts, view.head.characters, {word: known[word] for word in words})

    def _blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        with self._store.pinned() as view:
            rows, kept, n = Rows(self._store, view), view.head.about().vectors, 0
            for block in rows.blocks(to_expression(filter)):
                self._store.check_view(view)
                n += len(block)
                if entries := [entry(one, kept) for one in block if matches(filter, one.record.metadata)]:
                    yield entries
            if not filter and n != view.head.count:
                raise self._store.damaged(f"{view.head.count} documents were written, and {n} are there")

    def export(self) -> tuple[list[Id], Codes]:
        with self._reading():
            rows = [row for some in self._rows.scan(["position", "id", "code"]) for row in some]
            width = -(-self._about().n_bits // 8)
        codes = np.frombuffer(b"".join(row["code"][0] for row in rows), np.uint8).reshape(len(rows), width)
        return [json.loads(row["id"]) for row in rows], codes

    def column(self, key: str) -> list[Any]:
        with self._reading():
            return [metadata.get(key) for some in self._all_metadata() for metadata in some]

    def _kinds(self) -> dict[str, dict[str, int]]:
        with self._reading():
            return count_kinds(metadata for some in self._all_metadata() for metadata in some)

    def _all_metadata(self) -> Iterator[list[Metadata]]:
        """Of all documents, in insertion order, without their texts."""
        return (self._rows.metadata(rows) for rows in self._rows.scan(["position", *METADATA]))

    def files(self) -> dict[str, bytes]:
        with self._reading():
            return read_files(self._store, self._view.head)

    @property
    def keys_indexed(self) -> list[str]:
        """The keys that were named; the server finds documents by any."""
        with self._reading():
            return list(self._view.head.keys)

    def _index_keys(self, keys: list[str]) -> None:
        with self._writing():
            self._view.head = replace(self._view.head, keys=tuple(dict.fromkeys([*self._view.head.keys, *keys])))

    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        recode(self._store, encode, about, files)
