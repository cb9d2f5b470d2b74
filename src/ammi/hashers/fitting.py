"""Models that are fitted and measured at once: to documents with labels, and to pairs of related documents."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ammi.data import every_tenth
from ammi.data.pairs import FEATURES, Pair, read_pair_features, read_pairs
from ammi.evaluate import label_matrix, matching_at_k, precision_at_k
from ammi.features import features_from_files
from ammi.hashers.base import Hasher
from ammi.hashers.documents import DocumentHasher, Documents, View
from ammi.hashers.trained import TrainedHasher
from ammi.hashers.training_data import Measure
from ammi.nets.matrix import Matrix

_K = 100  # nearest documents that count


class FittedToPairs(NamedTuple):
    """A model, and the share of test pairs it matches, in percent; None if any model would match them all."""

    model: DocumentHasher
    matching: float | None


def fit_held_out(
    model: DocumentHasher,
    documents: Documents,
    labels: Sequence[object],
    views: View | Sequence[View] | None = None,
    **more: Any,
) -> float:
    """Fit a model to nine documents of ten; return the top-100 precision of the tenth among them, in percent.

    If the method has epochs, this precision chooses the one to keep; nothing else is learned from the labels.
    Documents without a label are learned from, but neither searched for nor counted as neighbours.

    Args:
        documents: texts, or vectors in a list or a matrix, as the model reads them; they are read several times.
        labels: one name for each document, a list of names, or None.
        views: other views of all documents, as the model's `fit` takes them.
        more: further arguments of the model's `fit`, such as callbacks.
    """
    targets, held_out = label_matrix(labels), every_tenth(len(labels))
    labelled = np.diff(targets.indptr) > 0
    queries = held_out[labelled]
    if queries.all() or not queries.any():
        raise ValueError(f"{labelled.sum()} of {len(labels)} documents have labels: too few to hold out one in ten")

    @cache
    def labelled_rows() -> Matrix:  # called once the features are fitted
        return model.features_.transform(_select(documents, labelled))

    names, base = targets[labelled], ~queries

    def precision(codes: NDArray[np.uint8]) -> float:
        return precision_at_k(codes[queries], names[queries], codes[base], names[base], _K)

    if model.hasher is None or isinstance(model.hasher, TrainedHasher):
        measure = lambda hasher: precision(hasher.encode(labelled_rows()))  # noqa: E731
        more["validation"] = Measure(measure, lambda: [labelled_rows(), targets])
    if views is not None:
        several = views if isinstance(views, list | tuple) else [views]
        more["views"] = [_select_rows(view, ~held_out) if hasattr(view, "shape") else view for view in several]
    model.fit(_select(documents, ~held_out), **more)
    beside = model.rows(_select(documents, labelled))[1:] if model.beside_ else []
    return precision(model.encode_rows([labelled_rows(), *beside]))


def fit_pairs(hasher: Hasher, folder: str | Path, **more: Any) -> FittedToPairs:
    """Fit a method to the pairs in a folder, and measure the top-100 matching of its test part.

    The documents are the second ones of the pairs; a predictive method learns codes of them that tell about the first
    ones. If it has epochs, the matching of the validation part chooses the one to keep.

    Args:
        hasher: the method; a copy of it is fitted.
        folder: written by `ammi data pairs` or ammi.data.write_pairs.
        more: further arguments of the method's `fit`, such as callbacks.
    """
    pairs, fitted = read_pairs(folder), clone(hasher)
    related, documents = pairs.train
    if fitted.predictive:
        more["related"] = related
    if isinstance(fitted, TrainedHasher):
        measure = _matching_of(pairs.cv)
        more["validation"] = measure and Measure(measure, lambda: pairs.cv)
    fitted.fit(documents, **more)
    measure = _matching_of(pairs.test)
    features = features_from_files(read_pair_features(folder), Path(folder, FEATURES))
    return FittedToPairs(DocumentHasher.of(fitted, features), measure and measure(fitted))


def _matching_of(part: Pair) -> Callable[[Hasher], float] | None:
    """Return a function for the matching of a part of the pairs, or None if there are too few pairs to tell."""
    related, documents = part
    if documents.shape[0] <= _K:
        return None
    return lambda hasher: matching_at_k(hasher.encode(documents), hasher.encode(related), _K)


def _select_rows(view: Matrix, chosen: NDArray[np.bool_]) -> Matrix:
    """Return the chosen rows of a view of all documents."""
    if view.shape[0] != len(chosen):
        raise ValueError(f"a view has {view.shape[0]} rows for {len(chosen)} documents: it goes row for row")
    return view[chosen]


def _select(documents: Documents, chosen: NDArray[np.bool_]) -> Documents:
    """Return the chosen documents: rows of a matrix, items of a list, or those of an iterable, read anew each time."""
    if hasattr(documents, "shape"):
        return documents[chosen]
    return list(compress(documents, chosen)) if isinstance(documents, list) else _Selected(documents, chosen)


class _Selected:
    """The chosen ones of many documents, which need not fit in memory."""

    def __init__(self, documents: Iterable[object], chosen: NDArray[np.bool_]):
        self._documents, self._chosen = documents, chosen

    def __iter__(self) -> Iterator[object]:
        return compress(self._documents, self._chosen)
