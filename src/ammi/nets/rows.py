"""Rows of a document matrix as tensors, and their product with a dense matrix.

tf-idf rows have some 70 words of ten thousand: sparse products and sparse gradients make training fast.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from scipy.sparse import csr_matrix
from torch import Tensor

from ammi.nets.matrix import Matrix

ROWS_AT_ONCE = 4096  # in passes over a whole collection


class Csr(NamedTuple):
    """A sparse matrix by rows: row i has values[s] in the columns indices[s], s from starts[i] to starts[i+1] - 1."""

    starts: Tensor
    indices: Tensor
    values: Tensor


class SparseRows(NamedTuple):
    """Sparse documents, by rows for the product and, for training, by columns for its gradient."""

    by_row: Csr
    by_column: Csr | None


Rows = Tensor | SparseRows


def to_rows(X: Matrix, device: torch.device, *, gradient: bool = False) -> Rows:
    """Return rows of a matrix as float32 on a device; `gradient` if weights are to be trained on them."""
    if isinstance(X, np.ndarray):
        return torch.as_tensor(np.ascontiguousarray(X, dtype=np.float32), device=device)
    return SparseRows(_to_csr(X, device), _to_csr(X.T.tocsr(), device) if gradient else None)


def row_blocks(X: Matrix, device: torch.device) -> Iterator[Rows]:
    """Yield all rows, a few thousand at a time."""
    for start in range(0, X.shape[0], ROWS_AT_ONCE):
        yield to_rows(X[start : start + ROWS_AT_ONCE], device)


def to_dense(rows: Rows, n_columns: int) -> Tensor:
    """Return rows as a dense tensor (B, V)."""
    if isinstance(rows, Tensor):
        return rows
    starts, indices, values = rows.by_row
    row_of_each = torch.repeat_interleave(starts.diff().long())
    dense = values.new_zeros(len(starts) - 1, n_columns)
    return dense.index_put_((row_of_each, indices.long()), values, accumulate=True)


def dense_blocks(rows: SparseRows, n_columns: int, size: int | None) -> Iterator[Tensor]:
    """Yield rows as dense tensors (at most `size`, V); None yields all at once."""
    starts, indices, values = rows.by_row
    n_rows = len(starts) - 1
    for first in range(0, n_rows, size or max(1, n_rows)):
        some = starts[first : first + (size or n_rows) + 1]
        entries = slice(int(some[0]), int(some[-1]))
        yield to_dense(SparseRows(Csr(some - some[0], indices[entries], values[entries]), None), n_columns)


def _to_csr(X: csr_matrix, device: torch.device) -> Csr:
    starts, indices = torch.from_numpy(X.indptr), torch.from_numpy(X.indices)
    values = torch.from_numpy(X.data.astype(np.float32, copy=False))
    return Csr(starts.to(device), indices.to(device), values.to(device))


def product(rows: Rows, weight: Tensor) -> Tensor:
    """Return rows @ weight, (B, V) times (V, H)."""
    return rows @ weight if isinstance(rows, Tensor) else _SparseProduct.apply(weight, rows)


class _SparseProduct(torch.autograd.Function):
    """X W with the gradient X^T G as a sparse product, too; torch's own would visit the entries one by one."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, rows: SparseRows) -> Tensor:
        ctx.by_column = rows.by_column
        return _weighted_sums(rows.by_row, weight)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return _weighted_sums(ctx.by_column, gradients[0].contiguous()), None


def _weighted_sums(sparse: Csr, dense: Tensor) -> Tensor:
    return F.embedding_bag(
        sparse.indices, dense, sparse.starts, mode="sum", per_sample_weights=sparse.values, include_last_offset=True
    )
