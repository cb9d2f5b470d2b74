"""Short digests, which tell data and models from any other."""

import hashlib
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def matrix_digest(X: "csr_matrix | NDArray") -> str:
    """Return the digest of a matrix, sparse (CSR) or dense."""
    digest = hashlib.blake2b(str(X.shape).encode(), digest_size=8)
    for array in (X,) if isinstance(X, np.ndarray) else (X.indptr, X.indices, X.data):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def arrays_digest(kind: str, arrays: Mapping[str, NDArray]) -> str:
    """Return the digest of named arrays and of the kind of model that they belong to."""
    digest = hashlib.blake2b(kind.encode(), digest_size=8)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def joint_digest(*digests: str) -> str:
    """Return the digest of digests."""
    return hashlib.blake2b(" ".join(digests).encode(), digest_size=8).hexdigest()
