"""Topics: the regions of the map as a table, with their words, documents and categories.

With p_i the share of ones of bit i among the codes of a topic, a document is odd in it if its code z is improbable,
Σ_i log p(z_i), and typical if it has words of the topic and its code is probable. A code alone is not enough: that of a
text of a word or two says little.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ammi.any_collection import Topic
from ammi.displays import Rows
from ammi.explore.colours import Coloured, names_of
from ammi.explore.explorer import Explorer, Map
from ammi.explore.figures import bits_of
from ammi.explore.kept import current_map
from ammi.explore.regions import joined, levels_of
from ammi.explore.sample import Explored
from ammi.explore.words import strongest

_WORDS, _DOCUMENTS, _VALUES, _KEYS = 8, 3, 3, 6  # shown of each topic
_ENOUGH = 3  # of its words: more do not make a document more typical


def find_topics(collection: Explored, n: int) -> list[Topic]:
    """Return the topics of a collection, by the kept map if it shows the collection as it is."""
    explorer, kept = current_map(collection)
    return topics_of(explorer, kept.map, kept.colours, n)


def topics_of(explorer: Explorer, map: Map, colours: dict[str, Coloured], n: int) -> list[Topic]:
    """Return the topics of a map, the largest first."""
    if n < 1:
        raise ValueError(f"the number of topics is {n}: ask for 1 or more")
    sample = explorer.sample
    if not len(sample):
        return []
    topic_of, names = _topic_of(map, n)
    groups = topic_of[None] == np.arange(topic_of.max() + 1)[:, None]  # (g, n)
    counts = explorer.word_counts
    typical = counts.typical(groups[:, sample.read])
    bits = bits_of(sample.codes, explorer.n_bits)
    categories = [key for key, one in colours.items() if one.kind == "category" and key in sample.columns][:_KEYS]
    named = {key: names_of(sample.columns[key]) for key in categories}  # colours name the most frequent values only
    topics = []
    for number, inside in enumerate(groups):
        rows = np.flatnonzero(inside)
        share = len(rows) / len(sample)
        words = [*names[number], *(word for word, _ in strongest(counts.words, typical[number], _WORDS))]
        words = list(dict.fromkeys(words))[:_WORDS]
        having = np.zeros(len(sample))
        having[sample.read] = np.minimum(counts.having(words), _ENOUGH)
        probability = _probability(bits[rows])
        order = rows[np.lexsort((-probability, -having[rows]))]
        others = ~np.isin(rows, order[:_DOCUMENTS])
        odd = rows[others][np.argsort(probability[others], kind="stable")]
        topics.append(
            Topic(
                words,
                round(share * explorer.n_documents),
                share,
                sample.ids_of(order[:_DOCUMENTS]),
                sample.ids_of(odd[:_DOCUMENTS]),
                {key: _shares(names, rows) for key, names in named.items()},
            )
        )
    return Rows(sorted(topics, key=lambda topic: -topic.documents))


def _topic_of(map: Map, n: int) -> tuple[NDArray[np.int64], list[list[str]]]:
    """Return the number of the topic of each point, and the names of the topics that are regions.

    Topics are the regions of a level, if it has n of them; else those of the finest level are joined to n.
    """
    levels = levels_of(map.regions)
    if not levels:
        return np.zeros(len(map.layout), np.int64), [[]]
    region_of, names = map.region_of.astype(np.int64), [region.words for region in map.regions]
    chosen = min(n, len(levels[-1]))
    sizes = [len(level) for level in levels]
    if chosen in sizes:
        parents = np.array([region.parent or 0 for region in map.regions])
        for _ in range(len(levels) - 1 - sizes.index(chosen)):
            region_of = parents[region_of]
    else:
        middles = np.array([(map.regions[number].x, map.regions[number].y) for number in levels[-1]])
        region_of, names = joined(middles, n)[region_of - levels[-1][0]], [[]] * chosen
    kept, topic = np.unique(region_of, return_inverse=True)  # a region may have lost all of its documents
    return topic.reshape(-1), [names[number] for number in kept.tolist()]


def _probability(bits: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return the logarithm of the probability of each code among these."""
    p = (bits.sum(axis=0) + 0.5) / (len(bits) + 1)
    return bits @ np.log(p / (1 - p)) + np.log(1 - p).sum()


def _shares(names: Sequence[str | None], rows: NDArray[np.int64]) -> dict[str, float]:
    """Return the most frequent values of documents, with their shares."""
    counts = Counter(name for row in rows.tolist() if (name := names[row]) is not None)
    return {name: round(count / len(rows), 4) for name, count in counts.most_common(_VALUES)}
