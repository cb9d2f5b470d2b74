"""Matrices of vectors, a row for each document, processed in blocks of rows; `matrix_files` reads them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ammi.data.documents import BLOCK_BYTES, BLOCK_DOCUMENTS, Document
from ammi.data.rows import BadRecordError, OnError, complaint
from ammi.data.sampling import uniform_sample
from ammi.plain import Id, Metadata

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Rows: TypeAlias = "NDArray[np.floating] | csr_matrix"  # (n, d)

_NUMBERS = "fiu"  # kinds of numpy's types


class SlicedRows(Protocol):
    """An array, a CSR matrix, or anything else whose rows are read a slice at a time."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def dtype(self) -> np.dtype: ...

    def __getitem__(self, rows: slice) -> Rows: ...


class VectorMatrix:
    """The rows of a matrix as documents, perhaps with ids, texts and metadata.

    A sparse matrix stays sparse. A row with NaN or infinity is a bad record, which is refused, or skipped and passed to
    `on_error`. A row of zeros is a vector like any other, though it has no direction: `zeros` is the number of them in
    the last pass over the rows.
    """

    def __init__(
        self,
        name: str,
        rows: SlicedRows,
        *,
        ids: Iterable[Id] | None = None,
        texts: Sequence[str] | None = None,
        columns: Mapping[str, NDArray] | None = None,
        on_error: OnError = "refuse",
    ):
        _check_matrix(name, rows)
        self.name, self._rows, self._texts, self._columns = name, rows, texts, columns or {}
        self._ids = None if ids is None else list(ids)
        if self._ids is not None and len(self._ids) != len(self):
            raise ValueError(f"{len(self)} vectors came with {len(self._ids)} ids: pass one for each")
        self._complain = complaint(on_error)
        self._sparse, self._type = hasattr(rows, "indptr"), _floating_type(rows.dtype)
        row_bytes = 1 if self._sparse else self.width * self._type.itemsize
        self._step = max(1, min(BLOCK_DOCUMENTS, BLOCK_BYTES // row_bytes))  # rows read at once
        self.zeros = 0

    def __len__(self) -> int:
        return self._rows.shape[0]

    @property
    def width(self) -> int:
        """Dimension of the vectors."""
        return self._rows.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """The type of the numbers."""
        return self._rows.dtype

    @property
    def keys(self) -> list[str]:
        """The metadata keys of the documents."""
        return list(self._columns)

    @property
    def numbered(self) -> bool:
        """Whether the rows have no ids but their numbers."""
        return self._ids is None

    def with_ids(self, ids: Iterable[Id]) -> Self:
        """Return the same rows under other ids."""
        return type(self)(
            self.name, self._rows, ids=ids, texts=self._texts, columns=self._columns, on_error=self._complain
        )

    def __iter__(self) -> Iterator[Document]:
        for documents, rows in self.blocks():
            vectors = rows if isinstance(rows, np.ndarray) else rows.toarray()
            for document, vector in zip(documents, vectors, strict=True):
                yield replace(document, vector=vector.copy())  # a view would keep the whole block in memory

    def blocks(self) -> Iterator[tuple[list[Document], Rows]]:
        """Yield blocks of documents without their vectors, and of the rows that are these vectors."""
        return ((self._documents(numbers), rows) for numbers, rows in self._blocks())

    def metadata(self) -> Iterator[Metadata]:
        """Yield the metadata of each document."""
        return (document.metadata for numbers, _ in self._blocks() for document in self._documents(numbers))

    def row_blocks(self) -> Iterator[Rows]:
        """Yield the rows alone, in blocks."""
        return (rows for _, rows in self._blocks())

    def in_memory(self, advance: Callable[[int], None] = lambda n_rows: None) -> Rows:
        """Return all rows at once, (n, d), to learn from; `advance` gets the number of rows of each block."""
        read = self._in_memory_sparse if self._sparse else self._in_memory_dense
        return read(advance)

    def sample(self, n: int, *, seed: int = 0) -> "tuple[VectorMatrix, int]":
        """Return a uniform sample of n rows, in memory and in order, and the number of rows it was drawn from.

        Rows with NaN or infinity are bad records and not drawn.
        """
        drawn = uniform_sample((number for numbers, _ in self._blocks() for number in numbers.tolist()), n, seed=seed)
        chosen = np.array(drawn.items, np.intp)
        parts = [self._rows[:0]]
        for start in range(0, len(self), self._step):
            inside = chosen[slice(*np.searchsorted(chosen, (start, start + self._step)))]
            parts.append(self._rows[start : start + self._step][inside - start])
        ids = chosen.tolist() if self._ids is None else [self._ids[number] for number in chosen]
        texts = None if self._texts is None else [self._texts[number] for number in chosen]
        columns = {name: column[chosen] for name, column in self._columns.items()}
        rows = _vstack(parts) if self._sparse else np.concatenate(parts)
        sample = VectorMatrix(self.name, rows, ids=ids, texts=texts, columns=columns, on_error=self._complain)
        return sample, drawn.seen

    def _in_memory_dense(self, advance: Callable[[int], None]) -> NDArray[np.floating]:
        X, n = np.empty((len(self), self.width), self._type), 0
        for rows in self.row_blocks():
            X[n : n + len(rows)] = rows
            n += len(rows)
            advance(len(rows))
        return X[:n]

    def _in_memory_sparse(self, advance: Callable[[int], None]) -> Rows:
        parts = [self._rows[:0].astype(self._type)]
        for rows in self.row_blocks():
            parts.append(rows)
            advance(rows.shape[0])
        return _vstack(parts)

    def _blocks(self) -> Iterator[tuple[NDArray[np.intp], Rows]]:
        """Yield blocks of row numbers, and of these rows as finite floating-point numbers in memory."""
        self.zeros = 0
        for start in range(0, len(self), self._step):
            rows = self._rows[start : start + self._step]
            rows = rows.astype(self._type) if self._sparse else np.array(rows, self._type)
            finite = _finite_rows(rows)
            for number in np.flatnonzero(~finite):
                self._complain(BadRecordError(f"{self.name} row {start + number} {_not_finite(rows[[number]])}"))
            rows = rows if finite.all() else rows[finite]
            if rows.shape[0]:
                self.zeros += _zero_rows(rows)
                yield start + np.flatnonzero(finite), rows

    def _documents(self, numbers: NDArray[np.intp]) -> list[Document]:
        rows = numbers.tolist()
        ids = rows if self._ids is None else [self._ids[row] for row in rows]
        texts = [None] * len(rows) if self._texts is None else [self._texts[row] for row in rows]
        columns = [column[numbers] for column in self._columns.values()]
        metadata = [dict(zip(self._columns, values, strict=True)) for values in zip(*columns, strict=True)]
        described = zip(ids, texts, metadata if columns else [{}] * len(rows), strict=True)
        return [Document(*about, numbered=self.numbered) for about in described]


def _vstack(parts: list[Rows]) -> Rows:
    from scipy.sparse import vstack

    return vstack(parts, format="csr")


def _check_matrix(name: str, rows: SlicedRows) -> None:
    if len(rows.shape) != 2:
        raise ValueError(
            f"{name} holds an array of shape {tuple(rows.shape)}: expected two dimensions, a row for each document"
        )
    if rows.dtype.kind not in _NUMBERS:
        raise ValueError(f"{name} holds values of type {rows.dtype}: expected numbers")
    if not rows.shape[1]:
        raise ValueError(f"{name} holds vectors of no numbers: expected one column or more")


def _floating_type(dtype: np.dtype) -> np.dtype:
    """Return float32 for types that it holds exactly, such as float16 and int8, else float64."""
    return np.dtype(np.float32 if np.can_cast(dtype, np.float32) else np.float64)


def _finite_rows(rows: Rows) -> NDArray[np.bool_]:
    """Return which rows hold only finite numbers."""
    if isinstance(rows, np.ndarray):
        return np.asarray(np.isfinite(rows).all(axis=1))
    finite = np.ones(rows.shape[0], bool)
    wrong = np.flatnonzero(~np.isfinite(rows.data))
    finite[np.searchsorted(rows.indptr, wrong, side="right") - 1] = False
    return finite


def _not_finite(row: Rows) -> str:
    values = row.ravel() if isinstance(row, np.ndarray) else row.data
    wrong = values[~np.isfinite(values)][0]
    return f"holds {'NaN' if np.isnan(wrong) else wrong}: expected finite numbers, so fill it or drop the row"


def _zero_rows(rows: Rows) -> int:
    """Count the rows that are zero."""
    nonzero = rows.any(axis=1) if isinstance(rows, np.ndarray) else np.asarray(abs(rows).sum(axis=1))
    return rows.shape[0] - int(np.count_nonzero(nonzero))
