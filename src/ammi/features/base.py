"""What every feature maker is: a scikit-learn transformer from documents to rows that can be saved as files."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted

from ammi.files import Files


class FeatureMaker(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Documents in, rows out.

    A kind of features has a `name`, by which it is found again, and says what a document is for it: a text, or a
    vector. Its parameters are the arguments of its constructor, stored untouched; `fit` checks them.
    """

    name: ClassVar[str]
    reads: ClassVar[Literal["text", "vector"]]
    n_features_: int  # the number V of columns, known once it is fitted

    # Documents are what scikit-learn calls X, and nothing to route to the steps of a pipeline.
    __metadata_request__fit: ClassVar = {"documents": UNUSED}
    __metadata_request__transform: ClassVar = {"documents": UNUSED}

    @abstractmethod
    def fit(self, documents: Any, y: Any = None) -> Self:
        """Learn from documents; y is there for scikit-learn and not used."""

    @abstractmethod
    def transform(self, documents: Any) -> Any:
        """One row for each document: a CSR matrix or an array (n, V), of float32 or float64."""

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
        """A digest of all that decides a row: those with the same one make the same rows."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What there is to say about it in a few words and numbers, as JSON holds them."""

    def _check_is_fitted(self) -> None:
        check_is_fitted(self, msg="this %(name)s has learned nothing yet: call fit first")

    @property
    def _n_features_out(self) -> int:
        return self.n_features_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = self.reads == "text"
        tags.input_tags.two_d_array = self.reads == "vector"
        tags.transformer_tags.preserves_dtype = []
        return tags
