"""STH: self-taught hashing. Codes of the training documents from their graph, then a linear SVM a bit for all others.

    min over Y of  Σ_ij W_ij ‖y_i - y_j‖²   with   Yᵀ D Y = I,  Yᵀ D 1 = 0

W joins near documents, D_ii = Σ_j W_ij. The columns of Y are the smallest generalised eigenvectors of L y = λ D y,
L = D - W, without the constant one: y = D^-1/2 u for the largest eigenvectors u of S = D^-1/2 W D^-1/2. Each column cut
at its median is a bit.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, diags_array
from scipy.sparse.linalg import LinearOperator, eigsh
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import LinearSVC
from sklearn.utils.extmath import svd_flip

from ammi.hashers.hyperplanes import Hyperplanes
from ammi.hashers.parameters import estimator, parameter
from ammi.hashers.projections import ProjectionHasher
from ammi.nets.matrix import Matrix
from ammi.training.progress import Lines, Silent

_ROUNDING = 1e-9
_SMALL_GRAPH = 500


@estimator
class STH(ProjectionHasher):
    """Self-taught hashing. n documents have n - 1 eigenvectors: bits beyond them are 0 everywhere."""

    neighbours: int = parameter(
        "near documents (cosine) that each document is joined with. Useful: 10 to 50.", default=25, whole=True, least=1
    )
    C: float = parameter("weight of the SVMs' errors against their margin. Useful: 0.03 to 1.", default=0.1, above=0)
    verbose: bool = parameter("show progress on standard error.", default=True, types=(bool, np.bool_))

    def learn(self, X: Matrix, rng: np.random.RandomState) -> Hyperplanes:
        seed = rng.randint(2**31)
        weights, thresholds = np.zeros((X.shape[1], self.n_bits), X.dtype), np.zeros(self.n_bits, X.dtype)
        with Lines("STH") if self.verbose else Silent() as shown:
            W = neighbour_graph(X, self.neighbours)
            codes = graph_codes(W, self.n_bits, np.random.default_rng(seed))
            X = X.astype(np.float64, copy=False)  # as the solver wants it, once for all bits
            advance = shown.part("bits", self.n_bits)
            for j, bit in enumerate(codes.T):
                if bit.any():  # a bit that is 0 for all documents needs no SVM
                    svm = LinearSVC(C=self.C, dual=False, tol=0.01).fit(X, bit)
                    weights[:, j], thresholds[j] = svm.coef_[0], -svm.intercept_[0]
                advance(1)
        return Hyperplanes(weights, thresholds)


def neighbour_graph(X: Matrix, k: int) -> csr_matrix:
    """Return W (n, n): the cosine of two rows if it is above 0 and one is among the k nearest of the other, else 0."""
    n = X.shape[0]
    if n < 2:
        return csr_matrix((n, n))
    W = NearestNeighbors(metric="cosine").fit(X).kneighbors_graph(n_neighbors=min(k, n - 1), mode="distance")
    W.data = (1 - W.data).clip(0)
    return W.maximum(W.T)


def graph_codes(W: csr_matrix, n_bits: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return the codes (n, m) of the documents of a graph: eigenvectors of its Laplacian, each cut at its median."""
    n = W.shape[0]
    codes = np.zeros((n, n_bits), dtype=bool)
    degree = np.asarray(W.sum(axis=1)).ravel()
    if not degree.any():
        return codes
    scale = np.divide(1, np.sqrt(degree), out=np.zeros(n), where=degree > 0)
    S = diags_array(scale) @ W @ diags_array(scale)
    constant = np.sqrt(degree / degree.sum())  # the u of the constant y; its eigenvalue 1 is moved to -1, the smallest
    found = min(n_bits, n - 1)
    if n <= max(_SMALL_GRAPH, 2 * found):
        eigenvalues, u = np.linalg.eigh(S.toarray() - 2 * np.outer(constant, constant))
    else:
        without = LinearOperator((n, n), lambda v: S @ v - 2 * constant * (constant @ v), dtype=np.float64)
        eigenvalues, u = eigsh(without, k=found, which="LA", v0=rng.standard_normal(n))
    y = scale[:, None] * svd_flip(u, None)[0]  # u and -u are both eigenvectors: the machine decides which is found
    informative = np.flatnonzero(np.abs(eigenvalues) > _ROUNDING)[::-1][:found]  # the others are arbitrary
    codes[:, : len(informative)] = y[:, informative] > np.median(y[:, informative], axis=0)
    return codes
