"""The words of texts, found and looked up by loops over UTF-8 bytes that run compiled and outside the GIL.

`ammi.features.alphabet` says what a word is, and finds the same ones in plain Python.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from ammi.features.alphabet import IS_OTHER, IS_UNSPACED, IS_WORD, character_classes, normal

SEED = np.uint64(0xCBF29CE484222325)


class Tokens(NamedTuple):
    """Token j is `letters[begin[j]:end[j]]`; text i has the tokens from `first[i]` up to `first[i + 1]`."""

    letters: np.ndarray  # uint8
    begin: np.ndarray  # int64
    end: np.ndarray  # int64
    hashes: np.ndarray  # uint64
    first: np.ndarray  # int64


def tokenize(texts: Sequence[str], shortest: int = 2) -> Tokens:
    """Find the words of each text; with `shortest` 1 single letters and digits are words, too."""
    return _tokens([normal(text) for text in texts], shortest)


def _tokens(texts: Sequence[str], shortest: int = 2) -> Tokens:
    encoded = [text.encode("utf-8", "replace") for text in texts]
    bounds = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(part) for part in encoded], out=bounds[1:])
    # Writable, because numba would compile everything a second time for arrays that are not.
    letters = np.frombuffer(bytearray().join(encoded), np.uint8)
    return Tokens(letters, *_split(letters, bounds, character_classes(), shortest))


@njit(nogil=True, cache=True)
def _split(letters, bounds, classes, shortest):
    begin = np.empty(len(letters) // 2 + len(bounds), np.int64)  # at most a token for two bytes, and one a text
    end, hashes, first = np.empty_like(begin), np.empty(len(begin), np.uint64), np.empty_like(bounds)
    n = 0
    for text in range(len(bounds) - 1):
        first[text] = n
        i, stop = bounds[text], bounds[text + 1]
        kind, start, length, hashed = IS_OTHER, i, 0, SEED  # of the characters before i
        while i <= stop:
            code, next_i = np.int64(letters[i]) if i < stop else 0, i + 1
            if code >= 0x80:
                code, next_i = _code_point(letters, i)
            if classes[code] != kind:
                if (kind == IS_WORD and length >= shortest) or (kind == IS_UNSPACED and length == 1):
                    begin[n], end[n], hashes[n] = start, i, hashed
                    n += 1
                kind, start, length, hashed = classes[code], i, 0, SEED
            elif kind == IS_UNSPACED:
                begin[n], end[n], hashes[n] = start, next_i, _mixed(hashed, code)
                n += 1
                start, hashed = i, SEED
            hashed = _mixed(hashed, code)
            length += 1
            i = next_i
    first[-1] = n
    return begin[:n], end[:n], hashes[:n], first


@njit(nogil=True, cache=True)
def _code_point(letters, i):
    """Return the character of two bytes or more that begins at i, and where the next one begins."""
    byte = np.int64(letters[i])
    n_bytes = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
    code = byte & (0x7F >> n_bytes)
    for k in range(1, n_bytes):
        code = code << 6 | letters[i + k] & 0x3F
    return code, i + n_bytes


@njit(nogil=True, cache=True)
def _mixed(hashed, code):
    return (hashed ^ np.uint64(code)) * np.uint64(0x100000001B3)  # FNV-1a, over code points


class Table(NamedTuple):
    """Numbered words, of which w is `letters[bounds[w]:bounds[w + 1]]`, and a hash table of them."""

    letters: np.ndarray  # uint8
    bounds: np.ndarray  # int64
    slots: np.ndarray  # int32: a word or -1, a power of two of them and half of them or more -1
    hashes: np.ndarray  # uint64: those of the words in the slots


@njit(nogil=True, cache=True)
def _numbers(table, tokens, n_words, adding):
    """Return the number of each token in the table of n_words, or -1; with `adding`, a new word gets a number."""
    # All in one function: handing arrays to another one for each token makes this three times slower.
    letters, bounds, slots, slot_hashes = table
    token_letters, begin, end, hashes, _ = tokens
    words = np.empty(len(hashes), np.int32)
    for token in range(len(hashes)):
        # The hash is folded, since neither its low bits alone nor its high ones are spread evenly.
        slot = np.int64(hashes[token] ^ hashes[token] >> np.uint64(32)) & len(slots) - 1
        start, length = begin[token], end[token] - begin[token]
        while slots[slot] >= 0:
            if slot_hashes[slot] == hashes[token]:
                word_start = bounds[slots[slot]]
                if bounds[slots[slot] + 1] - word_start == length:
                    i = 0
                    while i < length and letters[word_start + i] == token_letters[start + i]:
                        i += 1
                    if i == length:
                        break
            slot = slot + 1 & len(slots) - 1
        if slots[slot] < 0 and adding:
            slots[slot], slot_hashes[slot] = n_words, hashes[token]
            for i in range(length):
                letters[bounds[n_words] + i] = token_letters[start + i]
            bounds[n_words + 1] = bounds[n_words] + length
            n_words += 1
        words[token] = slots[slot]
    return words


def look_up(table: Table, tokens: Tokens) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of the tokens that are in the table, and as in `first` where those of each text begin."""
    words = _numbers(table, tokens, 0, False)
    known = words >= 0
    return words[known], np.concatenate([[0], np.cumsum(known)])[tokens.first]


