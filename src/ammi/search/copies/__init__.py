"""Copies: which texts are all but contained in another one, and which one of them to keep.

`compare` says what the similarity of a copy is, `phrases` how copies are found among many texts. The text with the most
words is kept, of several such the one added first: so nothing is lost with a copy but the share of its words that is
missing in its similarity. Every copy is compared with the one that is kept; no chain of copies makes distant texts one.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ammi.search.copies.compare import FREE, SHORT, Taken, make_room, needed_hits, take_copies
from ammi.search.copies.phrases import index_sketches, sketch_entries
from ammi.search.copies.words import WordFile, numbered
from ammi.search.documents import Entry, Id

Advance = Callable[[int], None]

_TEXTS_AT_ONCE = 4096


class CopyGroup(NamedTuple):
    """A text and its copies by their positions; each copy, the most similar first, with its similarity."""

    kept: int
    copies: list[tuple[int, float]]


def find_copies(
    blocks: Iterable[list[Entry]], threshold: float, advance: Advance = lambda n_documents: None
) -> list[tuple[Id, list[tuple[Id, float]]]]:
    """Each document that is kept and has copies, with these; documents with a text first, in insertion order.

    Of a document without a text nothing is there but its code: those with equal codes count as copies of the first,
    with similarity 1. `advance` is told of each document twice: when it is read and when it is compared.
    """
    ids: list[Id] = []
    by_code: dict[bytes, list[Id]] = {}

    def texts() -> Iterator[list[str]]:
        for block in blocks:
            for entry in block:
                if entry.text is None:
                    by_code.setdefault(entry.code.tobytes(), []).append(entry.id)
                    advance(2)
                else:
                    ids.append(entry.id)
            yield [entry.text for entry in block if entry.text is not None]

    groups = copy_groups(texts(), threshold, advance)
    of_texts = [(ids[group.kept], [(ids[copy], similarity) for copy, similarity in group.copies]) for group in groups]
    return of_texts + [(kept, [(copy, 1.0) for copy in copies]) for kept, *copies in by_code.values() if copies]


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
