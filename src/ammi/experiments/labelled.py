"""Learning from documents that have labels, which choose the epoch and measure the codes, and are not learned from."""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ammi.evaluate import label_matrix, precision_at_k
from ammi.hashers import DocumentHasher

EVERY = 10


def fit_held_out(model: DocumentHasher, texts: Iterable[str], labels: Sequence[Any]) -> float:
    """Fit the model to nine texts of ten; return the top-100 precision of the tenth among them, in percent.

    The texts are gone through several times. Documents without a label are learned from, but neither looked for nor
    counted among the neighbours.
    """
    targets = label_matrix(labels)
    held_out = np.arange(len(labels)) % EVERY == EVERY - 1
    labelled = np.diff(targets.indptr) > 0
    if not labelled[held_out].any() or not labelled[~held_out].any():
        raise ValueError(f"{labelled.sum()} of {len(labels)} documents have labels: too few to hold out one in {EVERY}")

    queries, rest = held_out & labelled, ~held_out
    takes_validation = "validation" in inspect.signature(model.hasher.fit).parameters
    validation: dict[str, Any] = {"validation": (_Part(texts, queries), targets[queries])} if takes_validation else {}
    model.fit(_Part(texts, rest), targets[rest], **validation)
    base = rest & labelled
    return precision_at_k(
        model.encode(_Part(texts, queries)), targets[queries], model.encode(_Part(texts, base)), targets[base]
    )


class _Part:
    """Some of the texts, which can be gone through again and again."""

    def __init__(self, texts: Iterable[str], wanted: np.ndarray):
        self._texts, self._wanted = texts, wanted

    def __iter__(self) -> Iterator[str]:
        return (text for text, wanted in zip(self._texts, self._wanted, strict=True) if wanted)
