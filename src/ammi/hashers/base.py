"""The interface of every hasher: a scikit-learn transformer from rows to bits that can be saved."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ammi.digests import arrays_digest
from ammi.displays import Html
from ammi.files import Files
from ammi.hashers.hyperplanes import HyperplaneNames
from ammi.hashers.model import Model
from ammi.hashers.parameters import check_parameters, estimator, in_words, parameter
from ammi.hashers.saving import hasher_to_files
from ammi.hashers.shown import hasher_html
from ammi.nets.matrix import Matrix, MatrixLike, held_by_float32

MOST_BITS = 2**16

Bits = NDArray[np.uint8]  # (n, m) of 0 and 1, or packed (n, ceil(m / 8))
Arrays = Mapping[str, NDArray]
Facts = dict[str, Any]  # JSON that config.json holds beside the parameters


class Hasher(Model):
    """Rows in, codes out. A method derives from TrainedHasher or ProjectionHasher; this class is what they share."""

    n_features_in_: int
    predictive: ClassVar[bool] = False  # whether `fit` takes related documents
    keeps_cosines: ClassVar[bool] = False  # whether codes are near where the cosine of rows is high

    @abstractmethod
    def fit(self, X: MatrixLike, y: object = None) -> Self:
        """Learn from rows X (n, V), sparse or dense."""

    @abstractmethod
    def _bits(self, X: Matrix) -> Bits:
        """Return the codes (n, m) of checked rows."""

    @abstractmethod
    def _arrays(self) -> Arrays:
        """Return everything that decides a code, by name."""

    @abstractmethod
    def _restore(self, arrays: Arrays, facts: Facts) -> None:
        """Load arrays that `_arrays` gave; the parameters and n_features_in_ are set already."""

    def _facts(self) -> Facts:
        """Return facts that are saved with the model but decide no code."""
        return {}

    def _check_parameters(self) -> None:
        """Refuse parameters outside their ranges, and combinations that a method cannot work with."""

    def hyperplanes(self) -> HyperplaneNames | None:
        """Name the arrays that hold hyperplanes if each bit is the side of one that a row is on, else return None."""
        return None

    def transform(self, X: MatrixLike) -> Bits:
        """Return the code of each row, (n, m) of 0 and 1."""
        check_is_fitted(self)
        return self._bits(self._check_rows(X, reset=False))

    def encode(self, X: MatrixLike) -> Bits:
        """Return the code of each row in ceil(m / 8) bytes, packed as numpy.packbits packs."""
        return np.packbits(self.transform(X), axis=1)

    @property
    def fingerprint_(self) -> str:
        """A digest of the method and everything it learned, different for every model."""
        check_is_fitted(self)
        return arrays_digest(type(self).__name__, self._arrays())

    def describe(self) -> Facts:
        """Return fingerprint, method and parameters, for people to read."""
        check_is_fitted(self)
        about = {"fingerprint": self.fingerprint_, "bits": self.n_bits, "method": type(self).__name__}
        parameters = self.get_params(deep=False).items()
        return about | {name: in_words(value) for name, value in parameters if name not in ("n_bits", "device")}

    def to_files(self) -> Files:
        """Return the model as files by name: config.json, weights.safetensors, and SHA256SUMS with their digests."""
        check_is_fitted(self)
        return hasher_to_files(self)

    def _html(self) -> list[Html]:
        return [hasher_html(self)]

    def _check_rows(self, X: MatrixLike, *, reset: bool) -> Matrix:
        """Return X as a CSR matrix or an array of float32 or float64 that float32 can hold, copied only if it must."""
        return held_by_float32(validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@estimator
class SizedHasher(Hasher):
    """A hasher with a parameter for the length of its codes."""

    n_bits: int = parameter("length m of the codes.", default=64, whole=True, least=1, most=MOST_BITS, positional=True)
    random_state: int | np.random.RandomState | None = parameter(
        "the same number gives the same codes.",
        default=None,
        whole=True,
        least=0,
        most=2**32 - 1,
        types=(np.random.RandomState,),
        optional=True,
    )

    def _check_parameters(self) -> None:
        check_parameters(self)
