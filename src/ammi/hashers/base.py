"""What every hasher is: a scikit-learn transformer from rows to bits that can be saved as a folder."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data


class Hasher(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Rows in, codes out. A method defines fit, _bits, and what it learned as arrays."""

    n_bits: int
    n_features_in_: int

    @abstractmethod
    def fit(self, X: Any, y: Any = None) -> "Hasher":
        """Learn from rows X (n, V), sparse or dense."""

    @abstractmethod
    def _bits(self, X: Any) -> NDArray[np.uint8]:
        """The codes (n, m) of checked rows."""

    @abstractmethod
    def _arrays(self) -> dict[str, NDArray]:
        """All that was learned, by name."""

    @abstractmethod
    def _set_arrays(self, arrays: Mapping[str, NDArray]) -> None:
        """Become the hasher that learned these arrays; the parameters and n_features_in_ are set already."""

    def transform(self, X: Any) -> NDArray[np.uint8]:
        """The code of each row, (n, m) of 0 and 1."""
        check_is_fitted(self)
        return self._bits(self._check_rows(X, reset=False))

    def encode(self, X: Any) -> NDArray[np.uint8]:
        """The code of each row in ceil(m / 8) bytes, packed as numpy.packbits packs."""
        return np.packbits(self.transform(X), axis=1)

    @property
    def fingerprint_(self) -> str:
        """What tells this model from any other: a digest of its kind and of all that it learned."""
        check_is_fitted(self)
        digest = hashlib.blake2b(type(self).__name__.encode(), digest_size=8)
        for name, array in sorted(self._arrays().items()):
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.hexdigest()

    def save(self, folder: str | Path) -> None:
        """Write the model as a folder of config.json and weights.safetensors; ammi.load(folder) reads it."""
        from ammi.hashers.saving import save

        check_is_fitted(self)
        save(self, Path(folder))

    def _check_rows(self, X: Any, *, reset: bool) -> Any:
        """X as a CSR matrix or an array of float32 or float64 without NaN and infinity, not copied where it is one."""
        return validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)

    def _check_n_bits(self) -> None:
        if not isinstance(self.n_bits, (int, np.integer)) or self.n_bits < 1:
            raise ValueError(f"n_bits must be a whole number from 1 up, got {self.n_bits!r}")

    @property
    def _n_features_out(self) -> int:
        return self.n_bits

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags
