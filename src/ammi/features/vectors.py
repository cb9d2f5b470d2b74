"""Vectors as they are: embeddings that a user has already, or any other rows of numbers."""

from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils import Tags, assert_all_finite, check_array
from sklearn.utils.validation import validate_data

from ammi.features.base import Documents, FeatureMaker, Rows
from ammi.features.saved import digest, features_files, parse_features
from ammi.files import Files


class VectorFeatures(OneToOneFeatureMixin, FeatureMaker):
    """Rows of numbers, passed on as they are: a 2-D array, a CSR matrix, a list of rows, or a DataFrame of numbers.

    It learns their width, and refuses rows of another width, NaN and infinity. float32 and float64 stay what they are.
    If the columns had names, scikit-learn warns of rows without names and refuses those with other names.
    """

    name = "vectors"
    reads = "vector"
    n_features_in_: int

    def fit(self, documents: Documents, y: object = None) -> Self:
        """Learn the width of the rows, and the names of their columns if they have names."""
        documents = _listed(documents)
        _finite_rows(documents, at_least=1)
        validate_data(self, documents, skip_check_array=True)
        self.n_features_ = self.n_features_in_
        return self

    def transform(self, documents: Documents) -> Rows:
        """Return the rows, not copied if they are an array or a CSR matrix of float32 or float64."""
        self._check_is_fitted()
        documents = _listed(documents)
        if isinstance(documents, list | tuple) and not documents:
            return np.empty((0, self.n_features_))
        X = _finite_rows(documents, at_least=0)
        validate_data(self, documents, reset=False, skip_check_array=True)
        return X

    @property
    def fingerprint_(self) -> str:
        self._check_is_fitted()
        return digest(self.name, str(self.n_features_))

    def describe(self) -> dict[str, object]:
        self._check_is_fitted()
        return {"units": self.name, "columns": self.n_features_}

    def to_files(self) -> Files:
        self._check_is_fitted()
        names = getattr(self, "feature_names_in_", None)
        return features_files(self, columns=self.n_features_, names=None if names is None else names.tolist())

    @classmethod
    def from_files(cls, files: Mapping[str, bytes]) -> Self:
        saved = parse_features(files, cls.name)
        maker = cls(**saved["parameters"])
        maker.n_features_ = maker.n_features_in_ = int(saved["columns"])
        if saved["names"] is not None:
            maker.feature_names_in_ = np.array(saved["names"], object)
        return maker

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _listed(documents: Documents) -> Documents:
    """Return a column whose cells are vectors, such as that of a DataFrame, as a list of them."""
    of_objects = getattr(getattr(documents, "dtype", None), "kind", None) == "O"
    return list(documents) if of_objects and documents.ndim == 1 else documents


def _finite_rows(documents: Documents, at_least: int) -> Rows:
    """Return the rows as an array or a CSR matrix of float32 or float64; refuse anything else."""
    if isinstance(documents, list | tuple):
        _check_widths(documents)
    try:
        X = check_array(
            documents,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_2d=False,
            allow_nd=True,
            ensure_all_finite=False,  # `_check_finite` names the row
            ensure_min_samples=at_least,
        )
    except ValueError as error:
        if not str(error).startswith("could not convert"):
            raise
        raise ValueError(f"{error}, expected numbers in every column: leave out those of text") from error
    if X.ndim != 2:
        raise ValueError(f"Reshape your data of shape {X.shape}: expected a row for each document, [vector] for one")
    _check_finite(X)
    return X


def _check_widths(rows: Sequence[object]) -> None:
    """Refuse rows of different widths in a list, and texts."""
    width = None
    for position, row in enumerate(rows):
        if isinstance(row, str):
            raise ValueError(f'row {position} is {row!r:.40}, expected numbers: use the features "words" for texts')
        if not hasattr(row, "__len__"):
            continue
        width = len(row) if width is None else width
        if len(row) != width:
            raise ValueError(f"row {position} has {len(row)} numbers, expected {width} as before: make them one width")


def _check_finite(X: Rows) -> None:
    try:
        assert_all_finite(X)
    except ValueError:
        values = X.ravel() if isinstance(X, np.ndarray) else X.data
        position = int(np.flatnonzero(~np.isfinite(values))[0])
        if isinstance(X, np.ndarray):
            row = position // X.shape[1]
        else:
            row = int(np.searchsorted(X.indptr, position, side="right")) - 1
        value = "NaN" if np.isnan(values[position]) else values[position]
        raise ValueError(f"row {row} holds {value}, expected finite numbers: fill it or drop the row") from None
