"""The ranks of a collection: which of them work there, the default, and how queries are encoded for each."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ammi.search.hamming import Codes
from ammi.search.queries import parse
from ammi.search.ranking import BitRanking, JointRanking, Query, Ranking, VectorRanking, WordRanking

RANKS = ("distance", "asymmetric", "text", "vectors")


class PartLogits(NamedTuple):
    """Logits of queries' bits, for a part of the code."""

    logits: NDArray[np.floating]  # (n, m)
    faithful: bool  # the bits keep the cosine of embeddings


class ReadQueries(NamedTuple):
    """Queries as a model reads them."""

    codes: Codes  # (n, ceil(m / 8))
    known: NDArray[np.bool_]  # (n,) whether the code says anything
    parts: list[PartLogits]  # of the bits in order
    vectors: NDArray[np.floating] | None  # (n, d) that the last bits are made of, if they are dense


class QueryEncoder(Protocol):
    """The part of a model that a search needs; `ammi.stored_model` implements it."""

    @property
    def reads(self) -> str: ...  # what a query is: "text" or "vector"

    @property
    def n_bits(self) -> int: ...

    @property
    def has_logits(self) -> bool: ...  # of each bit its own, not all alike

    def knows_word(self, word: str) -> bool: ...  # whether it learned this word; False if it cannot tell

    def read(self, queries: list[Query]) -> ReadQueries: ...


class EncodedQueries(NamedTuple):
    """Queries as a store takes them."""

    codes: Codes  # (n, ceil(m / 8))
    rankings: list[Ranking] | None  # None: by distance, the order in which codes find documents
    known: NDArray[np.bool_]  # (n,) whether the code says anything


class RankPolicy(NamedTuple):
    """The ranks of a collection, its default, and the queries encoded for each."""

    model: QueryEncoder
    text_index: bool  # whether the store has a word index
    vectors: bool  # whether the store keeps vectors
    language: str | None = None  # of the documents' texts; None if there are none, or if it was not detected

    def default(self, queries: Sequence[Query]) -> str:
        """Return the rank of a search that names none."""
        if self.text_index and any(isinstance(query, str) for query in queries):
            return "text"
        if self.vectors:
            return "vectors"
        return "asymmetric" if self.model.has_logits else "distance"  # answers better from the same codes

    def ranks(self) -> list[str]:
        """Return the ranks that work here, the default first."""
        works = {
            "distance": True,
            "asymmetric": self.model.has_logits,
            "text": self.text_index and (self.model.reads == "text" or self.language is not None),
            "vectors": self.vectors,
        }
        usual = self.default([""] if self.model.reads == "text" else [])
        return sorted((rank for rank in RANKS if works[rank]), key=lambda rank: rank != usual)

    def encode(self, queries: list[Query], rank: str | None) -> EncodedQueries:
        """Return the codes of queries, and how to score the candidates of each."""
        rank = self.default(queries) if rank is None else rank
        if rank not in RANKS:
            raise ValueError(f"rank is {rank!r}, but there are {', '.join(map(repr, RANKS))}: name one of them")
        if rank == "text" and not all(isinstance(query, str) for query in queries):
            raise ValueError('rank is "text", but a query is a vector: use "distance", "asymmetric" or "vectors"')
        if rank == "text" and self.model.reads != "text":  # its code cannot be made: by words alone
            codes = np.zeros((len(queries), -(-self.model.n_bits // 8)), np.uint8)
            return EncodedQueries(
                codes, [WordRanking(str(query), None) for query in queries], np.zeros(len(queries), bool)
            )
        if rank == "vectors" and not self.vectors:
            raise ValueError(
                "the collection keeps no vectors to rank by: rank by distance, or create it anew to keep "
                'them, with vectors="float16" (--keep-vectors float16)'
            )
        if rank == "asymmetric" and not self.model.has_logits:
            raise ValueError(
                'rank is "asymmetric", but the model does not tell how sure it is of a bit: use "distance" or "text"'
            )
        read = self.model.read([parse(query).text if isinstance(query, str) else query for query in queries])
        if rank == "distance":
            return EncodedQueries(read.codes, None, read.known)
        rankings: list[Ranking] = []
        for row, (query, known) in enumerate(zip(queries, read.known, strict=True)):
            near = self._near(query, read, row, rank)
            by_words = WordRanking(str(query), near if known else None, self.model.knows_word)
            rankings.append(by_words if rank == "text" else near)
        return EncodedQueries(read.codes, rankings, read.known)

    def _near(self, query: Query, read: ReadQueries, row: int, rank: str) -> BitRanking | VectorRanking | JointRanking:
        """Return how codes and vectors score the candidates of a query."""
        parts: list[BitRanking | VectorRanking] = []
        first = 0
        for logits, faithful in read.parts:
            parts.append(BitRanking(logits[row], first, faithful=faithful))
            first += logits.shape[1]
        if rank == "vectors" or (rank == "text" and self.vectors):
            # Words find candidates, too: a shortlist of 200 then finds what would need thousands by codes alone.
            text = query if self.text_index and isinstance(query, str) else ""
            vector = np.zeros(1) if read.vectors is None else read.vectors[row]  # a store without vectors refuses any
            parts[-1:] = [VectorRanking(vector, text)]
        return parts[-1] if rank == "vectors" or len(parts) == 1 else JointRanking(parts)
