"""Files of all kinds as documents: which files there are, how each is read, and the metadata that tell where it was.

Every document of a file has its `path` and the `digest` of the file, and the last one has in `parts` how many there
are: `ammi.syncing` knows by them which files a collection has whole.
"""

import mimetypes
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from glob import glob, has_magic
from pathlib import Path
from typing import Any, NamedTuple

from ammi.data.conversion import CONVERTED, Converted, convert
from ammi.data.documents import Document
from ammi.data.encodings import text_of
from ammi.data.formats import ENDINGS, format_of, source_name
from ammi.data.rows import BadRecordError, UnreadFileError
from ammi.data.streams import BROKEN_COMPRESSION, LONGEST, TOO_LONG, open_bytes
from ammi.files import file_digest
from ammi.plain import is_unicode

ARCHIVES = (".zip", ".tar", ".tgz", ".7z", ".rar", ".tar.gz", ".tar.zst", ".tar.xz", ".tar.bz2", ".xz", ".bz2", ".jar")
_FRONT_KEYS = {"title": "title", "author": "author", "date": "date", "lang": "language", "language": "language"}

Found = Document | BadRecordError
ReadTable = Callable[["File"], Iterator[Found] | None]


class File(NamedTuple):
    """A file that was found, and the name that its documents are called by."""

    path: Path
    name: str
    is_named: bool = False  # by the user, and not only found in a folder

    @property
    def format(self) -> str | None:
        """How the rows of a file are read; None if it is one document, as a text in a folder is."""
        format = format_of(self.path)
        return None if format == "txt" and not self.is_named else format

    @property
    def is_converted(self) -> bool:
        """Whether another process makes the text of this file."""
        return self.path.suffix.lower() in CONVERTED

    def digest(self) -> str:
        """Return a digest of the content."""
        return file_digest(self.path)[:32]

    def unread(self, reason: str, kind: str) -> UnreadFileError:
        """Return the record of a file without documents."""
        return UnreadFileError(f"{self.path} is left out: {reason}", kind)


def sources_of(source: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]") -> list[str | Path]:
    """Return what a source names: `-`, a file, a folder, or several of them; a pattern stands for what matches it."""
    several = [source] if isinstance(source, str | os.PathLike) else [*source]
    found: list[str | Path] = []
    for one in [os.fspath(each) for each in several]:
        if one != "-" and has_magic(one) and not os.path.exists(one):
            matching = sorted(glob(one, recursive=True))
            if not matching:
                raise FileNotFoundError(f"there is no file or folder that matches {one}")
            found += map(Path, matching)
        else:
            found.append(one if one == "-" else Path(one).expanduser())
    return found


def is_document(path: Path) -> bool:
    """Return whether a file is a document, and no table of them."""
    return path.is_file() and format_of(path) is None and "".join(path.suffixes[-1:]).lower() not in (".gz", ".zst")


def find_files(sources: Sequence[str | Path]) -> Iterator[File | BadRecordError]:
    """Yield the files of sources, those of a folder by name; names begin with that of the source if it is not alone."""
    alone = len(sources) == 1
    names: dict[str, str | Path] = {}
    for source in sources:
        path = Path(source)
        name = path.resolve().name if path.is_dir() else "standard input" if source == "-" else path.name
        if source != "-" and not path.exists():
            raise FileNotFoundError(f"there is no file or folder {source}")
        if name in names:
            raise ValueError(
                f"{names[name]} and {source} are both called {name}: name their folder instead, or rename one of them"
            )
        names[name] = source
        if path.is_dir():
            yield from _files_in(path, "" if alone else f"{name}/")
        else:
            yield File(path, name, is_named=True)


def _files_in(folder: Path, prefix: str) -> Iterator[File | BadRecordError]:
    unread: list[OSError] = []
    for root, folders, names in os.walk(folder, onerror=unread.append):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for path in (Path(root, name) for name in sorted(names) if not name.startswith(".")):
            yield File(path, f"{prefix}{path.relative_to(folder).as_posix()}")
    for left_out in unread:
        yield UnreadFileError(f"{left_out.filename} cannot be read: {left_out.strerror}")


