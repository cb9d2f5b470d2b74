"""The row of one text by the plainest means: no scikit-learn, no scipy, no compiled loops to import.

A search encodes one short text, and the imports of what encodes a million take longer than all the rest of it.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import words_of
from ammi.features.saved import FILE, naming_damage, parse_saved, terms_fingerprint
from ammi.features.weights import unit_weights

PlainRow = tuple[NDArray[np.int32], NDArray[np.float32]]


class QuickRows:
    """Makes the same rows as the feature maker that was saved, one at a time."""

    def __init__(
        self,
        columns_of: Callable[[str], Sequence[int]],
        vocabulary: Sequence[str],
        idf: NDArray[np.float64],
        fingerprint: str,
    ):
        self._columns_of, self.fingerprint_ = columns_of, fingerprint
        self.vocabulary, self.idf = vocabulary, idf  # the term of each column, and its weight

    @property
    def n_features_(self) -> int:
        """Number V of columns."""
        return len(self.idf)

    def row(self, text: str) -> PlainRow:
        """The columns of a text that are not zero, in order, and their weights."""
        columns, counts = np.unique(np.array(self._columns_of(text), np.int32), return_counts=True)
        return columns, unit_weights(counts, self.idf[columns], np.zeros(len(columns), np.int64), 1)


def quick_rows(folder_files: Mapping[str, bytes]) -> QuickRows | None:
    """The rows of saved features over words or pieces, from the files of their folder; None for other features.

    Args:
        folder_files: the content of each file in the folder, by its name.
    """
    if FILE not in folder_files:
        raise ValueError(f"there is no {FILE} among the files {sorted(folder_files)}: read the folder of the features")
    saved = parse_saved(folder_files[FILE])
    make = {"words": _words, "pieces": _pieces}.get(saved["features"])
    if make is None:
        return None
    with naming_damage(FILE):
        rows = make(saved, folder_files)
        if rows.fingerprint_ != saved["fingerprint"]:
            raise ValueError(f"the fingerprint is {rows.fingerprint_}, it was {saved['fingerprint']}")
    return rows


def _words(saved: Mapping[str, Any], files: Mapping[str, bytes]) -> QuickRows:
    vocabulary, idf = saved["vocabulary"], np.array(saved["idf"])
    column = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
    fingerprint = terms_fingerprint("words", vocabulary, idf)
    return QuickRows(
        lambda text: [column[word] for word in words_of(text) if word in column], vocabulary, idf, fingerprint
    )


def _pieces(saved: Mapping[str, Any], files: Mapping[str, bytes]) -> QuickRows:
    from ammi.features.units import PIECES_FILE, open_model, unit_columns, vocabulary_of

    model, idf = files[PIECES_FILE], np.array(saved["idf"])
    processor, fingerprint = open_model(model), terms_fingerprint("pieces", model, idf)
    vocabulary = vocabulary_of(processor)
    return QuickRows(lambda text: unit_columns(processor, [text])[0].tolist(), vocabulary, idf, fingerprint)
