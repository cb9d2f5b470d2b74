"""Tasks to compare methods on: labelled documents or pairs of articles, for training, validation and test."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from itertools import compress
from pathlib import Path
from typing import TypeAlias

import numpy as np
from scipy.sparse import csr_matrix

from ammi.data import benchmark, every_tenth
from ammi.data.pairs import ArticlePairs, read_pairs
from ammi.digests import matrix_digest
from ammi.evaluate import distinct_codes, label_matrix, matching_at_k, precision_at_k
from ammi.features import VectorFeatures, WordFeatures
from ammi.hashers import Hasher, TrainedHasher

Matrix: TypeAlias = csr_matrix | np.ndarray  # one row per document
Scores = dict[str, float | list[int]]
Watch = Callable[[float], None]  # called with the validation score of each epoch


class Task(ABC):
    """Training documents, a validation score that chooses epochs and hyperparameters, and a test score."""

    @abstractmethod
    def validation(self, hasher: Hasher) -> float:
        """Return the score on the validation part, in percent."""

    @abstractmethod
    def test(self, hasher: Hasher) -> Scores:
        """Return the score on the test part as `test`, in percent, and other figures of the task."""

    @property
    @abstractmethod
    def documents(self) -> Matrix:
        """The rows that a hasher is fitted to."""

    @abstractmethod
    def fingerprint(self) -> str:
        """Return digests of the training and validation parts, which identify the task."""

    @property
    def _related(self) -> Matrix | None:
        """The related documents of the training documents, for methods that learn from pairs."""
        return None

    def fit(self, hasher: Hasher, watch: Watch = lambda score: None) -> None:
        """Fit the hasher; if it has epochs, the validation score chooses one, and `watch` gets the score of each."""

        def validated(fitted: Hasher) -> float:
            score = self.validation(fitted)
            watch(score)
            return score

        if isinstance(hasher, TrainedHasher):
            hasher.fit(self.documents, related=self._related, validation=validated)
        else:
            hasher.fit(self.documents)
        if getattr(hasher, "interrupted_", False):
            raise KeyboardInterrupt


class LabelledTask(Task):
    """Top-100 precision: the share of the nearest training documents that share a label with a document."""

    def __init__(self, rows: Sequence[Matrix], labels: Sequence[Matrix]):
        self.train, self.cv, self.held_out = rows
        self.train_labels, self.cv_labels, self.held_out_labels = labels

    def validation(self, hasher: Hasher) -> float:
        return precision_at_k(hasher.encode(self.cv), self.cv_labels, hasher.encode(self.train), self.train_labels)

    def test(self, hasher: Hasher) -> Scores:
        base = hasher.encode(self.train)
        return {
            "test": precision_at_k(hasher.encode(self.held_out), self.held_out_labels, base, self.train_labels),
            "distinct": distinct_codes(base),
            "documents": len(base),
        }

    @property
    def documents(self) -> Matrix:
        return self.train

    def fingerprint(self) -> str:
        parts = (self.train, self.cv, self.train_labels, self.cv_labels)
        return " ".join(map(matrix_digest, parts))


class PairTask(Task):
    """Top-100 matching: how often the related article is among the nearest ones of the same part."""

    def __init__(self, pairs: ArticlePairs):
        for part, (X, _) in {"validation": pairs.cv, "test": pairs.test}.items():
            if X.shape[0] <= 100:
                raise ValueError(f"{X.shape[0]} pairs in the {part} part: top-100 matching needs more than 100")
        self.pairs = pairs

    def validation(self, hasher: Hasher) -> float:
        return self._matching(hasher, *self.pairs.cv)

    def test(self, hasher: Hasher) -> Scores:
        codes = np.concatenate([hasher.encode(side) for side in self.pairs.train])
        return {
            "test": self._matching(hasher, *self.pairs.test),
            "distinct": distinct_codes(codes),
            "documents": len(codes),
            "pairs": [part[0].shape[0] for part in (self.pairs.train, self.pairs.cv, self.pairs.test)],
        }

    def _matching(self, hasher: Hasher, X: Matrix, Y: Matrix) -> float:
        return matching_at_k(hasher.encode(Y), hasher.encode(X))

    @property
    def documents(self) -> Matrix:
        return self.pairs.train[1]

    def fingerprint(self) -> str:
        return " ".join(map(matrix_digest, (*self.pairs.train, *self.pairs.cv)))

    @property
    def _related(self) -> Matrix:
        return self.pairs.train[0]


def benchmark_task(name: str | Path) -> LabelledTask:
    """Return the task of a benchmark set, by its name or the path of its `.mat` file."""
    data = benchmark(name)
    return LabelledTask((data.train, data.cv, data.test), (data.train_labels, data.cv_labels, data.test_labels))


def documents_task(documents: Sequence[str] | Matrix, labels: Sequence[object]) -> LabelledTask:
    """Return the task of labelled texts or vectors: of ten, the ninth is for validation, the tenth for the test."""
    targets, n = label_matrix(labels), len(labels)
    labelled = np.diff(targets.indptr) > 0
    held_out, tested = every_tenth(n, nth=9), every_tenth(n)
    known = ~(held_out | tested)
    parts = [labelled & known, labelled & held_out, labelled & tested]
    if not all(part.any() for part in parts):
        raise ValueError(f"{labelled.sum()} of {len(labels)} documents have labels: too few for three parts")
    if hasattr(documents, "shape"):
        X = VectorFeatures().fit(documents).transform(documents)
    else:
        X = WordFeatures().fit(list(compress(documents, known))).transform(documents)
    return LabelledTask([X[part] for part in parts], [targets[part] for part in parts])


def named_task(source: str) -> Task:
    """Return the task of a benchmark (name or file) or of pairs (folder, or the published file)."""
    if source.endswith(".mat"):
        return benchmark_task(source)
    if Path(source).is_dir() or source.endswith((".p", ".pkl", ".pickle")):
        return PairTask(read_pairs(source))
    if Path(source).exists():
        raise ValueError(f"{source} is neither a .mat file nor article pairs: documents need --labels COLUMN")
    return benchmark_task(source)


def task_name(source: str) -> str:
    """Return the name of a source's task: without its folder, and a file without its extensions."""
    name = Path(source).name
    return name if Path(source).is_dir() else name.split(".")[0]
