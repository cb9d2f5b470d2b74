"""The codes of a few texts from the files of a model, without torch, scikit-learn or numba.

A search needs the code of one short text, and importing those takes seconds. The bits are the same as the model's.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays

from ammi.digests import arrays_digest, joint_digest
from ammi.features.alphabet import words_of
from ammi.features.quick import QuickRows, quick_rows
from ammi.files import of_folder
from ammi.hashers.hyperplanes import HyperplaneNames, Hyperplanes
from ammi.hashers.saving import BESIDE, CONFIG, FEATURES, HASHER, WEIGHTS, parse_config

_CACHED_TEXTS = 16  # a search asks several times about the same text
_LONGEST_CACHED = 20_000  # characters of a text


class QuickCodes:
    """Texts in, codes out, for a linear hasher over words or SentencePiece units."""

    reads = "text"

    def __init__(self, rows: QuickRows, planes: Hyperplanes, fingerprint: str):
        self._rows, self._planes, self.fingerprint_ = rows, planes, fingerprint
        self._cached_row = lru_cache(_CACHED_TEXTS)(rows.row)

    @property
    def n_bits(self) -> int:
        """Length m of the codes."""
        return len(self._planes.thresholds)

    def encode(self, texts: Iterable[str]) -> NDArray[np.uint8]:
        """Return the code of each text in ceil(m / 8) bytes, packed as numpy.packbits packs."""
        return np.packbits(self.logits(texts) > 0, axis=1)

    def logits(self, texts: Iterable[str]) -> NDArray[np.floating]:
        """Return the logits of the texts' bits, (n, m): positive where a bit is 1."""
        logits = [self._planes.logits_of(*self._row(text)) for text in texts]
        return np.array(logits, self._planes.thresholds.dtype).reshape(-1, self.n_bits)

    def word_weights(self) -> tuple[list[str], NDArray[np.floating]]:
        """Return the words or units, the most frequent first, and how far each moves each bit to 1, (V, m)."""
        weights = self._planes.weights * self._rows.idf[:, None]
        order = np.argsort(self._rows.idf, kind="stable")
        return [self._rows.vocabulary[term] for term in order], weights[order]

    def count_words(self, texts: Iterable[str]) -> tuple[int, int] | None:
        """Return the number of words of texts, and of those that the model does not know; None if it has no words."""
        known = self._rows.words
        if known is None:
            return None
        words = [word for text in texts for word in words_of(text)]
        return len(words), sum(word not in known for word in words)

    def knows(self, text: str) -> bool:
        """Return whether the model knows a word of a text; otherwise its code is that of an empty text."""
        columns, _ = self._row(text)
        return len(columns) > 0

    def _row(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        return self._cached_row(text) if len(text) <= _LONGEST_CACHED else self._rows.row(text)


def quick_codes(files: Mapping[str, bytes]) -> QuickCodes | None:
    """Return what encodes with the files of a DocumentHasher; None if that takes the whole model."""
    of_hasher = of_folder(HASHER, files)
    if not of_hasher or of_folder(BESIDE, files):  # a hasher alone, which reads vectors, or two models
        return None
    model = parse_config(files, Path(), "n_bits")
    hasher = parse_config(of_hasher, Path(HASHER), "hyperplanes", "parameters")
    rows = quick_rows(of_folder(FEATURES, files), FEATURES)
    if not hasher["hyperplanes"] or rows is None:
        return None
    try:
        arrays = load_arrays(of_hasher[WEIGHTS])
        planes = Hyperplanes.among(arrays, HyperplaneNames(*hasher["hyperplanes"]), hasher["parameters"]["n_bits"])
    except (SafetensorError, KeyError, TypeError) as error:
        raise ValueError(
            f"{HASHER}/{WEIGHTS} is damaged or does not belong to {CONFIG}: save the model again"
        ) from error
    found = joint_digest(arrays_digest(hasher["method"], arrays), rows.fingerprint_), len(planes.thresholds)
    if found != (model["fingerprint"], model["n_bits"]):
        raise ValueError(f"the parts of model {model['fingerprint']} do not belong together: save the model again")
    return QuickCodes(rows, planes, model["fingerprint"])
