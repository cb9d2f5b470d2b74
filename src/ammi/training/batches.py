"""Shuffled batches of documents, alone or each with a related one."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ammi.nets.matrix import Matrix
from ammi.nets.rows import Rows, to_rows

Numbers = NDArray[np.integer]  # of rows


class Batch(NamedTuple):
    """Documents y and, for each, a related document x; x is None if there are no pairs."""

    y: Rows
    x: Rows | None
    size: int


class Batches:
    """Every document once an epoch, in random order; the last batch may be smaller.

    Args:
        Y: the documents, a CSR matrix or an array.
        X: their related documents, row for row.
        batch_size: documents in a batch.
        rows: the numbers of the rows to train on; all of them by default.
        neighbours: instead of X, the numbers (n, k) of rows of Y near each row, the nearest first; each time a
            document is drawn, one of its neighbours is drawn as its related document.
        sampling_exponent: the neighbour has the rank ⌊k u**exponent⌋ for a uniform u: 1 draws all equally often, more
            than 1 prefers near ones.
        word_dropout: share of the words left out of sparse rows, drawn anew each time.
        device: of the rows.
        rng: draws orders, neighbours and words.
    """

    def __init__(
        self,
        Y: Matrix,
        X: Matrix | None = None,
        *,
        batch_size: int,
        rows: Numbers | None = None,
        neighbours: Numbers | None = None,
        sampling_exponent: float = 1.0,
        word_dropout: float = 0.0,
        device: torch.device | None = None,
        rng: np.random.Generator,
    ):
        self.Y, self.X, self.neighbours, self.rng = Y, X, neighbours, rng
        self.sampling_exponent, self.word_dropout = sampling_exponent, word_dropout
        self.rows = np.arange(Y.shape[0]) if rows is None else rows
        self.batch_size = batch_size
        self.device = device or torch.device("cpu")

    @property
    def n_documents(self) -> int:
        return len(self.rows)

    def draw(self) -> tuple[Numbers, Numbers | None]:
        """Draw the documents of an epoch in their order, and the related one of each: a row of X, or else of Y."""
        y = self.rng.permutation(self.rows)
        if self.neighbours is None:
            return y, None if self.X is None else y
        return y, self.neighbours[y, self._ranks(self.neighbours.shape[1])].astype(np.int64)

    def _ranks(self, k: int) -> Numbers:
        """Draw which of its k neighbours each document is paired with."""
        if self.sampling_exponent == 1:
            return self.rng.integers(k, size=self.n_documents)
        return (k * self.rng.random(self.n_documents) ** self.sampling_exponent).astype(np.int64)

    def __iter__(self) -> Iterator[Batch]:
        y, x = self.draw()
        related = self.Y if self.X is None else self.X
        for start in range(0, self.n_documents, self.batch_size):
            batch = slice(start, start + self.batch_size)
            read_y = self._read(self.Y, y[batch])
            yield Batch(read_y, None if x is None else self._read(related, x[batch]), len(y[batch]))

    def _read(self, documents: Matrix, rows: Numbers) -> Rows:
        chosen = documents[rows]
        if self.word_dropout and not isinstance(chosen, np.ndarray):
            chosen = _keep_entries(chosen, self.rng.random(chosen.nnz) >= self.word_dropout)
        return to_rows(chosen, self.device, gradient=True)


def _keep_entries(rows: csr_matrix, kept: NDArray[np.bool_]) -> csr_matrix:
    """Return rows with a part of their entries."""
    starts = np.concatenate(([0], np.cumsum(kept)))[rows.indptr].astype(rows.indptr.dtype)
    return csr_matrix((rows.data[kept], rows.indices[kept], starts), shape=rows.shape)
