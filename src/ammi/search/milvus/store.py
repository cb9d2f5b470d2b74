"""MilvusStore: documents in Milvus, on a server or in a milvus-lite file, found by its exact search of codes.

The collection NAME has a row with the settings, and rows with the files; NAME_words has the words of all texts, with
their stems; NAME_documents_N has the documents. The
settings say which N, so that a rebuild changes over by the upsert of one row. That is what aliases are for, which
milvus-lite does not have.
"""

import json
import time
from base64 import b64decode, b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from operator import itemgetter
from os import fspath
from threading import RLock, local
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import distinct_terms
from ammi.plain import as_json
from ammi.search import word_counts
from ammi.search.documents import Entry, Id, Metadata, Record, id_key
from ammi.search.filters import Filter, count_kinds, matches
from ammi.search.hamming import MOST_FOUND, Codes, too_many_within
from ammi.search.headings import searched_text
from ammi.search.languages import LONGEST, stems
from ammi.search.milvus.client import Client, Row
from ammi.search.milvus.rows import WHOLE, Stored, key_of, pieces, read, text_row, to_condition, word_row
from ammi.search.milvus.server import parsed_address
from ammi.search.ranking import Candidates, best_by_terms
from ammi.search.store import Store
from ammi.search.store_methods import About, Encode, Found, Location
from ammi.search.vectors import KeptVectors, Packed
from ammi.search.wanted import MOST_COMPLETIONS, Wanted, WordStatistics

_BLOCK = 1000  # documents
_FILE_PART = 4 << 20  # characters of the files, in one row
_LIMITS = (100, 1000, 16_384)  # documents that a server is asked for; it finds no more at once

Near = list[tuple[int, int, str]]  # distance, position and key of documents, sorted


