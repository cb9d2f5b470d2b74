"""The words of texts as numbers, one text after the other, in a temporary file: what copies are compared by.

A word is what stands between spaces, without the punctuation before and after it, or one character of a script that is
written without spaces, in Unicode's normal form NFKC and in lower case. So "7-1/2" is a word, and so is "7": a bulletin
that differs from another in a single digit is another bulletin.
"""

from collections.abc import Sequence
from functools import cache
from tempfile import TemporaryFile
from typing import Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ammi.features.alphabet import IS_OTHER, IS_UNSPACED, IS_WORD, character_classes, normal

Words = NDArray[np.uint32]  # numbers of words, each its hash; 0 is none
Bounds = NDArray[np.int64]  # text i has the words from first[i] up to first[i + 1]

PHRASE = 3  # words in a phrase, and the fewest that a text is kept with

_IS_SPACE = 3
_SEED = np.uint64(0xCBF29CE484222325)


def numbered(texts: Sequence[str]) -> tuple[Words, Bounds]:
    """The words of each text. One of fewer than a phrase is filled up with 0, one without a word is itself a word."""
    encoded = [normal(text).encode("utf-32-le", "surrogatepass") for text in texts]
    bounds = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(part) // 4 for part in encoded], out=bounds[1:])
    # Writable, because numba would compile everything a second time for an array that is not.
    letters = np.frombuffer(bytearray().join(encoded), np.uint32)
    return _split(letters, bounds, _classes())


@cache
def _classes() -> NDArray[np.uint8]:
    """By code point, those of `character_classes`, with spaces told from punctuation."""
    classes = character_classes().copy()
    classes[[code for code in range(0x3001) if chr(code).isspace()]] = _IS_SPACE  # the ideographic space is the last
    return classes


@njit(nogil=True, cache=True)
def _split(letters, bounds, classes):
    words = np.empty(len(letters) + PHRASE * len(bounds), np.uint32)
    first = np.zeros_like(bounds)
    n = 0
    for text in range(len(bounds) - 1):
        begin, end = bounds[text], bounds[text + 1]
        whole, word = _SEED, _SEED  # hashes since the word began: of all letters, and up to its last word character
        for i in range(begin, end):
            kind = classes[letters[i]]
            if word != _SEED and kind in (_IS_SPACE, IS_UNSPACED):
                words[n] = _number(word)
                n += 1
                whole, word = _SEED, _SEED
            if kind == IS_WORD:
                whole = word = _mixed(whole, letters[i])
            elif kind == IS_UNSPACED:
                words[n] = _number(_mixed(_SEED, letters[i]))
                n += 1
            elif kind == IS_OTHER and word != _SEED:
                whole = _mixed(whole, letters[i])
        if word != _SEED:
            words[n] = _number(word)
            n += 1
        if n == first[text]:
            for i in range(begin, end):
                whole = _mixed(whole, letters[i])
            words[n] = _number(whole)
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
    hashed = (hashed ^ hashed >> np.uint64(32)) * np.uint64(0xFF51AFD7ED558CCD)
    hashed = (hashed ^ hashed >> np.uint64(32)) * np.uint64(0xC4CEB9FE1A85EC53)
    return max(np.uint32(hashed >> np.uint64(32)), np.uint32(1))


class WordFile:
    """The words of many texts, on disk: the system keeps in memory what there is room for."""

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 (closed by `close`)
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
