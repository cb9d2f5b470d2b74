"""The words of texts as numbers, one text after the other, in a temporary file: what copies are compared by.

A word is a run of letters, digits, marks and underscores, or one character of a script that is written without spaces,
in Unicode's normal form NFKC and in lower case. Words of one character count here: a bulletin that differs from
another in a single digit is another bulletin.
"""

from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ammi.features.alphabet import IS_OTHER, IS_WORD, character_classes, normal

Words = NDArray[np.uint32]  # numbers of words, each its hash; 0 is none
Bounds = NDArray[np.int64]  # text i has the words from first[i] up to first[i + 1]

PHRASE = 3  # words in a phrase, and the fewest that a text is kept with

_SEED = np.uint64(0xCBF29CE484222325)


def numbered(texts: Sequence[str]) -> tuple[Words, Bounds]:
    """The words of each text. One of fewer than a phrase is filled up with 0, one without a word is itself a word."""
    filled = [normal(text) for text in texts]
    encoded = [text.encode("utf-32-le", "surrogatepass") for text in filled]
    bounds = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(part) // 4 for part in encoded], out=bounds[1:])
    # Writable, because numba would compile everything a second time for an array that is not.
    letters = np.frombuffer(bytearray().join(encoded), np.uint32)
    return _split(letters, bounds, character_classes())


@njit(nogil=True, cache=True)
def _split(letters, bounds, classes):
    words = np.empty(len(letters) + PHRASE * len(bounds), np.uint32)
    first = np.zeros_like(bounds)
    n = 0
    for text in range(len(bounds) - 1):
        begin, end = bounds[text], bounds[text + 1]
        hashed, inside = _SEED, False
        for i in range(begin, end):
            kind = classes[letters[i]]
            if inside and kind != IS_WORD:
                words[n] = _number(hashed)
                n += 1
                hashed, inside = _SEED, False
            if kind != IS_OTHER:
                hashed = _mixed(hashed, letters[i])
                inside = kind == IS_WORD
                if not inside:
                    words[n] = _number(hashed)
                    n += 1
                    hashed = _SEED
        if inside:
            words[n] = _number(hashed)
            n += 1
        if n == first[text]:
            for i in range(begin, end):
                hashed = _mixed(hashed, letters[i])
            words[n] = _number(hashed)
            n += 1
        while n < first[text] + PHRASE:
            words[n] = 0
            n += 1
        first[text + 1] = n
    return words[:n].copy(), first


@njit(nogil=True, cache=True)
def _mixed(hashed, letter):
    return (hashed ^ np.uint64(letter)) * np.uint64(0x100000001B3)  # FNV-1a, over code points


@njit(nogil=True, cache=True)
def _number(hashed):
    """32 bits in which all of a hash has a part; never 0."""
    return max(np.uint32(spread(hashed) >> np.uint64(32)), np.uint32(1))


@njit(nogil=True, cache=True)
def spread(value):
    """Another number for each, of which every bit depends on all of the given ones: the end of MurmurHash3."""
    value = (value ^ value >> np.uint64(33)) * np.uint64(0xFF51AFD7ED558CCD)
    value = (value ^ value >> np.uint64(33)) * np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ value >> np.uint64(33)


class WordFile:
    """The words of many texts, on disk: the system keeps in memory what there is room for."""

    def __init__(self) -> None:
        self._file = TemporaryFile()
        self._sizes = [np.zeros(1, np.int64)]

    def add(self, words: Words, first: Bounds) -> None:
        words.tofile(self._file)
        self._sizes.append(np.diff(first))

    def read(self) -> tuple[Words, Bounds]:
        """All that was added, mapped from the file."""
        first = np.cumsum(np.concatenate(self._sizes))
        self._file.flush()
        return (np.memmap(self._file, np.uint32) if first[-1] else np.empty(0, np.uint32)), first

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
