"""DocumentHasher: documents in, codes out. A feature maker and a hasher as one model."""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from itertools import chain
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import Tags
from sklearn.utils.metadata_routing import UNUSED
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ammi.digests import joint_digest
from ammi.displays import Html
from ammi.features import FeatureMaker, VectorFeatures, WordFeatures
from ammi.files import Files
from ammi.hashers.ammi import AMMI
from ammi.hashers.base import Hasher
from ammi.hashers.model import Model
from ammi.hashers.saving import model_to_files
from ammi.hashers.shown import model_html
from ammi.hashers.training_data import Scorer
from ammi.nets.matrix import Matrix, MatrixLike

Documents: TypeAlias = Any  # as the feature maker reads them: texts in any iterable, or the rows of a matrix
PartRows: TypeAlias = list[Matrix]  # the rows of documents, for each part of a model
View: TypeAlias = FeatureMaker | Callable[[Documents], MatrixLike] | MatrixLike


def _view(view: View, documents: Documents) -> MatrixLike:
    """Return a view's rows of the documents: itself, or what a feature maker or a function makes of them."""
    if isinstance(view, FeatureMaker):
        return clone(view).fit(documents).transform(documents)
    return view(documents) if callable(view) else view


def known_rows(rows: PartRows) -> NDArray[np.bool_]:
    """Return which documents have a row that is not zero, (n,)."""
    each = [X.any(axis=1) if isinstance(X, np.ndarray) else np.diff(X.indptr) > 0 for X in rows]
    return np.any(each, axis=0)


def _has_score(model: "DocumentHasher") -> bool:
    if model.hasher is not None and not hasattr(model.hasher, "score"):
        raise AttributeError(f"{type(model.hasher).__name__} has no score: measure codes with ammi.evaluate")
    return True