class Settings(NamedTuple):
    """The settings of a collection."""

    about: About
    number: int  # of the collection with the documents
    files: list[str]  # ids of the texts that hold them


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
        self._writers = RLock()  # threads take turns
        self._now = local()  # each thread has the settings that its last block of calls began with
        self._vocabulary = f"{self._name}_words"
        self._learned: set[str] = set()  # words that are in it

    @classmethod
    def _create(cls, location: str, about: About, keys: list[str], files: dict[str, bytes]) -> Self:
        with cls(Client(parsed_address(location))) as index:
            if index._client.exists(index._name) and index._client.get(index._name, [key_of("settings")], []):
                raise FileExistsError(f"{index.location} holds a collection: open it, or create the new one elsewhere")
            index._client.create(index._name, 8)
            index._client.create(index._vocabulary, 8)
            index._save(index._prepare(about, 1, files))
            return cls.open(location)

    @classmethod
    def open(cls, location: Location) -> Self:
        address = parsed_address(fspath(location))
        if address.file is None or address.file.is_file():
            with ExitStack() as unless_there:
                index = cls(Client(address))
                unless_there.callback(index.close)
                if index._client.exists(index._name):
                    index._load()
                    unless_there.pop_all()
                    return index
        raise FileNotFoundError(f"there is no collection in {address.location}: create it first")

    def close(self) -> None:
        self._client.close()

    def _prepare(self, about: About, number: int, files: dict[str, bytes]) -> Settings:
        """Create a collection for documents and write files; both are used as soon as the settings are saved."""
        self._client.create(f"{self._name}_documents_{number}", about.n_bits)
        parts = pieces(json.dumps({name: b64encode(file).decode() for name, file in files.items()}), _FILE_PART)
        ids = [f"files of the model {number}/{part}" for part in range(len(parts))]
        self._client.upsert(self._name, map(text_row, ids, parts))
        return Settings(about, number, ids)

    def _save(self, settings: Settings) -> None:
        self._client.upsert(self._name, [text_row("settings", json.dumps(settings._asdict()))])
        self._now.settings = settings

    def _load(self) -> Settings:
        settings = Settings(**json.loads(self._texts(["settings"])[0]))
        about = About(*settings.about)
        return settings._replace(about=about._replace(vectors=about.vectors and KeptVectors(*about.vectors)))

    def files(self) -> dict[str, bytes]:
        with self._reading():
            content = json.loads("".join(self._texts(self._now.settings.files)))
        return {name: b64decode(file) for name, file in content.items()}

    def _word_counts(self) -> bytes | None:
        found = self._read([key_of(word_counts.FILE)], self._name)
        return next(((one.record.text or "").encode() for one in found.values()), None)

    def _keep_word_counts(self, content: bytes) -> None:
        self._client.upsert(self._name, [text_row(word_counts.FILE, content.decode())])

    def _texts(self, ids: list[str]) -> list[str]:
        """Return the texts of settings or of files."""
        found = self._read([key_of(id) for id in ids], self._name)
        if len(found) < len(ids):
            raise FileNotFoundError(f"there is no whole collection in {self.location}: create it, or open it again")
        return [one.record.text or "" for one in found.values()]

    @contextmanager
    def _reading(self, settings: Settings | None = None) -> Iterator[None]:
        """Read the settings once for a block of calls, so that all of them go to one collection of documents."""
        self._now.settings = settings or self._load()
        yield

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._writers, self._reading():
            yield

    @property
    def _documents(self) -> str:
        return f"{self._name}_documents_{self._now.settings.number}"

    def _about(self) -> About:
        return self._now.settings.about

    def _put(self, codes: Codes, records: list[Record], vectors: Packed | None) -> None:
        about = self._about()
        number = max([0, *(key + 1 for record in records if isinstance(key := id_key(record.id), int))])
        if number > about.next_number:  # saved first, so that no number is given twice
            self._save(self._now.settings._replace(about=about._replace(next_number=number)))
        packed = [b""] * len(records) if vectors is None else map(bytes, vectors)
        columns = zip(count(time.time_ns()), records, codes, packed, strict=False)
        self._learn_words(records)
        self._write(map(Stored._make, columns), self._documents)

    def _learn_words(self, records: Iterable[Record]) -> None:
        """Put the words of documents with texts into the vocabulary."""
        if self._about().text_index:
            texts = (searched_text(id, text, metadata) for id, text, metadata, _ in records if text is not None)
            new = distinct_terms(texts) - self._learned
            self._learn([word for word in new if len(word) <= LONGEST], self._about().language)

    def _learn(self, words: list[str], language: str | None) -> None:
        """Put words with their stems into the vocabulary."""
        self._client.upsert(self._vocabulary, map(word_row, words, stems(language, words)))
        self._learned.update(words)

    def _words_with(self, stems: Collection[str]) -> Iterable[str]:
        condition = f"content in {json.dumps([*stems], ensure_ascii=False)}"
        return [row["key"] for rows in self._client.scan(self._vocabulary, condition, []) for row in rows]

    def _words_from(self, prefix: str) -> Iterable[str]:
        blocks = self._client.scan(self._vocabulary, f"key like {json.dumps(f'{prefix}%', ensure_ascii=False)}", [])
        found = [row["key"] for rows in blocks for row in rows if row["key"].startswith(prefix)]  # _ is any character
        return sorted(found, key=lambda word: (len(word), word))[:MOST_COMPLETIONS]

    def _set_language(self, language: str) -> None:
        self._learn([row["key"] for rows in self._client.scan(self._vocabulary, "", []) for row in rows], language)
        self._save(self._now.settings._replace(about=self._about()._replace(language=language)))

    def _write(self, documents: Iterable[Stored], collection: str) -> None:
        self._client.upsert(collection, (one.row(word_index=self._about().text_index) for one in documents))

    def _remove(self, ids: list[Id]) -> None:
        self._client.delete(self._documents, [key_of(id) for id in ids])

    def _replace_metadata(self, metadata: Mapping[Id, Metadata]) -> None:
        new = {key_of(id): (value, as_json(value)) for id, value in metadata.items()}
        old = self._read([*new]).items()
        changed = [one._replace(record=Record(one.record.id, one.record.text, *new[key])) for key, one in old]
        self._learn_words(one.record for one in changed)
        self._write(changed, self._documents)

    def _fetch(self, ids: list[Id]) -> list[Entry | None]:
        keys = [key_of(id) for id in ids]
        found, kept = self._read(keys), self._about().vectors
        return [found[key].entry(kept) if key in found else None for key in keys]

    def _read(self, keys: list[str], collection: str | None = None) -> dict[str, Stored]:
        """Return those of the documents that exist, by key, in the order of the keys."""
        rows = self._client.get(collection or self._documents, keys, WHOLE)
        found = {row["key"]: row for row in self._whole(rows, collection)}
        return {key: read(found[key], self.location) for key in keys if key in found}

    def _count(self) -> int:
        return self._client.count(self._documents)

    def _blocks(self, filter: Filter) -> Iterator[list[Entry]]:
        with self._reading():
            settings = self._now.settings
            keys = [row["key"] for row in self._matching(filter, [])]
        for start in range(0, len(keys), _BLOCK):
            with self._reading(settings):  # after a rebuild the documents have other codes: rather fail than mix them
                stored, kept = self._read(keys[start : start + _BLOCK]).values(), settings.about.vectors
            if entries := [one.entry(kept) for one in stored if matches(filter, one.record.metadata)]:
                yield entries

    def key_kinds(self) -> dict[str, dict[str, int]]:
        with self._reading():
            blocks = self._client.scan(self._documents, "", ["metadata"])
            return count_kinds(json.loads(row["metadata"]) for rows in blocks for row in self._whole(rows))

    def _matching(self, filter: Filter, fields: list[str], word: str | None = None) -> list[Row]:
        """Return the rows of all documents that pass a filter, and have a word, in insertion order."""
        blocks = self._client.scan(self._documents, to_condition(filter, word), ["position", "metadata", *fields])
        found = (row for rows in blocks for row in self._passing(rows, filter))
        return sorted(found, key=itemgetter("position", "key"))

    def _passing(self, rows: list[Row], filter: Filter) -> list[Row]:
        """Return those of the rows that pass a filter."""
        return [row for row in self._whole(rows) if matches(filter, json.loads(row["metadata"]))] if filter else rows

    def _whole(self, rows: list[Row], collection: str | None = None) -> list[Row]:
        """Add the metadata and content of long documents to their rows, which have them in pieces."""
        long = {row["key"]: row for row in rows if not row["metadata"]}
        for found in self._client.get(collection or self._documents, [*long], ["more"]):
            row = long[found["key"]]
            row["metadata"], _, row["content"] = "".join(found["more"]).partition("\n")
        return rows

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
        found: dict[int, Near] = {}
        fields = ["position", "metadata"] if filter else ["position"]
        for limit in _LIMITS:
            missing = [n for n in range(len(queries)) if n not in found]
            answers = self._client.search(self._documents, queries[missing], limit, to_condition(filter), fields)
            for n, rows in zip(missing, answers, strict=True):
                last = max(row["distance"] for row in rows) if len(rows) == limit else np.inf
                sure = [row for row in rows if row["distance"] < last]  # some as far as the last one may be missing
                hits = sorted((row["distance"], row["position"], row["key"]) for row in self._passing(sure, filter))
                if last > radius or len(hits) >= k:
                    found[n] = hits
        if len(found) < len(queries):
            rows = self._matching(filter, ["code"])
            base = np.frombuffer(b"".join(row["code"][0] for row in rows), np.uint8).reshape(-1, queries.shape[1])
            for n in {*range(len(queries))} - found.keys():
                distances = np.bitwise_count(base ^ queries[n]).sum(axis=1, dtype=np.int64).tolist()
                found[n] = sorted((d, row["position"], row["key"]) for d, row in zip(distances, rows, strict=True))
        return [[hit for hit in found[n] if hit[0] <= radius][:k] for n in range(len(queries))]

    def _shortlists(
        self, queries: Codes, n: int, wanted: Sequence[Wanted], filter: Filter, with_vectors: bool
    ) -> Iterator[Candidates]:
        kept = self._about().vectors if with_vectors else None
        for hits, query in zip(self._near(queries, n, self._about().n_bits, filter), wanted, strict=True):
            keys, statistics = {key for _, _, key in hits}, None
            if query.terms:
                statistics = self._word_statistics(query.words)
                keys |= self._having_words(statistics, query, n, filter)
            stored = sorted(self._read([*keys]).items(), key=lambda item: (item[1].position, item[0]))
            yield Candidates.of_entries([one.entry(kept) for _, one in stored], queries.shape[1], kept, statistics)

    def _having_words(self, statistics: WordStatistics, wanted: Wanted, n: int, filter: Filter) -> set[str]:
        """Return the keys of the n documents that `best_by_terms` finds."""
        key_at: dict[int, str] = {}

        def positions_of(word: str, among: NDArray[np.int64] | None) -> NDArray[np.int64]:
            rows = self._matching(filter, [], word)
            key_at.update((row["position"], row["key"]) for row in rows)
            return np.unique([row["position"] for row in rows]).astype(np.int64)

        return {key_at[position] for position in best_by_terms(statistics, wanted, positions_of, n).tolist()}

    def _word_statistics(self, words: Sequence[str]) -> WordStatistics:
        having = {word: self._client.count(self._documents, to_condition((), word)) for word in words}
        texts = self._client.count(self._documents, "characters >= 0")
        # Milvus does not add up, so that the average is that of the first 16,000 texts.
        some = next(self._client.scan(self._documents, "characters >= 0", ["characters"]), [])
        average = sum(row["characters"] for row in some) / max(len(some), 1)
        return WordStatistics(texts, round(average * texts), having)

    def _recode(self, encode: Encode, about: About, files: dict[str, bytes]) -> None:
        with self._writing():
            old = self._now.settings
            self._client.drop(f"{self._name}_documents_{old.number - 1}")  # which a killed rebuild may have left
            new = self._prepare(about, old.number + 1, files)
            target, copied = f"{self._name}_documents_{new.number}", dict[str, tuple[int, int]]()
            for _ in range(2):  # the second time those that others changed meanwhile
                blocks = self._client.scan(self._documents, "", ["position", "checksum"])
                there = {row["key"]: (row["position"], row["checksum"]) for rows in blocks for row in rows}
                self._client.delete(target, list(copied.keys() - there.keys()))
                late = sorted((key for key in there if copied.get(key) != there[key]), key=there.__getitem__)
                for start in range(0, len(late), _BLOCK):
                    stored = list(self._read(late[start : start + _BLOCK]).values())
                    codes, vectors = encode([one.entry(old.about.vectors) for one in stored])
                    packed = [one.vector for one in stored] if vectors is None else map(bytes, vectors)
                    columns = zip(stored, codes, packed, strict=True)
                    self._write((one._replace(code=code, vector=vector) for one, code, vector in columns), target)
                copied = there
            next_number = self._load().about.next_number  # others may have added documents
            self._save(new._replace(about=about._replace(next_number=next_number)))
            self._client.drop(f"{self._name}_documents_{old.number}")
            self._client.delete(self._name, [key_of(id) for id in old.files])
