"""The nearest documents of each document: pairs that the collection itself gives.

Near means a high sum of cosines: of the documents' rows, of a truncated SVD of sparse rows, which knows that different
words go together, of further views, and of the codes that a first model gives them. FAISS finds candidates by all that
is dense, and the cosines of sparse rows are added to theirs.

Everything is computed in blocks of fixed rows, so that it does not depend on the number of threads.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import faiss
import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.linalg import lu, qr
from scipy.sparse import csr_matrix, issparse
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from ammi.nets.matrix import Matrix
from ammi.training.threads import blocks_of, for_each

EXACT = 50_000  # documents up to which all pairs are compared; beyond, documents of near cells
_CANDIDATES = 100  # at least, and three for each two neighbours
_NEAR_CELLS = 16
_POINTS, _ROUNDS = 30, 6  # k-means: points for each cell, and rounds
_SAMPLE = 20_000  # documents that the SVD is learned from
_POWERS = 4  # iterations of the SVD
_ROWS = 1024  # in a block

Dense = NDArray[np.float32]
Numbers = NDArray[np.integer]  # of rows


class _Weights(NamedTuple):
    """The weights of the cosines of rows and of their SVD; codes of a first model have the weight 1."""

    rows: float
    svd: float
    dimensions: int


_ALONE = _Weights(rows=1.0, svd=1.0, dimensions=100)
_BESIDE_CODES = _Weights(rows=0.5, svd=1 / 3, dimensions=50)


class _Cells(NamedTuple):
    """Rows of a large collection in cells of near rows, and the cells in which each row looks for neighbours."""

    members: Numbers  # (n,), the rows, cell after cell
    starts: Numbers  # (cells + 1,), of each cell among the members
    vectors: Dense  # (n, d), of the members
    near: Numbers  # (n, cells), of each member, the nearest cell first


@threadpool_limits.wrap(limits=1, user_api="blas")  # how BLAS splits a product changes its rounding
def nearest_documents(
    X: Matrix,
    k: int,
    among: Numbers,
    rng: np.random.Generator,
    advance: Callable[[int], None] = lambda rows: None,
    views: Sequence[Matrix] = (),
    codes: Dense | None = None,
) -> NDArray[np.int32]:
    """Return the row numbers (n, k) of the k rows nearest to each row of X, without itself, the nearest first.

    Args:
        among: the (sorted) rows that are compared; the neighbours of other rows are 0.
        advance: is called with the number of rows after each block.
        views: other rows of the same documents.
        codes: (n, m), the expected bits of a first model, from -1 to 1.
    """
    k = min(k, len(among) - 1)
    weights = _ALONE if codes is None else _BESIDE_CODES
    dense: list[Dense] = [] if codes is None else [_unit(codes[among])]
    sparse: list[csr_matrix] = []
    for rows in (X, *views):
        unit = _unit(rows[among])
        if issparse(unit):
            sparse.append(math.sqrt(weights.rows) * unit)
            dense.append(math.sqrt(weights.svd) * _unit(_truncated_svd(unit, weights.dimensions, rng)))
        else:
            dense.append(math.sqrt(weights.rows) * unit)
    vectors = np.hstack(dense)
    dense.clear()
    if len(vectors) <= EXACT:
        blocks = [np.arange(block.start, block.stop) for block in blocks_of(len(vectors), _ROWS)]
        candidates_of = partial(_candidates, vectors)
    else:
        cells = _cells(vectors, rng)
        blocks = [cells.members[block] for block in blocks_of(len(vectors), _ROWS)]
        candidates_of = partial(_candidates_in_cells, cells)
    n_candidates = min(len(vectors), max(_CANDIDATES, 3 * k // 2) + 1)

    def nearest(number: int) -> Numbers:
        return _nearest(blocks[number], k, sparse, *candidates_of(number, n_candidates))

    found = np.zeros((X.shape[0], k), dtype=np.int32)
    for block, near in zip(blocks, for_each(nearest, range(len(blocks))), strict=True):
        found[among[block]] = among[near]
        advance(len(block))
    return found


def _nearest(block: Numbers, k: int, sparse: Sequence[csr_matrix], similarity: Dense, candidates: Numbers) -> Numbers:
    """The k nearest (B, k) of the rows of a block among candidates (B, n); a candidate of -1 is none."""
    for rows in sparse:
        _add_products(rows.data, rows.indices, rows.indptr, rows.shape[1], block, candidates, similarity)
    similarity[(candidates == block[:, None]) | (candidates < 0)] = -np.inf
    order = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    near = np.take_along_axis(candidates, order, 1)
    # Near cells may hold fewer than k rows: the nearest one then stands for the others, or the row for itself.
    missing = np.isinf(np.take_along_axis(similarity, order, 1))
    return np.where(missing, np.where(missing[:, :1], block[:, None], near[:, :1]), near)


def _candidates(vectors: Dense, number: int, n: int) -> tuple[Dense, Numbers]:
    """The n highest products (B, n) of the rows of a block with all vectors, and the rows that have them."""
    block = slice(number * _ROWS, (number + 1) * _ROWS)
    return faiss.knn(vectors[block], vectors, n, metric=faiss.METRIC_INNER_PRODUCT)


def _candidates_in_cells(cells: _Cells, number: int, n: int) -> tuple[Dense, Numbers]:
    """The same with the vectors of near cells alone: one product for each cell and all rows that look there.

    FAISS's IndexIVFFlat compares the same vectors one by one, which takes several times as long.
    """
    block = slice(number * _ROWS, (number + 1) * _ROWS)
    queries, near = cells.vectors[block], cells.near[block]
    sizes = np.diff(cells.starts)[near]  # (B, cells)
    columns = np.cumsum(sizes, axis=1) - sizes
    similarity = np.full((len(near), max(n, int(sizes.sum(1).max()))), -np.inf, np.float32)
    places = np.argsort(near, axis=None, kind="stable")  # of rows and cells in `near`, cell after cell
    for asked in np.split(places, np.flatnonzero(np.diff(near.ravel()[places])) + 1):
        rows, cell = asked // near.shape[1], near.ravel()[asked[0]]
        products = queries[rows] @ cells.vectors[cells.starts[cell] : cells.starts[cell + 1]].T
        _scatter(products, rows, columns.ravel()[asked], similarity)
    best = np.argpartition(-similarity, n - 1, axis=1)[:, :n]
    return np.take_along_axis(similarity, best, 1), _rows_of(best, columns, sizes, near, cells.starts, cells.members)


@njit(cache=True, nogil=True)
def _scatter(products, rows, columns, similarity):
    for i in range(len(rows)):
        for j in range(products.shape[1]):
            similarity[rows[i], columns[i] + j] = products[i, j]


@njit(cache=True, nogil=True)
def _rows_of(best, columns, sizes, near, starts, members):
    """The row (B, n) of each column of similarities; -1 where a row has fewer columns."""
    rows = np.full(best.shape, -1, np.int64)
    for i in range(len(best)):
        for j in range(best.shape[1]):
            for place in range(near.shape[1]):
                offset = best[i, j] - columns[i, place]
                if 0 <= offset < sizes[i, place]:
                    rows[i, j] = members[starts[near[i, place]] + offset]
    return rows


def _cells(vectors: Dense, rng: np.random.Generator) -> _Cells:
    """Sort rows into cells, and find the nearest cells of each."""
    centres = _centres(vectors, int(4 * math.sqrt(len(vectors))), rng)
    near = _closest(vectors, centres, min(_NEAR_CELLS, len(centres)))
    members = np.argsort(near[:, 0], kind="stable")
    starts = np.searchsorted(near[members, 0], np.arange(len(centres) + 1))
    return _Cells(members, starts, vectors[members], near[members])


def _centres(vectors: Dense, n_cells: int, rng: np.random.Generator) -> Dense:
    """The centres of cells, by k-means on a sample, of unit length."""
    sample = vectors[rng.choice(len(vectors), min(len(vectors), _POINTS * n_cells), replace=False)]
    centres = _unit(sample[:n_cells].copy())
    for _ in range(_ROUNDS):
        cells = _closest(sample, centres, 1)[:, 0]
        ones = np.ones(len(sample), np.float32)
        is_member = csr_matrix((ones, (cells, np.arange(len(sample)))), (n_cells, len(sample)))
        sums = is_member @ sample
        is_empty = np.bincount(cells, minlength=n_cells) == 0
        sums[is_empty] = sample[rng.choice(len(sample), is_empty.sum(), replace=False)]
        centres = _unit(sums)
    return centres


def _closest(vectors: Dense, centres: Dense, k: int) -> Numbers:
    """The k centres (n, k) with the highest products with each vector."""

    def find(block: slice) -> Numbers:
        return faiss.knn(vectors[block], centres, k, metric=faiss.METRIC_INNER_PRODUCT)[1]

    return np.concatenate(list(for_each(find, blocks_of(len(vectors), _ROWS))))


def _unit(rows: Matrix) -> Matrix:
    """Scale rows to unit length; they are overwritten where they are of float32."""
    return normalize(rows.astype(np.float32, copy=False), copy=False)


def _truncated_svd(rows: csr_matrix, dimensions: int, rng: np.random.Generator) -> Dense:
    """Rows in the span of the first singular vectors, by randomised subspace iteration (Halko et al., 2011).

    Cosines need the span alone, so the singular vectors themselves are not computed.
    """
    sample = rows
    if rows.shape[0] > _SAMPLE:
        sample = rows[np.sort(rng.choice(rows.shape[0], _SAMPLE, replace=False))]
    turned = sample.T.tocsr()
    dimensions = min(dimensions, *sample.shape)
    basis = rng.standard_normal((sample.shape[0], dimensions), dtype=np.float32)
    for _ in range(_POWERS):  # LU keeps the columns apart, and is faster than QR
        basis = lu(_product(turned, basis), permute_l=True)[0]
        basis = lu(_product(sample, basis), permute_l=True)[0]
    return _product(rows, qr(_product(turned, basis), mode="economic")[0])


def _product(rows: csr_matrix, dense: Dense) -> Dense:
    """The product of sparse rows with a matrix, on all threads."""
    product = np.empty((rows.shape[0], dense.shape[1]), np.float32)
    dense = np.ascontiguousarray(dense, np.float32)
    arrays = rows.data, rows.indices, rows.indptr

    def multiply(block: slice) -> None:
        _multiply(*arrays, dense, product, block.start, block.stop)

    deque(for_each(multiply, blocks_of(len(product), _ROWS)), maxlen=0)
    return product


@njit(cache=True, nogil=True, fastmath=True)
def _multiply(data, indices, indptr, dense, product, first, last):
    for row in range(first, last):
        sums = product[row]
        for column in range(len(sums)):
            sums[column] = 0
        for place in range(indptr[row], indptr[row + 1]):
            value, factors = data[place], dense[indices[place]]
            for column in range(len(sums)):
                sums[column] += value * factors[column]


@njit(cache=True, nogil=True)
def _add_products(data, indices, indptr, n_columns, rows, candidates, similarity):
    """Add to each similarity the product of a sparse row with that of a candidate."""
    dense = np.zeros(n_columns, data.dtype)
    for i, row in enumerate(rows):
        for place in range(indptr[row], indptr[row + 1]):
            dense[indices[place]] = data[place]
        for j, candidate in enumerate(candidates[i]):
            if candidate < 0:
                continue
            for place in range(indptr[candidate], indptr[candidate + 1]):
                similarity[i, j] += data[place] * dense[indices[place]]
        for place in range(indptr[row], indptr[row + 1]):
            dense[indices[place]] = 0
