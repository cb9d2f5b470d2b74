"""Shuffled batches of documents, alone or each with a related one."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from ammi.nets.matrix import Matrix
from ammi.nets.rows import Rows, to_rows


class Batch(NamedTuple):
    """Documents y and, for each, a related document x; x is None where there are no pairs."""

    y: Rows
    x: Rows | None
    size: int


class Batches:
    """Every document once an epoch, in random order; the last batch is smaller where they do not divide.

    Args:
        Y: the documents, a CSR matrix or an array.
        X: their related documents, row for row.
        rows: the numbers of the rows to take; all of them by default.
        neighbours: instead of X, the numbers (n, k) of rows of Y near each row: one is drawn for each document.
    """

    def __init__(
        self,
        Y: Matrix,
        X: Matrix | None = None,
        *,
        batch_size: int,
        rows: NDArray[np.integer] | None = None,
        neighbours: NDArray[np.integer] | None = None,
        device: torch.device | None = None,
        rng: np.random.Generator,
    ):
        self.Y, self.X, self.neighbours, self.rng = Y, X, neighbours, rng
        self.rows = np.arange(Y.shape[0]) if rows is None else rows
        self.batch_size = batch_size
        self.device = device or torch.device("cpu")

    @property
    def n_documents(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Batch]:
        order = self.rng.permutation(self.rows)
        for start in range(0, self.n_documents, self.batch_size):
            rows = order[start : start + self.batch_size]
            yield Batch(to_rows(self.Y[rows], self.device, gradient=True), self._related(rows), len(rows))

    def _related(self, rows: NDArray[np.integer]) -> Rows | None:
        if self.X is not None:
            return to_rows(self.X[rows], self.device, gradient=True)
        if self.neighbours is not None:
            column = self.rng.integers(self.neighbours.shape[1], size=len(rows))
            return to_rows(self.Y[self.neighbours[rows, column]], self.device, gradient=True)
        return None
