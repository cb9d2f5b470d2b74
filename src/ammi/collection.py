"""Collection: documents in, documents out. A model and a store as one object.

The store holds the model's files, so that a location has all it needs, and a new model takes over together with its
codes. Each part is loaded when it is first used: where the model allows, a text is encoded without importing torch.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast
from weakref import ref

import numpy as np
from numpy.typing import NDArray

from ammi import displays, nearby
from ammi.any_collection import (
    Advance,
    AnyCollection,
    Duplicates,
    Location,
    Query,
    Topic,
    check_deletion,
    check_start,
    listed,
    no_progress,
    progress,
)
from ammi.files import check_writable
from ammi.hub import is_on_hub
from ammi.search import (
    Entry,
    Hits,
    OtherModelError,
    Repaired,
    Restored,
    Store,
    Upgraded,
    check_store,
    is_served,
    open_store,
    repair_store,
    store_exists,
)
from ammi.search.copying import Copied, backup_store, copy_store, restore_store
from ammi.search.documents import Id
from ammi.search.filters import Where
from ammi.search.hamming import Codes
from ammi.search.locations import check_folder, is_url, store_class
from ammi.search.rank_policy import RankPolicy
from ammi.search.store_methods import ChangeKey
from ammi.search.vectors import KeptVectors, checked_kind
from ammi.search.word_counts import WordCount, this_month
from ammi.stored_model import StoredModel

if TYPE_CHECKING:
    from ammi.card import Figures
    from ammi.data import Document, KnownCode
    from ammi.data.reading import Incoming
    from ammi.evaluate import LabelledPrecision
    from ammi.explore.classify import Labels, Predictions
    from ammi.explore.outliers import Outlier
    from ammi.explore.picture import Picture
    from ammi.hashers import DocumentHasher, Hasher
    from ammi.ingest import Block
    from ammi.search.vectors import Rows

T = TypeVar("T")

_CODES_PER_TRANSACTION = 1000
_TRIES = 5  # to use the store's current model, if another process changes it every time


def check_location(location: Location) -> None:
    """Refuse to create a collection where there are other files, or where nothing can be written."""
    from ammi.hashers.saving import holds_model

    if is_url(location) or is_on_hub(location):
        store_class(location)  # refuses one that is on the Hub
        return
    folder = Path(location)
    if not fspath(location):
        raise ValueError("the location has no name: name a folder, or the URL of a collection on a server")
    if holds_model(folder):
        raise FileExistsError(f"{location} holds a model: name another location for the collection")
    check_folder(folder)
    check_writable(folder / "index")


class Collection(AnyCollection):
    """Documents that are found by what they are about.

    Documents are texts, dicts with a text, an id and any other keys, a pandas DataFrame, an Arrow table, the path of a
    file in any format that ammi reads, or vectors. A document added under an existing id replaces the old one. `where`
    filters a search by metadata: {"lang": "en", "year": {">=": 1987}}.

    Examples:
        >>> with Collection.create("articles", model) as articles:
        ...     articles.add(texts)
        ...     hits = articles.search("inverse of a matrix")
    """

    def __init__(self, store: Store):
        """Use `create` or `open` instead."""
        self.store = store
        self._model: StoredModel | None = None

    @classmethod
    def create(
        cls,
        location: Location,
        model: "DocumentHasher | Hasher | str | PathLike[str]",
        *,
        keys: Iterable[str] = (),
        text_index: bool = True,
        language: str | None = None,
        vectors: str | None = None,
    ) -> Self:
        """Create an empty collection and open it.

        Args:
            location: a folder, or the URL of another store.
            model: a fitted model, or the folder of a saved one. A hasher without features reads vectors.
            keys: metadata keys to index, so that filters on them are fast.
            text_index: whether to index the words of texts, for `rank="text"`; it takes about a sixth of their space.
            language: of the texts, such as "english", for the stems of words and for stop words; "none" compares words
                as they are. By default the first texts that are added tell.
            vectors: "float16" or "int8" to keep each document's vector, the one the model reads or makes of a text,
                for `rank="vectors"`, `duplicates` and `rebuild`; `ammi.search.vectors` says how they are rounded.
        """
        from ammi.ingest import vector_width

        check_location(location)
        stored = StoredModel.of(model)
        kept_vectors = None if vectors is None else KeptVectors(checked_kind(vectors), vector_width(stored.whole))
        store = store_class(location).create(
            location,
            stored.n_bits,
            fingerprint=stored.fingerprint,
            keys=keys,
            files=stored.files,
            text_index=text_index and (language or True),
            vectors=kept_vectors,
        )
        collection = cls(store)
        collection._model = stored
        return collection

    @classmethod
    def create_for_codes(cls, location: Location, n_bits: int, fingerprint: str, *, keys: Iterable[str] = ()) -> Self:
        """Create a collection without a model, for codes made by another program: `like` works, `search` does not."""
        return cls(store_class(location).create(location, n_bits, fingerprint=fingerprint, keys=keys))

    @classmethod
    def open(cls, location: Location) -> Self:
        """Open the collection at a location, to read and to change it.

        The address of `ammi serve`, http://HOST:PORT, is a location too. It opens as a `RemoteCollection`, which lacks
        the operations on the store itself, such as `rebuild`, `compact` and `copy`. A collection on the Hub,
        hf://owner/name or hf://owner/name@revision, is fetched and opens as a copy that can only be read; `copy` makes
        one that can be changed.
        """
        if is_served(location):
            from ammi.remote import RemoteCollection

            # Typed as the usual case, so that callers with a folder can use all of Collection.
            return cast(Self, RemoteCollection.open(location))
        if is_on_hub(location):
            from ammi.search.on_hub import fetch_store

            location = fetch_store(location)
        return cls(open_store(location))

    @staticmethod
    def exists(location: Location) -> bool:
        """Return whether there is a collection at a location."""
        return is_served(location) or is_on_hub(location) or store_exists(location)

    def close(self) -> None:
        self.store.close()

    # What it is

    @property
    def location(self) -> str:
        return self.store.location

    @property
    def n_bits(self) -> int:
        return self.store.n_bits

    @property
    def fingerprint(self) -> str | None:
        return self.store.fingerprint

    @property
    def reads(self) -> str:
        return self._stored().reads

    @property
    def model(self) -> "DocumentHasher":
        """The model that makes the codes."""
        return self._stored().whole

    def ranks(self) -> list[str]:
        model = self._stored_if_any()
        return self._rank_policy(model).ranks() if model else []

    def distinct_codes(self) -> int:
        return len(np.unique(self.codes()[1], axis=0))

    def describe(self) -> dict[str, Any]:
        files = self.store.files()
        about_model = StoredModel(files).describe() if files else {"fingerprint": self.fingerprint}
        about_vectors = {}
        if kept := self.store.vectors:
            about_vectors = {
                "vectors": f"{kept.kind}, {kept.width} numbers each",
                "vector_bytes": kept.n_bytes * len(self),
            }
        return {
            "kind": "collection",
            "documents": len(self),
            "bits": self.n_bits,
            "distinct_codes": self.distinct_codes(),
            "keys": self.keys(),
            "indexed_keys": self.indexed_keys(),
            "language": self.store.language,
            **about_vectors,
            **about_model,
            **self._described_words(),
        }

    def __len__(self) -> int:
        return len(self.store)

    def __contains__(self, id: object) -> bool:
        return id in self.store

    def __iter__(self) -> Iterator[Entry]:
        return (entry for block in self.store.entries() for entry in block)

    def _repr_html_(self) -> str:
        from ammi.explore.picture import collection_html

        try:
            return collection_html(self, self._stored_if_any())
        except (ValueError, OSError) as error:  # it was closed, or is damaged
            return displays.framed(displays.note(str(error)))

    # Documents, one by one or by a filter

    def _add_blocks(self, blocks: "Iterator[Block]", advance: Advance) -> list[Id]:
        added: list[Id] = []
        for block in blocks:
            added += self._add_block(block)
            advance(len(block))
        self.store.optimize()
        return added

    def add_once(self, documents: "Sequence[Document]", key: ChangeKey | None = None) -> list[Id]:
        """Add or replace documents in one transaction; under a key that was used for them before, add nothing."""
        from ammi.ingest import Block

        block = Block(list(documents))
        if key is not None and (outcome := self.store.outcome(key)) is not None:
            return block.ids(outcome)
        added = self._add_block(block, key)
        self.store.optimize()
        return added

    def add_codes(
        self, codes: Codes, ids: Sequence[Id], *, fingerprint: str, advance: Advance = no_progress
    ) -> list[Id]:
        """Add documents that are codes only, made by the model with this fingerprint; return their ids."""
        added: list[Id] = []
        for start in range(0, len(codes), _CODES_PER_TRANSACTION):
            block = slice(start, start + _CODES_PER_TRANSACTION)
            added += self.store.add(codes[block], ids[block], fingerprint=fingerprint)
            advance(len(ids[block]))
        self.store.optimize()
        return added

    def _add_block(self, block: "Block", key: ChangeKey | None = None) -> list[Id]:
        def add(model: StoredModel) -> list[Id]:
            encoded = block.encoded(model, keep_vectors=self.store.vectors is not None)
            return block.ids(self.store.once(key, lambda: encoded.add_to(self.store)))

        return self._with_model(add)

    def _get(self, ids: Iterable[Id]) -> list[Entry]:
        return self.store.get(ids)

    def ids(self, where: Where | None = None) -> list[Id]:
        """Return the ids of the documents that pass a filter, in insertion order."""
        return self.store.ids(where)

    def codes(self) -> tuple[list[Id], Codes]:
        """Return the ids and the codes of all documents, in insertion order."""
        return self.store.export()

    def delete(self, ids: Id | Iterable[Id] | None = None, *, where: Where | None = None) -> int:
        check_deletion(ids, where)
        return self.store.delete_where(where) if ids is None else self.store.delete(listed(ids))

    def set_metadata(self, ids: Id | Iterable[Id], metadata: Mapping[str, Any] | Iterable[Mapping[str, Any]]) -> None:
        self.store.set_metadata(listed(ids), metadata)

    def keys(self) -> dict[str, int]:
        return self.store.keys()

    def key_kinds(self) -> dict[str, list[str]]:
        found = self.store.key_kinds()
        return {key: sorted({kind for row in found[key] for kind in row.split()}) for key in sorted(found)}

    def indexed_keys(self) -> list[str]:
        return list(self.store.indexed_keys)

    def index_keys(self, keys: Iterable[str]) -> None:
        """Index these metadata keys, so that filters on them are fast from now on."""
        self.store.index_keys(keys)

    # Search

    def search_many(
        self,
        queries: Iterable[Query],
        k: int = 10,
        where: Where | None = None,
        rank: str | None = None,
        *,
        shortlist: int | None = None,
    ) -> list[Hits]:
        asked = list(queries)
        if not asked:
            return []

        def find(model: StoredModel) -> list[Hits]:
            policy, of = self._rank_policy(model), model.fingerprint
            codes, rankings, known = policy.encode(asked, rank)
            if rankings is None:
                found = self.store.search(codes, k, where, fingerprint=of)
            else:  # the store finds candidates by codes and words, and orders them by the rankings' scores
                found = self.store.search_ranked(codes, rankings, k, where, shortlist=shortlist, fingerprint=of)
            has_words = (rank or policy.default(asked)) == "text"  # which find documents whatever the code says
            return [
                self._with_codes(hits, query) if has_words or not isinstance(query, str) or says else Hits()
                for query, hits, says in zip(asked, found, known.tolist(), strict=True)
            ]

        with self.store.snapshot():
            return self._with_model(find)

    def within(self, query: Query, radius: int, where: Where | None = None) -> Hits:
        def find(model: StoredModel) -> Hits:
            if isinstance(query, str) and not model.knows(query):
                return Hits()
            hits = self.store.within(model.encode([query]), radius, where, fingerprint=model.fingerprint)[0]
            return self._with_codes(hits, query)

        return self._with_model(find)

    def like(
        self, id: Id, k: int = 10, where: Where | None = None, *, radius: int | None = None, distinct: bool = False
    ) -> Hits:
        with self.store.snapshot():
            own = self.get(id)
            return self._with_codes(Hits(nearby.like(self.store, own, k, where, radius, distinct)), own)

    def drift(
        self,
        id: Id | None = None,
        *,
        query: Query | None = None,
        distances: Sequence[int] | None = None,
        distinct: bool = False,
    ) -> Hits:
        check_start(id, query)
        with self.store.snapshot():
            if id is not None:
                own = self.get(id)
                found = nearby.at_distances(self.store, own.code, own.text, distances, distinct, own)
                return self._with_codes(Hits(found), own)
            assert query is not None
            text = query if isinstance(query, str) else None
            if text is not None and not self.knows(text):
                return Hits()
            found = nearby.at_distances(self.store, self.encode([query])[0], text, distances, distinct, None)
            return self._with_codes(Hits(found), query)

    def _nearest_codes(self, code: "KnownCode", k: int) -> Hits:
        return self.store.search(code.packed[None], k, fingerprint=code.fingerprint)[0]

    def _with_codes(self, hits: Hits, asked: Query | Entry) -> Hits:
        """Let a display of hits compare their codes with that of what was asked."""
        here = ref(self)

        def codes(ids: list[Id]) -> tuple[Codes, Codes] | None:
            collection = here()
            if collection is None:
                return None
            with suppress(ValueError):  # the collection was closed, or a document was deleted
                own = asked.code if isinstance(asked, Entry) else collection.encode([asked])[0]
                packed = np.stack([own, *(entry.code for entry in collection.get(ids))])
                bits = np.unpackbits(packed, axis=1, count=collection.n_bits)
                return bits[0], bits[1:]
            return None

        hits._codes = codes
        return hits

    def _rank_policy(self, model: StoredModel) -> RankPolicy:
        about = self.store.about
        return RankPolicy(model, about.text_index, about.vectors is not None, about.language)

    # All documents together

    def duplicates(self, threshold: float | None = None, *, advance: Advance = no_progress) -> list[Duplicates]:
        from ammi.search.duplicates import find_duplicates

        with progress(advance, "documents compared", 2 * len(self)) as advance:
            return displays.Rows(
                Duplicates(*group) for group in find_duplicates(self.store.entries(), threshold, advance)
            )

    def topics(self, n: int = 24) -> list[Topic]:
        from ammi.explore.topics import find_topics

        return find_topics(self, n)

    def classify(self, labels: "Labels | str", *, advance: Advance = no_progress) -> "Predictions":
        """Predict the labels of all other documents from those of a few, the unsure ones first: label these next.

        A linear model learns from the words of texts and from codes; without texts, from codes alone. Codes are learned
        from all documents, so that 5 or 10 documents of each label may do (`docs/classify.md`).

        Args:
            labels: the label of each labelled document by its id, or several in a list, which are all learned from; or
                the metadata key that holds them.
            advance: called with the number of documents done, each counted twice.
        """
        from ammi.explore.classify import classify

        return classify(self, labels, advance)

    def outliers(self, k: int = 20, *, advance: Advance = no_progress) -> "list[Outlier]":
        """Return the k documents that no neighbour explains, the oddest first.

        Those with the nearest codes are far away, and have few of their words in common (`ammi.explore.outliers`).

        Args:
            k: number of documents.
            advance: called with the number of documents done, each counted twice.
        """
        from ammi.explore.outliers import find_outliers

        return find_outliers(self, k, advance)

    def map(self, colour: str | None = None) -> "Picture":
        """Return the map of the documents, which Jupyter draws: documents with similar codes are near one another.

        The map is computed if it is not kept with the collection yet, which takes up to a minute.

        Args:
            colour: the metadata key that colours the documents; by default the one that the regions tell most about.
        """
        from ammi.explore.picture import picture

        return picture(self, colour)

    def evaluate(
        self,
        labels: str = "labels",
        *,
        queries: "Incoming | None" = None,
        k: int = 100,
        text: str = "text",
        vector: str = "vector",
    ) -> "LabelledPrecision":
        """Measure the share of the k nearest documents that have a label in common with a query, in percent.

        Args:
            labels: the metadata key, and the column of the queries, that holds one label or a list of labels.
            queries: labelled documents that are not in the collection; by default each document is searched for among
                the others. Documents without a label are left out.
            k: number of nearest documents that count.
            text: the column, or key, of the queries that holds the text.
            vector: the column that holds the vector.
        """
        from ammi.data import label_column
        from ammi.evaluate import labelled_precision
        from ammi.ingest import blocks_from

        keys = self.keys()
        if labels not in keys:
            there = ", ".join(keys) or "none"
            raise ValueError(f"no document in {self.location} has the key {labels!r}: the keys there are {there}")
        with self.store.snapshot():
            _, codes = self.codes()
            document_labels = self.store.column(labels)
        if queries is None:
            return labelled_precision(codes, document_labels, k)
        blocks = list(blocks_from(queries, ids=None, text=text, id="id", vector=vector))
        query_labels = label_column(
            (document.metadata for block in blocks for document in block.documents), labels, "the queries"
        )
        model = self._stored()
        query_codes = np.concatenate([block.codes(model.whole, model.fingerprint) for block in blocks])
        return labelled_precision(codes, document_labels, k, query_codes, query_labels)

    # Its model

    def knows(self, query: Query) -> bool:
        return self._stored().knows(query)

    def encode(self, queries: Sequence[Query]) -> Codes:
        return self._with_model(lambda model: model.encode(list(queries)))

    def bit_probabilities(self, queries: Sequence[Query]) -> NDArray[np.floating]:
        logits = self._with_model(lambda model: model.logits(list(queries)))
        return 1 / (1 + np.exp(-np.clip(logits.astype(np.float64), -500, 500)))

    def word_weights(self) -> tuple[list[str], NDArray[np.floating]] | None:
        """Return the model's words, the most frequent first, and how far each moves each bit towards 1, (V, m).

        None without a model, or if the model is not one of hyperplanes over words.
        """
        model = self._stored_if_any()
        return model.quick.word_weights() if model and model.quick else None

    def unknown_words(self, documents: int = 200) -> WordCount | None:
        """Count the words in a sample of documents, and those that the model does not know.

        None if the model does not read words, or if no document has a text. `describe` has the counts by the month in
        which documents were added.
        """
        ids, _ = self.codes()
        chosen = {ids[row] for row in np.linspace(0, len(ids) - 1, min(documents, len(ids))).astype(np.int64).tolist()}
        texts = [entry.text for entry in self.store.get(chosen) if entry.text is not None]
        model = self._stored_if_any()
        return model.count_words(texts) if model and texts else None

    def _described_words(self) -> dict[str, Any]:
        """Return the share of unknown words by month of adding; of a sample where the documents were not counted."""
        counts = self.store.word_counts()
        if not counts and (sampled := self.unknown_words()):
            counts = {"in a sample": sampled}
        described = {when: {**one._asdict(), "share": round(one.share, 4)} for when, one in counts.items()}
        return {"unknown_words": described} if described else {}

    def rebuild(
        self, model: "DocumentHasher | Hasher | str | PathLike[str]", *, advance: Advance = no_progress
    ) -> None:
        """Encode all stored texts, or kept vectors, with another model, and switch to it in one step.

        Until then all processes read and write as before; documents added meanwhile are encoded by the new model too.
        A model of vectors encodes the kept ones, whose rounding may flip single bits; a model of texts makes new
        vectors of the texts where vectors are kept.
        """
        from ammi.ingest import reencoder

        new = StoredModel.of(model)
        encode, width = reencoder(new.whole, self.store.vectors, self.location)
        counted: list[WordCount] = []

        def encode_and_count(entries: list[Entry]) -> "tuple[Codes, Rows | None]":
            if words := new.count_words([entry.text for entry in entries if entry.text is not None]):
                counted.append(words)
            return encode(entries)

        with progress(advance, "documents encoded", len(self)) as advance:
            self.store.recode(
                encode_and_count, new.n_bits, fingerprint=new.fingerprint, files=new.files, width=width, advance=advance
            )
        self._model = new
        if counted:
            total = WordCount(*map(sum, zip(*counted, strict=True)))
            self.store.count_words(total, new.fingerprint, f"before {this_month()}")

    def _with_model(self, job: Callable[[StoredModel], T]) -> T:
        """Run a job with the store's model; again, if another process has changed the model meanwhile."""
        for _ in range(_TRIES):
            model = self._stored()
            try:
                return job(model)
            except OtherModelError:
                self._model = None
        raise OtherModelError(f"the model of {self.location} was changed {_TRIES} times while it was used: try again")

    def _stored(self) -> StoredModel:
        """Return the store's current model; ValueError if it has none."""
        model = self._stored_if_any()
        if model is None:
            raise ValueError(
                f"{self.location} was made from codes alone and has no model to read a text or a vector with: search "
                "by the id of a document, or create a collection with a model and add the documents"
            )
        return model

    def _stored_if_any(self) -> StoredModel | None:
        """Return the store's current model; None if the collection was made from codes alone."""
        model = self._model
        if model is None or model.fingerprint != self.store.fingerprint:
            files = self.store.files()
            self._model = model = StoredModel(files) if files else None
        return model

    # The collection as a whole

    def compact(self) -> tuple[int, int]:
        """Free the space of deleted documents; return the bytes on disk before and after.

        Other processes can read meanwhile; their changes wait. It needs as much free space as the collection takes.
        """
        return self.store.compact()

    @staticmethod
    def check(location: Location, *, advance: Advance = no_progress) -> list[str]:
        """Return what is damaged in the collection at a location, one sentence each.

        Everything that is stored redundantly is compared: pages and documents with their checksums; counts, keys and
        words with the documents. `advance` is called with the number of documents checked.
        """
        return check_store(location, advance=advance)

    @staticmethod
    def repair(location: Location, *, advance: Advance = no_progress) -> Repaired:
        """Keep all intact documents, and replace the collection by them in one step.

        The damaged file is kept; the result says where, and what was lost. Other processes that have the collection
        open must open it again. An intact collection stays as it is.
        """
        return repair_store(location, advance=advance)

    @staticmethod
    def upgrade(location: Location, *, advance: Advance = no_progress) -> Upgraded:
        """Convert a collection of an earlier format to that of this version, in one step; the old file is kept."""
        return store_class(location).upgrade(location, advance=advance)

    def copy(self, location: Location, *, advance: Advance = no_progress) -> Copied:
        """Copy the collection to a location in any store; called again, it resumes an interrupted copy.

        A location that holds another collection is refused. At the end both are compared by count and checksum.
        `advance` counts each document twice.
        """
        check_location(location)
        return copy_store(self.store, location, advance=advance)

    def backup(self, file: str | PathLike[str], *, advance: Advance = no_progress) -> int:
        """Write the collection, as it is at one moment, to one file; return its number of documents.

        Others read and write meanwhile. A file that is there is replaced at the end. `advance` counts pages of SQLite,
        and documents where the collection is not in a folder.
        """
        return backup_store(self.store, Path(file), advance=advance)

    @staticmethod
    def restore(file: str | PathLike[str], location: Location, *, advance: Advance = no_progress) -> Restored:
        """Make the collection that a backup holds; return where it is and how many documents it has.

        A collection in that folder, damaged or not, is replaced in one step, and its file is kept beside the new one.
        On a server the location must be empty.
        """
        return restore_store(Path(file), location, advance=advance)

    def push_to_hub(
        self,
        name: str,
        *,
        private: bool = False,
        licence: str | None = None,
        figures: "Figures | None" = None,
        datasets: Iterable[str] = (),
        advance: Advance = no_progress,
    ) -> str:
        """Push the collection, as it is at one moment, to a data set of the Hugging Face Hub.

        Collection.open("hf://owner/name") reads it. All of it is pushed: texts, metadata, codes, model. It replaces the
        collection that was pushed there before, and its card, in one commit, whose address is returned. The card says
        what the collection is, and the figures, and nothing that was not measured.

        Args:
            name: "owner/name"; the data set is made if there is none.
            private: for you alone; a public data set that is there is then refused.
            licence: of the documents, an identifier of the Hub, such as "mit".
            figures: what was measured, as the result of `evaluate`, or names with numbers and short texts.
            datasets: names of the Hub's data sets that the documents are from.
            advance: called with pages of SQLite, before they are sent.
        """
        from ammi.card import collection_card
        from ammi.hub import checked_name
        from ammi.search.on_hub import push_store

        repository = checked_name(name, "dataset")
        text = collection_card(repository.name, self.describe(), licence, figures, datasets)
        return push_store(self.store, repository, text, private, advance)
