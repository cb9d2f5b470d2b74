"""MilvusStore: documents in Milvus, on a server or in a milvus-lite file, found by its exact search of codes.

The collection NAME has a row with the settings, and rows with the files; NAME_documents_N has the documents. The
settings say which N, so that a rebuild changes over by the upsert of one row. That is what aliases are for, which
milvus-lite does not have. A VARCHAR holds 65,535 bytes, so that settings and files are an ARRAY of pieces.
"""

import json
import time
import weakref
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from operator import itemgetter
from os import fspath
from threading import RLock, local
from typing import NamedTuple, Self
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ammi.plain import as_json
from ammi.search.checks import DamagedError
from ammi.search.documents import Entry, Id, Metadata, Record, id_key
from ammi.search.filters import Filter, count_kinds, matches
from ammi.search.hamming import MOST_FOUND, Codes, nearest, too_many_within
from ammi.search.milvus.client import NUMBERS, TEXTS, Client, Row
from ammi.search.milvus.filters import NOTHING, to_expression
from ammi.search.milvus.rows import FIELDS, READ, Stored, has_word, key_of, pieces, read
from ammi.search.milvus.server import parsed_address
from ammi.search.ranking import Candidates, WordStatistics, most_told
from ammi.search.store import Store
from ammi.search.store_methods import About, Encode, Found, Location
from ammi.search.vectors import KeptVectors, Packed

_BLOCK = 1000
_FILE_PART = 4 << 20  # characters of the files, in one row
_LIMITS = (100, 1000, 16_384)  # documents that a server is asked for; it finds no more at once
_FORMAT = 3

Near = list[tuple[int, int, str]]  # distance, position and key of documents, sorted
_LOCKS: dict[str, RLock] = defaultdict(RLock)  # of the writers in this process, by location


class Settings(NamedTuple):
    """The settings of an index."""

    about: About
    number: int  # of the collection with the documents
    keys: list[str]
    files: list[str]  # keys of the rows that hold them
    checksum: int  # of the files
    format: int = _FORMAT


