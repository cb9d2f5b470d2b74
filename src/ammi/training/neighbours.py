"""The nearest documents of each document: pairs that the collection itself gives.

Near means a high sum of cosines: of the documents' rows, of a truncated SVD of sparse ones, which knows that different
words go together, of further views, and of the codes that a first model gives them. FAISS finds candidates by all that
is dense, and the cosines of sparse rows are added to theirs.
"""

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import faiss
import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, issparse
from sklearn.preprocessing import normalize
from sklearn.utils.extmath import randomized_range_finder

from ammi.nets.matrix import Matrix

EXACT = 50_000  # documents among which all are compared; beyond, those of the nearest cells
_CANDIDATES = 100  # at least, and three for each two neighbours
_CELLS_LOOKED_AT = 16
_SAMPLE = 20_000  # documents that the SVD is learned from
_ROWS_AT_ONCE = 4096

Dense = NDArray[np.float32]


class _Weights(NamedTuple):
    """What counts how much beside the codes of a first model, whose cosine has the weight 1."""

    rows: float
    svd: float
    dimensions: int


_ALONE = _Weights(rows=1.0, svd=1.0, dimensions=100)
_BESIDE_CODES = _Weights(rows=0.5, svd=1 / 3, dimensions=50)


def nearest_documents(
    X: Matrix,
    k: int,
    among: NDArray[np.integer],
    rng: np.random.Generator,
    advance: Callable[[int], None] = lambda rows: None,
    views: Sequence[Matrix] = (),
    codes: Dense | None = None,
) -> NDArray[np.int32]:
    """The row numbers (n, k) of the k rows nearest to each row of X, itself left out, the nearest first.

    Args:
        among: the (sorted) rows that are compared; those of other rows are 0.
        advance: is told the number of rows after each block.
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
    found = np.zeros((X.shape[0], k), dtype=np.int32)
    vectors = np.hstack(dense)
    dense.clear()
    index = _index(vectors, rng)
    for start in range(0, len(among), _ROWS_AT_ONCE):
        block = np.arange(start, min(start + _ROWS_AT_ONCE, len(among)))
        found[among[block]] = among[_nearest(block, k, vectors, index, sparse)]
        advance(len(block))
    return found


def _nearest(
    block: NDArray[np.integer], k: int, vectors: Dense, index: "faiss.Index", sparse: Sequence[csr_matrix]
) -> NDArray[np.integer]:
    """The k nearest (B, k) of some rows."""
    n_candidates = min(len(vectors), max(_CANDIDATES, 3 * k // 2) + 1)
    similarity, candidates = index.search(vectors[block], n_candidates)
    for rows in sparse:
        _add_products_in_threads(rows, block, candidates, similarity)
    similarity[(candidates == block[:, None]) | (candidates < 0)] = -np.inf
    order = np.argsort(-similarity, axis=1, kind="stable")[:, :k]
    near = np.take_along_axis(candidates, order, 1)
    missing = np.isinf(np.take_along_axis(similarity, order, 1))  # the nearest cells have fewer than k
    return np.where(missing, np.where(missing[:, :1], block[:, None], near[:, :1]), near)


def _index(vectors: Dense, rng: np.random.Generator) -> "faiss.Index":
    n, width = vectors.shape
    exact = faiss.IndexFlatIP(width)
    if n <= EXACT:
        exact.add(vectors)
        return exact
    index = faiss.IndexIVFFlat(exact, width, int(4 * math.sqrt(n)), faiss.METRIC_INNER_PRODUCT)
    index.nprobe = _CELLS_LOOKED_AT
    index.cp.max_points_per_centroid = 40
    index.cp.seed = int(rng.integers(2**31))
    index.train(vectors)
    index.add(vectors)
    return index


def _unit(rows: Matrix) -> Matrix:
    """Rows that nobody else needs, of unit length."""
    return normalize(rows.astype(np.float32, copy=False), copy=False)


def _truncated_svd(rows: csr_matrix, dimensions: int, rng: np.random.Generator) -> Dense:
    sample = rows
    if rows.shape[0] > _SAMPLE:
        sample = rows[np.sort(rng.choice(rows.shape[0], _SAMPLE, replace=False))]
    dimensions = min(dimensions, min(sample.shape))
    seed = int(rng.integers(2**31))
    basis = randomized_range_finder(sample.T, size=dimensions, n_iter=4, random_state=seed)  # cosines need no more
    return np.asarray(rows @ basis, np.float32)


def _add_products_in_threads(
    rows: csr_matrix, block: NDArray[np.integer], candidates: NDArray[np.integer], similarity: Dense
) -> None:
    n_threads = faiss.omp_get_max_threads()
    parts = zip(*(np.array_split(whole, n_threads) for whole in (block, candidates, similarity)), strict=True)
    matrix = (rows.data, rows.indices, rows.indptr, rows.shape[1])
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(lambda part: _add_products(*matrix, *part), parts))


@njit(cache=True, nogil=True)
def _add_products(data, indices, indptr, n_columns, block, candidates, similarity):
    """Add to each similarity the product of a sparse row with that of a candidate."""
    row = np.zeros(n_columns, data.dtype)
    for i, number in enumerate(block):
        for place in range(indptr[number], indptr[number + 1]):
            row[indices[place]] = data[place]
        for j, candidate in enumerate(candidates[i]):
            if candidate >= 0:
                for place in range(indptr[candidate], indptr[candidate + 1]):
                    similarity[i, j] += data[place] * row[indices[place]]
        for place in range(indptr[number], indptr[number + 1]):
            row[indices[place]] = 0
