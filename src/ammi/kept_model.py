"""The model that a collection keeps in its index, loaded as far as it is needed."""

from collections.abc import Callable, Mapping
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ammi.files import Files, verified
from ammi.search import Entry, KeptVectors
from ammi.search.hamming import Codes
from ammi.search.ranking import RANKS, BitRanking, Ranking, VectorRanking, WordRanking
from ammi.search.vectors import Rows

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher, Hasher
    from ammi.hashers.quick import QuickCodes

Recode = Callable[[list[Entry]], tuple[Codes, Rows | None]]  # of documents: codes, and vectors where these change

_FEW_QUERIES = 200  # which are encoded sooner than the whole model is loaded


class KeptModel:
    """A model as the files of its folder: what encodes a query is read from them first, the whole when it is needed.

    Files that are not as they were written are refused.
    """

    def __init__(self, files: Mapping[str, bytes]):
        self.files: Files = verified(files, "the model of the collection")

    @classmethod
    def of(cls, model: "DocumentHasher | Hasher | str | PathLike[str]") -> Self:
        """A fitted model, one saved to a folder, or a fitted hasher as a model of vectors."""
        from ammi.hashers.saving import load, parse_config, read_model_folder

        if isinstance(model, str | PathLike):
            files = read_model_folder(Path(model))
            if "reads" in parse_config(files, Path(model)):
                return cls(files)
            model = load(model)
        from ammi.hashers.documents import DocumentHasher

        return cls((model if isinstance(model, DocumentHasher) else DocumentHasher.of(model)).to_files())

    @cached_property
    def whole(self) -> "DocumentHasher":
        from ammi.hashers.saving import model_from_verified

        return model_from_verified(self.files, Path("the model of the collection"))

    @cached_property
    def quick(self) -> "QuickCodes | None":
        """What encodes a few texts at once, where the model is one for which there is such a thing."""
        from ammi.hashers.quick import quick_codes

        return quick_codes(self.files)

    @cached_property
    def _config(self) -> dict[str, Any]:
        from ammi.hashers.saving import parse_config

        return parse_config(self.files, Path("the model of the collection"), "n_bits", "reads")

    @property
    def fingerprint(self) -> str:
        return self._config["fingerprint"]

    @property
    def n_bits(self) -> int:
        return self._config["n_bits"]

    @property
    def reads(self) -> str:
        """What a document is for it: "text" or "vector"."""
        return self._config["reads"]

    def describe(self) -> dict[str, Any]:
        return self.whole.describe()

    @cached_property
    def vector_width(self) -> int:
        """How many numbers the vectors have that the model makes its codes of; sparse rows are no vectors to keep."""
        from scipy.sparse import issparse

        features = self.whole.features_
        if self.reads == "text" and issparse(features.transform([""])):
            raise ValueError(
                f"the {features.name} features of model {self.fingerprint} make sparse rows, and vectors are kept of "
                "dense ones, such as embeddings: leave out vectors, or use another model"
            )
        return features.n_features_

    def ask(
        self, queries: list[Any], rank: str | None, *, has_words: bool, has_vectors: bool
    ) -> tuple[Codes, list[Ranking] | None]:
        """The codes of queries, and what scores the answers to each; None where that is the distance."""
        rank = self._default_rank(has_words, has_vectors) if rank is None else rank
        if rank not in RANKS:
            raise ValueError(f"rank is {rank!r}, but there are {', '.join(map(repr, RANKS))}: name one of them")
        if rank == "text" and self.reads != "text":
            raise ValueError('rank is "text", but queries are vectors here: use "distance", "asymmetric" or "vectors"')
        if rank == "distance":
            return self.encode(queries), None
        if rank == "asymmetric":
            return self.encode(queries), [BitRanking(logits) for logits in self.logits(queries)]
        if rank == "text" and not has_vectors:
            return self.encode(queries), [WordRanking(query) for query in queries]
        rows = self.rows(queries)
        codes = self.whole.hasher_.encode(rows)
        if self.reads != "text":
            return codes, [VectorRanking(row) for row in rows]
        by_words = [WordRanking(query, row) for query, row in zip(queries, rows, strict=True)]
        if rank == "text":
            return codes, list(by_words)
        # The words find candidates, too: then a shortlist of 200 does what one of thousands does.
        return codes, [
            VectorRanking(row, one.words if has_words else ()) for row, one in zip(rows, by_words, strict=True)
        ]

    def ranks(self, *, has_words: bool, has_vectors: bool) -> list[str]:
        """The ranks that `ask` takes, the default first."""
        there = {"distance": True, "asymmetric": self.tells_probabilities, "text": self.reads == "text" and has_words}
        first = self._default_rank(has_words, has_vectors)
        return sorted((rank for rank in RANKS if there.get(rank, has_vectors)), key=lambda rank: rank != first)

    @property
    def tells_probabilities(self) -> bool:
        """Whether it says how sure it is of a bit."""
        if self.reads == "text" and self.quick:
            return True
        return bool(self.whole.hasher_.hyperplanes()) or hasattr(self.whole.hasher_, "bit_probabilities")

    def _default_rank(self, has_words: bool, has_vectors: bool) -> str:
        if self.reads == "text" and has_words:
            return "text"
        return "vectors" if has_vectors else "distance"

    def rows(self, queries: list[Any]) -> NDArray[np.floating]:
        """The vectors of queries that codes are made of, (n, d)."""
        self._check(queries)
        return self.whole.features_.transform(self._asked(queries))

    def recoding(self, kept: KeptVectors | None, location: str) -> tuple[Recode, int | None]:
        """What makes codes of stored documents, and of texts new vectors where some are kept; the width of these."""
        if self.reads == "text":
            return partial(self._encode_texts, keep=kept is not None), self.vector_width if kept else None
        if kept is None:
            raise ValueError(
                f"the new model reads vectors, and {location} keeps none: create a collection with it and add the vectors"
            )
        if kept.width != self.vector_width:
            raise ValueError(
                f"the new model reads vectors of {self.vector_width} numbers, and those kept in {location} have "
                f"{kept.width}: create a collection with it and add the vectors"
            )
        return self._encode_vectors, None

    def _encode_texts(self, entries: list[Entry], keep: bool) -> tuple[Codes, Rows | None]:
        for entry in entries:
            if entry.text is None:
                raise ValueError(f"document {entry.id!r} has no text to encode anew: add it with its text first")
        rows = self.whole.features_.transform([entry.text or "" for entry in entries])
        return self.whole.hasher_.encode(rows), rows if keep else None

    def _encode_vectors(self, entries: list[Entry]) -> tuple[Codes, Rows | None]:
        return self.whole.encode(np.stack([entry.vector for entry in entries if entry.vector is not None])), None

    def logits(self, queries: list[Any]) -> NDArray[np.floating]:
        """How sure each query is of each bit, (n, m): positive where it is 1."""
        self._check(queries)
        if not queries:
            return np.empty((0, self.n_bits))
        if self.reads == "text" and self.quick:
            return self.quick.logits(queries)
        from ammi.hashers.logits import bit_logits

        return bit_logits(self.whole, self._asked(queries))

    def encode(self, queries: list[Any]) -> Codes:
        """The codes of queries, which are texts or vectors, whichever the model reads."""
        self._check(queries)
        if not queries:
            return np.empty((0, -(-self.n_bits // 8)), np.uint8)
        encoder = self.encoder(len(queries)) if self.reads == "text" else self.whole
        return encoder.encode(self._asked(queries))

    def knows(self, query: Any) -> bool:
        """Whether the model knows a word of a text."""
        self._check([query])
        return (self.quick or self.whole).knows(query)

    def encoder(self, n_documents: int) -> "DocumentHasher | QuickCodes":
        """What makes the codes of so many documents soonest: they are the same ones."""
        if self.reads == "text" and "whole" not in vars(self) and n_documents <= _FEW_QUERIES and self.quick:
            return self.quick
        return self.whole

    def _asked(self, queries: list[Any]) -> Any:
        """Queries as the model takes them: texts, or vectors as the rows of a matrix."""
        return queries if self.reads == "text" else _stacked(queries, self.whole.n_features_in_)

    def _check(self, queries: list[Any]) -> None:
        for query in queries:
            if isinstance(query, str) != (self.reads == "text"):
                raise ValueError(f"{query!r:.40} is no {self.reads}, which is what this collection's model reads")


def _stacked(vectors: list[Any], width: int) -> NDArray:
    """The vectors of queries as rows; one that has not as many numbers as the model reads is refused."""
    arrays = [np.asarray(vector) for vector in vectors]
    for array in arrays:
        if array.shape != (width,):
            raise ValueError(
                f"the vector of a query has the shape {array.shape}, and the model reads {width} numbers: make it as "
                "the vectors of the documents were made"
            )
    return np.stack(arrays)
