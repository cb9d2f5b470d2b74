"""The published pairs of related articles, from a pickle of nothing but containers, strings and numbers."""

import pickle
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from scipy.sparse import csr_matrix

Pair = tuple[csr_matrix, csr_matrix]


@dataclass(frozen=True)
class ArticlePairs:
    """For each split, X and Y: articles by words in float32, row i of X about the same event as row i of Y."""

    train: Pair
    cv: Pair
    test: Pair


class _PlainUnpickler(pickle.Unpickler):
    """A pickle runs code by naming a function or a class to call: this one lets it name nothing."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, and only plain data is allowed")


def read_pairs(path: str | Path) -> ArticlePairs:
    """Read the published file: training, validation and test pairs, and the vocabulary.

    Each pair is two dicts `{word index: weight}`; of the vocabulary, any container, only the size is used.
    """
    with open(path, "rb") as file:
        try:
            content = _PlainUnpickler(file).load()
        except Exception as error:  # the wrong bytes make an unpickler raise nearly anything
            raise ValueError(f"{path} is refused as a pickle of plain data: {error}") from error
    try:
        train, cv, test, vocabulary = content
        n_words = len(vocabulary)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} does not hold pairs: expected (train, validation, test, vocabulary)") from error
    splits = {"training": train, "validation": cv, "test": test}
    return ArticlePairs(*(_matrices(pairs, n_words, f"{path}: {name}") for name, pairs in splits.items()))


def _matrices(pairs: Any, n_words: int, where: str) -> Pair:
    try:
        X, Y = zip(*pairs, strict=True) if pairs else ((), ())
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where} is not a list of pairs of dicts") from error
    return _matrix(X, n_words, where), _matrix(Y, n_words, where)


def _matrix(bags: Sequence[dict[int, float]], n_words: int, where: str) -> csr_matrix:
    indices, weights, ends = array("q"), array("d"), [0]
    for number, bag in enumerate(bags, 1):
        try:
            indices.extend(bag.keys())
            weights.extend(bag.values())
        except (AttributeError, TypeError, OverflowError) as error:
            raise ValueError(f"{where} pair {number} is not made of dicts {{word index: weight}}") from error
        ends.append(len(indices))
    columns, data = np.asarray(indices), np.asarray(weights, np.float32)
    if len(columns) and not 0 <= columns.min() <= columns.max() < n_words:
        raise ValueError(f"{where} pairs have words outside the vocabulary of {n_words}")
    if not np.isfinite(data).all():
        raise ValueError(f"{where} pairs have weights that are not finite")
    X = csr_matrix((data, columns, np.asarray(ends)), shape=(len(bags), n_words))
    X.sort_indices()
    return X
