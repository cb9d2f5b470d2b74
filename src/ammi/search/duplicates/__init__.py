"""Near-duplicates: texts that mostly stand in another text as well, and which of them to keep.

`compare` defines the similarity of a duplicate, `phrases` finds candidates among many texts. The text with the most
words is kept, of several such the one added first, so that deleting a duplicate loses only the share of its words that
is missing in its similarity. Every duplicate is compared with the text that is kept; no chain of duplicates joins
distant texts.

Documents without a text are compared by their vectors, if these are kept: see `near_vectors`.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ammi.search.documents import Entry, Id
from ammi.search.duplicates.compare import FREE, Taken, make_room, needed_hits, take_duplicates
from ammi.search.duplicates.near_vectors import vector_groups
from ammi.search.duplicates.numbered import ArrayFile, numbered
from ammi.search.duplicates.phrases import index_sketches, sketch_entries, weights

OF_TEXTS, OF_VECTORS = 0.9, 0.98  # the default thresholds: docs/duplicates.md says what they find

Advance = Callable[[int], None]
Groups = list[tuple[Id, list[tuple[Id, float]]]]

TEXTS_AT_ONCE = 4096


class DuplicateGroup(NamedTuple):
    """A text and its duplicates by their positions; each duplicate, the most similar first, with its similarity."""

    kept: int
    duplicates: list[tuple[int, float]]


class ReadTexts(NamedTuple):
    """Sketches of texts, in blocks; and by text how many phrases its sketch has, and how many words the text has."""

    entries: list[NDArray[np.uint64]]
    sketch_sizes: NDArray[np.uint8]
    n_words: NDArray[np.int64]


def find_duplicates(
    blocks: Iterable[list[Entry]], threshold: float | None = None, advance: Advance = lambda n_documents: None
) -> Groups:
    """Return each document that is kept and has duplicates, with these: by text, then by vector, then by code alone.

    A document without a text or a vector has only its code: those with equal codes count as duplicates of the first,
    with similarity 1. The threshold is for texts and vectors, by default 0.9 and 0.98. `advance` gets the number of
    documents twice: when they are read and when they are compared.
    """
    ids: list[Id] = []
    ids_of_vectors: list[Id] = []
    by_code: dict[bytes, list[Id]] = {}

    def texts(file: ArrayFile[np.float32]) -> Iterator[list[str]]:
        for block in blocks:
            vectors = []
            for entry in block:
                if entry.text is not None:
                    ids.append(entry.id)
                elif entry.vector is not None:
                    ids_of_vectors.append(entry.id)
                    vectors.append(entry.vector)
                else:
                    by_code.setdefault(entry.code.tobytes(), []).append(entry.id)
                    advance(2)
            if vectors:
                file.add(np.stack(vectors))
            advance(len(vectors))
            yield [entry.text for entry in block if entry.text is not None]

    def named(groups: Iterable[tuple[int, list[tuple[int, float]]]], ids: list[Id]) -> Groups:
        return [(ids[kept], [(ids[other], similarity) for other, similarity in others]) for kept, others in groups]

    with ArrayFile(np.float32) as file:
        found = named(duplicate_groups(texts(file), OF_TEXTS if threshold is None else threshold, advance), ids)
        if ids_of_vectors:
            X = file.read().reshape(len(ids_of_vectors), -1)
            of_vectors = vector_groups(X, OF_VECTORS if threshold is None else threshold, advance)
            found += named(of_vectors.items(), ids_of_vectors)
    return found + [(kept, [(other, 1.0) for other in others]) for kept, *others in by_code.values() if others]


def duplicate_groups(
    blocks: Iterable[list[str]], threshold: float, advance: Advance = lambda n_texts: None
) -> list[DuplicateGroup]:
    """Return the groups of two texts or more, in the order of the texts that are kept; texts come in blocks."""
    check_threshold(threshold)
    with ArrayFile(np.uint32) as file:
        entries, sketch_sizes, sizes = read_texts(blocks, file, 0, advance)
        sketches, n_texts = index_sketches(entries), len(sizes)
        del entries
        words, first = file.read(), np.concatenate([[0], np.cumsum(sizes)])
        texts = words, first, weights(words, first)
        taken = Taken(np.full(n_texts, FREE), np.zeros(n_texts))
        room = make_room(n_texts, int(sizes.max(initial=0)), sketches)
        needed = needed_hits(sketch_sizes, threshold)
        order = np.argsort(-sizes, kind="stable")
        for start in range(0, n_texts, TEXTS_AT_ONCE):
            part = order[start : start + TEXTS_AT_ONCE]
            take_duplicates(part, texts, sketches, needed, threshold, taken, room)
            advance(len(part))
    return _groups(taken)


def check_threshold(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}, but a similarity to ask for is above 0 and at most 1, such as 0.9")


def read_texts(blocks: Iterable[list[str]], file: ArrayFile[np.uint32], n_before: int, advance: Advance) -> ReadTexts:
    """Add the words of texts to a file that has those of n_before texts."""
    entries, sketch_sizes, n_words = [], [np.empty(0, np.uint8)], [np.zeros(0, np.int64)]
    for block in blocks:
        words, first = numbered(block)
        file.add(words)
        block_entries, block_sizes = sketch_entries(words, first, n_before)
        entries.append(block_entries)
        sketch_sizes.append(block_sizes)
        n_words.append(np.diff(first))
        n_before += len(block)
        advance(len(block))
    return ReadTexts(entries, np.concatenate(sketch_sizes), np.concatenate(n_words))


def _groups(taken: Taken) -> list[DuplicateGroup]:
    others = np.flatnonzero(taken.kept_by != np.arange(len(taken.kept_by)))
    kept, similarity = taken.kept_by[others], taken.similarity[others]
    order = np.lexsort((others, -similarity, kept))
    groups: dict[int, list[tuple[int, float]]] = {}
    for keeper, other, share in zip(
        kept[order].tolist(), others[order].tolist(), similarity[order].tolist(), strict=True
    ):
        groups.setdefault(keeper, []).append((other, share))
    return [DuplicateGroup(keeper, found) for keeper, found in groups.items()]
