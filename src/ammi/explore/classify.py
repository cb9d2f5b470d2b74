"""Labels of all documents from those of a few, by a linear model on words and codes.

A document is the row x = (t, w b / √m): t is its tf-idf row of unit length, b its m bits as -1 and 1, and w = 0.6. A
multinomial logistic regression learns from the labelled rows. Its tf-idf and the codes are of all documents, labelled
or not: words that stand for one subject share bits, so that a label reaches documents with none of its own words.
`benchmarks/classify.py` measures it; w and C were chosen on other collections.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.linear_model import LogisticRegression

from ammi.explore.figures import bits_of
from ammi.explore.sample import Explored
from ammi.features import WordFeatures
from ammi.search.documents import Entry, Id, codes_of, id_key

Label = str | int | float | bool
OfDocument = Label | Sequence[Label] | None  # of several labels, all are learned from
Labels = Mapping[str, OfDocument] | Mapping[int, OfDocument] | Mapping[Id, OfDocument]

_WEIGHT_OF_CODES, _C, _MOST_STEPS = 0.6, 100.0, 1000
_MOST_WORDS = 50_000


class Prediction(NamedTuple):
    """The most probable label of a document."""

    id: Id
    label: Label
    probability: float
    margin: float  # by which the probability exceeds that of the second label


class Predictions(Sequence[Prediction]):
    """The labels of documents that had none, the unsure ones first: those with the smallest margin.

    `labels` are the names of the columns of `probabilities` (n, L), and row i is of the document `ids[i]`.
    """

    def __init__(self, labels: list[Label], ids: list[Id], probabilities: NDArray[np.float32]):
        order = np.argsort(_margins(probabilities), kind="stable")
        self.labels = labels
        self.ids = [ids[row] for row in order.tolist()]
        self.probabilities = probabilities[order]

    def __len__(self) -> int:
        return len(self.ids)

    @overload
    def __getitem__(self, rows: int) -> Prediction: ...

    @overload
    def __getitem__(self, rows: slice) -> list[Prediction]: ...

    def __getitem__(self, rows: int | slice) -> Prediction | list[Prediction]:
        if isinstance(rows, slice):
            return [self[row] for row in range(*rows.indices(len(self)))]
        id, row = self.ids[rows], self.probabilities[rows]
        best = int(row.argmax())
        return Prediction(id, self.labels[best], float(row[best]), float(_margins(row[None])[0]))


def classify(collection: Explored, labels: Labels | str, advance: Callable[[int], None]) -> Predictions:
    """Return the labels of the documents of a collection that have none; `labels` may be a metadata key."""
    with collection.store.snapshot():
        known = _of_key(collection, labels) if isinstance(labels, str) else _known(labels)
        names = list(dict.fromkeys((isinstance(label, bool), label) for each in known.values() for label in each))
        if len(names) < 2:
            raise ValueError(
                f"the labelled documents have {len(names)} different labels: label some documents of each of two or "
                "more kinds"
            )
        rows = _Rows(collection, advance)
        number = {name: n for n, name in enumerate(names)}
        examples, targets = [], []
        for entry in collection.get(list(known)):
            of_document = known[id_key(entry.id)]
            examples += [entry] * len(of_document)
            targets += [number[isinstance(label, bool), label] for label in of_document]
        model = LogisticRegression(C=_C, max_iter=_MOST_STEPS).fit(rows.of(examples), targets)
        ids: list[Id] = []
        found = [np.empty((0, len(names)), np.float32)]
        for block in collection.store.entries():
            others = [entry for entry in block if id_key(entry.id) not in known]
            if others:
                ids += [entry.id for entry in others]
                found.append(model.predict_proba(rows.of(others)).astype(np.float32))
            advance(len(block))
    return Predictions([label for _, label in names], ids, np.concatenate(found))


class _Rows:
    """Makes the rows of documents: of words and codes, or of codes alone if no document has a text."""

    def __init__(self, collection: Explored, advance: Callable[[int], None]):
        self._n_bits = collection.n_bits

        def texts() -> Iterator[str]:
            for block in collection.store.entries():
                yield from (entry.text for entry in block if entry.text is not None)
                advance(len(block))

        try:
            self._words: WordFeatures | None = WordFeatures(_MOST_WORDS).fit(texts())
        except ValueError:  # there is no word
            self._words = None

    def of(self, entries: list[Entry]) -> csr_matrix:
        """Return the rows of documents, (n, V + m)."""
        codes = codes_of(entries, -(-self._n_bits // 8))
        signs = (bits_of(codes, self._n_bits) * 2.0 - 1.0) * (_WEIGHT_OF_CODES / self._n_bits**0.5)
        if self._words is None:
            return csr_matrix(signs)
        return hstack([self._words.transform([entry.text or "" for entry in entries]), signs], format="csr")


def _of_key(collection: Explored, key: str) -> dict[Id, list[Label]]:
    """Return the labels that documents have as metadata."""
    keys = collection.keys()
    if key not in keys:
        there = ", ".join(keys) or "none"
        raise ValueError(f"no document in {collection.location} has the key {key!r}: the keys there are {there}")
    ids, _ = collection.codes()
    return _known(dict(zip(ids, collection.store.column(key), strict=True)))


def _known(labels: Labels) -> dict[Id, list[Label]]:
    """Return the labels of each document that has one, by `id_key`."""
    found: dict[Id, list[Label]] = {}
    for id, given in labels.items():
        several: list[Any] = [*given] if isinstance(given, list | tuple) else [given]
        names = [name for name in several if name is not None and name != ""]
        for name in names:
            if not isinstance(name, str | int | float):
                raise ValueError(f"{name!r:.60} cannot be a label of document {id!r}: a label is a text or a number")
        if names:
            found[id_key(id)] = names
    return found


def _margins(probabilities: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return by how much the largest probability of each row exceeds the second."""
    if not len(probabilities):
        return np.empty(0, np.float32)
    two = np.partition(probabilities, -2, axis=1)[:, -2:]
    return two[:, 1] - two[:, 0]
