"""The metadata of all documents as columns in memory: counts of values, histograms, and orders of documents.

A filter is a condition on each of some keys, so that `filters.holds` is asked once for each distinct value of a key
and not for each document: the documents that pass are exactly those of every store.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.plain import Metadata, as_json
from ammi.search.bins import Bin, bin_number, edges_of, is_date
from ammi.search.documents import Id, id_key
from ammi.search.filters import Filter, holds, values_of
from ammi.search.stopping import check_stopped

MOST_DOCUMENTS = 1_000_000
MOST_CELLS = 50_000_000  # documents times keys: 200 MB
_FEW = 12  # distinct numbers that are counted one by one
_UNIQUE = 0.9  # share of the documents whose value no other one has, from which on a key names documents

Mask = NDArray[np.bool_]  # (n,) of documents
Rows = NDArray[np.int64]  # numbers of documents, in insertion order from 0


class Counted(NamedTuple):
    """A value, the number of selected documents that have it, and of all."""

    value: str | int | float | bool
    selected: int
    all: int


class Facet(NamedTuple):
    """The values of a key in a selection: the most frequent ones, or a histogram."""

    key: str
    kind: str  # "category", "number", "date"; "text" for values that name documents
    documents: int  # selected ones with a value
    distinct: int  # values there are, that contain the wanted text if there is one
    values: list[Counted]
    bins: list[Bin]


class Column:
    """The values of a key: distinct ones, the first of which is None, and for each document the number of its value."""

    def __init__(self, values: list[Any], numbers: NDArray[np.int32]):
        self.values, self.numbers = values, numbers

    @cached_property
    def _parts(self) -> tuple[list[Any], NDArray[np.int64], NDArray[np.int64]]:
        """Return the scalars that values are, or that their items are, and pairs: a value, and a scalar that it has."""
        known: dict[object, int] = {}
        scalars: list[Any] = []
        pairs: list[tuple[int, int]] = []
        for number, value in enumerate(self.values):
            each = value if isinstance(value, list) else [value]
            own = {_identity(one): one for one in each if isinstance(one, str | int | float)}
            for identity, one in own.items():
                scalar = known.setdefault(identity, len(scalars))
                if scalar == len(scalars):
                    scalars.append(one)
                pairs.append((number, scalar))
        both = np.array(pairs, np.int64).reshape(-1, 2)
        return scalars, both[:, 0], both[:, 1]

    @property
    def scalars(self) -> list[Any]:
        """The distinct values that filters can ask for: values, or the items of lists."""
        return self._parts[0]

    def counts_of_scalars(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many documents have each scalar, from how many have each value."""
        _, values, scalars = self._parts
        return np.bincount(scalars, counts[values], len(self.scalars)).astype(np.int64)

    @cached_property
    def kind(self) -> str:
        """Return how to show the values: "category", "number", "date", or "text" for values that name documents."""
        n = len(self.scalars)
        numbers = sum(isinstance(one, int | float) and not isinstance(one, bool) for one in self.scalars)
        if n > _FEW and numbers > n / 2:
            return "number"
        if n > 1 and sum(isinstance(one, str) and is_date(one) for one in self.scalars) > n / 2:
            return "date"
        return "text" if n > _FEW and n > _UNIQUE * np.count_nonzero(self.numbers) else "category"

    @cached_property
    def _bins(self) -> tuple[list[Any], NDArray[np.int64], NDArray[np.int64]]:
        """Return the edges of a histogram, and pairs: a value, and a bin in which it, or an item of it, lies."""
        if self.kind not in ("number", "date"):
            return [], np.empty(0, np.int64), np.empty(0, np.int64)
        scalars, of_value, of_scalar = self._parts
        every = self.counts_of_scalars(np.bincount(self.numbers, minlength=len(self.values)))
        edges = edges_of(self.kind, scalars, every)
        bin_of = np.array([bin_number(self.kind, edges, one) for one in scalars])
        pairs = np.unique(np.stack([of_value, bin_of[of_scalar]], axis=1), axis=0)
        pairs = pairs[pairs[:, 1] >= 0]
        return edges, pairs[:, 0], pairs[:, 1]

    def bins(self, selected: NDArray[np.int64], every: NDArray[np.int64]) -> list[Bin]:
        """Return the histogram of numbers or dates, from how many documents have each value."""
        edges, values, bins = self._bins
        n = max(len(edges) - 1, 0)
        counts, alls = (np.bincount(bins, one[values], n).astype(int).tolist() for one in (selected, every))
        return [Bin(*one) for one in zip(edges[:-1], edges[1:], counts, alls, strict=True)]

    @cached_property
    def labels(self) -> list[str]:
        """The scalars as one looks for them."""
        return [(str(one).lower() if isinstance(one, bool) else str(one)).casefold() for one in self.scalars]

    @cached_property
    def scalar_rank(self) -> NDArray[np.int64]:
        """The position of each scalar in order."""
        order = sorted(range(len(self.scalars)), key=lambda number: _sortable(self.scalars[number]))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        return rank

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """The position of each distinct value in order: numbers, texts, others; documents without a value last."""
        order = sorted(range(1, len(self.values)), key=lambda number: _sortable(self.values[number]))
        rank = np.empty(len(self.values), np.int64)
        rank[order] = np.arange(len(order))
        rank[0] = len(order)
        return rank


