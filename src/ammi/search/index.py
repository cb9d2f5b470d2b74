"""HammingIndex: codes in, neighbours out. The documents are in a folder on disk, their codes in memory too."""

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.search import hamming
from ammi.search.hamming import Codes
from ammi.search.store import About, CodeTable, Id, Positions, Store

Found = Iterable[tuple[NDArray[np.int32], NDArray[np.int64]]]  # for each query, the distances and rows of its hits


class Hit(NamedTuple):
    """A document that a search found; distance is the number of bits in which its code differs from the query."""

    id: Id
    distance: int
    text: str | None
    metadata: dict[str, Any]


class Document(NamedTuple):
    """A document of the index and its packed code."""

    id: Id
    code: Codes  # (ceil(m / 8),)
    text: str | None
    metadata: dict[str, Any]


class HammingIndex:
    """Documents found by the Hamming distance of their codes: exactly, and with ties in insertion order.

    Codes are uint8 arrays (n, ceil(m / 8)) as numpy.packbits packs them. An id is a str or an int; 1 is not "1".
    A document added under an id that is there replaces the old one and comes last in insertion order, also when
    one call brings both. Every change is made as a whole or not at all, and is on the disk when its call returns.
    Any number of processes may read while one writes; a search sees all that was changed before it began.

    `where` keeps a search to documents whose metadata has the values given: {"lang": "en"}. A list stands for any
    of its values, {"year": [1987, 1988]}, and so does one in the metadata; a key that a document lacks has the value
    None. All metadata is read for it, which takes a second or two for a million documents.

    An index can remember the fingerprint and the folder of the model that makes its codes. A call that is told the
    fingerprint of its codes refuses those of another model.
    """

    def __init__(self, store: Store):
        """Not for callers, who have `create` and `open`."""
        self._store = store
        self._table: CodeTable | None = None
        self._change = -1  # the number of changes after which the table was read
        self.folder = store.folder
        self.n_bits, self.fingerprint, self.model = store.about

    @classmethod
    def create(
        cls,
        folder: str | PathLike[str],
        n_bits: int = 64,
        *,
        fingerprint: str | None = None,
        model: str | None = None,
    ) -> "HammingIndex":
        """Make an empty index in a folder, which may be there or not, and open it."""
        if n_bits < 1:
            raise ValueError(f"n_bits is {n_bits}, but a code has 1 bit at least: pass the n_bits of the model")
        return cls(Store.create(Path(folder), About(n_bits, fingerprint, model)))

    @classmethod
    def open(cls, folder: str | PathLike[str]) -> "HammingIndex":
        """Open the index in a folder, to read it and to change it."""
        return cls(Store.open(Path(folder)))

    def add(
        self,
        codes: Codes,
        ids: Iterable[Id] | None = None,
        texts: Iterable[str | None] | None = None,
        metadata: Iterable[dict[str, Any]] | None = None,
        *,
        fingerprint: str | None = None,
    ) -> list[Id]:
        """Add or replace documents; without ids they get the next free numbers. Returns their ids."""
        codes = self._checked(codes, fingerprint)
        n = len(codes)
        texts = [None] * n if texts is None else [_as_text(text) for text in _of_length(n, texts, "texts")]
        encoded = ["{}"] * n if metadata is None else [_as_json(one) for one in _of_length(n, metadata, "metadata")]
        given = None if ids is None else _as_ids(_of_length(n, ids, "ids"))
        with self._store.writing():
            number = self._store.state().number
            ids = _as_ids(range(number, number + n)) if given is None else given
            rows = sorted({id: row for row, id in enumerate(ids)}.values())  # of each id the last
            documents = [(ids[row], encoded[row], texts[row]) for row in rows]
            replaced = [position for position in self._store.find(ids) if position is not None]
            self._store.remove(np.unique(np.array(replaced, np.int64)))
            number = max([number, *(id + 1 for id in ids if isinstance(id, int))])
            self._store.append(codes[rows], documents, number)
        return ids

    def delete(self, ids: Iterable[Id]) -> None:
        """Delete documents, all of which must be there."""
        with self._store.writing():
            self._store.remove(np.unique(self._positions(_as_ids(ids))))

    def get(self, ids: Iterable[Id]) -> list[Document]:
        """The documents of these ids, all of which must be there."""
        with self._store.reading():
            positions = self._positions(_as_ids(ids))
            documents = self._store.documents(positions)
            codes = [self._store.code(position) for position in positions.tolist()]
        return [Document(id, code, text, meta) for code, (id, text, meta) in zip(codes, documents, strict=True)]

    def export(self) -> tuple[list[Id], Codes]:
        """The ids and the codes of all documents, in insertion order."""
        with self._store.reading():
            return self._store.ids(), self._codes().codes

    def search(
        self, codes: Codes, k: int = 10, where: Mapping[str, Any] | None = None, *, fingerprint: str | None = None
    ) -> list[list[Hit]]:
        """For each query, its k nearest documents, the nearest first."""
        if k < 1:
            raise ValueError(f"k is {k}, but a search finds 1 document at least")
        queries = self._checked(codes, fingerprint)
        return self._hits(lambda base: zip(*hamming.nearest(base, queries, k), strict=True), where)

    def within(
        self, codes: Codes, radius: int, where: Mapping[str, Any] | None = None, *, fingerprint: str | None = None
    ) -> list[list[Hit]]:
        """For each query, all documents at most radius bits away, the nearest first."""
        if radius < 0:
            raise ValueError(f"radius is {radius}, but no distance is below 0")
        queries = self._checked(codes, fingerprint)
        return self._hits(lambda base: hamming.within(base, queries, radius), where)

    def close(self) -> None:
        self._store.close()
        self._table = None

    def __enter__(self) -> "HammingIndex":
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._store.reading():
            return self._store.count()

    def __repr__(self) -> str:
        return f"HammingIndex({str(self.folder)!r}, n_bits={self.n_bits})"

    def _hits(self, find: Callable[[Codes], Found], where: Mapping[str, Any] | None) -> list[list[Hit]]:
        with self._store.reading():
            table = self._codes()
            if where:
                rows = table.rows(self._store.matching(_condition(where)))
                found = [(distances, rows[near]) for distances, near in find(table.codes[rows])]
            else:
                found = list(find(table.codes))
            rows = np.concatenate([np.empty(0, np.int64), *(rows for _, rows in found)])
            documents = self._store.documents(table.positions(rows))
        distances = [distance for near, _ in found for distance in near.tolist()]
        hits = (Hit(id, d, text, meta) for d, (id, text, meta) in zip(distances, documents, strict=True))
        return [list(islice(hits, len(near))) for near, _ in found]

    def _codes(self) -> CodeTable:
        """The codes as they are now: read again when the index has changed."""
        change = self._store.state().change
        if self._table is None or self._change != change:
            self._table = None  # makes room for the new one
            self._table, self._change = self._store.code_table(), change
        return self._table

    def _positions(self, ids: list[Id]) -> Positions:
        positions = self._store.find(ids)
        if missing := [id for id, position in zip(ids, positions, strict=True) if position is None]:
            raise ValueError(f"no document has the id {missing[0]!r} ({len(missing)} of {len(ids)} ids are unknown)")
        return np.array(positions, np.int64)

    def _checked(self, codes: Codes, fingerprint: str | None) -> Codes:
        if fingerprint is not None and fingerprint != self.fingerprint:
            raise ValueError(
                f"the codes are of model {fingerprint}, but the index in {self.folder} holds those of model "
                f"{self.fingerprint}: encode with that model, or create an index for this one"
            )
        codes = np.asarray(codes)
        width = -(-self.n_bits // 8)
        if codes.dtype != np.uint8 or codes.ndim != 2 or codes.shape[1] != width:
            raise ValueError(
                f"codes are {codes.dtype} of shape {codes.shape}, but this index of {self.n_bits} bits takes uint8 "
                f"of shape (n, {width}): pack bits with numpy.packbits(bits, axis=1)"
            )
        if (codes[:, -1] & (0xFF >> (self.n_bits - 8 * (width - 1)))).any():
            raise ValueError(
                f"a code has ones after bit {self.n_bits}, the last of this index: pass codes of {self.n_bits} bits"
            )
        return codes


def _as_list(values: Iterable[Any], name: str) -> list[Any]:
    if isinstance(values, str):
        raise ValueError(f"{name} is the string {values!r}: pass a list")
    return list(values)


def _of_length(n: int, values: Iterable[Any], name: str) -> list[Any]:
    values = _as_list(values, name)
    if len(values) != n:
        raise ValueError(f"{n} codes came with {len(values)} {name}: pass one for each code")
    return values


def _as_ids(ids: Iterable[Id]) -> list[Id]:
    return [_as_id(id) for id in _as_list(ids, "ids")]


def _as_id(id: object) -> Id:
    if isinstance(id, str):
        return str(id)
    if isinstance(id, int | np.integer) and not isinstance(id, bool) and -(2**63) <= id < 2**63 - 1:
        return int(id)
    raise ValueError(f"{id!r} cannot be an id: an id is a str, or an int of at most 64 bits")


def _as_text(text: object) -> str | None:
    if isinstance(text, str | None):
        return text
    raise ValueError(f"{text!r} cannot be a text: pass a str for each document, or None")


def _as_json(metadata: object) -> str:
    if not isinstance(metadata, dict):
        raise ValueError(f"{metadata!r} cannot be metadata: pass a dict for each document")
    try:
        return json.dumps(metadata, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the metadata {metadata!r} cannot be kept as JSON: {error}") from error


def _condition(where: Mapping[str, Any]) -> Callable[[dict[str, Any]], bool]:
    wanted = {key: _as_values(value) for key, value in where.items()}
    return lambda metadata: all(
        any(value in values for value in _as_values(metadata.get(key))) for key, values in wanted.items()
    )


def _as_values(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
