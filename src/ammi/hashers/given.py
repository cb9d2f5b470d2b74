"""What `fit` of a trained hasher is given, checked: documents, labels, related documents, a validation."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import check_array

from ammi.digests import matrix_digest

if TYPE_CHECKING:
    from ammi.hashers.trained import TrainedHasher

Validation = tuple[Any, Any] | Callable[["TrainedHasher"], float] | None


@dataclass(frozen=True)
class Given:
    """Rows X (n, V), labels y of them, related rows, and the validation."""

    X: Any
    y: Any
    related: Any
    validation: Validation

    @classmethod
    def checked(cls, hasher: "TrainedHasher", X: Any, y: Any, related: Any, validation: Validation) -> Self:
        """What a hasher can be trained with, or else a ValueError."""
        if related is not None and not hasher.predictive:
            raise ValueError(
                f"{type(hasher).__name__} has no predictive form: use AMMI, BMMI, BMSH or DVQ with `related`"
            )
        X = hasher._check_rows(X, reset=True)
        related = None if related is None else rows_beside(hasher, related, "related", len_of=X)
        return cls(X, y, related, _checked_validation(hasher, validation, y, related is not None))

    def digests(self) -> dict[str, str | None]:
        """What tells it from what another run was given."""
        return {
            "documents": matrix_digest(self.X),
            "related documents": None if self.related is None else matrix_digest(self.related),
            "validation": _validation_digest(self.validation),
        }


def rows_beside(hasher: "TrainedHasher", X: Any, name: str, len_of: Any = None) -> Any:
    """Further rows of the training documents' columns, checked as these are."""
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32], input_name=name)
    if X.shape[1] != hasher.n_features_in_:
        raise ValueError(f"{name} has {X.shape[1]} columns, the documents have {hasher.n_features_in_}")
    if len_of is not None and X.shape[0] != len_of.shape[0]:
        raise ValueError(f"{name} has {X.shape[0]} rows for {len_of.shape[0]} documents: it goes row for row")
    return X


def _checked_validation(hasher: "TrainedHasher", validation: Validation, y: Any, predictive: bool) -> Validation:
    if validation is None or callable(validation):
        return validation
    try:
        X, target = validation
    except (TypeError, ValueError):
        raise ValueError(
            "validation must be (X_val, labels), or with related= (X_val, related_val), a function, or None"
        ) from None
    X = rows_beside(hasher, X, "the validation part")
    if predictive:
        return X, rows_beside(hasher, target, "the related validation part", len_of=X)
    if y is None:
        raise ValueError(
            "validation by labels looks for the held-out documents among the training documents, whose labels are "
            "missing: pass them as y, or pass a function of the hasher as validation"
        )
    target = target.tocsr() if issparse(target) else np.asarray(target)
    if target.shape[0] != X.shape[0]:
        raise ValueError(f"validation has {X.shape[0]} documents but labels for {target.shape[0]}")
    return X, target


def _validation_digest(validation: Validation) -> str | None:
    if validation is None:
        return None
    if callable(validation):
        return getattr(validation, "__qualname__", type(validation).__qualname__)
    X, target = validation
    numbers = issparse(target) or target.dtype.kind in "biuf"
    return f"{matrix_digest(X)} {matrix_digest(target) if numbers else target.tolist()}"
