"""What `fit` of a trained hasher is given, checked: documents, labels, related documents, a validation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from ammi.digests import joint_digest, matrix_digest
from ammi.nets.matrix import Matrix
from ammi.training.validation import Labels

if TYPE_CHECKING:
    from ammi.hashers.trained import TrainedHasher

Scorer = Callable[["TrainedHasher"], float]
Validation = tuple[Any, Any] | Scorer | None  # as users pass it


@dataclass(frozen=True)
class Given:
    """Rows X (n, V), labels y where the validation needs them, related rows, and the validation."""

    X: Matrix
    y: Labels | None
    related: Matrix | None
    validation: tuple[Matrix, Labels | Matrix] | Scorer | None

    @classmethod
    def checked(cls, hasher: "TrainedHasher", X: Any, y: Any, related: Any, validation: Validation) -> Self:
        """What a hasher can be trained with, or else a ValueError."""
        if related is not None and not hasher.predictive:
            raise ValueError(
                f"{type(hasher).__name__} has no predictive form: use AMMI, BMMI, BMSH or DVQ with `related`"
            )
        X = hasher._check_rows(X, reset=True)
        related = None if related is None else rows_beside(hasher, related, "related", len_of=X)
        if validation is None or callable(validation):
            return cls(X, None, related, validation)
        held_out, target = _pair(validation)
        held_out = rows_beside(hasher, held_out, "the validation part")
        if related is not None:
            return cls(X, None, related, (held_out, rows_beside(hasher, target, "its related part", len_of=held_out)))
        if y is None:
            raise ValueError(
                "validation by labels looks for the held-out documents among the training documents, whose labels are "
                "missing: pass them as y, or pass a function of the hasher as validation"
            )
        return cls(X, _labels(y, "y", X), None, (held_out, _labels(target, "validation", held_out)))

    def digests(self) -> dict[str, str | None]:
        """What tells it from what another run was given."""
        return {
            "documents": matrix_digest(self.X),
            "labels": None if self.y is None else _labels_digest(self.y),
            "related documents": None if self.related is None else matrix_digest(self.related),
            "validation": self._validation_digest(),
        }

    def _validation_digest(self) -> str | None:
        if self.validation is None:
            return None
        if callable(self.validation):
            return getattr(self.validation, "__qualname__", type(self.validation).__qualname__)
        held_out, target = self.validation
        return joint_digest(matrix_digest(held_out), _labels_digest(target))


def rows_beside(hasher: "TrainedHasher", X: Any, name: str, len_of: Matrix | None = None) -> Matrix:
    """Further rows of the training documents' columns, checked as these are."""
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name)
    if X.shape[1] != hasher.n_features_in_:
        raise ValueError(f"{name} has {X.shape[1]} columns, the documents have {hasher.n_features_in_}")
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