def file_documents(files: Iterable[File | BadRecordError], read_table: ReadTable) -> Iterator[Found]:
    """Yield the documents of files, in order; `read_table` yields those of a table, or returns None if it is none."""
    found = [*files]
    converting = (one for one in found if isinstance(one, File) and one.is_converted and not _problem(one))
    # The digest is taken first: of a file that changes meanwhile it is the old one, and the file is read again later.
    converted = convert(((file, _digest(file)), file.path) for file in converting)
    try:
        for file in found:
            if isinstance(file, BadRecordError):
                yield file
            elif problem := _problem(file):
                yield problem
            elif file.is_converted:
                (_, digest), parts = next(converted)
                yield from _marked(file, digest, (_part(file, part) for part in parts))
            else:
                yield from _marked(file, _digest(file), _documents(file, read_table))
    finally:
        converted.close()


def _problem(file: File) -> BadRecordError | None:
    """Return why a file is left out before it is read."""
    path = file.path
    if not is_unicode(str(path)):
        return file.unread("its name is not UTF-8", "not UTF-8")
    if str(path) != "-" and not path.is_file() and not (file.is_named and path.is_fifo()):
        there = "it is a device, a pipe or a socket" if path.exists() else "it is not there any more"
        return UnreadFileError(f"{path} cannot be read: {there}")
    if path.name.lower().endswith(ARCHIVES):
        return file.unread("it is an archive: unpack it to read its files", "archives")
    kind = (mimetypes.guess_type(path.name)[0] or "").partition("/")[0]
    if kind in ("image", "audio", "video") and path.suffix.lower() not in (".svg", ".ts", *ENDINGS):
        what = "a picture" if kind == "image" else "a recording"
        return file.unread(f"it is {what}, which is not read for text", f"{what[2:]}s")
    return None


def _part(file: File, part: Converted) -> Found:
    if part.unread:
        kind, reason = part.unread
        return file.unread(reason, kind)
    places = "".join(f"#{key}={part.metadata[key]}" for key in ("page", "message") if key in part.metadata)
    if len(part.text) > LONGEST:
        return file.unread(f"its text {TOO_LONG}", "too long")
    return Document(f"{file.name}{places}", part.text, part.metadata)


def _documents(file: File, read_table: ReadTable) -> Iterator[Found]:
    """Yield the documents of a table, or the one of a text."""
    rows = read_table(file) if file.format else None
    if rows is not None:
        name = source_name(file.path) if file.is_named else file.name
        for one in rows:
            if isinstance(one, Document) and one.numbered:
                yield replace(one, id=f"{name}:{one.id}", numbered=False)
            else:
                yield one
        return
    try:
        with open_bytes(file.path) as stream:
            content = stream.read(LONGEST + 1)
    except (*BROKEN_COMPRESSION, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        yield UnreadFileError(f"{file.path} cannot be read: {reason}")
        return
    if len(content) > LONGEST:
        yield UnreadFileError(f"{file.path} {TOO_LONG}", "too long")
        return
    text = text_of(content, str(file.path))
    if text is None:
        yield file.unread("it is neither a text nor of another format that is read", "of an unknown format")
    else:
        yield Document(file.name, text, _front_matter(text))


def _digest(file: File) -> str:
    """Return the digest of a file; "" for a table that a user named, whose rows are found again by their ids."""
    try:
        return "" if file.is_named and file.format else file.digest()
    except OSError:  # reading it will say why
        return ""


def _marked(file: File, digest: str, documents: Iterator[Found]) -> Iterator[Found]:
    """Add to the metadata of a file's documents where it is, and to those of the last one how many they are."""
    if not digest:
        yield from documents
        return
    where = {"path": str(file.path.absolute()), "digest": digest}
    last: Document | None = None
    ids: set[str] = set()  # of rows, two may have the same
    for one in documents:
        if isinstance(one, BadRecordError):
            yield one
            continue
        if last is not None:
            yield _with(last, where)
        last = one
        ids.add(str(one.id))
    if last is not None:
        yield _with(last, {**where, "parts": len(ids)})


def _with(document: Document, where: dict[str, Any]) -> Document:
    """Return a document with more metadata; a key of its own of the same name goes on with an underscore."""
    own = {f"{key}_" if key in where else key: value for key, value in document.metadata.items()}
    return replace(document, metadata={**own, **where}, json="")


def _front_matter(text: str) -> dict[str, str]:
    """Return title, author, date and language, if a text begins with them between lines of dashes, as in Markdown."""
    if not text.startswith("---\n"):
        return {}
    lines = text[4 : text.find("\n---", 3)].splitlines()[:100]
    pairs = (line.partition(":")[::2] for line in lines if not line.startswith((" ", "-")))
    found = {_FRONT_KEYS[key]: value.strip().strip("\"'") for key, value in pairs if key in _FRONT_KEYS}
    return {key: value for key, value in found.items() if value}