class MilvusStore(Store):
    """A Store in Milvus: milvus-lite:FILE, or milvus://HOST:PORT/DATABASE#NAME on a server.

    A change is made when its call returns, for every search that begins later. Milvus has no transactions and no
    snapshots: a call that fails may have changed some of its documents, and can be repeated; reads see what others
    change meanwhile. Documents are in the order of the clocks of those who added them.
    """

    def __init__(self, client: Client):
        """Not for callers, who have `create` and `open`."""
        self.location, self.shared = client.address.location, client.address.file is None
        self._client, self._name = client, client.address.name
        self._writers = _LOCKS[self.location]
        self._thread = local()  # has the settings, while a thread reads or writes
        self._last_position = 0
        self._close = weakref.finalize(self, client.close)

    @classmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes]) -> Self:
        address = parsed_address(location)
        if address.file:
            address.file.absolute().parent.mkdir(parents=True, exist_ok=True)
        with cls(Client(address)) as index:
            if index._client.exists(index._name) and index._client.get(index._name, ["settings"], []):
                raise FileExistsError(f"{index.location} holds a collection: open it, or create the new one elsewhere")
            index._client.create(index._name, 8, {"content": TEXTS})
            index._save(index._prepare(about, 1, keys, files))
            return cls.open(location)

    @classmethod
    def open(cls, location: Location) -> Self:
        address = parsed_address(fspath(location))
        if address.file and not address.file.is_file():
            raise FileNotFoundError(f"there is no collection in {address.location}: create it first")
        index = cls(Client(address))
        try:
            if not index._client.exists(index._name):
                raise FileNotFoundError(f"there is no collection in {index.location}: create it first")
            with index._reading():
                return index
        except BaseException:
            index.close()
            raise

    def close(self) -> None:
        self._close()

    # Settings and files

    def _prepare(self, about: About, number: int, keys: list[str], files: dict[str, bytes]) -> Settings:
        """Create a collection for documents and write files; both are used as soon as the settings are saved."""
        fields = FIELDS | {"words": NUMBERS} if about.text_index else FIELDS
        self._client.create(f"{self._name}_documents_{number}", about.n_bits, fields)
        content = json.dumps({name: b64encode(file).decode() for name, file in files.items()})
        parts = [content[start : start + _FILE_PART] for start in range(0, len(content), _FILE_PART)]
        rows = {f"{number}/{row}": part for row, part in enumerate(parts)}
        self._client.upsert(self._name, map(_setting, rows, rows.values()))
        return Settings(about, number, keys, [*rows], crc32(content.encode()))

    def _save(self, settings: Settings) -> None:
        self._client.upsert(self._name, [_setting("settings", json.dumps(settings._asdict()))])
        self._thread.settings = settings

    def _load(self) -> Settings:
        rows = self._client.get(self._name, ["settings"], ["content"])
        if not rows:
            raise FileNotFoundError(f"the making of the collection in {self.location} was cut short: create it again")
        values = json.loads("".join(rows[0]["content"]))
        if values["format"] != _FORMAT:
            cause = f"it has format {values['format']}, and this ammi reads {_FORMAT}"
            advice = "read it with that version, or drop its collections and create it again"
            raise ValueError(f"the collection in {self.location} is of another version of ammi ({cause}): {advice}")
        settings = Settings(**values)
        about = About(*settings.about)
        return settings._replace(about=about._replace(vectors=about.vectors and KeptVectors(*about.vectors)))

    def files(self) -> dict[str, bytes]:
        with self._reading():
            settings = self._settings
            rows = [row for key in settings.files for row in self._client.get(self._name, [key], ["content"])]
        content = "".join(piece for row in rows for piece in row["content"])
        if crc32(content.encode()) != settings.checksum:
            cause = "the files of the model are not as they were written"
            raise DamagedError(f"the collection in {self.location} is damaged ({cause}): restore a copy")
        return {name: b64decode(file) for name, file in json.loads(content).items()}

    @property
    def indexed_keys(self) -> list[str]:
        """The keys that were named; the server finds documents by any."""
        with self._reading():
            return self._settings.keys

    def _index_keys(self, keys: list[str]) -> None:
        with self._writing():
            self._save(self._settings._replace(keys=list(dict.fromkeys([*self._settings.keys, *keys]))))

    @contextmanager
    def _reading(self, settings: Settings | None = None) -> Iterator[None]:
        """Read the settings once for a block of calls, which go to one collection of documents."""
        before = self._thread.__dict__.get("settings")
        self._thread.settings = settings or before or self._load()
        try:
            yield
        finally:
            self._thread.settings = before and self._thread.settings  # a change inside is kept

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._writers, self._reading():
            yield

    @property
    def _settings(self) -> Settings:
        return self._thread.settings

    @property
    def _documents(self) -> str:
        return f"{self._name}_documents_{self._settings.number}"

    def _about(self) -> About:
        return self._settings.about

    # Documents

    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        about = self._about()
        number = max([0, *(key + 1 for record in records if isinstance(key := id_key(record.id), int))])
        if number > about.next_number:  # saved first, so that no number is given twice
            self._save(self._settings._replace(about=about._replace(next_number=number)))
        first = max(self._last_position + 1, time.time_ns())
        self._last_position = first + len(records)
        packed = [b""] * len(records) if vectors is None else map(bytes, vectors)
        columns = zip(range(first, self._last_position), records, codes, packed, strict=True)
        self._write(map(Stored._make, columns), self._documents)

    def _write(self, documents: Iterable[Stored], collection: str) -> None:
        words = self._about().text_index
        self._client.upsert(collection, (document.row(words=words) for document in documents))

    def _remove(self, ids: list[Id]) -> None:
        self._client.delete(self._documents, [key_of(id) for id in ids])

    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        new = {key_of(id): (value, as_json(value)) for id, value in metadata.items()}
        old = self._read([*new]).items()
        changed = (one._replace(record=Record(one.record.id, one.record.text, *new[key])) for key, one in old)
        self._write(changed, self._documents)

    def _fetch(self, ids: list[Id]) -> list[Entry | None]:
        keys = [key_of(id) for id in ids]
        found, kept = self._read(keys), self._about().vectors
        return [found[key].entry(kept) if key in found else None for key in keys]

    def _read(self, keys: list[str]) -> dict[str, Stored]:
        """Return those of the documents that exist, by key, in the order of the keys."""
        found = read(self._whole(self._client.get(self._documents, keys, READ)), self.location)
        return {key: found[key] for key in keys if key in found}

    def _count(self) -> int:
        return self._client.count(self._documents)

    def _blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        with self._reading():
            settings = self._settings
            keys = [row["key"] for row in self._matching(filter, [])]
        for start in range(0, len(keys), _BLOCK):
            with self._reading(settings):  # which the keys are of
                stored, kept = self._read(keys[start : start + _BLOCK]).values(), settings.about.vectors
            if entries := [one.entry(kept) for one in stored if matches(filter, one.record.metadata)]:
                yield entries

    def key_kinds(self) -> dict[str, dict[str, int]]:
        with self._reading():
            blocks = self._client.scan(self._documents, "", ["metadata", "long"])
            return count_kinds(json.loads(row["metadata"]) for rows in blocks for row in self._whole(rows))

    def _matching(self, filter: Filter, fields: list[str], also: str = "") -> list[Row]:
        """Return the rows of all documents that pass a filter, and meet a condition, in insertion order."""
        condition = " and ".join(part for part in (also, to_expression(filter)) if part)
        blocks = self._client.scan(self._documents, condition, [*_fields(filter), *fields])
        return sorted(
            (row for rows in blocks for row in self._passing(rows, filter)), key=itemgetter("position", "key")
        )

    def _passing(self, rows: list[Row], filter: Filter) -> list[Row]:
        """Return those of the rows that pass a filter."""
        return [row for row in self._whole(rows) if matches(filter, json.loads(row["metadata"]))] if filter else rows

    def _whole(self, rows: list[Row]) -> list[Row]:
        """Add to rows what they have in pieces."""
        long = {row["key"]: row for row in rows if row["long"] >= 0}
        for more in self._client.get(self._documents, [*long], ["more"]):
            row = long[more["key"]]
            row["metadata"] += "".join(more["more"][: row["long"]])
            row["content"] = row.get("content", "") + "".join(more["more"][row["long"] :])
        return rows

    # Search

    def _nearest(self, queries: Codes, k: int, filter: Filter) -> Found:
        return self._with_records(self._near(queries, k, self._about().n_bits, filter))

    def _within(self, queries: Codes, radius: int, filter: Filter) -> Found:
        near = self._near(queries, MOST_FOUND + 1, radius, filter)
        if sum(map(len, near)) > MOST_FOUND:
            raise too_many_within(radius)
        return self._with_records(near)

    def _with_records(self, near: list[Near]) -> Found:
        found = self._read(list({key for hits in near for _, _, key in hits}))  # others may have deleted some meanwhile
        return [[(distance, found[key].record) for distance, _, key in hits if key in found] for hits in near]

    def _near(self, queries: Codes, k: int, radius: int, filter: Filter) -> list[Near]:
        """Return the k nearest documents at most radius bits away, for each query, ties in insertion order.

        Milvus returns documents at the same distance in any order, and some that do not pass the filter. So it is
        asked for more, until all that are as near as the last one are known. If the most that a server finds at once
        are too few, all codes are read and compared here.
        """
        condition = to_expression(filter)
        found: list[Near | None] = [[] if condition == NOTHING else None for _ in queries]
        for limit in _LIMITS:
            missing = [n for n, hits in enumerate(found) if hits is None]
            answers = self._client.search(self._documents, queries[missing], limit, condition, _fields(filter))
            for n, rows in zip(missing, answers, strict=True):
                last = max(row["distance"] for row in rows) if len(rows) == limit else np.inf
                passed = sorted((row["distance"], row["position"], row["key"]) for row in self._passing(rows, filter))
                sure = [hit for hit in passed if hit[0] < last]  # some as far as the last one may be missing
                if last > radius or len(sure) >= k:
                    found[n] = sure
        if None in found:
            rows = self._matching(filter, ["code"])
            base = np.frombuffer(b"".join(row["code"][0] for row in rows), np.uint8).reshape(-1, queries.shape[1])
            for n in (n for n, hits in enumerate(found) if hits is None):
                (distances,), (order,) = nearest(base, queries[n : n + 1], k)
                chosen = zip(distances.tolist(), (rows[row] for row in order), strict=True)
                found[n] = [(distance, row["position"], row["key"]) for distance, row in chosen]
        return [[hit for hit in hits or () if hit[0] <= radius][:k] for hits in found]

    def _shortlists(
        self, queries: Codes, n: int, words: Sequence[Sequence[str]], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        about = self._about()
        kept = about.vectors if with_vectors else None
        for hits, query_terms in zip(self._near(queries, n, about.n_bits, filter), words, strict=True):
            keys, statistics = {key for _, _, key in hits}, None
            if query_terms:
                statistics = self._word_statistics(query_terms)
                keys |= self._having_words(statistics, n, filter)
            stored = sorted(self._read(list(keys)).values(), key=lambda one: (one.position, key_of(one.record.id)))
            entries = [one.entry(kept) for one in stored]
            codes = np.array([entry.code for entry in entries], np.uint8).reshape(len(entries), queries.shape[1])
            vectors = np.array([entry.vector for entry in entries]).reshape(-1, kept.width) if kept else None
            texts = [entry.text for entry in entries] if query_terms else []
            yield Candidates(codes, texts, vectors, statistics, partial(_records, stored))

    def _having_words(self, statistics: WordStatistics, n: int, filter: Filter) -> set[str]:
        """Return the keys of the n documents that `most_told` finds by the words."""
        key_at: dict[int, str] = {}

        def positions_of(word: str) -> NDArray[np.int64]:
            rows = self._matching(filter, [], has_word(word))
            key_at.update((row["position"], row["key"]) for row in rows)
            return np.unique([row["position"] for row in rows]).astype(np.int64)

        return {key_at[position] for position in most_told(statistics, positions_of, n).tolist()}

    def _word_statistics(self, words: Sequence[str]) -> WordStatistics:
        having = {word: self._client.count(self._documents, has_word(word)) for word in words}
        texts = self._client.count(self._documents, "characters >= 0")
        # Milvus does not add up, so that the average is that of the first 16,000 texts.
        some = next(self._client.scan(self._documents, "characters >= 0", ["characters"]), [])
        average = sum(row["characters"] for row in some) / max(len(some), 1)
        return WordStatistics(texts, round(average * texts), having)

    # A change of model

    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        with self._writing():
            old = self._settings
            self._client.drop(f"{self._name}_documents_{old.number - 1}")  # which a killed rebuild may have left
            new = self._prepare(about, old.number + 1, old.keys, files)
            self._copy(encode, f"{self._name}_documents_{new.number}")
            next_number = self._load().about.next_number  # others may have added documents
            self._save(new._replace(about=about._replace(next_number=next_number)))
            self._client.drop(f"{self._name}_documents_{old.number}")
            self._client.delete(self._name, old.files)

    def _copy(self, encode: Encode, target: str) -> None:
        """Encode all documents into another collection, and once more those that were changed meanwhile."""
        copied: dict[str, tuple[int, int]] = {}
        for _ in range(2):
            blocks = self._client.scan(self._documents, "", ["position", "checksum"])
            there = {row["key"]: (row["position"], row["checksum"]) for rows in blocks for row in rows}
            self._client.delete(target, list(copied.keys() - there.keys()))
            late = sorted((key for key in there if copied.get(key) != there[key]), key=there.__getitem__)
            for start in range(0, len(late), _BLOCK):
                old = list(self._read(late[start : start + _BLOCK]).values())
                codes, vectors = encode([one.entry(self._about().vectors) for one in old])
                packed = [one.vector for one in old] if vectors is None else map(bytes, vectors)
                columns = zip(old, codes, packed, strict=True)
                self._write((one._replace(code=code, vector=vector) for one, code, vector in columns), target)
            copied = there


def _setting(key: str, content: str) -> Row:
    return {"key": key, "code": b"\0", "content": pieces(content)}  # Milvus wants a vector in every row


def _fields(filter: Filter) -> list[str]:
    return ["position", "metadata", "long"] if filter else ["position"]


def _records(stored: list[Stored], rows: NDArray[np.int64]) -> list[Record]:
    return [stored[row].record for row in rows]
