"""Read the documents of a source, once or several times, and report the records that were skipped."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from ammi.cli.options import OnError, ReadOptions
from ammi.cli.progress import Advance, counter
from ammi.cli.screen import note
from ammi.urls import shown

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_matrix

    from ammi.collection import Collection
    from ammi.data import BadRecordError, Document, VectorMatrix
    from ammi.hashers import DocumentHasher

T = TypeVar("T")

SKIPPED_SHOWN = 5  # bad records that are named; all are counted


class Content(TypedDict):
    """The part of a document that a model reads: its "text" or its "vector", and the vector's width where known."""

    reads: str
    width: int | None


def content_for(model: "DocumentHasher | Collection") -> Content:
    """Return the part of a document that a model, or the model of a collection, reads."""
    if model.reads == "text":
        return {"reads": "text", "width": None}
    from ammi.hashers import DocumentHasher

    fitted = model if isinstance(model, DocumentHasher) else model.model
    return {"reads": "vector", "width": fitted.n_features_in_}


class Documents:
    """The documents of a source, which is read again by each iteration.

    Args:
        source: what the user named.
        options: how to read it.
        reads: "text" or "vector", the part of a document that the model reads.
        width: dimension of the vectors, if known.
    """

    def __init__(self, source: str, options: ReadOptions, *, reads: str = "text", width: int | None = None):
        from ammi.data import holds_matrix, locate, read_documents, read_matrix
        from ammi.data.reading import Needed

        _refuse_collection(source)
        self.name = "standard input" if source == "-" else source
        self.is_pipe = is_pipe(source)
        self.skipped: Counter[str] = Counter()  # by kind
        self.n_seen: int | None = None  # documents from which a sample was drawn
        self.matrix: VectorMatrix | None = None  # set if the source is a matrix
        self._refuses, self._silent = options.on_error == OnError.refuse, False
        self._zeros, self._zeros_noted, self._reads = 0, False, reads
        text, id, vector, format = options.text, options.id, options.vector, options.format
        if holds_matrix(source, format):
            self.matrix = read_matrix(
                locate(source), text=text, id=id, vector=vector, format=format, on_error=self._complain
            )
        elif reads == "vector":
            vector = vector or "vector"  # so that a record without one is a bad record
        self._read = lambda: read_documents(
            locate(source),
            text=text,
            id=id,
            vector=vector,
            format=format,
            needed=Needed(reads, width),
            on_error=self._complain,
        )

    def __iter__(self) -> "Iterator[Document]":
        self._zeros = 0
        for document in self._read() if self.matrix is None else self.matrix:
            self._zeros += self._reads == "vector" and document.vector is not None and not document.vector.any()
            yield document
        self.end_of_reading()

    def keep(self) -> None:
        """Keep the documents of a pipe in memory, so that they can be read again."""
        if self.is_pipe and self.n_seen is None:
            kept = list(self._read())
            self._read = lambda: iter(kept)

    def keep_sample(self, n: int, seed: int) -> None:
        """Read the source once and keep a uniform sample of n documents, which then stand for the source."""
        from ammi.data import uniform_sample

        with counter(f"drawing a sample of {self.name}") as advance:
            if self.matrix is not None:
                self.matrix, self.n_seen = self.matrix.sample(n, seed=seed)
            else:
                kept, self.n_seen = uniform_sample(counted(self, advance), n, seed=seed)
                self._read = lambda: iter(kept)
        self.end_of_reading()
        if self.n_seen <= n:
            note(f"{self.name} has {self.n_seen:,} documents, no more than the sample of {n:,}: all of them are used.")

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Report no skipped records inside the block, because the documents will be read again after it."""
        before, self._silent = self._silent, True
        yield
        self._silent = before

    @property
    def to_collect(self) -> "VectorMatrix | Documents":
        """The documents as a collection takes them: a matrix whole, which is many times faster than row by row."""
        return self if self.matrix is None else self.matrix

    def vectors(self) -> "np.ndarray | csr_matrix":
        """Return all vectors as a matrix (n, d), sparse if the source is sparse."""
        with counter(f"reading vectors of {self.name}") as advance:
            X = _stacked(self, advance) if self.matrix is None else self.matrix.in_memory(advance)
        self.end_of_reading()
        if not X.shape[0]:
            raise ValueError(f"{self.name} holds no vectors: nothing can be learned from it")
        return X

    def metadata(self) -> "Iterator[dict[str, Any]]":
        """Yield the metadata of each document."""
        return (document.metadata for document in self) if self.matrix is None else self.matrix.metadata()

    def note_vectors(self, width: int) -> None:
        """Tell that codes are learned from vectors, and how many of them are zero."""
        note(f"Codes are learned from the vectors of {self.name}, of {width:,} numbers each.")
        self.note_zeros()

    def note_zeros(self) -> None:
        """Tell once how many vectors are zero."""
        zeros = self._zeros if self.matrix is None else self.matrix.zeros
        if zeros and not self._zeros_noted:
            self._zeros_noted = True
            note(f"{zeros:,} of the vectors of {self.name} are zero: they have no direction, and all get the same code")

    @property
    def n_skipped(self) -> int:
        """The number of bad records that were skipped."""
        return self.skipped.total()

    def end_of_reading(self) -> None:
        """Tell once how many records were skipped, and why; later iterations do not report them again."""
        if self.skipped and not self._silent:
            kinds = ", ".join(f"{n:,} {kind}" for kind, n in self.skipped.most_common())
            note(f"{self.n_skipped:,} skipped in {self.name}: {kinds}")
        self._silent = True

    def _complain(self, problem: "BadRecordError") -> None:
        if self._refuses:
            raise problem
        if self._silent:
            return
        self.skipped[problem.kind] += 1
        if self.n_skipped <= SKIPPED_SHOWN:
            note(f"skipped: {problem}")


class Contents:
    """The texts of documents, with progress while a model learns features and then makes rows of them.

    `learns` tells whether the features have to read the texts before they make rows, `embeds` whether embeddings are
    made before. Any further iteration is part of work that shows its own progress.
    """

    def __init__(self, documents: "Iterable[Document]", learns: bool = True, embeds: bool = False):
        self._documents = documents
        self._steps = ["embedding documents"] if embeds else []
        self._steps += ["reading documents", "making rows of them"] if learns else ["making rows of documents"]
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        from ammi.data import content_of

        texts: Iterator[str] = (content_of(document, "text") for document in self._documents)
        if not self._steps:
            yield from texts
            return
        self.count = 0
        with counter(self._steps.pop(0)) as advance:
            for text in counted(texts, advance):
                yield text
                self.count += 1


def counted(items: Iterable[T], advance: Advance) -> Iterator[T]:
    """Yield the items, and count each one once it was used."""
    for item in items:
        yield item
        advance(1)


def is_pipe(source: str) -> bool:
    """Return whether a source can be read only once."""
    return source == "-" or Path(source).is_fifo()


def default_features(source: str, options: ReadOptions) -> str:
    """Choose the features if the user did not: vectors where the source has them, else words."""
    from ammi.data import holds_matrix

    return "vectors" if options.vector or holds_matrix(source, options.format) else "words"


def _stacked(documents: "Iterable[Document]", advance: Advance) -> "np.ndarray":
    import numpy as np

    from ammi.data import blocks, content_of

    parts = []
    for block in blocks(documents):
        parts.append(np.stack([content_of(document, "vector") for document in block]))
        advance(len(block))
    return np.concatenate(parts) if parts else np.empty((0, 0))


def is_collection(source: str) -> bool:
    """Return whether a source is a collection, whose files are not documents."""
    from ammi.collection import Collection
    from ammi.search.locations import is_url

    return is_url(source) or (Path(source).is_dir() and Collection.exists(source))


def _refuse_collection(source: str) -> None:
    if is_collection(source):
        raise ValueError(
            f"{shown(source)} is a collection, not a source of documents: write its documents to a file with "
            "ammi index export, or encode them again where they are with ammi index rebuild"
        )
