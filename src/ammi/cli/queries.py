"""What a collection is asked with: a text or a vector, whichever its model reads."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ammi.collection import Collection

_HOW = {
    "text": "ask with a text, or with --like ID",
    "vector": "ask with --vector FILE, or with the id of a document",
}


def refuse_unread(collection: "Collection", given: str) -> None:
    """Refuse a "text" where the collection's model reads vectors, and a "vector" where it reads texts."""
    if collection.reads != given:
        raise ValueError(
            f"{collection.location} is asked with a {given}, and its model reads {collection.reads}s: "
            f"{_HOW[collection.reads]}"
        )


def query_lines() -> Iterator[str]:
    """The lines of standard input, blank ones too."""
    from ammi.data.formats import read_lines
    from ammi.data.streams import TOO_LONG

    for number, line in enumerate(read_lines("-"), 1):
        if line is None:
            raise ValueError(f"standard input line {number} {TOO_LONG}")
        try:
            line.encode()
        except UnicodeEncodeError:
            raise ValueError(f"standard input line {number} is not UTF-8: convert it first") from None
        yield line.rstrip("\r\n")


def query_vectors(source: str | Path) -> Iterator[tuple[str, Any]]:
    """The vectors of a file, or JSON lines of a pipe, each with what it is called."""
    from ammi.data import holds_matrix, read_documents, read_matrix

    matrix = holds_matrix(source)
    read = read_matrix(source, single=True) if matrix else read_documents(source, vector="vector")
    for document in read:
        name = f"row {document.id}" if matrix and document.numbered else document.id
        yield f"{'' if source == '-' else source} {name}".strip(), document.vector
