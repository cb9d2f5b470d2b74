"""A feature maker of one's own: counts of three characters in a row, hashed into a fixed number of columns."""

import zlib
from collections import Counter
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.sparse import csr_matrix

from ammi.features.base import FeatureMaker
from ammi.features.saved import digest, features_files, parse_features
from ammi.features.texts import strings


class CharacterFeatures(FeatureMaker):
    """Rows of unit length; nothing is learned. More columns are larger models with fewer collisions."""

    name = "characters"
    reads = "text"

    def __init__(self, columns: int = 2**12):
        self.columns = columns

    def fit(self, documents: Any, y: Any = None) -> Self:
        if self.columns < 1:
            raise ValueError(f"columns is {self.columns}: expected a whole number from 1 up")
        self.n_features_ = self.columns
        return self

    def transform(self, documents: Any) -> csr_matrix:
        rows = [self._counts(text.lower()) for text in strings(documents)]
        counts = [count / np.linalg.norm(list(row.values())) for row in rows for count in row.values()]
        columns = np.array([column for row in rows for column in row], np.int32)
        first = np.cumsum([0, *map(len, rows)])
        return csr_matrix((np.array(counts, np.float32), columns, first), (len(rows), self.n_features_))

    def _counts(self, text: str) -> Counter[int]:
        grams = (text[i : i + 3].encode("utf-8", "replace") for i in range(len(text) - 2))
        return Counter(zlib.crc32(gram) % self.n_features_ for gram in grams)

    @property
    def fingerprint_(self) -> str:
        return digest(self.name, str(self.n_features_))

    def describe(self) -> dict[str, Any]:
        return {"units": self.name, "columns": self.n_features_}

    def to_files(self) -> dict[str, bytes]:
        return features_files(self)

    @classmethod
    def from_files(cls, files: Mapping[str, bytes]) -> Self:
        return cls(**parse_features(files, cls.name)["parameters"]).fit([])