class Columns:
    """The ids and metadata of a collection's documents.

    Args:
        blocks: ids and metadata, in insertion order.
    """

    def __init__(self, blocks: Iterable[Sequence[tuple[Id, Metadata]]]):
        self.ids: list[Id] = []
        numbers: dict[str, array[int]] = {}
        known: dict[str, dict[object, int]] = {}
        values: dict[str, list[Any]] = {}
        for block in blocks:
            check_stopped()
            for row, (_, metadata) in enumerate(block, len(self.ids)):
                for key, value in metadata.items():
                    if value is None or value == []:
                        continue
                    if key not in numbers:
                        numbers[key], known[key], values[key] = array("i"), {}, [None]
                    number = known[key].setdefault(_identity(value), len(values[key]))
                    if number == len(values[key]):
                        values[key].append(value)
                    column = numbers[key]
                    if len(column) < row:
                        column.frombytes(bytes(4 * (row - len(column))))
                    column.append(number)
            self.ids += [id for id, _ in block]
            if len(self.ids) > MOST_DOCUMENTS or len(self.ids) * len(numbers) > MOST_CELLS:
                raise ValueError(
                    f"tables and counts are made of {MOST_DOCUMENTS:,} documents at most, and of {MOST_CELLS:,} "
                    "documents times keys: this collection is larger"
                )
        self._columns: dict[str, Column] = {}
        for key in sorted(numbers):
            column = numbers[key]
            column.frombytes(bytes(4 * (len(self.ids) - len(column))))
            self._columns[key] = Column(values[key], np.frombuffer(column, np.int32))

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def keys(self) -> list[str]:
        """The metadata keys, sorted."""
        return [*self._columns]

    @cached_property
    def _row_of(self) -> dict[Id, int]:
        return {id_key(id): row for row, id in enumerate(self.ids)}

    def rows_of(self, ids: Iterable[Id]) -> Rows:
        """Return the rows of documents, in the order of their ids and without unknown ones."""
        rows = (self._row_of.get(id_key(id)) for id in ids)
        return np.fromiter((row for row in rows if row is not None), np.int64)

    def passing(self, filter: Filter) -> Mask:
        """Return which documents pass a filter."""
        mask = np.ones(len(self), np.bool_)
        for key, test in filter:
            column = self._columns.get(key)
            if column is None:
                mask &= holds(test, values_of(None))
            else:
                mask &= np.array([holds(test, values_of(value)) for value in column.values])[column.numbers]
        return mask

    def in_order(self, rows: Rows, key: str, *, descending: bool = False) -> Rows:
        """Return rows by the values of a key, those of one value as they come, and those without a value last."""
        column = self._columns.get(key)
        if column is None:
            raise ValueError(f"no document has the metadata key {key!r} to sort by: the keys are {_listed(self.keys)}")
        last = len(column.values)
        rank = np.where(column.rank == last - 1, last, -column.rank) if descending else column.rank
        return rows[np.argsort(rank[column.numbers[rows]], kind="stable")]

    def kind(self, key: str) -> str:
        """Return how to show the values of a key."""
        return self._columns[key].kind

    def documents(self, key: str) -> int:
        """Return how many documents have a value for a key."""
        return int(np.count_nonzero(self._columns[key].numbers))

    def facet(self, key: str, mask: Mask, contains: str = "", offset: int = 0, limit: int = 12) -> Facet:
        """Count the values of a key in a selection: `limit` values from `offset` on, those that contain a text; a
        histogram of numbers and dates."""
        column = self._columns.get(key)
        if column is None:
            raise ValueError(f"no document has the metadata key {key!r}: the keys are {_listed(self.keys)}")
        n = len(column.values)
        selected = np.bincount(column.numbers[mask], minlength=n)
        every = np.bincount(column.numbers, minlength=n)
        counts, alls = column.counts_of_scalars(selected), column.counts_of_scalars(every)
        order = np.lexsort((column.scalar_rank, -alls, -counts))
        if wanted := contains.casefold():
            order = order[np.array([wanted in label for label in column.labels], np.bool_)[order]]
        values = [
            Counted(column.scalars[scalar], int(counts[scalar]), int(alls[scalar]))
            for scalar in order[offset : offset + limit].tolist()
        ]
        bins = column.bins(selected, every)
        return Facet(key, column.kind, int(selected[1:].sum()), len(order), values, bins)


def _identity(value: Any) -> object:
    """Return a key that is equal for equal values of JSON; True is not 1."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return type(value), as_json({"": value})
    return float, value


def _sortable(value: Any) -> tuple[int, Any, str]:
    if isinstance(value, list):
        value = value[0]
    if isinstance(value, str):
        return 2, value.casefold(), value
    if isinstance(value, int | float):
        return 1, value, ""
    return 3, as_json({"": value}), ""


def _listed(keys: Sequence[str]) -> str:
    return ", ".join(keys[:20]) + (f" and {len(keys) - 20} more" if len(keys) > 20 else "") or "none"


def without(where: Mapping[str, object] | None, key: str) -> dict[str, object] | None:
    """Return a filter without its conditions on a key."""
    return {name: wanted for name, wanted in (where or {}).items() if name != key} or None
