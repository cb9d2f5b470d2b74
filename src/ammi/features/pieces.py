"""Tf-idf over SentencePiece units, learned from a sample of a stream."""

import random
from collections.abc import Iterable, Iterator, Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ammi.features.saved import features_files, parse_features, terms_fingerprint
from ammi.features.texts import chunks
from ammi.features.tfidf import TermFeatures, check_whole_number
from ammi.features.units import PIECES_FILE, learn_model, open_model, unit_columns, vocabulary_of
from ammi.files import Files

SAMPLED_CHARACTERS = 10_000  # read of each document


class PieceFeatures(TermFeatures):
    """Tf-idf over units of a SentencePiece unigram model, in any script: words, or parts of rarer words.

    Both the units and their weights are learned from a random sample of the documents, from the first ten thousand
    characters of each, which bounds time and memory whatever the size of the corpus.

    Args:
        vocabulary_size: the most units; small corpora give fewer.
        sample_size: number of documents to learn from, drawn at random. 5,000 to 50,000.
        random_state: seed of the sample.
    """

    name = "pieces"
    _model: bytes

    def __init__(self, vocabulary_size: int = 20_000, *, sample_size: int = 10_000, random_state: int = 0):
        self.vocabulary_size = vocabulary_size
        self.sample_size = sample_size
        self.random_state = random_state

    def _learn(self, texts: Iterator[str]) -> tuple[int, NDArray[np.int64]]:
        check_whole_number("sample_size", self.sample_size, 1)
        check_whole_number("random_state", self.random_state, 0)
        sample = _reservoir(texts, self.sample_size, random.Random(int(self.random_state)))
        self._use(learn_model(sample, self.vocabulary_size))
        frequencies = np.zeros(len(self.vocabulary_), np.int64)
        for chunk in chunks(sample):
            frequencies += np.bincount(self._counts(chunk).indices, minlength=len(frequencies))
        return len(sample), frequencies

    def _use(self, model: bytes) -> None:
        self._model, self._processor = model, open_model(model)
        self.vocabulary_ = vocabulary_of(self._processor)

    def _terms(self, texts: list[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        return unit_columns(self._processor, texts)

    @property
    def fingerprint_(self) -> str:
        self._check_is_fitted()
        return terms_fingerprint(self.name, self._model, self.idf_)

    def to_files(self) -> Files:
        self._check_is_fitted()
        return features_files(self, idf=self.idf_.tolist()) | {PIECES_FILE: self._model}

    @classmethod
    def from_files(cls, files: Mapping[str, bytes]) -> Self:
        saved = parse_features(files, cls.name)
        maker = cls(**saved["parameters"])
        maker._use(files[PIECES_FILE])
        maker._weigh(np.array(saved["idf"]))
        return maker


def _reservoir(texts: Iterable[str], size: int, rng: random.Random) -> list[str]:
    """Return a uniform sample of the texts, in random order."""
    sample: list[str] = []
    for n, text in enumerate(text[:SAMPLED_CHARACTERS] for text in texts):
        position = rng.randrange(n + 1)
        if n < size:
            sample.append(text)
            sample[position], sample[n] = sample[n], sample[position]
        elif position < size:
            sample[position] = text
    return sample
