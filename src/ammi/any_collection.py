"""AnyCollection: what every collection does, whether it opens its store itself or asks a server for it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Protocol, Self, cast, overload

import numpy as np
from numpy.typing import NDArray

from ammi.files import check_not_read
from ammi.notebook import bar
from ammi.search import Entry, Hits
from ammi.search.documents import Id
from ammi.search.filters import Where
from ammi.search.hamming import Codes
from ammi.search.ranking import Query
from ammi.search.store_methods import Location

if TYPE_CHECKING:
    from ammi.data import Document, KnownCode
    from ammi.data.reading import Incoming
    from ammi.data.rows import OnError
    from ammi.ingest import Block
    from ammi.syncing import Report, Synced

Advance = Callable[[int], None]  # called with the number of documents done since the last call

_PROGRESS_STEP = 1000  # documents between two calls of `advance` in an export
_MATCHED_AT_ONCE = 100  # documents that are searched for in one call


def no_progress(n_documents: int) -> None:
    """Ignore progress: the default of `advance`."""


@contextmanager
def progress(advance: Advance, title: str, total: int | None) -> Iterator[Advance]:
    """Show the progress of a call in a notebook, unless the caller shows it."""
    if advance is not no_progress:
        yield advance
        return
    with bar(title, total) as advance:
        yield advance


class Duplicates(NamedTuple):
    """A document to keep, and its near-duplicates with their similarities, the most similar first."""

    kept: Id
    duplicates: list[tuple[Id, float]]


class Match(NamedTuple):
    """A document, with its near-duplicate and the nearest documents in a collection."""

    id: Id
    duplicate: tuple[Id, float] | None  # the most similar near-duplicate and its similarity, if there is one
    nearest: Hits


class Topic(NamedTuple):
    """A region of the map: documents with similar codes."""

    words: list[str]  # typical of its documents, the most typical first
    documents: int  # about how many, if the map shows a sample
    share: float  # of all documents
    typical: list[Id]
    odd: list[Id]  # documents whose codes are least like those of the others
    categories: dict[str, dict[str, float]]  # for each key its most frequent values, and their share of the documents


class AnyCollection(Protocol):
    """The operations of every collection; `Collection` and `RemoteCollection` implement them."""

    @property
    def location(self) -> str:
        """The folder or URL of the collection, without passwords and tokens."""

    @property
    def n_bits(self) -> int:
        """The length of the codes."""

    @property
    def fingerprint(self) -> str | None:
        """The fingerprint of the model that makes the codes."""

    @property
    def reads(self) -> str:
        """Whether documents and queries are a "text" or a "vector"."""

    def add(
        self,
        documents: "Incoming",
        *,
        ids: Iterable[Id] | None = None,
        text: str = "text",
        id: str = "id",
        vector: str = "vector",
        advance: Advance = no_progress,
    ) -> list[Id]:
        """Add or replace documents, a thousand in each transaction; return their ids.

        Args:
            documents: texts, dicts, vectors, a table or the path of a file, as the class describes; for a model of
                vectors also the rows of a matrix, dense or sparse.
            ids: an id for each text or vector; without ids they get the next free numbers.
            text: the column, or key, that holds the text. All columns that are not named here become metadata.
            id: the column that holds the id.
            vector: the column that holds the vector.
            advance: called with the number of documents added, block by block.
        """
        from ammi.ingest import blocks_from

        blocks = blocks_from(documents, ids=ids, text=text, id=id, vector=vector)
        with progress(advance, "documents added", _length(documents)) as advance:
            return self._add_blocks(blocks, advance)

    def _add_blocks(self, blocks: "Iterator[Block]", advance: Advance) -> list[Id]: ...

    def sync(
        self,
        source: "Incoming | str | list[str]",
        *,
        text: str | None = None,
        id: str | None = None,
        vector: str | None = None,
        on_error: "OnError" = "refuse",
        report: "Report" = lambda what, name: None,
    ) -> "Synced":
        """Make the collection hold what a source holds: add what is new, replace what changed, delete what is gone.

        A file is recognised by its path and the digest of its content; documents of files outside of the source, and
        documents without a file, stay. A table must have ids, and its documents are compared by their content; all
        documents without a file that are not in the table are deleted. If a sync is interrupted, the next one goes on.

        Args:
            source: the path of a file or a folder, or a list of paths; or documents with ids, as `add` takes them.
            text: the column of tables that holds the text.
            id: the column that holds the id.
            vector: the column that holds the vector.
            on_error: what to do with bad records, as in `read_documents`.
            report: called with "added", "replaced" or "deleted", and the path of a file or the id of a document.
        """
        from ammi.syncing import sync

        return sync(self, source, {"text": text, "id": id, "vector": vector}, on_error, report)

    def search(
        self,
        query: Query,
        k: int = 10,
        where: Where | None = None,
        rank: str | None = None,
        *,
        shortlist: int | None = None,
    ) -> Hits:
        """Return the k documents that answer a text, or a vector, best.

        The result's `unknown` has the words of a text that no document has. If the model knows no word of it, its code
        says nothing: "text" then finds only documents with its words, and the other ranks find none. If the model
        reads vectors, a text is looked for by its words alone, too.

        Args:
            rank: the score that orders the hits. "distance": the number of bits in which codes differ. "asymmetric":
                the same, each bit weighted by the query's logit. "text": the words that a text shares with the query,
                plus the bits, or the cosine where vectors are kept. "vectors": the cosine of the query's vector and
                the kept one. None means "text" for texts whose words are indexed, else "vectors" where these are kept,
                else "asymmetric" if the model has logits of single bits, else "distance". `ammi.search.ranking` has
                the formulas.
            shortlist: how many candidates to take from the codes, and as many from the words, before the best are
                chosen; by default 100, for "vectors" 1000, and at least 2 k.
        """
        return self.search_many([query], k, where, rank, shortlist=shortlist)[0]

    def search_many(
        self,
        queries: Iterable[Query],
        k: int = 10,
        where: Where | None = None,
        rank: str | None = None,
        *,
        shortlist: int | None = None,
    ) -> list[Hits]:
        """Return, for each query, the k documents that answer it best; the arguments are those of `search`."""

    def within(self, query: Query, radius: int, where: Where | None = None) -> Hits:
        """Return all documents at most radius bits from a text or a vector, the nearest first.

        A text of which the model knows no word finds nothing: its code says nothing.
        """

    def like(
        self, id: Id, k: int = 10, where: Where | None = None, *, radius: int | None = None, distinct: bool = False
    ) -> Hits:
        """Return the k documents nearest to one of the collection, or all within a radius, without itself.

        Where vectors are kept, the nearest are those of the highest cosine, else of the smallest distance. Of up to 200
        equally near documents those come first that share more, and rarer, words with it (`ammi.search.neighbours`).

        Args:
            distinct: leave out near-duplicates of the document, and of hits before them, as `duplicates` finds them.
        """

    def drift(
        self,
        id: Id | None = None,
        *,
        query: Query | None = None,
        distances: Sequence[int] | None = None,
        distinct: bool = False,
    ) -> Hits:
        """Return documents at growing distance from a document or a query: the nearest at least that far away for each.

        Of equally near documents it is the one that shares the most, and the rarest, words with the document or the
        query. A document that answers two distances is listed once. A query of which the model knows no word finds
        nothing.

        Args:
            distinct: leave out near-duplicates of the document, and of those before them.
        """

    def duplicates(self, threshold: float | None = None, *, advance: Advance = no_progress) -> list[Duplicates]:
        """Find near-duplicates, and the document to keep of each group, in insertion order.

        The similarity of a near-duplicate is the share of its words that stand at the same position in the kept
        document: about 0.9 where every tenth word was changed, 1 for a text that was cut short or stands whole in a
        longer one. Sentences that the collection has often count less, so that texts of one form with other names are
        no near-duplicates. Below 20 words it is the share of the longer text. The longest text is kept, of equals the
        one added first. Each near-duplicate is compared with the kept document itself; groups never grow by chains.

        Documents without texts are compared by their vectors, where these are kept: the similarity is the cosine, and
        the document added first is kept. Without vectors, documents with equal codes have similarity 1.

        Args:
            threshold: the least similarity, above 0; by default 0.9 for texts and 0.98 for vectors. Texts changed by
                more than half are not always found, nor are all similar ones among more than 5,000 vectors.
            advance: called with the number of documents done, each counted twice: when read and when compared.
        """

    def topics(self, n: int = 24) -> list[Topic]:
        """Return what the documents are about: the n regions of the map, or fewer of a small collection, largest first.

        The map is computed if it is not kept with the collection yet, which takes up to a minute.
        """

    def match(
        self,
        documents: "Incoming | AnyCollection",
        k: int = 1,
        threshold: float | None = None,
        *,
        text: str = "text",
        id: str = "id",
        vector: str = "vector",
        advance: Advance = no_progress,
    ) -> Iterator[Match]:
        """For each of other documents, yield its near-duplicate in this collection, if there is one, and the k nearest.

        All texts of the collection are compared with the new ones. A near-duplicate is defined as in `duplicates`: the
        similarity is the share of the shorter text that stands in the longer one, whichever of the two is the new one.
        For a document without a text it is the cosine of kept vectors. The nearest are those that `search` finds for
        the text or the vector, or, for documents of a collection of codes alone, those with the nearest codes.

        Args:
            documents: another collection, or documents as `add` takes them. They are held in memory.
            k: number of nearest documents for each.
            threshold: the least similarity of a near-duplicate, by default that of `duplicates`.
            text: the column, or key, that holds the text.
            id: the column that holds the id.
            vector: the column that holds the vector.
            advance: called with the number of documents done: those of the collection are counted twice, when read and
                when compared, and the others three times, since they are searched for as well.
        """
        from ammi.ingest import documents_in, stored_documents
        from ammi.search.duplicates import OF_VECTORS
        from ammi.search.duplicates.across import known_duplicates

        if AnyCollection in type(documents).__mro__:  # isinstance would look at every attribute
            other = cast(AnyCollection, documents)
            asked = stored_documents(other, other.n_bits, other.fingerprint)
        else:
            asked = documents_in(documents, text=text, id=id, vector=vector)
        ranks = self.ranks()
        by_cosine = ranks[:1] == ["vectors"]
        texts = [document.text for document in asked if document.text is not None]
        with progress(advance, "documents compared", 2 * len(self) + 3 * len(asked)) as advance:
            duplicates = iter(known_duplicates(self if texts else [], texts, threshold, advance))
            advance(2 * (len(asked) - len(texts)) + (0 if texts else 2 * len(self)))
            for start in range(0, len(asked), _MATCHED_AT_ONCE):
                block = asked[start : start + _MATCHED_AT_ONCE]
                for document, hits in zip(block, self._nearest(block, k, self.reads if ranks else ""), strict=True):
                    duplicate = None
                    if document.text is not None:
                        duplicate = next(duplicates)
                    elif by_cosine and hits and hits[0].score >= (OF_VECTORS if threshold is None else threshold):
                        duplicate = hits[0].id, hits[0].score
                    yield Match(document.id, duplicate, hits)
                advance(len(block))

    def _nearest(self, documents: "list[Document]", k: int, reads: str) -> Iterator[Hits]:
        """Yield the k nearest to each document: by the part that the model reads, or by its code if it has no more."""
        from ammi.data import content_of
        from ammi.search.queries import pasted

        def code_of(document: "Document") -> "KnownCode | None":
            content = document.text if reads == "text" else document.vector if reads else None
            return document.code if content is None else None

        def query_of(document: "Document") -> Query:
            content = content_of(document, reads or self.reads)
            return pasted(content) if reads == "text" else content

        found = iter(self.search_many([query_of(document) for document in documents if not code_of(document)], k))
        for document in documents:
            code = code_of(document)
            yield self._nearest_codes(code, k) if code else next(found)

    def _nearest_codes(self, code: "KnownCode", k: int) -> Hits:
        raise ValueError(
            f"a document to match has only its code, and {self.location} searches for texts and vectors alone: open "
            "the collection's folder, or the URL of its store, instead"
        )

    @overload
    def get(self, ids: Id) -> Entry: ...  # type: ignore[overload-overlap]  # a str is one id, not an iterable of ids

    @overload
    def get(self, ids: Iterable[Id]) -> list[Entry]: ...

    def get(self, ids: Id | Iterable[Id]) -> Entry | list[Entry]:
        """Return the document of an id, or the documents of several, with codes, texts and metadata."""
        found = self._get(listed(ids))
        return found[0] if isinstance(ids, str | int) else found

    def _get(self, ids: Iterable[Id]) -> list[Entry]: ...

    def delete(self, ids: Id | Iterable[Id] | None = None, *, where: Where | None = None) -> int:
        """Delete one document or several, or all that pass a filter, and return how many.

        If a document that is named does not exist, or if the call fails, none is deleted where the store has
        transactions.
        """

    def set_metadata(self, ids: Id | Iterable[Id], metadata: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> None:
        """Set these metadata keys of documents, one dict for all or one for each; their other keys stay."""

    def keys(self) -> dict[str, int]:
        """Return the metadata keys, and how many documents have a value for each."""

    def key_kinds(self) -> dict[str, list[str]]:
        """Return the metadata keys, and the kinds of their values: "bool", "number", "text", "other"."""

    def indexed_keys(self) -> list[str]:
        """Return the indexed metadata keys, on which filters are fast."""

    def export(self, file: Location, *, columns: bool = False, advance: Advance = no_progress) -> int:
        """Write documents to a file that `add` reads, and return how many.

        JSONL and Parquet have the codes and kept vectors, and the metadata as one object. With `columns`, and in CSV
        and TSV, a document has its id, its text, and a column for each metadata key, and nothing else.
        """
        from ammi.data.exports import is_table, write_columns, write_export

        check_not_read(file, self.location)
        columns = columns or is_table(Path(file))

        def entries() -> Iterator[Entry]:
            done = 0
            for entry in self:
                yield entry
                done += 1
                if done % _PROGRESS_STEP == 0:
                    advance(_PROGRESS_STEP)
            advance(done % _PROGRESS_STEP)

        if columns:
            return write_columns(Path(file), entries, self.key_kinds())
        return write_export(Path(file), entries(), self.n_bits, self.fingerprint or "")

    def knows(self, query: Query) -> bool:
        """Return whether the model knows a word of a text; otherwise its code says nothing."""

    def encode(self, queries: Sequence[Query]) -> Codes:
        """Return the codes (n, ceil(m / 8)) of texts or vectors."""

    def bit_probabilities(self, queries: Sequence[Query]) -> NDArray[np.floating]:
        """Return the probability that each bit is 1, (n, m); ValueError where the model has no probabilities."""

    def ranks(self) -> list[str]:
        """Return the values of `rank` that `search` accepts, the default first; empty without a model."""

    def distinct_codes(self) -> int:
        """Count the distinct codes."""

    def describe(self) -> dict[str, Any]:
        """Return counts and settings, by the names that `ammi info` shows."""

    def close(self) -> None:
        """Close files and connections."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"an open collection cannot be pickled or copied: hand over its location, {self.location!r}, and open it "
            "there"
        )

    def __len__(self) -> int: ...

    def __contains__(self, id: object) -> bool: ...

    def __iter__(self) -> Iterator[Entry]:
        """Iterate over all documents in insertion order."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.location!r})"


def _length(documents: object) -> int | None:
    """Return the number of documents that a program passes, if it is known."""
    if isinstance(documents, str | PathLike):
        return None
    shape = getattr(documents, "shape", None)
    return shape[0] if shape else len(documents) if isinstance(documents, Sized) else None


def listed(ids: Id | Iterable[Id]) -> Iterable[Id]:
    """Return one id as a list of one, and several as they are."""
    return [ids] if isinstance(ids, str | int) else ids


def check_deletion(ids: object, where: Where | None) -> None:
    """Refuse to delete without ids and filter, or by both; an empty filter, which all documents pass, is refused."""
    if (ids is None) == (where is None):
        raise ValueError("delete takes the ids of documents or a filter: give one of the two")
    if where is not None and not where:
        raise ValueError("the filter is empty, and would delete all documents: name a key")


def check_start(id: Id | None, query: Query | None) -> None:
    """Refuse a drift that starts from nothing, or from both a document and a query."""
    if (id is None) == (query is None):
        raise ValueError("drift starts from a document or from a query: give one of the two")
