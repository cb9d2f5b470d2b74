"""Add documents from a source, or codes from a file, to a collection."""

from itertools import chain
from typing import TYPE_CHECKING

from ammi.cli.command import if_stopped
from ammi.cli.progress import counter
from ammi.cli.screen import note, show
from ammi.cli.sources import Documents

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ammi.collection import Collection
    from ammi.data import CodeFile, Document
    from ammi.hashers import DocumentHasher


def codes_of(source: str, format: str | None) -> "CodeFile | None":
    """Return the codes of a source that is a file of codes."""
    from ammi.data import holds_codes, read_codes

    return read_codes(source) if format is None and holds_codes(source) else None


def say_added(location: str, report: dict[str, int], documents: int, as_json: bool) -> None:
    """Print how many documents were added, and how many the collection has."""
    counts = ", ".join(f"{n:,} {what}" for what, n in report.items() if n or what == "added")
    value = {"location": location, **report, "documents": documents}
    show(value, as_json, f"{counts}; {documents:,} documents are in {location}")


class Incoming:
    """Documents of a source, or codes if the source is a file of codes."""

    def __init__(self, documents: Documents, codes: "CodeFile | None"):
        self.documents, self.codes = documents, codes
        self._coming: Iterable[Document] = documents.to_collect
        self._added = 0

    def try_first(self, model: "DocumentHasher") -> None:
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

    def add_to(self, collection: "Collection", as_json: bool) -> None:
        """Add everything, in durable blocks of a thousand documents, and print the outcome."""
        before = len(collection)
        try:
            with if_stopped(lambda: self._kept(collection)), counter(f"adding {self.documents.name}") as advance:

                def count(n_documents: int) -> None:
                    self._added += n_documents
                    advance(n_documents)

                if self.codes:
                    codes, fingerprint = self.codes, self.codes.fingerprint
                    collection.add_codes(codes.codes, codes.ids, fingerprint=fingerprint, advance=count)
                else:
                    collection.add(self._coming, advance=count)
        except Exception:
            if self._added:
                note(self._kept(collection))
            raise
        self.documents.end_of_reading()
        self.documents.note_zeros()
        after = len(collection)
        replaced = min(self._added, max(0, before + self._added - after))  # others may add and delete meanwhile
        report = {"added": self._added, "replaced": replaced, "skipped": self.documents.n_skipped}
        say_added(collection.location, report, after, as_json)

    def _kept(self, collection: "Collection") -> str:
        if not self._added:
            return f"nothing was added to {collection.location}"
        return f"{self._added:,} documents were added before this, and stay in {collection.location}"
