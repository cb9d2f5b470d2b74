"""The codes of a few texts from the files of a model, by the plainest means: no torch, no scikit-learn, no numba.

A search needs the code of one short text, and the imports of what learned the model take seconds. The bits are the same
as those of the model itself.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays

from ammi.digests import arrays_digest, joint_digest
from ammi.features.quick import QuickRows, quick_rows
from ammi.files import of_folder
from ammi.hashers.hyperplanes import HyperplaneNames, Hyperplanes
from ammi.hashers.saving import CONFIG, FEATURES, HASHER, WEIGHTS, parse_config

_REMEMBERED = 16  # texts: a search asks several times about the same one


class _Seen(NamedTuple):
    """A text as the model sees it: how sure it is of each bit, and whether it knows a word."""

    logits: NDArray[np.floating]  # (m,)
    known: bool


class QuickCodes:
    """Texts in, codes out: a linear hasher over words or SentencePiece units."""

    reads = "text"

    def __init__(self, rows: QuickRows, planes: Hyperplanes, fingerprint: str):
        self._rows, self._planes, self.fingerprint_ = rows, planes, fingerprint
        self._seen = lru_cache(_REMEMBERED)(self._see)

    @property
    def n_bits(self) -> int:
        """Length m of the codes."""
        return len(self._planes.thresholds)

    def encode(self, texts: Iterable[str]) -> NDArray[np.uint8]:
        """The code of each text in ceil(m / 8) bytes, packed as numpy.packbits packs."""
        bits = [self._seen(text).logits > 0 for text in texts]
        return np.packbits(np.array(bits, np.uint8).reshape(-1, self.n_bits), axis=1)

    def logits(self, texts: Iterable[str]) -> NDArray[np.floating]:
        """How sure each text is of each bit, (n, m): positive where it is 1."""
        logits = [self._seen(text).logits for text in texts]
        return np.array(logits, self._planes.thresholds.dtype).reshape(-1, self.n_bits)

    def word_weights(self) -> tuple[list[str], NDArray[np.floating]]:
        """The words or units, the most frequent first, and how far each moves each bit to 1, (V, m)."""
        weights = self._planes.weights * self._rows.idf[:, None]
        order = np.argsort(self._rows.idf, kind="stable")
        return [self._rows.vocabulary[term] for term in order], weights[order]

    def knows(self, text: str) -> bool:
        """Whether the model knows a word of a text; the code of one that it does not is that of an empty one."""
        return self._seen(text).known

    def _see(self, text: str) -> _Seen:
        columns, values = self._rows.row(text)
        return _Seen(self._planes.logits_of(columns, values), len(columns) > 0)


def quick_codes(files: Mapping[str, bytes]) -> QuickCodes | None:
    """Return what encodes with the files of a DocumentHasher; None if that takes the whole model."""
    of_hasher = of_folder(HASHER, files)
    if not of_hasher:  # the files are those of a hasher alone, which reads vectors
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
