"""Documents on their way into a collection, in blocks that are encoded and written at once."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from ammi.data import Document, KnownCode, VectorMatrix, documents_from, holds_matrix, read_matrix
from ammi.data.documents import blocks, content_of
from ammi.data.reading import chosen_names
from ammi.plain import Id, checked_id
from ammi.search import Entry, Store
from ammi.search.documents import Record
from ammi.search.hamming import Codes
from ammi.search.vectors import KeptVectors, Rows
from ammi.search.word_counts import WordCount
from ammi.stored_model import StoredModel

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher
    from ammi.hashers.quick import QuickCodes

_MANY = 500  # texts


@dataclass(frozen=True)
class Block:
    """Documents; those of a matrix come with its rows instead of vectors of their own."""

    documents: list[Document]
    rows: Any = None

    @property
    def numbered(self) -> bool:
        """Whether the documents have no ids of their own."""
        return self.documents[0].numbered

    @property
    def records(self) -> list[Record]:
        """The documents as a store takes them."""
        return [Record(one.id, one.text, one.metadata, one.json) for one in self.documents]

    def ids(self, first: int) -> list[Id]:
        """Return the ids of the documents; if they have none of their own, the numbers from the first one on."""
        numbers = range(first, first + len(self))
        return list(numbers) if self.numbered else [document.id for document in self.documents]

    @property
    def counted(self) -> list[str]:
        """The texts whose words are counted: every eighth of many, since counting takes longer than encoding."""
        texts = [document.text for document in self.documents if document.text is not None]
        return texts if len(texts) < _MANY else texts[::8]

    def __len__(self) -> int:
        return len(self.documents)

    def codes(self, model: "DocumentHasher | QuickCodes", fingerprint: str) -> Codes:
        """Return the codes that the same model gave the documents before they were exported, or new ones."""
        known = self._known_codes(fingerprint)
        return model.encode(self._contents(model)) if known is None else known

    def codes_and_vectors(self, model: "DocumentHasher", fingerprint: str) -> tuple[Codes, Rows]:
        """Return codes, and the vectors they are made of: exported ones if all documents have them, else new ones."""
        known = self._known_codes(fingerprint)
        exported = [document.vector for document in self.documents if document.vector is not None]
        if known is not None and len(exported) == len(self.documents):
            return known, np.stack(exported)
        rows = model.rows(self._contents(model))
        if issparse(rows[-1]):
            raise ValueError("the vectors are sparse, and a collection keeps dense ones: pass them as an array")
        return model.encode_rows(rows) if known is None else known, rows[-1]

    def encoded(self, model: StoredModel, *, keep_vectors: bool) -> "EncodedBlock":
        """Return the block with all that a store keeps of it."""
        words = model.count_words(self.counted)
        if keep_vectors:
            return EncodedBlock(self, *self.codes_and_vectors(model.whole, model.fingerprint), words, model.fingerprint)
        codes = self.codes(model.encoder(len(self)), model.fingerprint)
        return EncodedBlock(self, codes, None, words, model.fingerprint)

    def _known_codes(self, fingerprint: str) -> Codes | None:
        known = [document.code for document in self.documents]
        if any(code is None or code.fingerprint != fingerprint for code in known):
            return None
        return np.stack([code.packed for code in known if code is not None])

    def _contents(self, model: "DocumentHasher | QuickCodes") -> Any:
        reads = model.reads
        if self.rows is not None and reads == "vector":
            self._check_widths([self.rows.shape[1]], model)
            return self.rows
        contents = [content_of(document, reads) for document in self.documents]
        if reads == "text":
            return contents
        self._check_widths([len(vector) for vector in contents], model)
        return np.stack(contents)

    def _check_widths(self, widths: Sequence[int], model: Any) -> None:
        """Refuse vectors of another dimension than those that the model was fitted to."""
        expected = model.n_features_in_
        for document, width in zip(self.documents, widths, strict=False):  # a matrix has one width for all its rows
            if width != expected:
                raise ValueError(
                    f"document {document.id!r} has a vector of {width} numbers, and the model reads {expected}: pass "
                    "vectors made in the same way as those it was fitted to"
                )


class EncodedBlock(NamedTuple):
    """A block, its codes, its vectors if they are kept, and the counts of its words; of one model."""

    block: Block
    codes: Codes
    vectors: Rows | None
    words: WordCount | None
    fingerprint: str

    def add_to(self, store: Store) -> int:
        """Add or replace the documents; return the first of their new ids, or 0 if they have ids of their own."""
        ids = store.add_records(
            self.codes,
            self.block.records,
            numbered=self.block.numbered,
            vectors=self.vectors,
            fingerprint=self.fingerprint,
            words=self.words,
        )
        return int(ids[0]) if self.block.numbered else 0


def vector_width(model: "DocumentHasher") -> int:
    """Return the dimension of the vectors that a collection keeps of this model; refuse a model of sparse ones."""
    features = model.parts[-1].features_
    if features.reads == "text" and issparse(features.transform([""])):
        raise ValueError(
            f"the {features.name} features of model {model.fingerprint_} make sparse rows, and vectors are kept of "
            "dense ones, such as embeddings: leave out vectors, or use another model"
        )
    return features.n_features_


def reencoder(
    model: "DocumentHasher", kept: KeptVectors | None, location: str
) -> tuple[Callable[[list[Entry]], tuple[Codes, Rows | None]], int | None]:
    """Return a function from stored documents to codes and new vectors, for a rebuild, and the width of the vectors.

    A model of texts reads the texts, and makes new vectors if the collection keeps vectors. A model of vectors reads
    the kept ones, which stay.
    """
    if model.reads == "text":
        return lambda entries: _encoded_texts(model, entries, kept is not None), vector_width(model) if kept else None
    if kept is None:
        raise ValueError(
            f"the new model reads vectors, and {location} keeps none: create a collection with it and add the vectors"
        )
    if kept.width != vector_width(model):
        raise ValueError(
            f"the new model reads vectors of {vector_width(model)} numbers, and those kept in {location} have "
            f"{kept.width}: create a collection with it and add the vectors"
        )
    return lambda entries: (model.encode(np.stack([entry.vector for entry in entries])), None), None


def _encoded_texts(model: "DocumentHasher", entries: list[Entry], keep: bool) -> tuple[Codes, Rows | None]:
    texts = []
    for entry in entries:
        if entry.text is None:
            raise ValueError(f"document {entry.id!r} has no text to encode anew: add it with its text first")
        texts.append(entry.text)
    rows = model.rows(texts)
    return model.encode_rows(rows), rows[-1] if keep else None


def blocks_from(documents: Any, *, ids: Iterable[Id] | None, text: str, id: str, vector: str) -> Iterator[Block]:
    """Yield blocks of the documents that a program passes; `ids` name documents that have no ids."""
    found = _read(documents, text, id, vector)
    if ids is not None:
        found = found.with_ids(ids) if isinstance(found, VectorMatrix) else _with_ids(found, ids)
    return blocks_of(found)


def documents_in(documents: Any, *, text: str, id: str, vector: str) -> list[Document]:
    """Return the documents that a program passes, each with its vector if they are a matrix."""
    return list(_read(documents, text, id, vector))


def stored_documents(entries: Iterable[Entry], n_bits: int, fingerprint: str | None) -> list[Document]:
    """Return stored documents with the codes that the model of this fingerprint made, without metadata."""
    return [
        Document(id, text, {}, vector=vector, code=KnownCode(code, n_bits, fingerprint or ""), json="{}")
        for id, code, text, _, vector in entries
    ]


def blocks_of(documents: Iterable[Document]) -> Iterator[Block]:
    """Yield blocks of documents, or of the rows of a matrix."""
    if isinstance(documents, VectorMatrix):
        return (Block(block, rows) for block, rows in documents.blocks())
    return (Block(block) for block in blocks(documents))


def _read(documents: Any, text: str, id: str, vector: str) -> VectorMatrix | Iterator[Document]:
    """Return the documents that a program passes: as a matrix if they are one, in memory or in a file."""
    if isinstance(documents, VectorMatrix):
        return documents
    if isinstance(documents, PathLike) and holds_matrix(Path(documents)):
        return read_matrix(Path(documents), **chosen_names(text, id, vector))
    if getattr(documents, "ndim", 0) == 2 and hasattr(documents, "dtype"):  # a DataFrame has dtypes
        return VectorMatrix("the matrix", documents.tocsr() if hasattr(documents, "tocsr") else np.asarray(documents))
    return documents_from(documents, text=text, id=id, vector=vector)


def _with_ids(documents: Iterator[Document], ids: Iterable[Id]) -> Iterator[Document]:
    names = iter(ids)
    for number, document in enumerate(documents):
        name = list(islice(names, 1))
        if not name:
            raise ValueError(f"{number} ids came with more documents: pass one for each")
        yield replace(document, id=checked_id(name[0], f"document {number}"), numbered=False)
    if left := len(list(names)):
        raise ValueError(f"{left} ids are left after the last document: pass one for each")
