"""The nearest documents of each document by the cosine of their rows: pairs that the collection itself gives."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.preprocessing import normalize

from ammi.nets.matrix import Matrix

MOST_CANDIDATES = 20_000
_SIMILARITIES_AT_ONCE = 2**22


def nearest_documents(
    X: Matrix,
    k: int,
    among: NDArray[np.integer],
    rng: np.random.Generator,
    advance: Callable[[int], None] = lambda rows: None,
    views: Sequence[Matrix] = (),
) -> NDArray[np.int32]:
    """The row numbers (n, k) of the k rows nearest to each row of X, itself left out, the nearest first.

    They are looked for among at most MOST_CANDIDATES of the (sorted) rows `among`, drawn by chance, so that the time
    grows with the number of documents and not with its square, in blocks, so that memory stays small. `advance` is
    told the number of rows after each block. The nearest have the highest sum of the cosines of X and of each of the
    views, which are other rows of the same documents.
    """
    n, candidates = X.shape[0], among
    if len(among) > MOST_CANDIDATES:
        candidates = np.sort(rng.choice(among, MOST_CANDIDATES, replace=False))
    k = min(k, len(candidates) - 1)
    sides = [(rows, _unit_columns(rows[candidates])) for rows in (X, *views)]
    found = np.empty((n, k), dtype=np.int32)
    step = max(1, _SIMILARITIES_AT_ONCE // len(candidates))
    for start in range(0, n, step):
        similarity = _similarity(sides, slice(start, start + step))
        rows = np.arange(len(similarity))
        place = np.searchsorted(candidates, start + rows)
        itself = candidates[np.minimum(place, len(candidates) - 1)] == start + rows
        similarity[rows[itself], place[itself]] = -np.inf
        near = np.argpartition(-similarity, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(similarity, near, 1), axis=1, kind="stable")
        found[start : start + step] = candidates[np.take_along_axis(near, order, 1)]
        del similarity  # makes room for the next
        advance(len(rows))
    return found


def _unit_columns(rows: Matrix) -> Matrix:
    columns = normalize(rows).T
    return columns.tocsr() if issparse(columns) else columns


def _similarity(sides: Sequence[tuple[Matrix, Matrix]], block: slice) -> NDArray[np.floating]:
    """The sum over the views of the cosines (rows of the block, candidates)."""
    (X, columns), *others = sides
    rows = normalize(X[block]) if others else X[block]  # alone, a row's own length does not change its order
    total = _product(rows, columns)
    for view, view_columns in others:
        total += _product(normalize(view[block]), view_columns)
    return total


def _product(rows: Matrix, columns: Matrix) -> NDArray[np.floating]:
    product: Matrix = rows @ columns
    return product if isinstance(product, np.ndarray) else product.toarray()
