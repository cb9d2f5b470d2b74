"""Units of texts, found by a SentencePiece unigram model: words, or parts of rarer words, in any script."""

import io
from array import array
from collections.abc import Iterator

import numpy as np
import sentencepiece
from numpy.typing import NDArray

PIECES_FILE = "sentencepiece.model"
TRAINING_CHARACTERS = 10_000_000
LONGEST_SENTENCE = 1000


def open_model(model: bytes) -> sentencepiece.SentencePieceProcessor:
    """Open a SentencePiece model from its bytes."""
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def vocabulary_of(processor: sentencepiece.SentencePieceProcessor) -> list[str]:
    """Return the unit of each column."""
    return [processor.id_to_piece(unit) for unit in range(1, len(processor))]


def unit_columns(
    processor: sentencepiece.SentencePieceProcessor, texts: list[str]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the columns of all units, text after text, and where those of each text begin."""
    columns, first = array("i"), [0]
    encoded = [text.encode("utf-8", "replace") for text in texts]
    for units in processor.encode(encoded, num_threads=1):
        columns.extend(unit - 1 for unit in units if unit)  # unit 0 is "unknown", and no term
        first.append(len(columns))
    return np.array(columns, np.int32), np.array(first)


def learn_model(texts: list[str], vocabulary_size: int) -> bytes:
    """Learn a model of at most `vocabulary_size` units; return its bytes."""
    if not any(text.strip() for text in texts):
        raise ValueError(f"nothing can be learned from {len(texts)} texts: there is no word in any of them")
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=_sentences(texts),
            model_writer=model,
            vocab_size=min(vocabulary_size, TRAINING_CHARACTERS) + 1,  # and the unknown unit
            hard_vocab_limit=False,
            normalization_rule_name="nmt_nfkc_cf",
            bos_id=-1,
            eos_id=-1,
            max_sentence_length=8 * LONGEST_SENTENCE,
            num_threads=16,  # the model depends on this number, and must not depend on the machine
            minloglevel=3,
        )
    except RuntimeError as error:
        reason = str(error).rpartition("] ")[2] or "there is too little in them"
        raise ValueError(f"SentencePiece cannot learn from these {len(texts)} texts: {reason}") from error
    return model.getvalue()


def _sentences(texts: list[str]) -> Iterator[str]:
    """Yield pieces of the texts until there are enough; short ones, since the trainer leaves out long ones."""
    used = 0
    for text in texts:
        for line in text.splitlines():
            for start in range(0, len(line), LONGEST_SENTENCE):
                yield line[start : start + LONGEST_SENTENCE]
        used += len(text)
        if used >= TRAINING_CHARACTERS:
            return
