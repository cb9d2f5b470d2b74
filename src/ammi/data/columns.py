"""What is done with many documents: blocks to encode at once, their contents, one column of their metadata."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ammi.data.documents import Document
from ammi.data.rows import listed

BLOCK_DOCUMENTS = 1000
BLOCK_BYTES = 1 << 23  # of texts, in characters, and vectors: a few large documents are as much as many small ones


def blocks(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Lists of documents, short enough to be encoded and written at once."""
    block: list[Document] = []
    size = 0
    for document in documents:
        block.append(document)
        size += len(document.text or "") + (0 if document.vector is None else document.vector.nbytes)
        if len(block) == BLOCK_DOCUMENTS or size > BLOCK_BYTES:
            yield block
            block, size = [], 0
    if block:
        yield block


def content_of(document: Document, reads: str) -> Any:
    """What a model reads of a document: its "text" or its "vector"."""
    content = document.text if reads == "text" else document.vector
    if content is None:
        raise ValueError(f"document {document.id!r} has no {reads}, which is what the model reads")
    return content


def label_column(metadata: Iterable[Mapping[str, Any]], column: str, where: str) -> list[Any]:
    """The labels of documents; a column that none of them has is refused with those there are."""
    labels, columns = [], dict[str, None]()
    for one in metadata:
        labels.append(one.get(column))
        columns |= dict.fromkeys(one)
    if column not in columns:
        raise ValueError(f"no document in {where} has a column {column!r}: the columns there are {listed(columns)}")
    return labels
