"""Candidates for duplicates of a text: an index of sketches, searched with all phrases of the text.

A phrase is three words in a row. The sketch of a text is the 32 of its phrases that have the smallest hashes (a
minwise sample), or all it has. The share of a duplicate's phrases that stand in the longer text is the same in the
sketch as in the whole, whatever the lengths of both, so that a text inside a much longer one is found like any other:
the index holds sketches, and the longer text searches with every phrase it has.

How often a collection has a phrase tells standard sentences from those that somebody copied: see `weights`.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ammi.search.duplicates.numbered import PHRASE, Bounds, Words

SKETCH = 32
_FEWEST_BITS = 16
_MOST_COUNTED = 255
_LEAST_BITS, _MOST_BITS = 22, 27  # of the size of the table of counts
# Weights are whole numbers, which add up to the same in any order.
_WEIGHTS = np.round(1000 * np.sqrt(2 / np.maximum(np.arange(_MOST_COUNTED + 1), 2))).astype(np.uint16)


class Sketches(NamedTuple):
    """Entries are (hash of a phrase) << 32 | (text that has it in its sketch), sorted; bucket b holds the hashes whose
    upper bits are b, from `starts[b]` up to `starts[b + 1]`."""

    entries: NDArray[np.uint64]
    starts: NDArray[np.int64]
    shift: int


@njit(nogil=True, cache=True)
def phrase_hash(a, b, c):
    """32 bits for three words in a row."""
    hashed = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)
    hashed += np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
    hashed += np.uint64(c) * np.uint64(0x165667B19E3779F9)
    return np.int64(((hashed ^ hashed >> np.uint64(32)) * np.uint64(0xFF51AFD7ED558CCD)) >> np.uint64(32))


@njit(nogil=True, cache=True)
def sketch_entries(words: Words, first: Bounds, text: int) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Return the entries of a block of texts that begins with this one, and how many each has."""
    entries = np.empty(SKETCH * (len(first) - 1), np.uint64)
    sizes = np.zeros(len(first) - 1, np.uint8)
    n = 0
    for row in range(len(first) - 1):
        hashes = np.empty(first[row + 1] - first[row] - PHRASE + 1, np.uint32)
        for i in range(len(hashes)):
            at = first[row] + i
            hashes[i] = phrase_hash(words[at], words[at + 1], words[at + 2])
        hashes.sort()
        for i in range(len(hashes)):
            if (i == 0 or hashes[i] != hashes[i - 1]) and sizes[row] < SKETCH:
                entries[n] = np.uint64(hashes[i]) << np.uint64(32) | np.uint64(text + row)
                sizes[row] += 1
                n += 1
    return entries[:n].copy(), sizes


def index_sketches(blocks: list[NDArray[np.uint64]]) -> Sketches:
    """Return the index of the entries of all blocks."""
    entries = np.concatenate([np.empty(0, np.uint64), *blocks])
    entries.sort()
    # A bucket for an entry or two; of few entries so many that other phrases hardly ever look into theirs.
    n_bits = min(max(len(entries).bit_length() - 1, _FEWEST_BITS), 31)
    borders = np.arange(1 << n_bits, dtype=np.uint64) << np.uint64(64 - n_bits)
    starts = np.append(np.searchsorted(entries, borders), len(entries))
    return Sketches(entries, starts, 32 - n_bits)


def weights(words: Words, first: Bounds) -> NDArray[np.uint16]:
    """Return the weight of each word in thousandths: √(2 / n) if a phrase with it is there n times (2 to 255).

    Of the up to three phrases with a word, the most frequent counts. Two phrases rarely share a count.
    """
    n_bits = min(max(len(words).bit_length() + 1, _LEAST_BITS), _MOST_BITS)
    return _weights(words, first, np.zeros(1 << n_bits, np.uint8), 32 - n_bits)


@njit(nogil=True, cache=True)
def _weights(words, first, counts, shift):
    for row in range(len(first) - 1):
        for at in range(first[row], first[row + 1] - PHRASE + 1):
            slot = phrase_hash(words[at], words[at + 1], words[at + 2]) >> shift
            if counts[slot] < _MOST_COUNTED:
                counts[slot] += 1
    found = np.full(len(words), _WEIGHTS[0])
    for row in range(len(first) - 1):
        for at in range(first[row], first[row + 1] - PHRASE + 1):
            weight = _WEIGHTS[counts[phrase_hash(words[at], words[at + 1], words[at + 2]) >> shift]]
            for i in range(at, at + PHRASE):
                found[i] = min(found[i], weight)
    return found
