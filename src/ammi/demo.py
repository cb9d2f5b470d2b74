"""The steps of `ammi demo`: docstrings of installed libraries, codes, their precision, a collection."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.collection import Collection
from ammi.data import every_tenth, write_jsonl
from ammi.data.docstrings import PACKAGES, docstring_records
from ammi.evaluate import labelled_precision
from ammi.files import replacing_folder
from ammi.hashers import AMMI, BOW, LSH, DocumentHasher


class Score(NamedTuple):
    """Top-100 precision of a method, in percent."""

    method: str
    bits: int
    precision: float


class Demo:
    """The steps of the demo; call them in this order: read, learn, compare, build."""

    def __init__(self, folder: Path, packages: Sequence[str] = PACKAGES, epochs: int | None = None):
        self.folder, self.packages = folder, packages
        self.hasher = AMMI(64, epochs=epochs, random_state=0, verbose=False)
        self.location = folder / "index"

    def read(self) -> list[dict[str, Any]]:
        """Read the documents, and write them to a file for other commands."""
        self.folder.mkdir(parents=True, exist_ok=True)  # first, so that a folder that cannot be written fails at once
        self.records = list(docstring_records(self.packages))
        self.texts = [record["text"] for record in self.records]
        self.labels = [record["label"] for record in self.records]
        write_jsonl(self.folder / "docstrings.jsonl.gz", self.records)
        return self.records

    def learn(self, **more: Any) -> DocumentHasher:
        """Learn codes from the documents that are not held out, and save the model; `more` are arguments of `fit`."""
        known = [text for text, held_out in zip(self.texts, self._held_out, strict=True) if not held_out]
        self.model = DocumentHasher(self.hasher).fit(known, **more)
        self.model.save(self.folder / "model")
        return self.model

    def compare(self) -> list[Score]:
        """Return the precision for held-out documents of three methods: random codes, all words, learned codes."""
        X = self.model.features_.transform(self.texts)
        known = X[~self._held_out]
        methods = [LSH(64, random_state=0).fit(known), BOW().fit(known), self.model.hasher_]
        return [Score(type(method).__name__, method.n_bits, self._precision(method.encode(X))) for method in methods]

    def best_precision(self) -> float:
        """Return the precision of a perfect ranking, below 100 because some labels have fewer than 100 documents."""
        names, numbers = np.unique(self.labels, return_inverse=True)
        in_base = np.bincount(numbers[~self._held_out], minlength=len(names))
        return float(np.minimum(in_base[numbers[self._held_out]], 100).mean())

    def build(self) -> Collection:
        """Build the collection of all documents, which replaces that of an earlier demo."""
        with (
            replacing_folder(self.location) as new,
            Collection.create(new, self.model, keys=["package"]) as collection,
        ):
            collection.add(self.records)
        return Collection.open(self.location)

    @cached_property
    def _held_out(self) -> NDArray[np.bool_]:
        return every_tenth(len(self.records))

    def _precision(self, codes: NDArray[np.uint8]) -> float:
        labels, held_out = np.array(self.labels), self._held_out
        base, queries = labels[~held_out].tolist(), labels[held_out].tolist()
        return labelled_precision(codes[~held_out], base, 100, codes[held_out], queries).precision
