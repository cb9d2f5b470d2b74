"""Learning from documents that have labels, which choose the epoch and measure the codes, and are not learned from."""

import inspect
from collections.abc import Iterable, Sequence
from itertools import compress
from typing import Any

import numpy as np

from ammi.evaluate import label_matrix, precision_at_k
from ammi.hashers import DocumentHasher, Hasher

EVERY = 10


def fit_held_out(model: DocumentHasher, texts: Iterable[str], labels: Sequence[Any]) -> float:
    """Fit the model to nine texts of ten; return the top-100 precision of the tenth among them, in percent.

    Where the method has epochs, this precision chooses the one to keep. The texts are gone through twice. Documents
    without a label are learned from, but neither looked for nor counted among the neighbours.
    """
    targets = label_matrix(labels)
    labelled = np.diff(targets.indptr) > 0
    held_out = np.arange(len(labels)) % EVERY == EVERY - 1
    queries, base = held_out & labelled, ~held_out & labelled
    if not queries.any() or not base.any():
        raise ValueError(f"{labelled.sum()} of {len(labels)} documents have labels: too few to hold out one in {EVERY}")
    X = model.vectorizer.fit(compress(texts, ~held_out)).transform(texts)

    def precision(hasher: Hasher) -> float:
        return precision_at_k(hasher.encode(X[queries]), targets[queries], hasher.encode(X[base]), targets[base])

    has_epochs = "validation" in inspect.signature(model.hasher.fit).parameters
    model.hasher.fit(X[~held_out], **{"validation": precision} if has_epochs else {})
    return precision(model.hasher)
