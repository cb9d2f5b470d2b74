"""Make a collection hold what files or a table hold: add what is new, replace what changed, delete what is gone.

Which files a collection has whole is told by the metadata of its documents alone (`ammi.data.files`). New documents
are written before old ones are deleted. So if a sync is interrupted, the next one finds the files that are not whole,
and reads them again.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ammi.data import Document, documents_from
from ammi.data.documents import blocks
from ammi.data.files import File, find_files, is_document, sources_of
from ammi.data.reading import ColumnNames, Columns, Needed, documents_of_files, read_documents
from ammi.data.rows import BadRecordError, OnError, complaint
from ammi.displays import fields
from ammi.plain import Id

if TYPE_CHECKING:
    from ammi.search import Entry

_DELETED_AT_ONCE = 1000

Report = Callable[[str, Id], None]  # called with "added", "replaced" or "deleted", and the name of a file or the id


class Synced(NamedTuple):
    """What a sync did: the names of files, or the ids of documents of a table."""

    added: Sequence[Id]
    replaced: Sequence[Id]
    deleted: Sequence[Id]
    unchanged: int
    skipped: int  # files and records that cannot be read

    def _repr_html_(self) -> str:
        return fields(self)


class Target(Protocol):
    """The parts of a collection that a sync needs."""

    @property
    def reads(self) -> str: ...

    @property
    def location(self) -> str: ...

    def add(self, documents: Any) -> list[Id]: ...

    def delete(self, ids: Iterable[Id]) -> int: ...

    def encode(self, queries: list[Any]) -> Any: ...

    def get(self, ids: list[Id]) -> "list[Entry]": ...

    def __iter__(self) -> "Iterator[Entry]": ...


@dataclass
class _Known:
    """The documents that a collection has of a file."""

    ids: list[Id] = field(default_factory=list)
    digests: set[str] = field(default_factory=set)
    parts: int | None = None  # of the last document, if it was written

    def is_whole(self, digest: str) -> bool:
        """Return whether these are all documents of the file with this digest."""
        return self.digests == {digest} and self.parts == len(self.ids)


def sync(
    collection: Target, source: Any, names: ColumnNames, on_error: OnError, report: Report = lambda what, name: None
) -> Synced:
    """Make a collection hold what a source holds: files and folders, or else a table or documents with ids."""
    lists: dict[str, list[Id]] = {"added": [], "replaced": [], "deleted": []}
    complain, skipped = complaint(on_error), list[BadRecordError]()

    def count(problem: BadRecordError) -> None:
        complain(problem)
        skipped.append(problem)

    def done(what: str, name: Id) -> None:
        lists[what].append(name)
        report(what, name)

    are_paths = isinstance(source, list) and source and all(isinstance(one, str | PathLike) for one in source)
    paths = source if are_paths else [source]
    if not isinstance(paths[0], str | PathLike):
        columns = Columns.named(**names)
        rows = documents_from(source, text=columns.text, id=columns.id, vector=columns.vector)
        unchanged = _sync_rows(collection, rows, done)
    elif (sources := sources_of(paths)) and all(Path(one).is_dir() or is_document(Path(one)) for one in sources):
        unchanged = _Files(collection, sources, names, count, done).sync()
    else:
        needed = Needed(collection.reads)
        unchanged = _sync_rows(collection, read_documents(sources, **names, needed=needed, on_error=count), done)
    return Synced(**lists, unchanged=unchanged, skipped=len(skipped))


class _Files:
    """The files of sources on their way into a collection."""

    def __init__(
        self,
        collection: Target,
        sources: list[str | Path],
        names: ColumnNames,
        complain: Callable[[BadRecordError], None],
        done: Report,
    ):
        self._collection, self._names, self._complain, self._done = collection, names, complain, done
        self._found = [*find_files(sources)]
        self._roots = [Path(source).absolute() for source in sources]
        self._owners, self._known = _known_files(collection)

    def sync(self) -> int:
        """Read new and changed files, and delete the documents of others; return the number of unchanged files."""
        files = {str(one.path.absolute()): one for one in self._found if isinstance(one, File)}
        changed = [file for path, file in files.items() if not self._is_whole(path, file)]
        unread = [one for one in self._found if isinstance(one, BadRecordError)]
        for problem in unread:
            self._complain(problem)
        self._write(changed)
        if not unread:  # else files may be there that were not found
            for path in [path for path in self._known if path not in files]:
                if any(Path(path).is_relative_to(root) for root in self._roots):
                    self._delete(self._known[path].ids)
                    self._done("deleted", path)
        return len(files) - len(changed)

    def _is_whole(self, path: str, file: File) -> bool:
        known = self._known.get(path)
        try:
            return known is not None and known.is_whole(file.digest())
        except OSError:  # reading it will say why
            return False

    def _write(self, files: list[File]) -> None:
        """Add the documents of files, and delete those that they had before; a file is reported when it is whole."""
        new: dict[str, list[Id]] = {}
        for block in blocks(self._documents(files)):
            self._check_names(block)
            self._collection.add(block)
            for document in block:
                path = document.metadata["path"]
                new.setdefault(path, []).append(document.id)
                if "parts" not in document.metadata:
                    continue
                before, ids = self._known.get(path, _Known()).ids, {str(id) for id in new[path]}
                self._delete([id for id in before if str(id) not in ids])
                self._done("replaced" if before else "added", path)

    def _documents(self, files: list[File]) -> Iterator[Document]:
        return documents_of_files(files, self._names, Needed(self._collection.reads), self._complain)

    def _check_names(self, block: list[Document]) -> None:
        """Refuse ids of documents that are of other files, or of none."""
        for document in block:
            path = document.metadata["path"]
            owner = self._owners.get(str(document.id), path)
            if owner != path and not (owner and not Path(owner).exists()):  # a file that was moved
                of = f"a document of {owner}" if owner else "another document"
                raise ValueError(
                    f"{self._collection.location} has {of} by the id {document.id!r}, which one of {path} would "
                    "replace: sync a folder that holds both, or use another collection"
                )

    def _delete(self, ids: list[Id]) -> None:
        for start in range(0, len(ids), _DELETED_AT_ONCE):
            self._collection.delete(ids[start : start + _DELETED_AT_ONCE])


def _known_files(entries: "Iterable[Entry]") -> tuple[dict[str, str], dict[str, _Known]]:
    """Return the file of each document, "" for none, and the documents of each file."""
    owners: dict[str, str] = {}
    found: dict[str, _Known] = {}
    for entry in entries:
        path = entry.metadata["path"] if _is_of_file(entry.metadata) else ""
        owners[str(entry.id)] = path
        if path:
            known = found.setdefault(path, _Known())
            known.ids.append(entry.id)
            known.digests.add(entry.metadata["digest"])
            known.parts = entry.metadata.get("parts", known.parts)
    return owners, found


def _is_of_file(metadata: Mapping[str, Any]) -> bool:
    return isinstance(metadata.get("path"), str) and isinstance(metadata.get("digest"), str)


def _sync_rows(collection: Target, documents: Iterable[Document], done: Report) -> int:
    """Make the documents that are of no file be these; return how many were unchanged."""
    owners, _ = _known_files(collection)
    seen: set[str] = set()
    unchanged = 0
    for block in blocks(documents):
        if block[0].numbered:
            raise ValueError(
                "a sync finds documents again by their ids, and these have none: name their column with id="
            )
        there = [document for document in block if str(document.id) in owners]
        same = {document.id for document, is_same in _compared(collection, there) if is_same}
        changed = [document for document in block if document.id not in same]
        if changed:
            collection.add(changed)
        for document in changed:
            done("replaced" if str(document.id) in owners else "added", document.id)
        unchanged += len(block) - len(changed)
        seen |= {str(document.id) for document in block}
    gone = [entry.id for entry in collection if not owners.get(str(entry.id), " ") and str(entry.id) not in seen]
    for start in range(0, len(gone), _DELETED_AT_ONCE):
        collection.delete(gone[start : start + _DELETED_AT_ONCE])
    for id in gone:
        done("deleted", id)
    return unchanged


def _compared(collection: Target, documents: list[Document]) -> Iterator[tuple[Document, bool]]:
    """Yield documents, and whether the collection has them so: text and metadata, and the code of a vector."""
    entries = collection.get([document.id for document in documents])
    codes = [entry.code for entry in entries]
    if collection.reads == "vector" and documents:
        codes = collection.encode([document.vector for document in documents])
    for document, entry, code in zip(documents, entries, codes, strict=True):
        same = (entry.text, entry.metadata) == (document.text, document.metadata)
        yield document, same and bool((entry.code == code).all())
