"""What `fit` of a trained hasher is given, checked: documents, labels, related documents, views, a validation."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import csr_matrix, issparse
from sklearn.utils import check_array

from ammi.digests import joint_digest, matrix_digest
from ammi.hashers.parameters import in_words
from ammi.nets.matrix import Matrix, held_by_float32, is_dense
from ammi.training.validation import Labels

if TYPE_CHECKING:
    from ammi.hashers.trained import TrainedHasher

Scorer = Callable[["TrainedHasher"], float]
Validation = tuple[Any, Any] | Scorer | None  # as users pass it


@dataclass(frozen=True)
class Given:
    """Rows X (n, V), labels y where the validation needs them, related rows, other views of X, and the validation."""

    X: Matrix
    y: Labels | None
    related: Matrix | None
    views: tuple[Matrix, ...]
    validation: tuple[Matrix, Labels | Matrix] | Scorer | None

    @classmethod
    def checked(cls, hasher: "TrainedHasher", X: Any, y: Any, related: Any, views: Any, validation: Validation) -> Self:
        """What a hasher can be trained with, or else a ValueError."""
        if related is not None and not hasher.predictive:
            raise ValueError(
                f"{type(hasher).__name__} has no predictive form: use AMMI, BMMI, BMSH or DVQ with `related`"
            )
        X = _as_trained(hasher._check_rows(X, reset=True))
        others = () if views is None else _views(hasher, views, related, len_of=X)
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

    def digests(self) -> dict[str, str | None]:
        """What tells it from what another run was given."""
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
    """A function of the hasher as a validation, and the matrices that it measures with, which tell it from others."""

    def __init__(self, function: Scorer, matrices: Callable[[], Iterable[Matrix]]):
        self._function, self._matrices = function, matrices

    def __call__(self, hasher: "TrainedHasher") -> float:
        return self._function(hasher)

    @property
    def digest(self) -> str:
        return joint_digest(*map(matrix_digest, self._matrices()))


def _function_digest(function: Any) -> str:
    """What tells a function from others: its name, the arguments bound to it, and its `digest` where it has one."""
    if isinstance(function, partial):
        return str(in_words(function))
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return joint_digest(name, str(getattr(function, "digest", "")))


def rows_beside(hasher: "TrainedHasher", X: Any, name: str, len_of: Matrix | None = None) -> Matrix:
    """Further rows of the training documents' columns, checked as these are."""
    X = _checked_rows(X, name, len_of)
    if X.shape[1] != hasher.n_features_in_:
        raise ValueError(f"{name} has {X.shape[1]} columns, the documents have {hasher.n_features_in_}")
    return X


def _views(hasher: "TrainedHasher", views: Any, related: Any, len_of: Matrix) -> tuple[Matrix, ...]:
    """Other rows of the same documents, of any columns."""
    if related is not None or not hasher._looks_for_neighbours():
        name = type(hasher).__name__ + (" with neighbours=0" if hasattr(hasher, "neighbours") else "")
        why = f"{name} looks for none" if related is None else "related documents take the place of these"
        raise ValueError(f"views help to find the neighbours of documents, but {why}: leave out `views`")
    several = views if isinstance(views, list | tuple) else [views]
    return tuple(_checked_rows(view, f"view {number}", len_of) for number, view in enumerate(several, start=1))


def _as_trained(X: Matrix) -> Matrix:
    """Rows whose zeros are written out as those that they are."""
    return X if issparse(X) or is_dense(X) else csr_matrix(X)


def _checked_rows(X: Any, name: str, len_of: Matrix | None) -> Matrix:
    X = held_by_float32(check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name), name)
    if len_of is not None and X.shape[0] != len_of.shape[0]:
        raise ValueError(f"{name} has {X.shape[0]} rows for {len_of.shape[0]} documents: it goes row for row")
    return X


def _pair(validation: Any) -> tuple[Any, Any]:
    try:
        first, second = validation
    except (TypeError, ValueError):
        raise ValueError(
            f"validation is {validation!r:.40}, expected (X_val, labels), or with related= (X_val, related_val), a "
            "function of the hasher, or None"
        ) from None
    return first, second


def _labels(labels: Any, name: str, X: Matrix) -> Labels:
    labels = labels.tocsr() if issparse(labels) else np.asarray(labels)
    if labels.shape[:1] != X.shape[:1]:
        raise ValueError(f"{name} has {X.shape[0]} documents but labels for {labels.shape[0] if labels.shape else 1}")
    return labels


def _labels_digest(labels: Labels | Matrix) -> str:
    if issparse(labels) or labels.dtype.kind in "biuf":
        return matrix_digest(labels)
    return joint_digest(*map(repr, labels.tolist()))
