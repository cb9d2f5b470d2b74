"""FeatureMaker: a scikit-learn transformer from documents to rows that is saved as files."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from ammi.files import Files

Documents: TypeAlias = Any  # texts or vectors in any container: lists, iterators, columns, arrays, CSR matrices, tables
Rows: TypeAlias = csr_matrix | NDArray[np.floating]  # (n, V), float32 or float64


class FeatureMaker(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Documents in, rows out.

    A subclass has a `name`, by which saved models find it, and says what a document is: a text or a vector. Its
    parameters are the arguments of its constructor, stored untouched; `fit` checks them.
    """

    name: ClassVar[str]
    reads: ClassVar[Literal["text", "vector"]]
    n_features_: int  # the number V of columns, set by `fit`

    # scikit-learn calls the documents X, so there is nothing to route to the steps of a pipeline.
    __metadata_request__fit: ClassVar = {"documents": UNUSED}
    __metadata_request__transform: ClassVar = {"documents": UNUSED}

    @abstractmethod
    def fit(self, documents: Documents, y: object = None) -> Self:
        """Learn from documents; scikit-learn wants y, which is not used."""

    @abstractmethod
    def transform(self, documents: Documents) -> Rows:
        """Return a row for each document."""

    @abstractmethod
    def to_files(self) -> Files:
        """Return the files that a model keeps of it, by name: features.json, from `features_files`, and any others."""

    @classmethod
    @abstractmethod
    def from_files(cls, files: Mapping[str, bytes]) -> Self:
        """Return the fitted feature maker that `to_files` gave; `parse_features` reads features.json."""

    @property
    @abstractmethod
    def fingerprint_(self) -> str:
        """A digest of everything that decides a row: equal fingerprints mean equal rows."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return the facts that `ammi info` shows, as JSON values."""

    def _check_is_fitted(self) -> None:
        check_is_fitted(self, msg="this %(name)s has learned nothing yet: call fit first")

    @property
    def _n_features_out(self) -> int:
        return self.n_features_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = self.reads == "text"
        tags.input_tags.two_d_array = self.reads == "vector"
        tags.transformer_tags.preserves_dtype = []
        return tags
