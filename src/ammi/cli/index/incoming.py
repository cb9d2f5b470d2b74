"""Add documents from a source, or codes from a file, to a collection."""

from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import ammi
from ammi.cli import screen
from ammi.cli.command import if_stopped
from ammi.cli.progress import counter
from ammi.cli.screen import note, show
from ammi.cli.sources import Documents, counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from ammi.data import CodeFile, Document, VectorMatrix
    from ammi.search.hamming import Codes


def codes_of(sources: list[str], format: str | None) -> "CodeFile | None":
    """Return the codes of a source that is a file of codes."""
    from ammi.data import holds_codes, read_codes

    return read_codes(sources[0]) if len(sources) == 1 and format is None and holds_codes(sources[0]) else None


def say_added(location: str, report: dict[str, int], documents: int, as_json: bool) -> None:
    """Print how many documents were added, and how many the collection has."""
    counts = ", ".join(f"{n:,} {what}" for what, n in report.items() if n or what == "added")
    value = {"location": location, **report, "documents": documents}
    show(value, as_json, f"{counts}; {screen.counted_documents(documents, 'are')} in {location}")


class Incoming:
    """Documents of a source, or codes if the source is a file of codes."""

    def __init__(self, documents: Documents, codes: "CodeFile | None"):
        self.documents, self.codes = documents, codes
        self._coming: Iterable[Document] = documents.to_collect
        self._added = 0

    def try_first(self, model: "ammi.DocumentHasher") -> None:
        """Encode the first documents, so that a source that cannot be read leaves no collection behind."""
        from ammi.ingest import blocks_of

        coming = blocks_of(self.documents.to_collect)
        if self.documents.matrix is None:
            first = next(coming, None)
            rest = (document for block in coming for document in block.documents)
            self._coming = chain(first.documents if first else [], rest)
        else:
            with self.documents.silent():  # all rows are read again
                first = next(coming, None)
        if first:
            first.codes(model, model.fingerprint_)

    def add_to(self, collection: "ammi.Collection", as_json: bool) -> None:
        """Add everything, in durable blocks of a thousand documents, and print the outcome."""
        from ammi.data import VectorMatrix

        before, coming = len(collection), self._coming
        if not self.documents.is_pipe:  # which has no name
            coming = named_after(self.documents.name, coming, collection if before else None)
        if isinstance(coming, VectorMatrix):
            self.documents.matrix = coming  # which counts its zero rows
        try:
            with if_stopped(lambda: self._kept(collection)), counter(f"adding {self.documents.name}") as advance:

                def count(n_documents: int) -> None:
                    self._added += n_documents
                    if not reads_one_by_one:
                        advance(n_documents)

                # Each document counts as it is read: a slow pipe fills no block for long.
                reads_one_by_one = not self.codes and not isinstance(coming, VectorMatrix)
                if self.codes:
                    codes, fingerprint = self.codes, self.codes.fingerprint
                    collection.add_codes(codes.codes, codes.ids, fingerprint=fingerprint, advance=count)
                else:
                    collection.add(counted(coming, advance) if reads_one_by_one else coming, advance=count)
        except Exception:
            if self._added:
                note(self._kept(collection))
            raise
        self.documents.end_of_reading()
        self.documents.note_zeros()
        self.documents.note_types()
        after = len(collection)
        replaced = min(self._added, max(0, before + self._added - after))  # others may add and delete meanwhile
        report = {"added": self._added - replaced, "replaced": replaced, "skipped": self.documents.n_skipped}
        say_added(collection.location, report, after, as_json)

    def _kept(self, collection: "ammi.Collection") -> str:
        if not self._added:
            return f"nothing was added to {collection.location}"
        return f"{screen.counted_documents(self._added, 'were')} added before this, and stay in {collection.location}"


def named_after(
    source: str, documents: "Iterable[Document] | VectorMatrix", collection: "ammi.Collection | None"
) -> "Iterable[Document] | VectorMatrix":
    """Give documents without ids the ids SOURCE:POSITION, which are the same whenever the source is read.

    With a collection, leave out those that are in it: an interrupted addition goes on after them.
    """
    from ammi.data import VectorMatrix
    from ammi.data.formats import source_name

    name = source_name(Path(source))
    if collection is None and isinstance(documents, VectorMatrix):
        return documents.with_ids(f"{name}:{row}" for row in range(len(documents))) if documents.numbered else documents
    return _named_blocks(name, documents, collection)


def _named_blocks(
    name: str, documents: "Iterable[Document]", collection: "ammi.Collection | None"
) -> "Iterator[Document]":
    for block in ammi.data.blocks(documents):
        if block[0].numbered:
            block = [replace(document, id=f"{name}:{document.id}", numbered=False) for document in block]
            block = block if collection is None else _missing(block, collection)
        yield from block


def _missing(block: "list[Document]", collection: "ammi.Collection") -> "list[Document]":
    """Return the documents that are not in a collection; refuse those for which it has another one of the same id."""
    known = [document for document in block if document.id in collection] if block[0].id in collection else []
    found = collection.get([document.id for document in known])
    for document, entry, code in zip(known, found, _codes_of(collection, known), strict=True):
        same = (entry.text, entry.metadata) == (document.text, document.metadata)
        if not same or (code is not None and (entry.code != code).any()):
            raise ValueError(
                f"{collection.location} has another document {document.id!r}, which has its id from the name of its "
                "file: rename this file to add its documents as well, or give them ids to replace the others"
            )
    there = {document.id for document in known}
    return [document for document in block if document.id not in there]


def _codes_of(collection: "ammi.Collection", documents: "list[Document]") -> "Sequence[Codes | None]":
    """Return the codes of documents without texts, which only their codes tell apart."""
    vectors = [document.vector for document in documents if document.text is None and document.vector is not None]
    if not vectors or len(vectors) < len(documents):
        return [None] * len(documents)
    return list(collection.encode(vectors))
