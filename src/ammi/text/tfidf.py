"""Texts to rows of a matrix: what the vectorisers have in common.

A term that occurs c > 0 times in a document, and in n_t of the n documents that were learned from, has the weight

    (1 + ln c) · ln((n + 2) / (n_t + 1))

and every row that is not empty is divided by its length. Unlike the usual 1 + ln(n / n_t), the second factor leaves
next to nothing of a word that is everywhere, so that no list of stop words is needed in any language.
"""

import json
import os
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np
from scipy.sparse import csr_matrix, vstack

FORMAT = 1
FILE = "vectorizer.json"
CHUNK_CHARACTERS = 1 << 20

V = TypeVar("V", bound="Vectorizer")


class Vectorizer(ABC):
    """Learns a vocabulary and its weights from texts, and turns texts into tf-idf rows of unit length.

    Fitted, it has `vocabulary_`, the term of each column, and `idf_`, the second factor of its weight.
    """

    kind: ClassVar[str]
    vocabulary_size: int
    vocabulary_: list[str]
    idf_: np.ndarray

    def fit(self: V, texts: Iterable[str]) -> V:
        """Learn from any iterable of strings, which is gone through once and in bounded memory."""
        if self.vocabulary_size < 1:
            raise ValueError(f"vocabulary_size is {self.vocabulary_size}: expected 1 or more")
        n_documents, frequencies = self._learn(texts)
        self.idf_ = np.log((n_documents + 2) / (frequencies + 1))
        return self

    @abstractmethod
    def _learn(self, texts: Iterable[str]) -> tuple[int, np.ndarray]:
        """Set the vocabulary; return a number of documents, and in how many of them each term is."""

    @abstractmethod
    def _terms(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        """The columns of all known terms of the texts, one after another, and where those of each text begin."""

    def transform(self, texts: Iterable[str], *, n_threads: int | None = None) -> csr_matrix:
        """One row of float32 for each string of any iterable, computed on all cores or by `n_threads` threads.

        A text without a known term, such as an empty one, has an empty row.
        """
        if not hasattr(self, "idf_"):
            raise ValueError(f"this {type(self).__name__} has learned nothing yet: call fit first")
        rows = list(_map_in_order(self._rows, chunks(texts), n_threads or _n_cores()))
        return vstack(rows, format="csr") if rows else csr_matrix((0, len(self.idf_)), dtype=np.float32)

    def _rows(self, texts: list[str]) -> csr_matrix:
        X = self._counts(texts)
        weights = (1 + np.log(X.data)) * self.idf_[X.indices]
        row = np.repeat(np.arange(len(texts)), np.diff(X.indptr))
        lengths = np.sqrt(np.bincount(row, weights**2, len(texts)))
        X.data = (weights / lengths[row]).astype(np.float32)
        return X

    def _counts(self, texts: list[str]) -> csr_matrix:
        columns, first = self._terms(texts)
        X = csr_matrix((np.ones(len(columns), np.int32), columns, first), (len(texts), len(self.vocabulary_)))
        X.sum_duplicates()
        return X

    def save(self, folder: str | Path) -> None:
        """Write the vectoriser into a folder, which is made if need be."""
        state = {
            "format": FORMAT,
            "kind": self.kind,
            "parameters": {k: v for k, v in vars(self).items() if k[0] != "_" and k[-1] != "_"},
            "vocabulary": self.vocabulary_,
            "idf": self.idf_.tolist(),
        }
        Path(folder).mkdir(parents=True, exist_ok=True)
        Path(folder, FILE).write_text(json.dumps(state, ensure_ascii=False), encoding="utf-8")

    def _restore(self, state: dict[str, Any], folder: Path) -> None:
        self.vocabulary_, self.idf_ = state["vocabulary"], np.array(state["idf"])


def chunks(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in lists of about a million characters, so that work can be shared out in bounded memory."""
    if isinstance(texts, str):
        raise ValueError("texts is one string: expected a list or another iterable of strings")
    chunk, size = [], 0
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise ValueError(f"text number {number} is {text!r:.40}: expected a string")
        chunk.append(text)
        size += len(text) + 100  # empty texts take room, too
        if size >= CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


A = TypeVar("A")
B = TypeVar("B")


def _map_in_order(function: Callable[[A], B], items: Iterable[A], n_threads: int) -> Iterator[B]:
    """What `map` gives, computed by threads, with no more than twice as many items taken in advance."""
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
