"""The demo: from the docstrings of the installed libraries to codes, figures, answers and an index."""

import shutil
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ammi.data.docstrings import PACKAGES, docstring_records
from ammi.data.streams import write_jsonl
from ammi.evaluate import labelled_precision
from ammi.hashers import AMMI, DocumentHasher, Hasher
from ammi.hashers.bow import BOW
from ammi.hashers.lsh import LSH
from ammi.search import HammingIndex
from ammi.text import WordVectorizer

HELD_OUT = 10  # one document in so many is a query of the comparison, and not learned from
AT_ONCE = 1000


class Score(NamedTuple):
    """How a method does: its top-100 precision in percent, with codes of so many bits."""

    method: str
    bits: int
    precision: float


class Demo:
    """The steps, in their order: read, learn, compare, build."""

    def __init__(self, folder: Path, packages: Sequence[str] = PACKAGES, epochs: int = 20, verbose: bool = True):
        self.folder, self.packages = folder, packages
        self.model = DocumentHasher(AMMI(64, epochs=epochs, random_state=0, verbose=verbose), WordVectorizer())

    def read(self) -> list[dict[str, Any]]:
        """Read the documents, and leave them as a file for other commands."""
        self.records = list(docstring_records(self.packages))
        self.texts = [record["text"] for record in self.records]
        self.labels = [record["label"] for record in self.records]
        self.folder.mkdir(parents=True, exist_ok=True)
        write_jsonl(self.folder / "docstrings.jsonl.gz", self.records)
        return self.records

    def learn(self) -> DocumentHasher:
        """Learn codes from the documents that are not held out, and save the model."""
        self.model.fit([text for text, held_out in zip(self.texts, self._held_out, strict=True) if not held_out])
        self.model.save(self.folder / "model")
        return self.model

    def compare(self) -> list[Score]:
        """The precision of held-out documents among the others, for random codes, whole documents and learned codes."""
        X = self.model.vectorizer.transform(self.texts)
        known = X[~self._held_out]
        untrained = [LSH(64, random_state=0).fit(known), BOW().fit(known)]
        return [self._score(hasher, X) for hasher in [*untrained, self.model.hasher]]

    def best_precision(self) -> float:
        """What a perfect ranking would reach: some labels have fewer than a hundred documents."""
        names, numbers = np.unique(self.labels, return_inverse=True)
        in_base = np.bincount(numbers[~self._held_out], minlength=len(names))
        return float(np.minimum(in_base[numbers[self._held_out]], 100).mean())

    def build(self) -> HammingIndex:
        """The index of all documents, in place of that of an earlier demo."""
        folder, fingerprint = self.folder / "index", self.model.fingerprint_
        shutil.rmtree(folder, ignore_errors=True)
        model = str((self.folder / "model").resolve())
        index = HammingIndex.create(folder, self.model.n_bits, fingerprint=fingerprint, model=model)
        for start in range(0, len(self.records), AT_ONCE):
            block = self.records[start : start + AT_ONCE]
            texts, ids = [record["text"] for record in block], [record["id"] for record in block]
            metadata = [{key: record[key] for key in ("kind", "package", "label")} for record in block]
            index.add(self.model.encode(texts), ids, texts, metadata, fingerprint=fingerprint)
        return index

    @cached_property
    def _held_out(self) -> np.ndarray:
        return np.arange(len(self.records)) % HELD_OUT == HELD_OUT - 1

    def _score(self, hasher: Hasher, X: Any) -> Score:
        codes, labels, held_out = hasher.encode(X), np.array(self.labels), self._held_out
        measured = labelled_precision(
            codes[~held_out], labels[~held_out].tolist(), 100, codes[held_out], labels[held_out].tolist()
        )
        return Score(type(hasher).__name__, hasher.n_bits, measured.precision)
