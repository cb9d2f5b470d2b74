"""Near-duplicates across two sets of texts: for each new text the known one that is most similar to it.

Of two texts the similarity is the share of the shorter one that stands in the longer one, as in `compare`. Known texts
search the sketches of the new ones, and new texts those of the known ones, so that a new text is found inside a longer
known one, and a known text inside a longer new one.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from ammi.search.documents import Entry, Id
from ammi.search.duplicates import OF_TEXTS, TEXTS_AT_ONCE, Advance, check_threshold, read_texts
from ammi.search.duplicates.compare import FREE, Best, make_room, needed_hits, take_most_similar
from ammi.search.duplicates.numbered import ArrayFile
from ammi.search.duplicates.phrases import index_sketches, weights

_ENTRIES_AT_ONCE = 1000


def known_duplicates(
    known: Iterable[Entry], new: Sequence[str], threshold: float | None, advance: Advance
) -> list[tuple[Id, float] | None]:
    """Return for each new text the id of the most similar known document and the similarity, if that is enough.

    Of equally similar ones it is the first. `advance` gets the number of documents twice: when they are read and when
    they are compared.
    """
    ids: list[Id] = []

    def known_texts() -> Iterator[list[str]]:
        entries = iter(known)
        while block := list(islice(entries, _ENTRIES_AT_ONCE)):
            texts = [(entry.id, entry.text) for entry in block if entry.text is not None]
            ids.extend(id for id, _ in texts)
            advance(2 * (len(block) - len(texts)))
            yield [text for _, text in texts]

    best = most_similar(known_texts(), new, OF_TEXTS if threshold is None else threshold, advance)
    return [
        None if position == FREE else (ids[position], similarity)
        for position, similarity in zip(best.known.tolist(), best.similarity.tolist(), strict=True)
    ]


def most_similar(
    known: Iterable[list[str]], new: Sequence[str], threshold: float, advance: Advance = lambda n_texts: None
) -> Best:
    """Return the position of the known text that is most similar to each new text; known texts come in blocks."""
    check_threshold(threshold)
    new_blocks = (list(new[start : start + _ENTRIES_AT_ONCE]) for start in range(0, len(new), _ENTRIES_AT_ONCE))
    with ArrayFile(np.uint32) as file:
        of_known = read_texts(known, file, 0, advance)
        n_known = len(of_known.n_words)
        of_new = read_texts(new_blocks, file, n_known, advance)
        n_words = np.concatenate([of_known.n_words, of_new.n_words])
        words, first = file.read(), np.concatenate([[0], np.cumsum(n_words)])
        texts = words, first, weights(words, first)
        needed = needed_hits(np.concatenate([of_known.sketch_sizes, of_new.sketch_sizes]), threshold)
        best = Best(np.full(len(new), FREE), np.zeros(len(new)))
        for searching, found in ((np.arange(n_known), of_new), (np.arange(n_known, len(n_words)), of_known)):
            sketches = index_sketches(found.entries)
            room = make_room(len(n_words), int(n_words.max(initial=0)), sketches)
            for start in range(0, len(searching), TEXTS_AT_ONCE):
                part = searching[start : start + TEXTS_AT_ONCE]
                take_most_similar(part, texts, sketches, needed, threshold, best, room)
                advance(len(part))
    return best
