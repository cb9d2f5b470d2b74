"""Tf-idf over words, learned from a stream and kept as JSON."""

from collections.abc import Iterator, Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ammi.features.saved import features_files, parse_features, terms_fingerprint
from ammi.features.texts import chunks
from ammi.features.tfidf import TermFeatures, check_whole_number
from ammi.features.tokens import Table, WordCounts, look_up, make_table, tokenize
from ammi.files import Files


class WordFeatures(TermFeatures):
    """Tf-idf over the words that are in most documents; `ammi.features.alphabet` says what a word is.

    Args:
        vocabulary_size: at most so many words, those in most documents.
        min_documents: leave out words that are in fewer documents. 2 to 5 make smaller models of small corpora.
    """

    name = "words"
    _table: Table

    def __init__(self, vocabulary_size: int = 20_000, *, min_documents: int = 1):
        self.vocabulary_size = vocabulary_size
        self.min_documents = min_documents

    def _learn(self, texts: Iterator[str]) -> tuple[int, NDArray[np.int64]]:
        check_whole_number("min_documents", self.min_documents, 1)
        counts = WordCounts(limit=max(1_000_000, 10 * self.vocabulary_size))
        for chunk in chunks(texts):
            counts.add(chunk)
        vocabulary, frequencies = counts.most_frequent(self.vocabulary_size, self.min_documents)
        if not vocabulary:
            least = f"in {self.min_documents} or more of them" if self.min_documents > 1 else "in any of them"
            raise ValueError(f"nothing can be learned from {counts.n_documents} texts: there is no word {least}")
        self._use(vocabulary)
        return counts.n_documents, frequencies

    def _use(self, vocabulary: list[str]) -> None:
        self.vocabulary_, self._table = vocabulary, make_table(vocabulary)

    def _terms(self, texts: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return look_up(self._table, tokenize(texts))

    def count_words(self, texts: list[str]) -> tuple[int, int]:
        """Return the number of words of texts, every occurrence counted, and of those not in the vocabulary."""
        self._check_is_fitted()
        tokens = tokenize(texts)
        return len(tokens.begin), len(tokens.begin) - len(look_up(self._table, tokens)[0])

    @property
    def fingerprint_(self) -> str:
        self._check_is_fitted()
        return terms_fingerprint(self.name, self.vocabulary_, self.idf_)

    def to_files(self) -> Files:
        self._check_is_fitted()
        return features_files(self, vocabulary=self.vocabulary_, idf=self.idf_.tolist())

    @classmethod
    def from_files(cls, files: Mapping[str, bytes]) -> Self:
        saved = parse_features(files, cls.name)
        maker = cls(**saved["parameters"])
        maker._use(saved["vocabulary"])
        maker._weigh(np.array(saved["idf"]))
        return maker
