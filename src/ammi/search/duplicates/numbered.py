"""The words of texts as numbers, by which duplicates are compared, and arrays in temporary files.

Words are those of `ammi.features.alphabet`, and single letters and digits: a bulletin that differs from another in a
single digit is another bulletin.
"""

from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import Generic, Self, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import normal
from ammi.features.tokens import tokenize

Words = NDArray[np.uint32]  # the number of each word, made of its hash; 0 is no word
Bounds = NDArray[np.int64]  # text i has the words from first[i] up to first[i + 1]
Number = TypeVar("Number", np.uint32, np.float32)

PHRASE = 3  # words in a phrase, and the fewest that a text is stored with


def numbered(texts: Sequence[str]) -> tuple[Words, Bounds]:
    """Number the words of each text. A text without words is a word itself; short ones are filled up with 0."""
    tokens = tokenize(texts, shortest=1)
    sizes = np.diff(tokens.first)
    first = np.concatenate([[0], np.cumsum(np.maximum(sizes, PHRASE))])
    words = np.zeros(first[-1], np.uint32)
    words[np.arange(len(tokens.hashes)) + np.repeat(first[:-1] - tokens.first[:-1], sizes)] = _numbers(tokens.hashes)
    for text in np.flatnonzero(sizes == 0).tolist():
        words[first[text]] = max(crc32(normal(texts[text]).encode(errors="surrogatepass")), 1)
    return words, first


def _numbers(hashes: NDArray[np.uint64]) -> Words:
    """Mix all 64 bits of each hash into 32; never 0."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        hashes = (hashes ^ hashes >> np.uint64(32)) * np.uint64(factor)
    return np.maximum((hashes >> np.uint64(32)).astype(np.uint32), np.uint32(1))


class ArrayFile(Generic[Number]):
    """Numbers in a temporary file, of which the system keeps in memory what there is room for."""

    def __init__(self, dtype: type[Number]) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 (closed by `__exit__`)
        self._dtype: type[Number] = dtype

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def add(self, numbers: NDArray[Number]) -> None:
        self._file.write(numbers.astype(self._dtype, copy=False).tobytes())

    def read(self) -> NDArray[Number]:
        """Return all numbers that were added, mapped from the file."""
        self._file.flush()
        return np.memmap(self._file, self._dtype, "r+") if self._file.tell() else np.empty(0, self._dtype)
