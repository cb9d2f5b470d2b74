"""Models that are fitted and measured at once: to documents with labels, and to pairs of related documents."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ammi.data import every_tenth, read_pairs
from ammi.data.pairs import FEATURES, Pair, read_pair_features
from ammi.evaluate import label_matrix, matching_at_k, precision_at_k
from ammi.features import features_from_files
from ammi.hashers.base import Hasher
from ammi.hashers.documents import DocumentHasher
from ammi.hashers.trained import TrainedHasher
from ammi.hashers.training_data import Measure

_K = 100  # so many nearest documents are looked at


class FittedToPairs(NamedTuple):
    """A model, and the share of test pairs that it matches, in percent; None where any model would match them all."""

    model: DocumentHasher
    matching: float | None


def fit_held_out(model: DocumentHasher, documents: Any, labels: Sequence[Any], views: Any = None, **more: Any) -> float:
    """Fit a model to nine documents of ten; return the top-100 precision of the tenth among them, in percent.

    Where the method has epochs, this precision chooses the one to keep; nothing else is learned from the labels.
    Documents without a label are learned from, but neither looked for nor counted among the neighbours.

    Args:
        documents: texts, or vectors in a list or a matrix, whichever the model reads; they are gone through several
            times.
        labels: of each document one name, a list of names, or None.
        views: other views of all documents, as the model's `fit` takes them.
        more: what else it takes, such as callbacks.
    """
    targets, held_out = label_matrix(labels), every_tenth(len(labels))
    labelled = np.diff(targets.indptr) > 0
    queries = held_out[labelled]
    if queries.all() or not queries.any():
        raise ValueError(f"{labelled.sum()} of {len(labels)} documents have labels: too few to hold out one in ten")

    @cache
    def labelled_rows() -> Any:  # of features that are fitted by then
        return model.features_.transform(_chosen(documents, labelled))

    def precision(hasher: Hasher) -> float:
        rows, names, base = labelled_rows(), targets[labelled], ~queries
        return precision_at_k(hasher.encode(rows[queries]), names[queries], hasher.encode(rows[base]), names[base], _K)

    if model.hasher is None or isinstance(model.hasher, TrainedHasher):
        more["validation"] = Measure(precision, lambda: [labelled_rows(), targets])
    if views is not None:
        several = views if isinstance(views, list | tuple) else [views]
        more["views"] = [_kept(one, ~held_out) if hasattr(one, "shape") else one for one in several]
    model.fit(_chosen(documents, ~held_out), **more)
    return precision(model.hasher_)


def fit_pairs(hasher: Hasher, folder: str | Path, **more: Any) -> FittedToPairs:
    """Fit a method to the pairs in a folder, and measure the top-100 matching of its test part.

    The documents are the second ones of the pairs; a predictive method learns codes of them that tell about the first
    ones. Where it has epochs, the matching of the validation part chooses the one to keep.

    Args:
        hasher: the method, which is not changed.
        folder: what `ammi data pairs`, or ammi.data.write_pairs, wrote.
        more: what else the method's `fit` takes, such as callbacks.
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
    """The matching of a part of the pairs, where it has more of them than are looked at."""
    related, documents = part
    if documents.shape[0] <= _K:
        return None
    return lambda hasher: matching_at_k(hasher.encode(documents), hasher.encode(related), _K)


def _kept(view: Any, kept: NDArray[np.bool_]) -> Any:
    """The rows of a view of all documents that belong to those that are kept."""
    if view.shape[0] != len(kept):
        raise ValueError(f"a view has {view.shape[0]} rows for {len(kept)} documents: it goes row for row")
    return view[kept]


def _chosen(documents: Any, chosen: NDArray[np.bool_]) -> Any:
    """Some of the documents: rows of a matrix, a list where they are one, since vectors may be; else read anew."""
    if hasattr(documents, "shape"):
        return documents[chosen]
    return list(compress(documents, chosen)) if isinstance(documents, list) else _Chosen(documents, chosen)


class _Chosen:
    """Some documents of many, which need not fit in memory."""

    def __init__(self, documents: Iterable[Any], chosen: NDArray[np.bool_]):
        self._documents, self._chosen = documents, chosen

    def __iter__(self) -> Iterator[Any]:
        return compress(self._documents, self._chosen)
