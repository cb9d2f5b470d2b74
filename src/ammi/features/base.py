"""What every feature maker is: a scikit-learn transformer from documents to rows that can be saved as a folder."""

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.validation import check_is_fitted


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
    def save(self, folder: str | Path) -> None:
        """Write features.json, with `write_saved`, and what else is needed, into a folder."""

    @classmethod
    @abstractmethod
    def load(cls, folder: str | Path) -> Self:
        """What `save` wrote, read with `read_saved`; `load_features` does so for any kind, and finds damage."""

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
