"""Documents as commands read them: from any source, once or again, in blocks, with what was skipped reported."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ammi.cli.options import OnError
from ammi.cli.screen import counter, note

if TYPE_CHECKING:
    from ammi.data import BadRecordError, Document

BLOCK_DOCUMENTS = 1000
BLOCK_CHARACTERS = 1 << 23


class Documents:
    """The documents of a source, which is read anew each time they are gone through."""

    def __init__(self, source: str, text: str | None = None, id: str | None = None, on_error: OnError = OnError.refuse):
        from ammi.data import locate, read_documents

        self.name = "standard input" if source == "-" else source
        self.is_pipe = source == "-" or Path(source).is_fifo()
        self.skipped = 0
        self._complain: Callable[[BadRecordError], None] = self._skip if on_error == OnError.skip else _refuse
        self._read = lambda: read_documents(locate(source), text=text, id=id, on_error=self._complain)

    def __iter__(self) -> "Iterator[Document]":
        yield from self._read()
        self._complain = lambda problem: None  # it was reported the first time

    def _skip(self, problem: "BadRecordError") -> None:
        self.skipped += 1
        note(f"skipped: {problem}")


def _refuse(problem: "BadRecordError") -> None:
    raise problem


class Texts:
    """The texts of documents, with a progress bar each time they are gone through."""

    def __init__(self, documents: "Iterable[Document]"):
        self._documents = documents
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        self.count = 0
        with counter("counting words") as advance:
            for document in self._documents:
                yield document.text
                advance(1)
                self.count += 1


def label_column(metadata: Iterable[dict[str, Any]], column: str, where: str) -> list[Any]:
    """The labels of documents; a column that none of them has is refused with those there are."""
    labels, columns = [], dict[str, None]()
    for one in metadata:
        labels.append(one.get(column))
        columns |= dict.fromkeys(one)
    if column not in columns:
        there = ", ".join(columns) or "none"
        raise ValueError(f"no document in {where} has a column {column!r}: the columns there are {there}")
    return labels


def blocks(documents: "Iterable[Document]") -> "Iterator[list[Document]]":
    """Lists of documents, short enough to be encoded and written at once."""
    block: list[Document] = []
    size = 0
    for document in documents:
        block.append(document)
        size += len(document.text)
        if len(block) == BLOCK_DOCUMENTS or size > BLOCK_CHARACTERS:
            yield block
            block, size = [], 0
    if block:
        yield block
