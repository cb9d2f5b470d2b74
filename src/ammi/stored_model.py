"""The model that a collection stores: from its files, each part loaded when it is first used."""

from collections.abc import Mapping
from functools import cached_property, lru_cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ammi.files import Files, verified
from ammi.search.hamming import Codes
from ammi.search.rank_policy import PartLogits, ReadQueries
from ammi.search.ranking import Query
from ammi.search.word_counts import WordCount

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher, Hasher
    from ammi.hashers.documents import PartRows
    from ammi.hashers.quick import QuickCodes
    from ammi.hashers.saving import Config

_LOCATION = Path("the model of the collection")  # for messages
_CACHED_TEXTS = 16
_MOST_QUICK = 200  # up to so many documents, encoding one by one is faster than loading the whole model


class StoredModel:
    """A DocumentHasher as its files. A few texts are encoded without loading all of it, if the model allows.

    Files that are damaged are refused.
    """

    def __init__(self, files: Mapping[str, bytes], *, verify: bool = True):
        self.files: Files = verified(files, _LOCATION) if verify else dict(files)
        self._rows_of_text = lru_cache(_CACHED_TEXTS)(lambda text: self.whole.rows([text]))

    @classmethod
    def of(cls, model: "DocumentHasher | Hasher | str | PathLike[str]") -> Self:
        """Return a fitted model, or one saved to a folder or the Hub, as it is stored; a hasher alone reads vectors."""
        from ammi.hashers.saving import model_from_verified, parse_config, read_model

        if isinstance(model, str | PathLike):
            files = read_model(model)
            if "reads" in parse_config(files, Path(model)):  # a DocumentHasher need not be loaded
                return cls(files, verify=False)
            model = model_from_verified(files, Path(model))
        from ammi.hashers.documents import DocumentHasher

        whole = model if isinstance(model, DocumentHasher) else DocumentHasher.of(model)
        return cls(whole.to_files(), verify=False)

    @cached_property
    def whole(self) -> "DocumentHasher":
        """The model itself."""
        from ammi.hashers.saving import model_from_verified

        return model_from_verified(self.files, _LOCATION)

    @cached_property
    def quick(self) -> "QuickCodes | None":
        """The part that encodes a few texts without torch and scikit-learn; None if only the whole model can."""
        from ammi.hashers.quick import quick_codes

        return quick_codes(self.files)

    @cached_property
    def _config(self) -> "Config":
        from ammi.hashers.saving import parse_config

        return parse_config(self.files, _LOCATION, "n_bits", "reads")

    def describe(self) -> dict[str, Any]:
        """Return facts about the model, for people to read."""
        from ammi.hashers.saving import describe_files

        return describe_files(self.files, _LOCATION)

    @property
    def fingerprint(self) -> str:
        return self._config["fingerprint"]

    @property
    def n_bits(self) -> int:
        return self._config["n_bits"]

    @property
    def reads(self) -> str:
        """What a document is: "text" or "vector"."""
        return self._config["reads"]

    @property
    def has_logits(self) -> bool:
        """Whether the model has logits of bits, for the asymmetric score."""
        if self.quick:
            return True
        from ammi.hashers.logits import has_logits

        return all(has_logits(part.hasher_) for part in self.whole.parts)

    def encoder(self, n_documents: int) -> "DocumentHasher | QuickCodes":
        """Return the faster encoder for n documents; both give the same codes."""
        if "whole" not in vars(self) and n_documents <= _MOST_QUICK and self.quick:
            return self.quick
        return self.whole

    def count_words(self, texts: list[str]) -> WordCount | None:
        """Count the words of texts, and those that the model does not know; None if it does not read words."""
        counts = self.encoder(len(texts)).count_words(texts) if self.reads == "text" else None
        return counts and WordCount(*counts)

    def encode(self, queries: list[Query]) -> Codes:
        """Return the codes of queries, (n, ceil(m / 8))."""
        documents, encoder = self._documents(queries), self.encoder(len(queries))
        return encoder.encode(documents) if encoder is self.quick else self.whole.encode_rows(self._rows(documents))

    def read(self, queries: list[Query]) -> ReadQueries:
        """Return the codes of queries, and what scores them: logits of bits, and vectors."""
        documents = self._documents(queries)
        if self.quick:
            logits = self.quick.logits(documents)
            known = np.array([self.quick.knows(text) for text in documents], bool)
            return ReadQueries(np.packbits(logits > 0, axis=1), known, [PartLogits(logits, faithful=False)], None)
        from ammi.hashers.documents import known_rows
        from ammi.hashers.logits import query_logits

        rows = self._rows(documents)
        parts = []
        for part, X in zip(self.whole.parts, rows, strict=True):
            faithful = part.hasher_.keeps_cosines and isinstance(X, np.ndarray)
            logits = query_logits(part.hasher_, X)
            logits[~known_rows([X])] = 0  # a part that knows nothing of a query says nothing
            parts.append(PartLogits(logits, faithful))
        vectors = rows[-1] if isinstance(rows[-1], np.ndarray) else None
        return ReadQueries(self.whole.encode_rows(rows), known_rows(rows), parts, vectors)

    def logits(self, queries: list[Query]) -> NDArray[np.floating]:
        """Return the logits of queries' bits, (n, m); refuse a model that has none."""
        documents = self._documents(queries)
        if self.quick:
            return self.quick.logits(documents)
        if not queries:
            return np.empty((0, self.n_bits))
        from ammi.hashers.logits import bit_logits

        parts = zip(self.whole.parts, self._rows(documents), strict=True)
        return np.hstack([bit_logits(part.hasher_, X) for part, X in parts])

    def knows(self, query: Query) -> bool:
        """Return whether the model knows a word of a text, or a vector is not zero."""
        return bool(self.read([query]).known[0])

    def _rows(self, documents: list[str] | NDArray[np.floating]) -> "PartRows":
        """Return the rows of queries; those of a text are kept, because an answer needs them several times."""
        if len(documents) == 1 and isinstance(documents[0], str):
            return self._rows_of_text(documents[0])
        return self.whole.rows(documents)

    def knows_word(self, word: str) -> bool:
        """Return whether the model learned this word; False if it cannot tell, as a model of embeddings."""
        return self.quick is not None and self.quick.knows(word)

    def _documents(self, queries: list[Query]) -> list[str] | NDArray[np.floating]:
        """Return queries as the model takes them: texts, or vectors as the rows of a matrix."""
        for query in queries:
            if isinstance(query, str) != (self.reads == "text"):
                raise ValueError(f"{query!r:.40} is no {self.reads}, which is what this collection's model reads")
        if self.reads == "text":
            return [str(query) for query in queries]
        arrays, width = [np.asarray(vector) for vector in queries], self.whole.n_features_in_
        for array in arrays:
            if array.shape != (width,):
                raise ValueError(
                    f"the vector of a query has the shape {array.shape}, and the model reads {width} numbers: make it "
                    "as the vectors of the documents were made"
                )
        return np.array(arrays).reshape(-1, width)
