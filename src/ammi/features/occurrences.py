"""Find words in many texts without splitting them: the words of `alphabet.words_of`, many times faster.

A word is searched for as a substring, in all texts joined to one string, and the characters around it are checked.
That is exact for texts of plain characters. A text with other ones, such as combining marks or characters of a script
without spaces, is split by `words_of`.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import IS_OTHER, IS_WORD, class_of, normal, words_of

WordPair = tuple[str, str]

_FOUND_BY_SEARCH = 150  # occurrences to search for one by one; a regular expression takes time to compile
_CACHED = 1000  # regular expressions, and characters
_LONGEST_PATTERN = 64  # characters of a word in a cached regular expression, which takes many bytes for each
_BETWEEN = re.compile(r"(?:\W+\w)*\W+")  # between two words: single characters are no words, so they may stand there
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


class Occurrences:
    """Counts of words, and of pairs of neighbouring words, in texts."""

    def __init__(self, texts: Sequence[str]):
        self._split: dict[int, list[str]] = {}  # the words of the texts that are not plain, by row
        self._found: dict[str, NDArray[np.int64]] = {}
        self._joined = "\n".join(texts)
        if self._joined.isascii():  # all at once
            self._joined = normal(self._joined)
        else:
            parts = [normal(text) for text in texts]
            for row, text in enumerate(texts):
                if not all(map(_is_plain, set(_NOT_ASCII.findall(parts[row])))):
                    self._split[row], parts[row] = words_of(text), ""
            self._joined, texts = "\n".join(parts), parts
        self._ends = np.cumsum([len(text) + 1 for text in texts], dtype=np.int64)  # (n,) after the line break

    def counts(self, word: str) -> NDArray[np.int64]:
        """the number of times each text has a word, (n,)."""
        counts = np.bincount(self._rows(self._starts(word)), minlength=len(self._ends))
        for row, words in self._split.items():
            counts[row] = words.count(word)
        return counts

    def have(self, pair: WordPair) -> NDArray[np.bool_]:
        """Return which texts have two words with no other word between them, (n,)."""
        there = np.zeros(len(self._ends), bool)
        first, second = (self._starts(word) for word in pair)
        ends = first + len(pair[0])
        following = np.append(second, -1)[np.searchsorted(second, ends)]  # only the nearest can be a neighbour
        rows = self._rows(first)
        near = (ends < following) & (following < self._ends[rows])
        for end, start, row in zip(ends[near].tolist(), following[near].tolist(), rows[near].tolist(), strict=True):
            if _BETWEEN.fullmatch(self._joined, end, start):
                there[row] = True
        for row, words in self._split.items():
            there[row] = pair in pairwise(words)
        return there

    def _starts(self, word: str) -> NDArray[np.int64]:
        """Return the offsets of a word in the joined texts."""
        if word not in self._found:
            self._found[word] = np.array(_offsets(word, self._joined), np.int64)
        return self._found[word]

    def _rows(self, starts: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self._ends, starts, side="right")


def _offsets(word: str, text: str) -> list[int]:
    """Return the offsets of a word in a text of plain characters."""
    offsets: list[int] = []
    end = 0
    for _ in range(_FOUND_BY_SEARCH if len(word) <= _LONGEST_PATTERN else len(text)):
        start = text.find(word, end)
        if start < 0:
            return offsets
        end = start + len(word)
        if not (_is_word_character(text[start - 1 : start]) or _is_word_character(text[end : end + 1])):
            offsets.append(start)
    return offsets + [match.start() for match in _pattern(word).finditer(text, end)]


@lru_cache(_CACHED)
def _pattern(word: str) -> re.Pattern[str]:
    """Return the pattern of a word; it checks the character before the word last, because that is faster."""
    return re.compile(rf"{word}(?<!\w{word})(?!\w)")


@lru_cache(_CACHED)
def _is_plain(character: str) -> bool:
    r"""Return whether \w decides if a character belongs to words: it is no mark, and of no script without spaces."""
    kind = class_of(character)
    return kind == IS_OTHER or (kind == IS_WORD and _is_word_character(character))


def _is_word_character(character: str) -> bool:
    return character.isalnum() or character == "_"
