"""Collection: documents in, documents out. A model and an index as one thing, in one place.

The model is kept in the index, so that a location has all that it needs, and a new model takes over together with its
codes. What a search needs is loaded, and no more: a query in words is encoded without torch where the model allows it.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar, cast, overload

from ammi.files import check_not_read, check_writable
from ammi.kept_model import KeptModel
from ammi.search import (
    Entry,
    Hit,
    Hits,
    OtherModelError,
    Repaired,
    Store,
    check_store,
    create_store,
    is_served,
    open_store,
    repair_store,
    store_exists,
)
from ammi.search.copying import Copied, copy_store
from ammi.search.documents import Id
from ammi.search.filters import Where
from ammi.search.hamming import Codes
from ammi.search.locations import is_url
from ammi.search.ranking import VectorRanking
from ammi.search.vectors import KeptVectors, checked_kind

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ammi.data.incoming import Incoming
    from ammi.evaluate import LabelledPrecision
    from ammi.hashers import DocumentHasher, Hasher

Location = str | PathLike[str]
Advance = Callable[[int], None]  # is told how many more documents are done
T = TypeVar("T")

_CODES_AT_ONCE = 1000
_TRIES = 5  # to encode with the model that an index has now, if another process changes it every time


class Duplicates(NamedTuple):
    """A document to keep, and its copies, the most similar first: each with the share of it that is in the kept one."""

    kept: Id
    copies: list[tuple[Id, float]]


def check_place(location: Location) -> None:
    """Refuse to make a collection where there is a file or a model, or where nothing can be written."""
    from ammi.hashers.saving import holds_model

    if is_url(location):
        return
    folder = Path(location)
    if not fspath(location):
        raise ValueError("the location has no name: name a folder, or the URL of a collection on a server")
    if folder.is_file():
        raise FileExistsError(f"{location} is a file: name a folder, or the URL of a collection on a server")
    if holds_model(folder):
        raise FileExistsError(f"{location} holds a model: name another location for the collection")
    check_writable(folder / "index")


class Collection:
    """Documents that are found by what they are about.

    Documents are texts, dicts with a text, an id and anything else, a pandas DataFrame, an Arrow table, the path of a
    file of any format that ammi reads, or vectors. A document that is added under an id that is there replaces the old
    one. `where` keeps a search to documents by their metadata: {"lang": "en", "year": {">=": 1987}}.

    >>> with Collection.create("articles", model) as articles:
    ...     articles.add(texts)
    ...     hits = articles.search("inverse of a matrix")
    """

    def __init__(self, index: Store):
        """Not for callers, who have `create` and `open`."""
        self.store = index
        self._model: KeptModel | None = None

    @classmethod
    def create(
        cls,
        location: Location,
        model: "DocumentHasher | Hasher | str | PathLike[str]",
        *,
        keys: Iterable[str] = (),
        text_index: bool = True,
        vectors: str | None = None,
    ) -> Self:
        """Make an empty collection and open it.

        Args:
            location: a folder, or a URL of another store.
            model: a fitted model, or the folder of a saved one. A hasher without features takes vectors.
            keys: metadata keys that filters use often, which makes such filters fast.
            text_index: whether to index the words of texts, for `rank="text"`; it takes about a sixth of their space.
            vectors: "float16" or "int8" to keep the vector that the model reads, or makes of a text, of each document,
                for `rank="vectors"`, `duplicates` and `rebuild`; `ammi.search.vectors` says how they are rounded.
        """
        check_place(location)
        kept = KeptModel.of(model)
        kept_vectors = None if vectors is None else KeptVectors(checked_kind(vectors), kept.vector_width)
        index = create_store(
            location,
            kept.n_bits,
            fingerprint=kept.fingerprint,
            keys=keys,
            files=kept.files,
            text_index=text_index,
            vectors=kept_vectors,
        )
        collection = cls(index)
        collection._model = kept
        return collection

    @classmethod
    def create_for_codes(cls, location: Location, n_bits: int, fingerprint: str, *, keys: Iterable[str] = ()) -> Self:
        """Make a collection without a model, for codes that were made elsewhere: it answers `like`, and no query."""
        return cls(create_store(location, n_bits, fingerprint=fingerprint, keys=keys))

    @classmethod
    def open(cls, location: Location) -> Self:
        """Open the collection in a location, to read it and to change it; the address of `ammi serve` is a location, too."""
        if is_served(location):
            from ammi.remote import RemoteCollection

            return cast(Self, RemoteCollection.open(location))
        return cls(open_store(location))

    @staticmethod
    def exists(location: Location) -> bool:
        """Whether there is a collection in a location."""
        return is_served(location) or store_exists(location)

    @staticmethod
    def check(location: Location, *, advance: Advance = lambda n_documents: None) -> list[str]:
        """What is damaged in the collection in a location, a sentence for each.

        All is compared that was written twice: pages and documents with their checksums, counts, keys and words with
        the documents. `advance` is told how many documents were looked at.
        """
        return check_store(location, advance=advance)

    @staticmethod
    def repair(location: Location, *, advance: Advance = lambda n_documents: None) -> Repaired:
        """Keep all documents that are whole, and change over to a collection of these in one step.

        The damaged file is kept; the answer says where, and what was lost. Those who have the collection open have to
        open it again. A collection of which nothing is damaged stays as it is.
        """
        return repair_store(location, advance=advance)

    @property
    def location(self) -> str:
        """Where it is."""
        return self.store.location

    @property
    def n_bits(self) -> int:
        """Length of the codes."""
        return self.store.n_bits

    @property
    def fingerprint(self) -> str | None:
        """That of the model that makes the codes."""
        return self.store.fingerprint

    @property
    def reads(self) -> str:
        """What a document is for its model, and so a query: "text" or "vector"."""
        return self._kept().reads

    @property
    def model(self) -> "DocumentHasher":
        """The model that makes the codes."""
        return self._kept().whole

    def add(
        self,
        documents: "Incoming | Any",
        *,
        ids: Iterable[Id] | None = None,
        text: str = "text",
        id: str = "id",
        vector: str = "vector",
        advance: Advance = lambda n_documents: None,
    ) -> list[Id]:
        """Add or replace documents, a thousand at a time, each thousand for good; return their ids.

        Args:
            documents: what the class says, or the rows of a matrix, dense or sparse, for a model of vectors.
            ids: of texts or vectors, one for each; without ids they get the next free numbers.
            text, id, vector: the columns, or keys, that hold these; all others become metadata.
            advance: is told how many documents were added, block by block.
        """
        from ammi.ingest import blocks_from

        added: list[Id] = []
        keeps_vectors = self.store.vectors is not None
        for block in blocks_from(documents, ids=ids, text=text, id=id, vector=vector):

            def write(model: KeptModel, block: Any = block) -> list[Id]:
                if keeps_vectors:
                    codes, vectors = block.codes_and_vectors(model.whole, model.fingerprint)
                else:
                    codes, vectors = block.codes(model.encoder(len(block.texts)), model.fingerprint), None
                return self.store.add(
                    codes, block.ids, block.texts, block.metadata, vectors=vectors, fingerprint=model.fingerprint
                )

            added += self._with_model(write)
            advance(len(block.texts))
        self.store.optimize()
        return added

    def add_codes(
        self, codes: Codes, ids: Sequence[Id], *, fingerprint: str, advance: Advance = lambda n_documents: None
    ) -> list[Id]:
        """Add documents of which there are codes alone, made by the model of this fingerprint; return their ids."""
        added: list[Id] = []
        for start in range(0, len(codes), _CODES_AT_ONCE):
            block = slice(start, start + _CODES_AT_ONCE)
            added += self.store.add(codes[block], ids[block], fingerprint=fingerprint)
            advance(len(ids[block]))
        self.store.optimize()
        return added

    def search(
        self,
        query: Any,
        k: int = 10,
        where: Where | None = None,
        rank: str | None = None,
        *,
        shortlist: int | None = None,
    ) -> Hits:
        """The k documents that answer a text, or a vector, best.

        Args:
            rank: what puts them in order. "distance": the number of bits in which codes differ. "asymmetric": how sure
                the query is of those bits. "text": the words that a text has in common with the query, and then the
                bits, or the cosine where vectors are kept. "vectors": the cosine of the query's vector and the one that
                is kept. None stands for "text" where texts are asked for and their words are indexed, else for
                "vectors" where these are kept, else for "distance". `ammi.search.ranking` has the formulas of the
                scores.
            shortlist: of how many documents that the codes find, and as many that the words find, the best are chosen;
                without it 100 and for "vectors" 1000, or 2 k where that is more.
        """
        return self.search_many([query], k, where, rank, shortlist=shortlist)[0]

    def search_many(
        self,
        queries: Iterable[Any],
        k: int = 10,
        where: Where | None = None,
        rank: str | None = None,
        *,
        shortlist: int | None = None,
    ) -> list[Hits]:
        """For each query, the k documents that answer it best; the arguments are those of `search`."""
        asked = list(queries)
        if not asked:
            return []

        def find(model: KeptModel) -> list[Hits]:
            has_words, has_vectors = self.store.text_index, self.store.vectors is not None
            codes, rankings = model.ask(asked, rank, has_words=has_words, has_vectors=has_vectors)
            if rankings is None:
                return self.store.search(codes, k, where, fingerprint=model.fingerprint)
            return self.store.search_ranked(
                codes, rankings, k, where, shortlist=shortlist, fingerprint=model.fingerprint
            )

        with self.store.snapshot():
            return self._with_model(find)

    def within(self, query: Any, radius: int, where: Where | None = None) -> Hits:
        """All documents at most radius bits from a text or a vector, the nearest first."""
        return self._ask([query], lambda codes, model: self.store.within(codes, radius, where, fingerprint=model))[0]

    def like(self, id: Id, k: int = 10, where: Where | None = None, *, radius: int | None = None) -> Hits:
        """The k documents nearest to one of the collection, or all within a radius of it; itself left out.

        The nearest ones are those whose vectors have the highest cosine, where vectors are kept, else by distance.
        """
        own = self.get(id)
        if radius is not None:
            hits = self.store.within(own.code[None], radius, where)[0]
        elif own.vector is None:
            hits = self.store.search(own.code[None], k + 1, where)[0]  # it finds itself, too
        else:
            hits = self.store.search_ranked(own.code[None], [VectorRanking(own.vector)], k + 1, where)[0]
        others = Hits(hit for hit in hits if hit.id != own.id)
        return others if radius is not None else Hits(others[:k])

    def drift(self, id: Id | None = None, *, query: Any = None, distances: Sequence[int] | None = None) -> Hits:
        """Documents at growing distance from one, or from a query: for each distance the nearest that far away.

        Among equals it is the first one inserted. One that answers two distances is named once.
        """
        from ammi.evaluate.drift import DISTANCES, drift

        if (id is None) == (query is None):
            raise ValueError("drift starts from a document or from a query: give one of the two")
        with self.store.snapshot():
            ids, codes = self.store.export()
            if id is not None:
                own = self.get(id)
                others = [position for position, other in enumerate(ids) if other != own.id]
                ids, codes, code = [ids[position] for position in others], codes[others], own.code
            else:
                code = self._ask([query], lambda found, model: found)[0]
            steps = drift(code, codes, DISTANCES if distances is None else distances)
            found = self.store.get([ids[step.position] for step in steps])
        return Hits(
            Hit(entry.id, step.distance, 1 - step.distance / self.n_bits, entry.text, entry.metadata)
            for step, entry in zip(steps, found, strict=True)
        )

    def duplicates(
        self, threshold: float | None = None, *, advance: Advance = lambda n_documents: None
    ) -> list[Duplicates]:
        """Which documents are copies, and which ones to keep, in insertion order.

        The similarity of a copy is the share of its words that stand in the same place in the one that is kept: 0.8 of
        a copy in which every fifth word was changed, 1 of one that was cut short or that stands whole in a longer text.
        Below 20 words it is the share of the longer text. The longest is kept, and of several the one added first;
        every copy is that similar to it, and nothing is joined by steps from copy to copy.

        Of documents without texts the vectors are compared, where these are kept: the similarity is their cosine, and
        the one added first is kept. Where there are no vectors either, those with equal codes are copies of the first,
        with similarity 1: they are about the same, and no more can be said.

        Args:
            threshold: the least similarity, above 0, of texts and of vectors; without it 0.8 of texts and 0.98 of
                vectors. Texts changed by more than half are not always found, nor are all similar ones among more than
                5,000 vectors.
            advance: is told how many documents are done: of each twice, when it is read and when it is compared.
        """
        from ammi.search.duplicates import find_copies

        return [Duplicates(*group) for group in find_copies(self.store.entries(), threshold, advance)]

    def evaluate(
        self,
        labels: str = "labels",
        *,
        queries: "Incoming | Any" = None,
        k: int = 100,
        text: str = "text",
        vector: str = "vector",
    ) -> "LabelledPrecision":
        """The share of the k nearest documents that have a label in common with a query, in percent.

        Args:
            labels: the metadata key, and the column of the queries, of one label or a list of labels.
            queries: labelled documents that are not in the collection; without them each document is looked for among
                the others. Documents without a label are left out.
            text, vector: the columns, or keys, of the queries that hold these.
        """
        import numpy as np

        from ammi.data.columns import label_column
        from ammi.evaluate import labelled_precision
        from ammi.ingest import blocks_from

        keys = self.keys()
        if labels not in keys:
            there = ", ".join(keys) or "none"
            raise ValueError(f"no document in {self.location} has the key {labels!r}: the keys there are {there}")
        with self.store.snapshot():
            _, codes = self.store.export()
            names = self.store.column(labels)
        if queries is None:
            return labelled_precision(codes, names, k)
        asked = list(blocks_from(queries, ids=None, text=text, id="id", vector=vector))
        asked_names = label_column((one for block in asked for one in block.metadata), labels, "the queries")
        model = self._kept()
        query_codes = np.concatenate([block.codes(model.whole, model.fingerprint) for block in asked])
        return labelled_precision(codes, names, k, query_codes, asked_names)

    @overload
    def get(self, ids: Id) -> Entry: ...  # type: ignore[overload-overlap]  # a str is taken for one id, not for many

    @overload
    def get(self, ids: Iterable[Id]) -> list[Entry]: ...

    def get(self, ids: Id | Iterable[Id]) -> Entry | list[Entry]:
        """The document of an id, or the documents of several, with their codes, texts and metadata."""
        return self.store.get([ids])[0] if isinstance(ids, str | int) else self.store.get(ids)

    def delete(self, ids: Id | Iterable[Id]) -> None:
        """Delete one document or several: all of them, or none where one is not there."""
        self.store.delete([ids] if isinstance(ids, str | int) else ids)

    def set_metadata(self, ids: Id | Iterable[Id], metadata: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> None:
        """Set these metadata keys of documents, one dict for all or one for each, and keep their other keys."""
        self.store.set_metadata([ids] if isinstance(ids, str | int) else ids, metadata)

    def keys(self) -> dict[str, int]:
        """The metadata keys, and how many documents have a value for each."""
        return self.store.keys()

    def fast_keys(self) -> list[str]:
        """The metadata keys on which filters are fast."""
        return list(self.store.keys_indexed)

    def index_keys(self, keys: Iterable[str]) -> None:
        """Make filters on these metadata keys fast, from now on."""
        self.store.index_keys(keys)

    def rebuild(
        self, model: "DocumentHasher | Hasher | str | PathLike[str]", *, advance: Advance = lambda n_documents: None
    ) -> None:
        """Encode all stored texts, or kept vectors, with another model, and change over to it in one step.

        Until then everyone reads and writes as before. What is added meanwhile is encoded by the new model, too. A
        model of vectors encodes those that are kept, rounded as they are, which may turn a bit here and there; a model
        of texts makes new vectors of the texts where vectors are kept.
        """
        new = KeptModel.of(model)
        encode, width = new.recoding(self.store.vectors, self.location)
        self.store.recode(
            encode, new.n_bits, fingerprint=new.fingerprint, files=new.files, width=width, advance=advance
        )
        self._model = new

    def export(self, file: Location, *, advance: Advance = lambda n_documents: None) -> int:
        """Write documents as JSONL or Parquet, with codes and kept vectors, which `add` takes back; return how many."""
        from ammi.data.exports import write_export

        check_not_read(file, self.location)

        def entries() -> Iterator[Entry]:
            for block in self.store.entries():
                yield from block
                advance(len(block))

        return write_export(Path(file), entries(), self.n_bits, self.fingerprint or "")

    def copy(self, location: Location, *, advance: Advance = lambda n_documents: None) -> Copied:
        """Copy all of it to a location, of this store or of another; called again, it goes on where it was interrupted.

        A location that holds another collection is refused. At the end both are compared by number and by checksum.
        `advance` is told of each document twice.
        """
        check_place(location)
        return copy_store(self.store, location, advance=advance)

    def knows(self, query: Any) -> bool:
        """Whether the model knows a word of a text; one of which it knows none is like an empty document."""
        return self._kept().knows(query)

    def encode(self, queries: Sequence[Any]) -> Codes:
        """The codes of texts, or vectors, (n, ceil(m / 8)), as the model makes them."""
        return self._ask(list(queries), lambda codes, model: codes)

    def bit_probabilities(self, queries: Sequence[Any]) -> "NDArray[np.floating]":
        """For texts, or vectors, the probability that each bit is 1, (n, m); ValueError where the model tells none."""
        import numpy as np

        logits = self._with_model(lambda model: model.logits(list(queries)))
        return 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -500, 500)))

    def word_weights(self) -> "tuple[list[str], NDArray[np.floating]] | None":
        """The words that the model knows, the most frequent first, and how far each moves each bit to 1, (V, m).

        None where the model is none of hyperplanes over words, or where there is no model.
        """
        model = self._kept_if_any()
        return model.quick.word_weights() if model and model.quick else None

    def ranks(self) -> list[str]:
        """The ranks that `search` takes here, the default first; none where there is no model."""
        model = self._kept_if_any()
        return model.ranks(has_words=self.store.text_index, has_vectors=self.store.vectors is not None) if model else []

    def distinct_codes(self) -> int:
        """How many different codes there are."""
        from ammi.evaluate import distinct_codes

        return distinct_codes(self.store.export()[1])

    def describe(self) -> dict[str, Any]:
        """What there is to say about it in a few words and numbers."""
        files = self.store.files()
        about = KeptModel(files).describe() if files else {"fingerprint": self.fingerprint}
        return {
            "kind": "collection",
            "documents": len(self),
            "bits": self.n_bits,
            "different codes": self.distinct_codes(),
            "keys": self.keys(),
            "fast keys": self.fast_keys(),
            **self._vectors_in_words(),
            **about,
        }

    def _vectors_in_words(self) -> dict[str, Any]:
        kept = self.store.vectors
        if kept is None:
            return {}
        return {"vectors": f"{kept.kind}, {kept.width} numbers each", "bytes of vectors": kept.n_bytes * len(self)}

    def compact(self) -> tuple[int, int]:
        """Give back the space of what was deleted; returns the bytes on the disk before and after.

        Others may read meanwhile, and wait with their changes. It needs as much free space as the collection has.
        """
        return self.store.compact()

    def close(self) -> None:
        """Let go of the location."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __len__(self) -> int:
        return len(self.store)

    def __contains__(self, id: object) -> bool:
        return id in self.store

    def __iter__(self) -> Iterator[Entry]:
        """All documents, in insertion order."""
        return (entry for block in self.store.entries() for entry in block)

    def __repr__(self) -> str:
        return f"Collection({self.location!r})"

    def _ask(self, queries: list[Any], ask: Callable[[Codes, str], T]) -> T:
        """What an index answers to the codes of queries, and to the fingerprint of the model that made them."""
        return self._with_model(lambda model: ask(model.encode(queries), model.fingerprint))

    def _with_model(self, job: Callable[[KeptModel], T]) -> T:
        """Do what needs the index's model; again, where another process has changed it in the meantime."""
        for _ in range(_TRIES):
            model = self._kept()
            try:
                return job(model)
            except OtherModelError:
                self._model = None
        raise OtherModelError(f"the model of {self.location} was changed {_TRIES} times while it was used: try again")

    def _kept(self) -> KeptModel:
        """The model as the index has it now."""
        model = self._kept_if_any()
        if model is None:
            raise ValueError(
                f"{self.location} was made from codes alone and has no model to read a text or a vector with: search "
                "by the id of a document, or create a collection with a model and add the documents"
            )
        return model

    def _kept_if_any(self) -> KeptModel | None:
        """The model as the index has it now; None where it was made from codes alone."""
        model = self._model
        if model is None or model.fingerprint != self.store.fingerprint:
            files = self.store.files()
            self._model = model = KeptModel(files) if files else None
        return model
