"""Read queries: lines of standard input, or vectors of a file."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import ammi

if TYPE_CHECKING:
    import numpy as np

_INSTEAD = {
    "text": "search for a text, or with --like ID",
    "vector": "search with --vector FILE, or with the id of a document",
}


def check_query_kind(collection: "ammi.Collection", kind: str) -> None:
    """Refuse a "vector" if the collection's model reads texts, and a "text" that neither it nor a word index reads."""
    if collection.reads != kind and not (kind == "text" and "text" in collection.ranks()):
        raise ValueError(
            f"the query is a {kind}, but the model of {collection.location} reads {collection.reads}s: "
            f"{_INSTEAD[collection.reads]}"
        )


def query_lines() -> Iterator[str]:
    """Yield the lines of standard input, blank ones included."""
    from ammi.data.formats import read_lines
    from ammi.data.streams import TOO_LONG

    for number, line in enumerate(read_lines("-", "standard input", detect=False), 1):
        if line is None:
            raise ValueError(f"standard input line {number} {TOO_LONG}")
        try:
            line.encode()
        except UnicodeEncodeError:
            raise ValueError(f"standard input line {number} is not UTF-8: convert it first") from None
        yield line.rstrip("\r\n")


def query_vectors(source: str | Path) -> "Iterator[tuple[str, np.ndarray]]":
    """Yield the name and the vector of each row of a file, or of each JSON line of standard input."""
    from ammi.data import holds_matrix, read_documents, read_matrix

    matrix = holds_matrix(source)
    documents = read_matrix(source, single=True) if matrix else read_documents(source, vector="vector")
    for document in documents:
        name = f"row {document.id}" if matrix and document.numbered else document.id
        if document.vector is None:
            raise ValueError(f"{source} has no vectors: expected a table with the column vector, or a matrix")
        yield f"{'' if source == '-' else source} {name}".strip(), document.vector
