"""The similarity of a text to a longer one, and the texts that are similar enough to one that is kept.

A text A is aligned with a text B by phrases. Three words in a row that stand in both A and B give an offset between
them, and the words before and after are compared at the same offset, up to the next common phrase on either side. The
words of A that equal the word of B beside them are found, and

    similarity = min(found / |A|, weights of the found / weights of A) · |A| / max(|A|, min(|B|, SHORT))

is the share of A that is in B: the smaller of the share in which all words count alike, and the share in which each
counts by the rarity of the phrases around it (`phrases.weights`). The second one is low for texts of one form with
other names in it.

For a text below SHORT words it is a share of the longer one, because a few words are no duplicate of every text in
which they occur.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ammi.search.duplicates.numbered import PHRASE
from ammi.search.duplicates.phrases import SKETCH, Sketches, phrase_hash

SHORT = 20
FREE = -1
_NOWHERE, _FOUND = -(1 << 62), -(1 << 61)  # in place of offsets: no common phrase; none, but the word was found

# Entries of a bucket that are read before it is skipped: a phrase that many texts ask for in vain says little about any
# of them, and would make the time grow with the square of their number.
_PATIENCE = 1 << 16


class Taken(NamedTuple):
    """By text: the one that it duplicates, itself if it is kept, or FREE; and its similarity to that one."""

    kept_by: NDArray[np.int64]
    similarity: NDArray[np.float64]


class Best(NamedTuple):
    """By new text: the known text that is most similar to it, or FREE, and their similarity."""

    known: NDArray[np.int64]
    similarity: NDArray[np.float64]


class Room(NamedTuple):
    """Arrays that the loop over the texts reuses."""

    hits: NDArray[np.int8]  # by text: how many phrases of its sketch the longer text has; -1 if it is not free
    touched: NDArray[np.int32]  # the texts that have a hit
    looked_at: NDArray[np.int32]  # by bucket of the sketches: how many entries
    slots: NDArray[np.int32]  # a hash table of the phrases of the longer text: where each begins, or -1
    offsets: NDArray[np.int64]  # by word of the shorter text: from the phrase that begins there to the longer one's


def make_room(n_texts: int, longest: int, sketches: Sketches) -> Room:
    return Room(
        hits=np.zeros(n_texts, np.int8),
        touched=np.empty(n_texts, np.int32),
        looked_at=np.zeros(len(sketches.starts) - 1, np.int32),
        slots=np.empty(_table_size(longest), np.int32),
        offsets=np.empty(longest, np.int64),
    )


def needed_hits(sketch_sizes: NDArray[np.uint8], threshold: float) -> NDArray[np.int8]:
    """Return the fewest hits for a comparison: half of those expected of a duplicate at the threshold."""
    left = threshold**PHRASE
    expected, deviation = sketch_sizes * left, np.sqrt(sketch_sizes * left * (1 - left))
    least = np.where(sketch_sizes < SKETCH, 1, 2)  # one hit alone is nearly always a turn of speech
    return np.maximum(least, np.minimum(expected / 2, expected - 3 * deviation)).astype(np.int8)


@njit(nogil=True, cache=True)
def take_duplicates(order, texts, sketches, needed, threshold, taken, room):
    """Keep these texts, the longest first, except those that were taken; each kept text takes all its duplicates."""
    words, first, _ = texts
    for text in order:
        if taken.kept_by[text] != FREE:
            continue
        own = words[first[text] : first[text + 1]]
        taken.kept_by[text], taken.similarity[text], room.hits[text] = text, 1, -1
        slots = room.slots[: _table_size(len(own))]
        for other in room.touched[: _count_hits(own, slots, sketches, room)]:
            hits, room.hits[other] = room.hits[other], 0
            if hits < needed[other]:
                continue
            similarity = _similarity(texts, other, own, threshold, slots, room.offsets)
            if similarity >= threshold:
                taken.kept_by[other], taken.similarity[other], room.hits[other] = text, similarity, -1


@njit(nogil=True, cache=True)
def take_most_similar(order, texts, sketches, needed, threshold, best, room):
    """Compare these texts with the texts in the sketches, all of the other set, that are no longer than they are.

    Of two that are equally long, the known one counts as the longer one.
    """
    words, first, _ = texts
    n_known = len(first) - 1 - len(best.known)
    for text in order:
        own = words[first[text] : first[text + 1]]
        slots = room.slots[: _table_size(len(own))]
        for other in room.touched[: _count_hits(own, slots, sketches, room)]:
            hits, room.hits[other] = room.hits[other], 0
            n_words = first[other + 1] - first[other]
            if hits < needed[other] or n_words > len(own) - (other < text):
                continue
            similarity = _similarity(texts, other, own, threshold, slots, room.offsets)
            known, new = min(text, other), max(text, other) - n_known
            if similarity >= threshold and (-similarity, known) < (-best.similarity[new], best.known[new]):
                best.known[new], best.similarity[new] = known, similarity


@njit(nogil=True, cache=True)
def _count_hits(own, slots, sketches, room):
    """Count the hits of all free texts, and fill the table of own phrases; return how many texts have a hit."""
    n_touched = 0
    slots[:] = -1
    for i in range(len(own) - PHRASE + 1):
        hashed = phrase_hash(own[i], own[i + 1], own[i + 2])
        slot = hashed & len(slots) - 1
        while slots[slot] >= 0 and not _same_phrase(own, i, own, slots[slot]):
            slot = slot + 1 & len(slots) - 1
        if slots[slot] >= 0:
            continue
        slots[slot] = i
        bucket = hashed >> sketches.shift
        if room.looked_at[bucket] > _PATIENCE:
            continue
        start, end = sketches.starts[bucket], sketches.starts[bucket + 1]
        room.looked_at[bucket] += end - start
        for entry in sketches.entries[start:end]:
            text = np.int64(entry & np.uint64(0xFFFFFFFF))
            if np.int64(entry >> np.uint64(32)) == hashed and room.hits[text] >= 0:
                if room.hits[text] == 0:
                    room.touched[n_touched] = text
                    n_touched += 1
                room.hits[text] += 1
    return n_touched


@njit(nogil=True, cache=True)
def _similarity(texts, other, own, threshold, slots, offsets):
    """Return the similarity of a text to a longer one, whose phrases are in the slots; 0 if its length excludes it."""
    words, first, weights = texts
    start, end = first[other], first[other + 1]
    size = max(end - start, min(len(own), SHORT))
    if end - start < threshold * size:
        return 0.0
    if end - start == len(own) and np.all(words[start:end] == own):
        return 1.0  # also where phrases repeat, which are aligned with the first of them
    return _found_share(words[start:end], weights[start:end], own, slots, offsets) * (end - start) / size


@njit(nogil=True, cache=True)
def _found_share(words, weights, longer, slots, offsets):
    """Return the share of a text's words that equal the word beside them in a longer text, whose phrases are in the
    slots: the smaller of the plain and the weighted share."""
    # All in one function: passing arrays to another one for each word makes this four times slower.
    n, last = len(words) - PHRASE + 1, len(longer) - PHRASE
    offset, found, weight, whole = _NOWHERE, 0, 0, 0
    for i in range(len(words)):
        whole += weights[i]
        offsets[i] = _NOWHERE
        if i < n:
            if 0 <= i + offset <= last and _same_phrase(words, i, longer, i + offset):
                offsets[i] = offset
            else:
                slot = phrase_hash(words[i], words[i + 1], words[i + 2]) & len(slots) - 1
                while slots[slot] >= 0 and not _same_phrase(words, i, longer, slots[slot]):
                    slot = slot + 1 & len(slots) - 1
                if slots[slot] >= 0:
                    offset = offsets[i] = slots[slot] - i
        if 0 <= i + offset < len(longer) and words[i] == longer[i + offset]:
            found += 1
            weight += weights[i]
            if offsets[i] == _NOWHERE:
                offsets[i] = _FOUND
    offset = _NOWHERE
    for i in range(n - 1, -1, -1):
        if offsets[i] > _FOUND:
            offset = offsets[i]
        elif offsets[i] == _NOWHERE and 0 <= i + offset < len(longer) and words[i] == longer[i + offset]:
            found += 1
            weight += weights[i]
    return min(found / len(words), weight / whole)


@njit(inline="always")
def _same_phrase(words, i, others, j):
    return words[i] == others[j] and words[i + 1] == others[j + 1] and words[i + 2] == others[j + 2]


@njit(nogil=True, cache=True)
def _table_size(n_words):
    """Return a power of two, at least 8 n, so that the first look nearly always shows that a phrase is missing."""
    size = 8
    while size < 8 * n_words:
        size *= 2
    return size
