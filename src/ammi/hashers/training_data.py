"""The arguments of `fit`, checked: documents, labels, related documents, views, a validation."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import check_array

from ammi.digests import joint_digest, matrix_digest
from ammi.hashers.parameters import in_words
from ammi.nets.matrix import Matrix, MatrixLike, held_by_float32, is_dense
from ammi.training.recipe import DataShape
from ammi.training.validation import Labels

if TYPE_CHECKING:
    from ammi.hashers.trained import TrainedHasher

Scorer = Callable[["TrainedHasher"], float]
Views: TypeAlias = MatrixLike | list[MatrixLike] | tuple[MatrixLike, ...]
Validation: TypeAlias = tuple[MatrixLike, Labels | ArrayLike] | Scorer  # as users pass it


@dataclass(frozen=True)
class TrainingData:
    """Rows X (n, V), labels y if the validation needs them, related rows, other views of X, and the validation."""

    X: Matrix
    y: Labels | None
    related: Matrix | None
    views: tuple[Matrix, ...]
    validation: tuple[Matrix, Labels | Matrix] | Scorer | None

    @classmethod
    def checked(
        cls,
        hasher: "TrainedHasher",
        X: MatrixLike,
        y: object,
        related: MatrixLike | None,
        views: Views | None,
        validation: Validation | None,
    ) -> Self:
        """Check everything that `fit` got, or raise a ValueError."""
        if related is not None and not hasher.predictive:
            raise ValueError(
                f"{type(hasher).__name__} has no predictive form: use AMMI, BMMI, BMSH or DVQ with `related`"
            )
        X = _as_trained(hasher._check_rows(X, reset=True))
        others = () if views is None else _views(views, len_of=X)
        if related is not None and others:
            raise ValueError(
                "views help to find the neighbours of documents, but related documents take the place of these: "
                "leave out `views`"
            )
        related = None if related is None else _as_trained(rows_beside(hasher, related, "related", len_of=X))
        if validation is None or callable(validation):
            return cls(X, None, related, others, validation)
        held_out, target = _pair(validation)
        held_out = rows_beside(hasher, held_out, "the validation part")
        if related is not None:
            target = rows_beside(hasher, target, "its related part", len_of=held_out)
            return cls(X, None, related, others, (held_out, target))
        if y is None:
            raise ValueError(
                "validation by labels looks for the held-out documents among the training documents, whose labels are "
                "missing: pass them as y, or pass a function of the hasher as validation"
            )
        return cls(X, _labels(y, "y", X), None, others, (held_out, _labels(target, "validation", held_out)))

    @property
    def shape(self) -> DataShape:
        return DataShape(self.X.shape[0], self.X.shape[1], predictive=self.related is not None)

    def digests(self) -> dict[str, str | None]:
        """Return digests that tell this data from that of another run."""
        return {
            "documents": matrix_digest(self.X),
            "labels": None if self.y is None else _labels_digest(self.y),
            "related documents": None if self.related is None else matrix_digest(self.related),
            "views": joint_digest(*map(matrix_digest, self.views)) if self.views else None,
            "validation": self._validation_digest(),
        }

    def _validation_digest(self) -> str | None:
        if self.validation is None:
            return None
        if callable(self.validation):
            return _function_digest(self.validation)
        held_out, target = self.validation
        return joint_digest(matrix_digest(held_out), _labels_digest(target))


class Measure:
    """A validation function together with the matrices it measures on, which become part of its digest."""

    def __init__(self, function: Scorer, matrices: Callable[[], Iterable[Matrix]]):
        self._function, self._matrices = function, matrices

    def __call__(self, hasher: "TrainedHasher") -> float:
        return self._function(hasher)

    @property
    def digest(self) -> str:
        return joint_digest(*map(matrix_digest, self._matrices()))


def _function_digest(function: Scorer) -> str:
    """Digest a function's name, the arguments bound to it, and its attribute `digest` if it has one."""
    if isinstance(function, partial):
        return str(in_words(function))
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return joint_digest(name, str(getattr(function, "digest", "")))


def rows_beside(hasher: "TrainedHasher", X: MatrixLike, name: str, len_of: Matrix | None = None) -> Matrix:
    """Check further rows, which need the columns of the training documents."""
    X = _checked_rows(X, name, len_of)
    if X.shape[1] != hasher.n_features_in_:
        raise ValueError(f"{name} has {X.shape[1]} columns, the documents have {hasher.n_features_in_}")
    return X


def _views(views: Views, len_of: Matrix) -> tuple[Matrix, ...]:
    """Check other rows of the same documents, of any columns."""
    several = views if isinstance(views, list | tuple) else [views]
    return tuple(_checked_rows(view, f"view {number}", len_of) for number, view in enumerate(several, start=1))


def _as_trained(X: Matrix) -> Matrix:
    """Return an array of mostly zeros as a sparse matrix."""
    return X if issparse(X) or is_dense(X) else csr_matrix(X)


def _checked_rows(X: MatrixLike, name: str, len_of: Matrix | None) -> Matrix:
    X = held_by_float32(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name), name)
    if len_of is not None and X.shape[0] != len_of.shape[0]:
        raise ValueError(f"{name} has {X.shape[0]} rows for {len_of.shape[0]} documents: it goes row for row")
    return X


def _pair(validation: tuple[MatrixLike, Labels | ArrayLike]) -> tuple[MatrixLike, Labels | ArrayLike]:
    try:
        first, second = validation
    except (TypeError, ValueError):
        raise ValueError(
            f"validation is {validation!r:.40}, expected (X_val, labels), or with related= (X_val, related_val), a "
            "function of the hasher, or None"
        ) from None
    return first, second


def _labels(labels: object, name: str, X: Matrix) -> Labels:
    found: Labels = csr_matrix(labels) if issparse(labels) else np.asarray(labels)
    if found.shape[:1] != X.shape[:1]:
        raise ValueError(f"{name} has {X.shape[0]} documents but labels for {found.shape[0] if found.shape else 1}")
    return found


def _labels_digest(labels: Labels | Matrix) -> str:
    if issparse(labels) or labels.dtype.kind in "biuf":
        return matrix_digest(labels)
    return joint_digest(*map(repr, labels.tolist()))
