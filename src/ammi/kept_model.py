"""The model that a collection keeps in its index, loaded as far as it is needed."""

from collections.abc import Mapping
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ammi.search.hamming import Codes

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher, Hasher
    from ammi.hashers.quick import QuickCodes

Files = Mapping[str, bytes]  # of a model's folder, by their path in it

_FEW_QUERIES = 200  # which are encoded sooner than the whole model is loaded


class KeptModel:
    """A model as the files of its folder: what encodes a query is read from them first, the whole when it is needed."""

    def __init__(self, files: Files):
        self.files = files

    @classmethod
    def of(cls, model: "DocumentHasher | Hasher | str | PathLike[str]") -> Self:
        """A fitted model, one saved to a folder, or a fitted hasher as a model of vectors."""
        from ammi.hashers.config import read_config, read_folder

        if isinstance(model, str | PathLike) and "reads" in read_config(Path(model)):
            return cls(read_folder(Path(model)))
        from ammi.hashers.saving import load, model_to_files

        return cls(model_to_files(load(model) if isinstance(model, str | PathLike) else model))

    @cached_property
    def whole(self) -> "DocumentHasher":
        from ammi.hashers.saving import model_from_files

        return model_from_files(self.files)

    @cached_property
    def quick(self) -> "QuickCodes | None":
        """What encodes a few texts at once, where the model is one for which there is such a thing."""
        from ammi.hashers.quick import quick_codes

        return quick_codes(self.files)

    @cached_property
    def _config(self) -> dict[str, Any]:
        from ammi.hashers.config import CONFIG, parse_config

        return parse_config(self.files[CONFIG], Path(CONFIG), "n_bits", "reads")

    @property
    def fingerprint(self) -> str:
        return self._config["fingerprint"]

    @property
    def n_bits(self) -> int:
        return self._config["n_bits"]

    @property
    def reads(self) -> str:
        """What a document is for it: "text" or "vector"."""
        return self._config["reads"]

    def describe(self) -> dict[str, Any]:
        return self.whole.describe()

    def logits(self, queries: list[Any]) -> NDArray[np.floating]:
        """How sure each query is of each bit, (n, m): positive where it is 1."""
        if self.reads == "text" and self.quick:
            return self.quick.logits(queries)
        from ammi.hashers.logits import bit_logits

        return bit_logits(self.whole, queries)

    def encode(self, queries: list[Any]) -> Codes:
        """The codes of queries, which are texts or vectors, whichever the model reads."""
        for query in queries:
            if isinstance(query, str) != (self.reads == "text"):
                raise ValueError(f"{query!r:.40} is no {self.reads}, which is what this collection's model reads")
        if self.reads == "vector":
            return self.whole.encode(_stacked(queries, self.whole.n_features_in_))
        if "whole" not in vars(self) and len(queries) <= _FEW_QUERIES and self.quick:
            return self.quick.encode(queries)
        return self.whole.encode(queries)


def _stacked(vectors: list[Any], width: int) -> NDArray:
    """The vectors of queries as rows; one that has not as many numbers as the model reads is refused."""
    arrays = [np.asarray(vector) for vector in vectors]
    for array in arrays:
        if array.shape != (width,):
            raise ValueError(
                f"the vector of a query has the shape {array.shape}, and the model reads {width} numbers: make it as "
                "the vectors of the documents were made"
            )
    return np.stack(arrays)
