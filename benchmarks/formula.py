"""The score of docs/ranking.md, computed for every document by numpy: what a search gives without shortlists."""

from collections import Counter

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

from ammi import Collection
from ammi.features.alphabet import terms_of
from ammi.search import ranking
from ammi.search.languages import stems

Scores = NDArray[np.float64]


class Formula:
    """The words and codes of a collection's documents, in insertion order."""

    def __init__(self, collection: Collection):
        texts = [entry.text or "" for entry in collection]
        counts = [Counter(terms_of(text)) for text in texts]
        self._column = {word: n for n, word in enumerate(dict.fromkeys(word for each in counts for word in each))}
        rows = np.repeat(np.arange(len(texts)), [len(each) for each in counts])
        columns = [self._column[word] for each in counts for word in each]
        found = np.array([n for each in counts for n in each.values()], np.float64)
        self._counts = csc_matrix((found, (rows, columns)), (len(texts), len(self._column)))
        self._language = collection.store.language
        self._words: dict[str, list[str]] = {}  # of the documents, by stem
        for word, stem in zip(self._column, stems(self._language, [*self._column]), strict=True):
            self._words.setdefault(stem, []).append(word)
        lengths = np.array([len(text) for text in texts], np.float64)
        share = ranking.LENGTH_SHARE
        self._damping = ranking.SATURATION * (1 - share + share * lengths / lengths.mean())
        self._model = collection._stored()
        self._signs = 2.0 * np.unpackbits(collection.codes()[1], axis=1, count=collection.n_bits) - 1

    def scores(self, query: str) -> Scores:
        """Return the score of each document, (n,)."""
        total, first = self._lexical(query), 0
        read = self._model.read([query])
        for logits, faithful in read.parts:
            own, signs = logits[0].astype(np.float64), self._signs[:, first : first + logits.shape[1]]
            first += len(own)
            if faithful:
                total += ranking.COSINE_WEIGHT * (signs @ own) / np.sqrt(len(own) * (own @ own))
            elif read.known[0]:
                total += ranking.CODE_WEIGHT * (signs @ own) / np.abs(own).sum()
        return total

    def _lexical(self, query: str) -> Scores:
        n = len(self._damping)
        score, rarities = np.zeros(n), 0.0
        for stem, asked in ranking.words_by_stem(query, self._language).items():
            of_words = {word: self._times(word) for word in self._words.get(stem, [])}
            having = min(sum(int((times > 0).sum()) for times in of_words.values()), n)
            rarity, repeated = np.log1p((n - having + 0.5) / (having + 0.5)), sum(asked.values())
            rarities += repeated * rarity
            score += rarity * repeated * self._saturated(sum(of_words.values(), np.zeros(n)))
            for word, times in asked.items():
                if word in of_words:
                    score += rarity * ranking.EXACT_WEIGHT * times * self._saturated(of_words[word])
        return score / np.sqrt(rarities or 1)

    def _times(self, word: str) -> Scores:
        return self._counts[:, [self._column[word]]].toarray()[:, 0]

    def _saturated(self, times: Scores) -> Scores:
        return times * (ranking.SATURATION + 1) / (times + self._damping)