class DocumentHasher(Model):
    """Binary codes of documents.

    Documents are what the feature maker reads: texts, as strings in a list, an iterator, a pandas Series or an Arrow
    column; or with VectorFeatures the rows of a matrix.

    Args:
        hasher: any method of ammi.hashers; by default AMMI with 64 bits.
        features: makes rows of documents; by default ammi.features.WordFeatures.
        beside: a second model, whose bits follow those of the first in each code: a code of subjects, by words, with
            one of fidelity to an embedding beside it. `fit` fits both to the same documents.
    """

    # scikit-learn calls the documents X, so there is no metadata to route.
    __metadata_request__fit: ClassVar = {"documents": UNUSED}
    __metadata_request__transform: ClassVar = {"documents": UNUSED}
    __metadata_request__score: ClassVar = {"documents": UNUSED}

    def __init__(
        self,
        hasher: Hasher | None = None,
        features: FeatureMaker | None = None,
        *,
        beside: "DocumentHasher | None" = None,
    ):
        self.hasher = hasher
        self.features = features
        self.beside = beside

    @classmethod
    def of(cls, hasher: Hasher, features: FeatureMaker | None = None, beside: "DocumentHasher | None" = None) -> Self:
        """Return a model of fitted parts; a hasher without a feature maker takes vectors as they are."""
        check_is_fitted(hasher)
        if features is None:
            features = VectorFeatures().fit(np.zeros((1, hasher.n_features_in_)))
        check_is_fitted(features)
        if features.n_features_ != hasher.n_features_in_:
            raise ValueError(
                f"the features make rows of {features.n_features_} columns and the hasher reads "
                f"{hasher.n_features_in_}: pass those that it was fitted with"
            )
        model = cls(hasher, features, beside=beside)
        model.hasher_, model.features_, model.beside_ = hasher, features, beside
        return model

    def fit(
        self,
        documents: Documents,
        y: object = None,
        *,
        related: Documents | None = None,
        views: View | Sequence[View] | None = None,
        validation: tuple[Documents, Documents] | Scorer | None = None,
        **more: Any,
    ) -> Self:
        """Learn features and codes of documents, which are read twice; the content of an iterator is kept in memory.

        Args:
            y: labels of the documents, only for a validation with labels.
            related: for predictive hashing, a document related to each, one by one.
            views: other views of the same documents, one or a list, whose cosines help to find neighbours: a matrix,
                row for row; or a feature maker or a function that makes a matrix of the documents.
            validation: chooses the epoch to keep: (documents, labels), with `related` (documents, related documents),
                or a function of the hasher.
            more: further arguments of the hasher's `fit`, such as callbacks.
        """
        documents = list(documents) if isinstance(documents, Iterator) else documents
        # First, because an embedder that cannot be opened should not be noticed after an hour of training.
        self.beside_ = None if self.beside is None else clone(self.beside).fit(documents)
        self.features_: FeatureMaker = WordFeatures() if self.features is None else clone(self.features)
        self.hasher_ = AMMI() if self.hasher is None else clone(self.hasher)
        X = self.features_.fit(documents).transform(documents)
        if related is not None:
            more["related"] = self.features_.transform(related)
        if views is not None:
            several = views if isinstance(views, list | tuple) else [views]
            more["views"] = [_view(view, documents) for view in several]
        if isinstance(validation, tuple | list):
            held_out, target = validation
            target = target if related is None else self.features_.transform(target)
            more["validation"] = self.features_.transform(held_out), target
        elif validation is not None:
            more["validation"] = validation
        self.hasher_.fit(X, y, **more)
        return self

    def transform(self, documents: Documents) -> NDArray[np.uint8]:
        """Return the code of each document, (n, m) of 0 and 1."""
        return self._bits(self.rows(documents))

    def encode(self, documents: Documents) -> NDArray[np.uint8]:
        """Return the code of each document in ceil(m / 8) bytes, packed as numpy.packbits packs."""
        return self.encode_rows(self.rows(documents))

    def rows(self, documents: Documents) -> PartRows:
        """Return the rows that codes are made of, (n, V) for each of the parts."""
        documents = list(documents) if isinstance(documents, Iterator) else documents
        return [part.features_.transform(documents) for part in self.parts]

    def encode_rows(self, rows: PartRows) -> NDArray[np.uint8]:
        """Return the packed code of each document from its rows."""
        if len(rows) == 1 and rows[0].shape[0]:
            return self.hasher_.encode(rows[0])  # some methods do not need a byte for each bit
        return np.packbits(self._bits(rows), axis=1)

    @property
    def parts(self) -> "list[DocumentHasher]":
        """The models whose bits make up a code, in order: this one, and those beside it."""
        check_is_fitted(self, msg="this DocumentHasher has learned nothing yet: call fit first")
        return [self, *(self.beside_.parts if self.beside_ else [])]

    @available_if(_has_score)
    def score(self, documents: Documents, y: object = None) -> float:
        """Return the hasher's `score` of these documents: for AMMI the paper's difference of entropies, in bits."""
        return self.hasher_.score(self.parts[0].features_.transform(documents), y)

    def count_words(self, texts: list[str]) -> tuple[int, int] | None:
        """Return the number of words of texts, and of those that the model does not know; None if it has no words."""
        check_is_fitted(self)
        return self.features_.count_words(texts) if isinstance(self.features_, WordFeatures) else None

    def knows(self, document: object) -> bool:
        """Return whether the model knows a word of a text; if not, its code is that of an empty text."""
        return bool(known_rows(self.rows([document]))[0])

    @property
    def n_bits(self) -> int:  # type: ignore[override]
        """Length m of the codes."""
        return sum(part.hasher_.n_bits for part in self.parts)

    @property
    def reads(self) -> str:
        """The kind of document it reads: "text" or "vector"."""
        check_is_fitted(self)
        return self.features_.reads

    @property
    def fingerprint_(self) -> str:
        """A digest of everything that decides a code, different for every model."""
        digests = [(part.hasher_.fingerprint_, part.features_.fingerprint_) for part in self.parts]
        return joint_digest(*chain.from_iterable(digests))

    def describe(self) -> dict[str, Any]:
        """Return facts about features and hasher, for people to read; a second model's are named "beside"."""
        own = {**self.features_.describe(), **self.hasher_.describe()}
        about = own | {"bits": self.n_bits, "fingerprint": self.fingerprint_}
        return about | ({"beside": self.beside_.describe()} if self.beside_ else {})

    def to_files(self) -> Files:
        """Return the model as files by name: config.json, features/…, hasher/…, and SHA256SUMS with their digests."""
        check_is_fitted(self, msg="this DocumentHasher has learned nothing yet: call fit first")
        return model_to_files(self)

    def _portable(self) -> "DocumentHasher":
        """Return a model without a cache of embeddings; refuse one whose embedder is a folder of this machine."""
        features = copy(self.features_)
        embedder = features.describe().get("embedder")
        if embedder is not None and Path(str(embedder)).is_dir():
            raise ValueError(
                f"the embedder of this model is the folder {embedder}, which others do not have: fit it again with the "
                "name of an embedding model of the Hub"
            )
        if getattr(features, "cache", None) is not None:
            features.cache = None
        return DocumentHasher.of(self.hasher_, features, self.beside_ and self.beside_._portable())

    def _html(self) -> list[Html]:
        return model_html(self)

    def _bits(self, rows: PartRows) -> NDArray[np.uint8]:
        each = zip([part.hasher_ for part in self.parts], rows, strict=True)
        return np.hstack(
            [hasher.transform(X) if X.shape[0] else np.zeros((0, hasher.n_bits), np.uint8) for hasher, X in each]
        )

    @property
    def n_features_in_(self) -> int:
        """The width of the vectors it was fitted to; a model of texts has none."""
        return self.features_.n_features_in_

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The names of the columns of a DataFrame of vectors it was fitted to."""
        return self.features_.feature_names_in_

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "hasher_") and hasattr(self, "features_") and hasattr(self, "beside_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        features = WordFeatures() if self.features is None else self.features
        tags.input_tags = features.__sklearn_tags__().input_tags
        return tags
