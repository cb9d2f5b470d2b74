"""Selections of a served collection: their documents, counts and orders, and changes that can be undone."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from ammi.collection import Collection
from ammi.data import Document, KnownCode
from ammi.explore.regions import in_region
from ammi.plain import as_json
from ammi.search import Entry, filters
from ammi.search.columns import Columns, Facet, Rows
from ammi.search.documents import Id
from ammi.search.store_methods import ChangeKey
from ammi.web.guard import Refusal
from ammi.web.live import LiveExplorer
from ammi.web.table_schemas import MOST_CHANGED, MOST_FOUND, ChangeRequest, FacetsRequest, Selection, TagRequest

_MOST_FACETS = 16
_MOST_AGE = 5.0  # seconds, if the store cannot tell whether documents were changed
_UNDOS, _UNDO_BYTES = 20, 64 << 20
_BYTES_BESIDE = 1000  # memory of a document beside its text and metadata
_FINEST = 65535  # of the coordinates of points, as the page has them


class Tables:
    """The documents of a collection as a table, which is read again after each change."""

    def __init__(self, collection: Collection, live: LiveExplorer):
        self._collection, self._store, self._live, self._lock = collection, collection.store, live, Lock()
        self._columns: Columns | None = None
        self._state: str | None = None
        self._read_at = 0.0
        self._undos: OrderedDict[str, _Undo] = OrderedDict()

    def columns(self) -> Columns:
        """Return the metadata of all documents, as they are now."""
        with self._lock, self._store.snapshot():
            state = self._store.state()
            is_old = state is None and time.monotonic() - self._read_at > _MOST_AGE
            if self._columns is None or state != self._state or is_old:
                self._columns = None  # which frees its memory first
                self._columns, self._state, self._read_at = (
                    Columns(self._store.metadata_blocks()),
                    state,
                    time.monotonic(),
                )
            return self._columns

    def rows(self, columns: Columns, selection: Selection, where: Mapping[str, Any] | None) -> Rows:
        """Return the selected documents with `where` for a filter, in the order of a search or as they were added."""
        if selection.text:
            hits = self._collection.search(selection.text, MOST_FOUND, where)
            having = [hit for hit in hits if hit.why and (hit.why.words or hit.why.parts.get("words", 0) > 0)]
            rows = columns.rows_of(hit.id for hit in having or hits)
        else:
            rows = np.flatnonzero(columns.passing(filters.parse(where)))
        for ids in (selection.ids, self._in_area(selection) if selection.has_area else None):
            if ids is not None:
                rows = rows[np.isin(rows, columns.rows_of(ids))]
        return rows

    def selected(self, selection: Selection) -> tuple[Columns, Rows]:
        """Return the table and the selected documents; refuse a filter that none can pass."""
        columns = self.columns()
        rows = self.rows(columns, selection, selection.where)
        filter = filters.parse(selection.where)
        if len(columns) and not len(rows) and not columns.passing(filter).any():
            problem = filters.complaint(filter, self._store.key_kinds())
            if problem:
                raise ValueError(problem)
        return columns, rows

    def facets(self, request: FacetsRequest) -> tuple[Columns, int, list[Facet]]:
        """Return the table, the number of selected documents, and counts of them.

        The filter on a key does not count for its own values, so that others can be chosen instead.
        """
        columns, rows = self.selected(request)
        whole = _mask(columns, rows)
        found = []
        for key in self._default_keys(columns) if request.keys is None else request.keys:
            mask = whole
            if request.where and key in request.where:
                others = {name: wanted for name, wanted in request.where.items() if name != key}
                mask = _mask(columns, self.rows(columns, request, others or None))
            page = request.offset, request.limit
            found.append(columns.facet(key, mask, request.contains, *page))
        return columns, len(rows), found

    def _default_keys(self, columns: Columns) -> list[str]:
        """Return keys whose values are worth to be counted: the indexed ones first, then those of many documents."""
        indexed = set(self._collection.indexed_keys())
        keys = [key for key in columns.keys if columns.kind(key) != "text"]
        return sorted(keys, key=lambda key: (key not in indexed, -columns.documents(key)))[:_MOST_FACETS]

    def _in_area(self, selection: Selection) -> list[Id]:
        """Return the documents of the map inside of the lasso and the region."""
        current = self._live.map()
        if current.map is None or current.state != "ready":
            raise Refusal(503, "the map is being computed: try again in a while", (b"retry-after", b"2"))
        chosen = np.ones(len(current.map.layout), np.bool_)
        if selection.region is not None:
            names = [" ".join(region.words) for region in current.map.regions]
            if selection.region not in names:
                raise Refusal(404, f"the map has no region {selection.region!r:.60}")
            chosen &= in_region(names.index(selection.region), current.map.region_of, current.map.regions)
        if selection.lasso is not None:
            line = np.array(selection.lasso).reshape(-1, 2)
            places = (np.round(current.map.layout * _FINEST) / _FINEST).astype(np.float32).astype(float)
            chosen &= _inside(places, line)
        return current.explorer.sample.ids_of(np.flatnonzero(chosen))

    def tag(self, request: TagRequest, key: ChangeKey | None) -> tuple[int, str | None]:
        """Add a tag to the selected documents, or take it away; return how many changed, and what undoes it."""
        if (outcome := self._outcome(key)) is not None:
            return outcome, None
        ids, undo = self._to_change(request), list[_Undo]()

        def change() -> int:
            changed = self._set_tag(ids, request.key, request.tag, remove=request.remove)
            size = sum(len(str(id)) + _BYTES_BESIDE // 10 for id in changed)
            undo.append(
                _Undo(size, lambda: self._undo_tag(changed, request.key, request.tag, remove=not request.remove))
            )
            return len(changed)

        return self._store.once(key, change), self._keep(undo)

    def remove(self, request: ChangeRequest, key: ChangeKey | None) -> tuple[int, str | None]:
        """Delete the selected documents; return how many, and what brings them back."""
        if (outcome := self._outcome(key)) is not None:
            return outcome, None
        ids, undo, collection = self._to_change(request), list[_Undo](), self._collection

        def change() -> int:
            entries = collection.get(ids)
            size = sum(_size(entry) for entry in entries)
            if size > _UNDO_BYTES:
                raise Refusal(
                    413,
                    f"the documents have {size:,} bytes, and {_UNDO_BYTES:,} at most are kept to bring them back: "
                    "delete fewer at a time",
                )
            n_bits, fingerprint = collection.n_bits, collection.fingerprint
            collection.delete(entry.id for entry in entries)
            undo.append(_Undo(size, lambda: self._bring_back(entries, n_bits, fingerprint)))
            return len(entries)

        return self._store.once(key, change), self._keep(undo)

    def undo(self, token: str) -> tuple[int, list[Id]]:
        """Take back a change; return how many documents are as before, and those that could not be."""
        with self._lock:
            found = self._undos.get(token)
        if found is None:
            raise Refusal(404, "this change cannot be undone: it was undone before, or the server has forgotten it")
        outcome = found.run()
        with self._lock:
            self._undos.pop(token, None)
        return outcome

    def _outcome(self, key: ChangeKey | None) -> int | None:
        return None if key is None else self._store.outcome(key)

    def _to_change(self, request: ChangeRequest) -> list[Id]:
        """Return the selected documents; not inside of a transaction, whose state is not that of what it reads."""
        columns, rows = self.selected(request)
        if len(rows) != request.expected:
            raise ValueError(
                f"{len(rows):,} documents are selected now, and {request.expected:,} were expected: look at them again"
            )
        if len(rows) > MOST_CHANGED:
            raise Refusal(413, f"{len(rows):,} documents are selected: change {MOST_CHANGED:,} at most at a time")
        return [columns.ids[row] for row in rows.tolist()]

    def _set_tag(self, ids: list[Id], key: str, tag: str, *, remove: bool) -> list[Id]:
        """Add a tag to documents, or take it away; return those that changed."""
        new: dict[Id, dict[str, list[str] | None]] = {}
        for entry in self._collection.get(ids):
            old = entry.metadata.get(key)
            tags = [] if old is None else [old] if isinstance(old, str) else old
            if not isinstance(tags, list):
                raise ValueError(f"document {entry.id!r} has {old!r:.40} for {key!r}, which is no tag: use another key")
            if (tag in tags) == remove:
                changed = [one for one in tags if one != tag] if remove else [*tags, tag]
                new[entry.id] = {key: changed or None}
        if new:
            self._collection.set_metadata(list(new), list(new.values()))
        return list(new)

    def _undo_tag(self, ids: list[Id], key: str, tag: str, *, remove: bool) -> tuple[int, list[Id]]:
        there, gone = self._known(ids)
        return len(self._set_tag(there, key, tag, remove=remove)), gone

    def _bring_back(self, entries: list[Entry], n_bits: int, fingerprint: str | None) -> tuple[int, list[Id]]:
        """Add documents as they were, whole, but for those whose ids others have used since."""
        there, gone = self._known([entry.id for entry in entries])
        missing = set(gone)
        documents = [
            Document(
                entry.id,
                entry.text,
                entry.metadata,
                vector=entry.vector,
                code=KnownCode(entry.code, n_bits, fingerprint or ""),
                json=as_json(entry.metadata),
            )
            for entry in entries
            if entry.id in missing
        ]
        if documents:
            self._collection.add_once(documents)
        return len(documents), there

    def _known(self, ids: list[Id]) -> tuple[list[Id], list[Id]]:
        """Return which documents exist, and which do not."""
        codes = self._store.codes_of(ids)
        there = [id for id, code in zip(ids, codes, strict=True) if code is not None]
        return there, [id for id, code in zip(ids, codes, strict=True) if code is None]

    def _keep(self, undo: "list[_Undo]") -> str | None:
        """Remember how to undo a change; forget the oldest ones."""
        if not undo:
            return None
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._read_at = 0.0
            self._undos[token] = undo[0]
            while len(self._undos) > _UNDOS or sum(one.size for one in self._undos.values()) > _UNDO_BYTES:
                self._undos.popitem(last=False)
        return token


class _Undo(NamedTuple):
    """What takes back a change, and the bytes that it holds."""

    size: int
    run: Callable[[], tuple[int, list[Id]]]


def _mask(columns: Columns, rows: Rows) -> np.ndarray:
    mask = np.zeros(len(columns), np.bool_)
    mask[rows] = True
    return mask


def _inside(places: np.ndarray, line: np.ndarray) -> np.ndarray:
    """Return which places are inside of a closed line: a ray to the right crosses it an odd number of times."""
    x, y = places.T
    odd = np.zeros(len(places), np.bool_)
    for (x1, y1), (x2, y2) in zip(line, np.roll(line, 1, axis=0), strict=True):
        if y1 != y2:
            odd ^= ((y1 > y) != (y2 > y)) & (x < (x2 - x1) * (y - y1) / (y2 - y1) + x1)
    return odd


def _size(entry: Entry) -> int:
    vector = 0 if entry.vector is None else entry.vector.nbytes
    return 4 * len(entry.text or "") + 4 * len(as_json(entry.metadata)) + vector + _BYTES_BESIDE
