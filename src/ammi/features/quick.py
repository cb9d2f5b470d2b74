"""The row of one text without scikit-learn, scipy or compiled loops.

A search encodes one short text; importing scikit-learn would take longer than the search.
"""

from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import words_of
from ammi.features.saved import FILE, Saved, check_fingerprint, naming_damage, parse_features, terms_fingerprint
from ammi.features.weights import unit_weights


class QuickRows(NamedTuple):
    """Makes the same rows as a saved feature maker, one at a time."""

    columns_of: Callable[[str], Sequence[int]]  # the column of each term of a text
    vocabulary: list[str]  # the term of each column
    idf: NDArray[np.float64]  # (V,) the second factor of its weight
    fingerprint_: str
    words: Container[str] | None = None  # those that it knows, if its terms are words

    def row(self, text: str) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
        """Return the columns of a text that are not zero, in order, and their weights."""
        found = sorted(Counter(self.columns_of(text)).items())  # for few words faster than numpy
        columns, counts = np.array(found, np.int32).reshape(-1, 2).T
        return columns, unit_weights(counts, self.idf[columns], np.zeros(len(columns), np.int64), 1)


def quick_rows(files: Mapping[str, bytes], location: str = "") -> QuickRows | None:
    """Return a row maker from the files of a feature maker; None if that is not one of words or pieces."""
    saved = parse_features(files, location=location)
    make = {"words": _words, "pieces": _pieces}.get(saved["features"])
    if make is None:
        return None
    with naming_damage(Path(location, FILE)):
        rows = make(saved, files)
        check_fingerprint(rows.fingerprint_, saved)
    return rows


def _words(saved: Saved, files: Mapping[str, bytes]) -> QuickRows:
    vocabulary, idf = saved["vocabulary"], np.array(saved["idf"])
    column = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
    fingerprint = terms_fingerprint("words", vocabulary, idf)
    return QuickRows(
        lambda text: [column[word] for word in words_of(text) if word in column], vocabulary, idf, fingerprint, column
    )


def _pieces(saved: Saved, files: Mapping[str, bytes]) -> QuickRows:
    from ammi.features.units import PIECES_FILE, open_model, unit_columns, vocabulary_of

    model, idf = files[PIECES_FILE], np.array(saved["idf"])
    processor, fingerprint = open_model(model), terms_fingerprint("pieces", model, idf)
    vocabulary = vocabulary_of(processor)
    return QuickRows(lambda text: unit_columns(processor, [text])[0].tolist(), vocabulary, idf, fingerprint)
