"""Documents like one of a store, and documents at growing distance from a code.

Codes decide first. Of equally near documents those come first that share more, and rarer, words.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from ammi.search import Entry, Hit, Store
from ammi.search.checks import checked_k
from ammi.search.filters import Where
from ammi.search.hamming import Codes
from ammi.search.neighbours import TIES, by_words, word_similarities
from ammi.search.ranking import VectorRanking


def like(store: Store, own: Entry, k: int, where: Where | None, radius: int | None, distinct: bool) -> list[Hit]:
    """Return the k documents nearest to one of the store, or all within a radius, without itself.

    With `distinct`, near-duplicates of it, and of hits before them, are left out.
    """
    by_distance = own.vector is None or radius is not None
    n = checked_k(k) + 1  # it finds itself, too
    n = max(n, TIES) if by_distance or distinct else n
    if radius is not None:
        hits = store.within(own.code[None], radius, where)[0]
    elif own.vector is None:
        hits = store.search(own.code[None], n, where)[0]
    else:
        hits = store.search_ranked(own.code[None], [VectorRanking(own.vector)], n, where)[0]
    others = [hit for hit in hits if hit.id != own.id]
    wanted = len(others) if radius is not None else k
    if by_distance:
        others = by_words(own.text, others, len(others) if distinct else wanted, store.language)
    if distinct:
        new = {entry.id for entry in _new(store.get(hit.id for hit in others), [own])}
        others = [hit for hit in others if hit.id in new]
    return others[:wanted]


def at_distances(
    store: Store, code: Codes, text: str | None, distances: Iterable[int] | None, distinct: bool, own: Entry | None
) -> list[Hit]:
    """Return the nearest document at each distance from a code or farther, each document once, except `own`.

    Of equally near documents it is the one that shares the most, and the rarest, words with a text. With `distinct`,
    near-duplicates of `own`, and of documents before them, are left out, and so is a step that has no other documents.
    """
    from ammi.evaluate.drift import DISTANCES, drift

    ids, codes = store.export()
    if own is not None:
        others = [position for position, id in enumerate(ids) if id != own.id]
        ids, codes = [ids[position] for position in others], codes[others]
    away = np.bitwise_count(codes ^ code).sum(axis=1, dtype=np.int64)
    found, shown = [], [own] if own else []
    for step in drift(code, codes, DISTANCES if distances is None else distances):
        ties = store.get(ids[position] for position in np.flatnonzero(away == step.distance)[:TIES])
        order = np.argsort(-word_similarities(text, [entry.text for entry in ties], store.language), kind="stable")
        ordered = [ties[row] for row in order]
        chosen = _new(ordered, shown) if distinct else ordered
        if not chosen:
            continue
        best = chosen[0]
        shown.append(best)
        found.append(Hit(best.id, step.distance, 1 - step.distance / store.n_bits, best.text, best.metadata))
    return found


def _new(entries: Sequence[Entry], shown: Sequence[Entry]) -> list[Entry]:
    """Return the documents that are near-duplicates neither of those shown nor of one before them."""
    from ammi.search.duplicates import find_duplicates

    kept_of = {id: kept for kept, group in find_duplicates([[*shown, *entries]]) for id, _ in group}
    seen, new = {kept_of.get(entry.id, entry.id) for entry in shown}, []
    for entry in entries:
        kept = kept_of.get(entry.id, entry.id)
        if kept not in seen:
            seen.add(kept)
            new.append(entry)
    return new
