"""Documents on their way into a collection: in blocks that are encoded and written at once."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import issparse

from ammi.data import Document, documents_from
from ammi.data.columns import BLOCK_DOCUMENTS, blocks, content_of
from ammi.search.documents import Id
from ammi.search.hamming import Codes
from ammi.search.vectors import Rows

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher


@dataclass(frozen=True)
class Block:
    """Documents, and the rows of a matrix where they are those."""

    documents: list[Document]
    rows: Any = None

    @property
    def ids(self) -> list[Id] | None:
        """Their ids, or None where they have none of their own."""
        return None if self.documents[0].numbered else [document.id for document in self.documents]

    @property
    def texts(self) -> list[str | None]:
        return [document.text for document in self.documents]

    @property
    def metadata(self) -> list[dict[str, Any]]:
        return [document.metadata for document in self.documents]

    def codes(self, model: "DocumentHasher", fingerprint: str) -> Codes:
        """Their codes: those that the same model gave them before they were exported, or new ones."""
        known = self._known_codes(fingerprint)
        return model.encode(self._contents(model.reads)) if known is None else known

    def codes_and_vectors(self, model: "DocumentHasher", fingerprint: str) -> tuple[Codes, Rows]:
        """Their codes, and the vectors that codes are made of: those that were exported with the codes, or new ones."""
        known = self._known_codes(fingerprint)
        exported = [document.vector for document in self.documents if document.vector is not None]
        if known is not None and len(exported) == len(self.documents):
            return known, np.stack(exported)
        rows = model.features_.transform(self._contents(model.reads))
        if issparse(rows):
            raise ValueError("the vectors are sparse, and a collection keeps dense ones: pass them as an array")
        return model.hasher_.encode(rows) if known is None else known, rows

    def _known_codes(self, fingerprint: str) -> Codes | None:
        known = [document.code for document in self.documents]
        if any(code is None or code.fingerprint != fingerprint for code in known):
            return None
        return np.stack([code.packed for code in known if code is not None])

    def _contents(self, reads: str) -> Any:
        if self.rows is not None and reads == "vector":
            return self.rows
        contents = [content_of(document, reads) for document in self.documents]
        return contents if reads == "text" else np.stack(contents)


def blocks_from(documents: Any, *, ids: Iterable[Id] | None, text: str, id: str, vector: str) -> Iterator[Block]:
    """Blocks of whatever a program hands over as documents; `ids` are of documents that have none."""
    if _is_matrix(documents):
        yield from _matrix_blocks(documents, ids)
        return
    given = documents_from(documents, text=text, id=id, vector=vector)
    for block in blocks(given if ids is None else _with_ids(given, ids)):
        yield Block(block)


def _is_matrix(documents: Any) -> bool:
    return getattr(documents, "ndim", 0) == 2 and hasattr(documents, "dtype")  # a DataFrame has dtypes


def _matrix_blocks(X: Any, ids: Iterable[Id] | None) -> Iterator[Block]:
    X = X.tocsr() if hasattr(X, "tocsr") else X
    names = list(range(X.shape[0]) if ids is None else ids)
    if len(names) != X.shape[0]:
        raise ValueError(f"{X.shape[0]} vectors came with {len(names)} ids: pass one for each")
    for start in range(0, X.shape[0], BLOCK_DOCUMENTS):
        block = slice(start, start + BLOCK_DOCUMENTS)
        yield Block([Document(name, None, {}, numbered=ids is None) for name in names[block]], X[block])


def _with_ids(documents: Iterator[Document], ids: Iterable[Id]) -> Iterator[Document]:
    names = iter(ids)
    for number, document in enumerate(documents):
        name = list(islice(names, 1))
        if not name:
            raise ValueError(f"{number} ids came with more documents: pass one for each")
        yield replace(document, id=name[0], numbered=False)
    if left := len(list(names)):
        raise ValueError(f"{left} ids are left after the last document: pass one for each")
