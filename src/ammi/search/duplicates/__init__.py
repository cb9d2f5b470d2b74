"""Copies: which texts are all but contained in another one, and which one of them to keep.

`compare` says what the similarity of a copy is, `phrases` how copies are found among many texts. The text with the most
words is kept, of several such the one added first: so nothing is lost with a copy but the share of its words that is
missing in its similarity. Every copy is compared with the one that is kept; no chain of copies makes distant texts one.

Of documents without a text the vectors are compared, where these are kept: `near_vectors` has that.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ammi.search.documents import Entry, Id
from ammi.search.duplicates.compare import FREE, SHORT, Taken, make_room, needed_hits, take_copies
from ammi.search.duplicates.near_vectors import VectorFile, vector_groups
from ammi.search.duplicates.phrases import index_sketches, sketch_entries
from ammi.search.duplicates.words import WordFile, numbered

OF_TEXTS, OF_VECTORS = 0.8, 0.98  # the usual thresholds: docs/duplicates.md says what they find

Advance = Callable[[int], None]
Groups = list[tuple[Id, list[tuple[Id, float]]]]

_TEXTS_AT_ONCE = 4096


class CopyGroup(NamedTuple):
    """A text and its copies by their positions; each copy, the most similar first, with its similarity."""

    kept: int
    copies: list[tuple[int, float]]


def find_copies(
    blocks: Iterable[list[Entry]], threshold: float | None = None, advance: Advance = lambda n_documents: None
) -> Groups:
    """Each document that is kept and has copies, with these: those with a text, with a vector, and with a code alone.

    Of a document without a text or a vector nothing is there but its code: those with equal codes count as copies of
    the first, with similarity 1. The threshold is that of texts and of vectors, or the usual one of each. `advance` is
    told of each document twice: when it is read and when it is compared.
    """
    ids: list[Id] = []
    ids_of_vectors: list[Id] = []
    by_code: dict[bytes, list[Id]] = {}

    def texts(file: VectorFile) -> Iterator[list[str]]:
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
            file.add(vectors)
            advance(len(vectors))
            yield [entry.text for entry in block if entry.text is not None]

    def named(groups: Iterable[tuple[int, list[tuple[int, float]]]], ids: list[Id]) -> Groups:
        return [(ids[kept], [(ids[copy], similarity) for copy, similarity in copies]) for kept, copies in groups]

    with VectorFile() as file:
        found = named(copy_groups(texts(file), OF_TEXTS if threshold is None else threshold, advance), ids)
        of_vectors = vector_groups(file.read(), OF_VECTORS if threshold is None else threshold, advance)
        found += named(of_vectors.items(), ids_of_vectors)
    return found + [(kept, [(copy, 1.0) for copy in copies]) for kept, *copies in by_code.values() if copies]


def copy_groups(
    blocks: Iterable[list[str]], threshold: float, advance: Advance = lambda n_texts: None
) -> list[CopyGroup]:
    """The groups of two texts or more, in the order of the texts that are kept; texts come in blocks."""
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}, but a similarity to ask for is above 0 and at most 1, such as 0.8")
    with WordFile() as file:
        entries, sizes, n_texts = [], [np.empty(0, np.uint8)], 0
        for block in blocks:
            words, first = numbered(block)
            file.add(words, first)
            block_entries, block_sizes = sketch_entries(words, first, n_texts)
            entries.append(block_entries)
            sizes.append(block_sizes)
            n_texts += len(block)
            advance(len(block))
        sketches = index_sketches(entries)
        del entries
        words, first = file.read()
        n_words = np.diff(first)
        taken = Taken(np.full(n_texts, FREE), np.zeros(n_texts, np.int64))
        room = make_room(n_texts, int(n_words.max(initial=0)), sketches)
        needed = needed_hits(np.concatenate(sizes), threshold)
        order = np.argsort(-n_words, kind="stable")
        for start in range(0, n_texts, _TEXTS_AT_ONCE):
            part = order[start : start + _TEXTS_AT_ONCE]
            take_copies(part, words, first, sketches, needed, threshold, taken, room)
            advance(len(part))
    return _groups(taken, n_words)


def _groups(taken: Taken, n_words: np.ndarray) -> list[CopyGroup]:
    copies = np.flatnonzero(taken.kept_by != np.arange(len(n_words)))
    kept = taken.kept_by[copies]
    similarity = taken.found[copies] / np.maximum(n_words[copies], np.minimum(n_words[kept], SHORT))
    order = np.lexsort((copies, -similarity, kept))
    groups: dict[int, list[tuple[int, float]]] = {}
    for keeper, copy, share in zip(
        kept[order].tolist(), copies[order].tolist(), similarity[order].tolist(), strict=True
    ):
        groups.setdefault(keeper, []).append((copy, share))
    return [CopyGroup(keeper, found) for keeper, found in groups.items()]
