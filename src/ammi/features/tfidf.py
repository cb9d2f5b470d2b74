"""Rows of tf-idf weights: the common part of the feature makers of words and of SentencePiece units."""

import os
from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from numbers import Integral
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, vstack

from ammi.features.base import FeatureMaker
from ammi.features.texts import chunks, strings
from ammi.features.weights import rarity, unit_weights


class TermFeatures(FeatureMaker):
    """Learns a vocabulary and its weights from texts, and turns texts into tf-idf rows of unit length.

    Texts are strings in a list, an iterator, a pandas Series or an Arrow column. Fitted, it has `vocabulary_`, the
    term of each column, and `idf_`, the second factor of its weight; `ammi.features.weights` has the formula.
    """

    reads = "text"
    vocabulary_size: int
    vocabulary_: list[str]
    idf_: NDArray[np.float64]

    def __init_subclass__(cls, **keywords: object) -> None:
        # No set_output, since no DataFrame holds sparse rows.
        super().__init_subclass__(auto_wrap_output_keys=None, **keywords)

    def fit(self, documents: Iterable[str], y: object = None) -> Self:
        """Learn from any iterable of strings, in one pass and in bounded memory."""
        check_whole_number("vocabulary_size", self.vocabulary_size, 1)
        n_documents, frequencies = self._learn(strings(documents))
        self._weigh(rarity(n_documents, frequencies))
        return self

    def _weigh(self, idf: NDArray[np.float64]) -> None:
        self.idf_, self.n_features_ = idf, len(idf)

    @abstractmethod
    def _learn(self, texts: Iterator[str]) -> tuple[int, NDArray[np.int64]]:
        """Set the vocabulary; return the number of documents, and how many of them have each term."""

    @abstractmethod
    def _terms(self, texts: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the columns of all known terms, text after text, and where those of each text begin."""

    def fit_transform(self, documents: Iterable[str], y: object = None) -> csr_matrix:
        """Learn from the texts and return their rows; an iterator is read into memory."""
        texts = list(documents) if isinstance(documents, Iterator) else documents
        return self.fit(texts).transform(texts)

    def transform(self, documents: Iterable[str], *, n_threads: int | None = None) -> csr_matrix:
        """Return a row of float32 for each string of any iterable, on all cores or by `n_threads` threads.

        The row of a text without a known term, such as an empty one, is empty.
        """
        self._check_is_fitted()
        rows = list(_map_in_order(self._rows, chunks(strings(documents)), n_threads or _n_cores()))
        return vstack(rows, format="csr") if rows else csr_matrix((0, self.n_features_), dtype=np.float32)

    def _rows(self, texts: list[str]) -> csr_matrix:
        X = self._counts(texts)
        row = np.repeat(np.arange(len(texts)), np.diff(X.indptr))
        X.data = unit_weights(X.data, self.idf_[X.indices], row, len(texts))
        return X

    def _counts(self, texts: list[str]) -> csr_matrix:
        columns, first = self._terms(texts)
        X = csr_matrix((np.ones(len(columns), np.int32), columns, first), (len(texts), len(self.vocabulary_)))
        X.sum_duplicates()
        return X

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the term of each column; scikit-learn wants `input_features`, which is not used."""
        self._check_is_fitted()
        return np.array(self.vocabulary_, object)

    def describe(self) -> dict[str, object]:
        self._check_is_fitted()
        return {"units": self.name, "vocabulary": self.n_features_}


def check_whole_number(name: str, value: object, least: int) -> None:
    """Refuse a parameter that is not a whole number from `least` to 2**31 - 1."""
    if not isinstance(value, Integral) or isinstance(value, bool) or not least <= int(value) < 2**31:
        raise ValueError(f"{name} is {value!r:.80}: expected a whole number from {least} up, below 2**31")


A = TypeVar("A")
B = TypeVar("B")


def _map_in_order(function: Callable[[A], B], items: Iterable[A], n_threads: int) -> Iterator[B]:
    """Yield what `map` gives, computed by threads that take at most twice as many items in advance."""
    with ThreadPoolExecutor(n_threads) as pool:
        waiting: deque[Future[B]] = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * n_threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
