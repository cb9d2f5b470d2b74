"""Tf-idf over words and over SentencePiece units, learned from a stream and kept as JSON."""

import io
import json
import random
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece

from ammi.text.tfidf import FILE, FORMAT, Vectorizer, chunks
from ammi.text.words import WordCounts, look_up, make_table, tokenize

PIECES_FILE = "sentencepiece.model"
SAMPLED_CHARACTERS = 10_000  # of a document, at its beginning
TRAINING_CHARACTERS = 10_000_000
LONGEST_SENTENCE = 1000


class WordVectorizer(Vectorizer):
    """Tf-idf over the words that are in most documents; `ammi.text.words` says what a word is.

    Parameters
    ----------
    vocabulary_size: at most so many words, those in most documents.
    min_documents: leave out words that are in fewer documents. 2 to 5 make smaller models of small corpora.
    """

    kind = "words"

    def __init__(self, vocabulary_size: int = 20_000, *, min_documents: int = 1):
        self.vocabulary_size = vocabulary_size
        self.min_documents = min_documents

    def _learn(self, texts: Iterable[str]) -> tuple[int, np.ndarray]:
        counts = WordCounts(limit=max(1_000_000, 10 * self.vocabulary_size))
        for chunk in chunks(texts):
            counts.add(chunk)
        self.vocabulary_, frequencies = counts.most_frequent(self.vocabulary_size, self.min_documents)
        if not self.vocabulary_:
            least = f"in {self.min_documents} or more of them" if self.min_documents > 1 else "in any of them"
            raise ValueError(f"nothing can be learned from {counts.n_documents} texts: there is no word {least}")
        self._table = make_table(self.vocabulary_)
        return counts.n_documents, frequencies

    def _terms(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        return look_up(self._table, tokenize(texts))

    def _restore(self, state: dict[str, Any], folder: Path) -> None:
        super()._restore(state, folder)
        self._table = make_table(self.vocabulary_)


class SentencePieceVectorizer(Vectorizer):
    """Tf-idf over units of a SentencePiece unigram model, in any script: words, or parts of rarer words.

    Both the units and their weights are learned from a random sample of the documents, from the first ten thousand
    characters of each, which bounds time and memory whatever the size of the corpus.

    Parameters
    ----------
    vocabulary_size: at most so many units; small corpora give fewer.
    sample_size: learn from so many documents, drawn at random. 5,000 to 50,000.
    random_state: seed of the sample.
    """

    kind = "sentencepiece"

    def __init__(self, vocabulary_size: int = 20_000, *, sample_size: int = 10_000, random_state: int = 0):
        self.vocabulary_size = vocabulary_size
        self.sample_size = sample_size
        self.random_state = random_state

    def _learn(self, texts: Iterable[str]) -> tuple[int, np.ndarray]:
        sample = _reservoir(texts, self.sample_size, random.Random(self.random_state))
        self._use(_train(sample, self.vocabulary_size))
        frequencies = np.zeros(len(self.vocabulary_), np.int64)
        for chunk in chunks(sample):
            frequencies += np.bincount(self._counts(chunk).indices, minlength=len(frequencies))
        return len(sample), frequencies

    def _use(self, model: bytes) -> None:
        self._model = model
        self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        # Unit 0 stands for what the model does not know, and is no term.
        self.vocabulary_ = [self._processor.id_to_piece(i) for i in range(1, len(self._processor))]

    def _terms(self, texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
        columns, first = array("i"), [0]
        encoded = [text.encode("utf-8", "replace") for text in texts]
        for units in self._processor.encode(encoded, num_threads=1):
            columns.extend(unit - 1 for unit in units if unit)
            first.append(len(columns))
        return np.array(columns, np.int32), np.array(first)

    def save(self, folder: str | Path) -> None:
        super().save(folder)
        Path(folder, PIECES_FILE).write_bytes(self._model)

    def _restore(self, state: dict[str, Any], folder: Path) -> None:
        super()._restore(state, folder)
        self._use((folder / PIECES_FILE).read_bytes())


def _reservoir(texts: Iterable[str], size: int, rng: random.Random) -> list[str]:
    """A uniform sample of the texts, in random order, whatever their number."""
    sample: list[str] = []
    texts = (text[:SAMPLED_CHARACTERS] for chunk in chunks(texts) for text in chunk)
    for n, text in enumerate(texts):
        place = rng.randrange(n + 1)
        if n < size:
            sample.append(text)
            sample[place], sample[n] = sample[n], sample[place]
        elif place < size:
            sample[place] = text
    return sample


def _train(texts: list[str], vocabulary_size: int) -> bytes:
    if not any(text.strip() for text in texts):
        raise ValueError(f"nothing can be learned from {len(texts)} texts: there is no word in any of them")
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_sentences(texts),
            model_writer=model,
            vocab_size=vocabulary_size + 1,  # and the unknown
            hard_vocab_limit=False,
            normalization_rule_name="nmt_nfkc_cf",
            bos_id=-1,
            eos_id=-1,
            max_sentence_length=8 * LONGEST_SENTENCE,
            num_threads=16,  # the model depends on this number, and must not depend on the machine
            minloglevel=3,
        )
    except RuntimeError as error:
        reason = str(error).rpartition("] ")[2]
        raise ValueError(f"SentencePiece cannot learn from these {len(texts)} texts: {reason}") from error
    return model.getvalue()


def _sentences(texts: list[str]) -> Iterator[str]:
    """Pieces of the texts, short because the trainer leaves out long ones, until there are enough."""
    used = 0
    for text in texts:
        for line in text.splitlines():
            for start in range(0, len(line), LONGEST_SENTENCE):
                yield line[start : start + LONGEST_SENTENCE]
        used += len(text)
        if used >= TRAINING_CHARACTERS:
            return


def load_vectorizer(folder: str | Path) -> Vectorizer:
    """The vectoriser that `save` wrote into a folder."""
    path = Path(folder, FILE)
    state = json.loads(path.read_text(encoding="utf-8"))
    if state.get("format") != FORMAT:
        raise ValueError(f"{path} has format {state.get('format')}: expected {FORMAT}, so use the ammi that wrote it")
    kinds = {kind.kind: kind for kind in (WordVectorizer, SentencePieceVectorizer)}
    vectorizer = kinds[state["kind"]](**state["parameters"])
    vectorizer._restore(state, Path(folder))
    return vectorizer
