"""The order of documents that are equally near to a text: those with more of its words first.

The similarity of two texts is the cosine of their sets of stems, each stem weighted by its rarity log(1 + n / n'): of n
texts that are compared, n' have it. Equal codes say nothing about the order of their documents, and words do.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ammi.features.alphabet import distinct_terms
from ammi.search.documents import Hit
from ammi.search.languages import stems

TIES = 200  # most documents that are compared by their words


def word_similarities(text: str | None, others: Sequence[str | None], language: str | None) -> NDArray[np.float64]:
    """Return the similarity of a text to each of others, 0 to 1, (n,)."""
    words = [distinct_terms([one or ""]) for one in (text, *others)]
    known = sorted(set().union(*words))
    stem_of = dict(zip(known, stems(language, known), strict=True))
    own, *each = [{stem_of[word] for word in one} for one in words]
    having = Counter(stem for one in (own, *each) for stem in one)
    square = {stem: np.log1p(len(words) / count) ** 2 for stem, count in having.items()}
    lengths = [sum(map(square.__getitem__, sorted(one))) for one in (own, *each)]
    shared = [sum(map(square.__getitem__, sorted(own & one))) for one in each]
    return np.array(shared) / np.maximum(np.sqrt(lengths[0] * np.array(lengths[1:])), np.finfo(float).tiny)


def by_words(text: str | None, hits: Sequence[Hit], k: int, language: str | None) -> list[Hit]:
    """Return the first k of hits, which come in order of distance: of equally near ones those with more words first.

    Of equals, and after the first TIES, the order of the hits stays.
    """
    near = [hit for hit in hits[:TIES] if hit.distance <= hits[: max(k, 1)][-1].distance]
    similarities = word_similarities(text, [hit.text for hit in near], language)
    order = np.lexsort((-similarities, np.array([hit.distance for hit in near])))
    return [*(near[row] for row in order), *hits[len(near) :]][:k]