def make_table(words: Sequence[str]) -> Table:
    """Return a table in which the number of a word is its position in the sequence."""
    counts = WordCounts(limit=len(words))
    counts._count(_tokens(words))
    return counts.table


class WordCounts:
    """In how many documents each word of a stream of texts occurs, in bounded memory.

    When there are more than `limit` words, the rarer half of them or more is forgotten. The count of a word that was
    forgotten and came back is too low, by the number of documents that had it before.
    """

    def __init__(self, limit: int):
        self.limit = limit
        self.n_documents = 0
        self._clear()

    def _clear(self) -> None:
        self.n_words = 0
        slots = np.full(2, -1, np.int32)
        self.table = Table(np.empty(0, np.uint8), np.zeros(1, np.int64), slots, np.empty(2, np.uint64))
        self._frequencies = np.empty(0, np.int64)
        self._seen_in = np.empty(0, np.int64)  # the last document with the word

    def add(self, texts: Sequence[str]) -> None:
        self._count(tokenize(texts))
        self.n_documents += len(texts)
        if self.n_words > self.limit:
            self._forget()

    def learn(self, texts: Sequence[str]) -> list[str]:
        """Return the words of texts, single letters and digits too, that were not met before."""
        known = self.n_words
        self._count(tokenize(texts, shortest=1))
        bounds = self.table.bounds[known : self.n_words + 1].tolist()
        letters = self.table.letters[: bounds[-1]].tobytes()
        return [letters[start:end].decode() for start, end in pairwise(bounds)]

    def _count(self, tokens: Tokens) -> None:
        self._make_room(len(tokens.begin), int((tokens.end - tokens.begin).sum()))
        words = _numbers(self.table, tokens, self.n_words, True)
        self.n_words = max(self.n_words, int(words.max(initial=-1)) + 1)
        _count_documents(words, tokens.first, self.n_documents, self._frequencies, self._seen_in)

    def _make_room(self, n_words: int, n_letters: int) -> None:
        """Make room for more words, since compiled loops cannot grow arrays."""
        letters, bounds, slots, hashes = self.table
        n_letters, n_words = int(bounds[self.n_words]) + n_letters, self.n_words + n_words
        letters, bounds = _grown(letters, n_letters), _grown(bounds, n_words + 1)
        self._frequencies, self._seen_in = _grown(self._frequencies, n_words), _grown(self._seen_in, n_words, -1)
        if 2 * n_words > len(slots):
            slots, hashes = _rehash(slots, hashes, 1 << (2 * n_words).bit_length())
        self.table = Table(letters, bounds, slots, hashes)

    def _forget(self) -> None:
        letters, bounds, slots, slot_hashes = self.table
        frequencies, hashes = self._frequencies[: self.n_words], np.empty(self.n_words, np.uint64)
        hashes[slots[slots >= 0]] = slot_hashes[slots >= 0]
        kept = np.flatnonzero(frequencies > np.median(frequencies))
        self._clear()
        self._count(Tokens(letters, bounds[kept], bounds[kept + 1], hashes[kept], np.array([0, len(kept)])))
        self._frequencies[: len(kept)] = frequencies[kept]
        self._seen_in[: len(kept)] = -1

    def most_frequent(self, n: int, minimum: int) -> tuple[list[str], np.ndarray]:
        """Return the n words that are in most documents, in `minimum` or more, and in how many each of them is.

        Both are in order of the alphabet, which also decides between words that are in equally many.
        """
        frequencies = self._frequencies[: self.n_words]
        if n < len(frequencies):
            minimum = max(minimum, np.partition(frequencies, -n)[-n])
        letters, bounds = self.table.letters, self.table.bounds
        found = [
            (-int(frequencies[word]), letters[bounds[word] : bounds[word + 1]].tobytes().decode())
            for word in np.flatnonzero(frequencies >= minimum)
        ]
        chosen = sorted((word, -negative) for negative, word in sorted(found)[:n])
        return [word for word, _ in chosen], np.array([count for _, count in chosen], np.int64)


def _grown(array: np.ndarray, size: int, fill: int = 0) -> np.ndarray:
    if size <= len(array):
        return array
    larger = np.full(max(size, 2 * len(array)), fill, array.dtype)
    larger[: len(array)] = array
    return larger


@njit(nogil=True, cache=True)
def _rehash(slots, hashes, size):
    new_slots, new_hashes = np.full(size, -1, np.int32), np.empty(size, np.uint64)
    for old in range(len(slots)):
        if slots[old] >= 0:
            slot = np.int64(hashes[old] ^ hashes[old] >> np.uint64(32)) & size - 1
            while new_slots[slot] >= 0:
                slot = slot + 1 & size - 1
            new_slots[slot], new_hashes[slot] = slots[old], hashes[old]
    return new_slots, new_hashes


@njit(nogil=True, cache=True)
def _count_documents(words, first, document, frequencies, seen_in):
    """Count each word once for each text, the first of which is this document."""
    for text in range(len(first) - 1):
        for word in words[first[text] : first[text + 1]]:
            if seen_in[word] != document + text:
                frequencies[word] += 1
                seen_in[word] = document + text
