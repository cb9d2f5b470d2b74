"""DocumentHasher: texts in, codes out. A vectoriser and a hasher as one model."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ammi.hashers.ammi import AMMI
from ammi.hashers.base import Hasher
from ammi.hashers.saving import load_hasher, read_config, replacing, write_config
from ammi.search import HammingIndex
from ammi.text import Vectorizer, WordVectorizer, load_vectorizer

TEXT, HASHER = "text", "hasher"


class DocumentHasher:
    """Binary codes of texts.

    Texts are strings in a list, an iterator, a pandas Series or an Arrow column.

    Args:
        hasher: any method of ammi.hashers; AMMI with 64 bits where none is given.
        vectorizer: what makes rows of texts; ammi.text.WordVectorizer where none is given.
    """

    def __init__(self, hasher: Hasher | None = None, vectorizer: Vectorizer | None = None):
        self.hasher = AMMI() if hasher is None else hasher
        self.vectorizer = WordVectorizer() if vectorizer is None else vectorizer

    def fit(
        self, texts: Iterable[str], labels: Any = None, *, related: Iterable[str] | None = None, validation: Any = None
    ) -> "DocumentHasher":
        """Learn the vocabulary and the codes of texts, which are gone through twice; an iterator is kept in memory.

        Args:
            labels: of the texts, only for a validation with labels.
            related: for predictive hashing, a text related to each, one by one.
            validation: what chooses the epoch to keep: (texts, labels), with `related` (texts, related texts), or what
                else the hasher's `fit` takes.
        """
        texts = list(texts) if isinstance(texts, Iterator) else texts
        X = self.vectorizer.fit(strings(texts)).transform(strings(texts))
        more: dict[str, Any] = {}
        if related is not None:
            more["related"] = self._rows(related)
        if isinstance(validation, tuple):
            held_out, target = validation
            validation = self._rows(held_out), target if related is None else self._rows(target)
        if validation is not None:
            more["validation"] = validation
        self.hasher.fit(X, labels, **more)
        return self

    def transform(self, texts: Iterable[str]) -> NDArray[np.uint8]:
        """The code of each text, (n, m) of 0 and 1."""
        X = self._rows(texts)
        return self.hasher.transform(X) if X.shape[0] else np.zeros((0, self.n_bits), np.uint8)

    def encode(self, texts: Iterable[str]) -> NDArray[np.uint8]:
        """The code of each text in ceil(m / 8) bytes, packed as numpy.packbits packs."""
        X = self._rows(texts)
        return self.hasher.encode(X) if X.shape[0] else np.zeros((0, -(-self.n_bits // 8)), np.uint8)

    def _rows(self, texts: Iterable[str]) -> Any:
        return self.vectorizer.transform(strings(texts))

    @property
    def n_bits(self) -> int:
        """Length m of the codes."""
        return self.hasher.n_bits

    @property
    def fingerprint_(self) -> str:
        """What tells this model from any other: a digest of its words, of their weights and of its hasher."""
        if not hasattr(self.vectorizer, "idf_"):
            raise ValueError("this DocumentHasher has learned nothing yet: call fit first")
        digest = hashlib.blake2b(self.hasher.fingerprint_.encode(), digest_size=8)
        digest.update("\0".join([self.vectorizer.kind, *self.vectorizer.vocabulary_]).encode())
        digest.update(np.ascontiguousarray(self.vectorizer.idf_).tobytes())
        return digest.hexdigest()

    def save(self, folder: str | Path) -> None:
        """Write the model as a folder: config.json, and a folder for each of its two parts."""
        with replacing(Path(folder)) as new:
            write_config(new, self, {"n_bits": self.n_bits})
            self.vectorizer.save(new / TEXT)
            self.hasher.save(new / HASHER)

    @classmethod
    def load(cls, folder: str | Path) -> "DocumentHasher":
        """The model that `save` wrote to a folder."""
        folder = Path(folder)
        config = read_config(folder)
        if config["method"] != cls.__name__:
            raise ValueError(f"{folder} holds a model of {config['method']}, not of texts: read it with ammi.load")
        try:
            vectorizer = load_vectorizer(folder / TEXT)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
            raise ValueError(f"{folder / TEXT} is damaged: save the model again ({error})") from error
        model = cls(load_hasher(folder / HASHER), vectorizer)
        if model.fingerprint_ != config["fingerprint"]:
            raise ValueError(f"the parts of {folder} do not belong together: save the model again")
        return model

    def __repr__(self) -> str:
        return f"DocumentHasher({self.hasher!r}, {type(self.vectorizer).__name__})"


def model_of(index: HammingIndex, folder: str | Path | None = None) -> DocumentHasher:
    """The model that makes the codes of an index, from the folder that the index remembers, or from another one."""
    folder = folder or index.model
    if folder is None:
        raise ValueError(f"the index in {index.folder} was made from codes and knows no model: name its folder")
    model = DocumentHasher.load(folder)
    if model.fingerprint_ != index.fingerprint:
        raise ValueError(
            f"{folder} holds model {model.fingerprint_}, but the codes in {index.folder} are of model "
            f"{index.fingerprint}: name the folder of that one, or build the index again"
        )
    return model


def strings(texts: Iterable[Any]) -> Iterator[str]:
    """The texts one by one, those of an Arrow column as Python's own; what is no text is refused with its position."""
    if isinstance(texts, str | bytes):
        raise ValueError(f"texts is the single string {texts[:40]!r}: pass a list of strings, [text] for one")
    for position, text in enumerate(texts):
        plain = text.as_py() if hasattr(text, "as_py") else text
        if not isinstance(plain, str):
            raise ValueError(
                f"text {position} is {plain!r:.40}: expected a string, so fill or drop missing texts first"
            )
        yield plain
