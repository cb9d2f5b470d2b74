"""What tells data and models from any other: short digests."""

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def matrix_digest(X: Any) -> str:
    """The digest of a matrix, sparse (CSR) or dense."""
    digest = hashlib.blake2b(str(X.shape).encode(), digest_size=8)
    for array in (X.indptr, X.indices, X.data) if hasattr(X, "indptr") else (X,):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def arrays_digest(kind: str, arrays: Mapping[str, NDArray]) -> str:
    """The digest of named arrays, and of what they belong to."""
    digest = hashlib.blake2b(kind.encode(), digest_size=8)
    for name, array in sorted(arrays.items()):
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def joint_digest(*digests: str) -> str:
    """The digest of digests."""
    return hashlib.blake2b(" ".join(digests).encode(), digest_size=8).hexdigest()
