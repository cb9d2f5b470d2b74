"""The demo: from the docstrings of the installed libraries to codes, figures, answers and a collection."""

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
    """How a method does: its top-100 precision in percent, with codes of so many bits."""

    method: str
    bits: int
    precision: float


class Demo:
    """The steps, in their order: read, learn, compare, build."""

    def __init__(self, folder: Path, packages: Sequence[str] = PACKAGES, epochs: int | None = None):
        self.folder, self.packages = folder, packages
        self.hasher = AMMI(64, epochs=epochs, random_state=0, verbose=False)
        self.location = folder / "index"

    def read(self) -> list[dict[str, Any]]:
        """Read the documents, and leave them as a file for other commands."""
        self.folder.mkdir(parents=True, exist_ok=True)  # first: who names a location that cannot be does not wait
        self.records = list(docstring_records(self.packages))
        self.texts = [record["text"] for record in self.records]
        self.labels = [record["label"] for record in self.records]
        write_jsonl(self.folder / "docstrings.jsonl.gz", self.records)
        return self.records

    def learn(self, **more: Any) -> DocumentHasher:
        """Learn codes from the documents that are not held out, and save the model; `more` is what `fit` takes."""
        known = [text for text, held_out in zip(self.texts, self._held_out, strict=True) if not held_out]
        self.model = DocumentHasher(self.hasher).fit(known, **more)
        self.model.save(self.folder / "model")
        return self.model

    def compare(self) -> list[Score]:
        """The precision of held-out documents among the others, for random codes, whole documents and learned codes."""
        X = self.model.features_.transform(self.texts)
        known = X[~self._held_out]
        methods = [LSH(64, random_state=0).fit(known), BOW().fit(known), self.model.hasher_]
        return [Score(type(method).__name__, method.n_bits, self._precision(method.encode(X))) for method in methods]

    def best_precision(self) -> float:
        """What a perfect ranking would reach: some labels have fewer than a hundred documents."""
        names, numbers = np.unique(self.labels, return_inverse=True)
        in_base = np.bincount(numbers[~self._held_out], minlength=len(names))
        return float(np.minimum(in_base[numbers[self._held_out]], 100).mean())

    def build(self) -> Collection:
        """A collection of all documents, in place of that of an earlier demo."""
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
