"""Documents as commands read them: from any source, once or again, with what was skipped reported."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ammi.cli.options import OnError
from ammi.cli.screen import counter, note
from ammi.urls import shown

if TYPE_CHECKING:
    from ammi.data import BadRecordError, Document, VectorMatrix


SKIPPED_SHOWN = 5  # bad records that are named; all are counted


class Documents:
    """The documents of a source, which is read anew each time they are gone through.

    A source that is a matrix of vectors is also had as such: `matrix`. `reads` is what a model reads of a document, its
    "text" or its "vector", and `width` how many numbers that has, where it is known.
    """

    def __init__(
        self,
        source: str,
        text: str | None = None,
        id: str | None = None,
        on_error: OnError = OnError.refuse,
        format: str | None = None,
        vector: str | None = None,
        *,
        reads: str = "text",
        width: int | None = None,
    ):
        from ammi.data import holds_matrix, locate, read_documents, read_matrix

        _refuse_collection(source)
        self.name = "standard input" if source == "-" else source
        self.is_pipe = source == "-" or Path(source).is_fifo()
        self.skipped: Counter[str] = Counter()  # by kind
        self._said = 0
        self._complain: Callable[[BadRecordError], None] = self._skip if on_error == OnError.skip else _refuse
        self._refuses = on_error == OnError.refuse
        self._zeros, self._zeros_said, self._reads = 0, False, reads
        columns: dict[str, Any] = {"text": text, "id": id, "vector": vector, "format": format}
        self.matrix: VectorMatrix | None = None
        if holds_matrix(source, format):
            self.matrix = read_matrix(locate(source), **columns, on_error=lambda problem: self._complain(problem))
        elif reads == "vector":
            columns["vector"] = vector or "vector"  # so that one that is missing is a bad record
        columns |= {"reads": reads, "width": width}
        self._read = lambda: read_documents(locate(source), **columns, on_error=self._complain)

    def __iter__(self) -> "Iterator[Document]":
        self._zeros = 0
        for document in self._read() if self.matrix is None else self.matrix:
            self._zeros += self._reads == "vector" and document.vector is not None and not document.vector.any()
            yield document
        self.end_of_reading()

    def keep(self) -> None:
        """Keep what a pipe gives, which can be read but once, so that it can be gone through again."""
        if self.is_pipe:
            kept = list(self._read())
            self._read = lambda: iter(kept)

    @contextmanager
    def saying_nothing(self) -> Iterator[None]:
        """While documents are gone through that will be gone through again: what is skipped is said then."""
        complain = self._complain
        self._complain = _refuse if self._refuses else lambda problem: None
        yield
        self._complain = complain

    @property
    def to_collect(self) -> "VectorMatrix | Documents":
        """What a collection takes: the matrix, where it is one, since that is many times faster than its rows."""
        return self if self.matrix is None else self.matrix

    def vectors(self) -> Any:
        """All vectors as a matrix (n, d) to learn from, sparse where the source is."""
        with counter(f"reading vectors of {self.name}") as advance:
            X = _stacked(self, advance) if self.matrix is None else self.matrix.in_memory(advance)
        self.end_of_reading()
        if not X.shape[0]:
            raise ValueError(f"{self.name} holds no vectors: nothing can be learned from it")
        return X

    def metadata(self) -> "Iterator[dict[str, Any]]":
        """The metadata of each document."""
        return (document.metadata for document in self) if self.matrix is None else self.matrix.metadata()

    def note_vectors(self, width: int) -> None:
        """Say that codes are learned from vectors, of so many numbers, and how many of them are zero."""
        note(f"Codes are learned from the vectors of {self.name}, of {width:,} numbers each.")
        self.note_zeros()

    def note_zeros(self) -> None:
        """Say once how many of the vectors are zero."""
        zeros = self._zeros if self.matrix is None else self.matrix.zeros
        if zeros and not self._zeros_said:
            self._zeros_said = True
            note(f"{zeros:,} of the vectors of {self.name} are zero: they have no direction, and all get the same code")

    @property
    def n_skipped(self) -> int:
        """How many bad records were skipped."""
        return self.skipped.total()

    def end_of_reading(self) -> None:
        """Say once how many bad records were skipped, and of what kinds; they are not reported again."""
        if self.skipped and self._said >= 0:
            kinds = ", ".join(f"{n:,} {kind}" for kind, n in self.skipped.most_common())
            note(f"{self.n_skipped:,} skipped in {self.name}: {kinds}")
            self._said = -1
        self._complain = _refuse if self._refuses else lambda problem: None

    def _skip(self, problem: "BadRecordError") -> None:
        self.skipped[problem.kind] += 1
        if self._said < SKIPPED_SHOWN:
            self._said += 1
            note(f"skipped: {problem}")


class Contents:
    """The texts of documents, with progress while a model learns features and then makes rows of them.

    Features that learn nothing (`learns`) do not go through them before rows are made.

    Where they are gone through once more, it is as a part of something that shows its own progress.
    """

    def __init__(self, documents: "Iterable[Document]", learns: bool = True):
        self._documents = documents
        self._steps = ["reading documents", "making rows of them"] if learns else ["making rows of documents"]
        self.count = 0

    def __iter__(self) -> Iterator[Any]:
        if not self._steps:
            yield from self._contents()
            return
        self.count = 0
        with counter(self._steps.pop(0)) as advance:
            for content in self._contents():
                yield content
                advance(1)
                self.count += 1

    def _contents(self) -> Iterator[Any]:
        from ammi.data import content_of

        return (content_of(document, "text") for document in self._documents)


def default_features(source: str, vector: str | None, format: str | None) -> str:
    """What codes are learned from where a user does not say: vectors, where the source has some, or else words."""
    from ammi.data import holds_matrix

    return "vectors" if vector or holds_matrix(source, format) else "words"


def _stacked(documents: "Iterable[Document]", advance: Callable[[int], None]) -> Any:
    import numpy as np

    from ammi.data import blocks, content_of

    parts = []
    for block in blocks(documents):
        parts.append(np.stack([content_of(document, "vector") for document in block]))
        advance(len(block))
    return np.concatenate(parts) if parts else np.empty((0, 0))


def _refuse(problem: "BadRecordError") -> None:
    raise problem


def _refuse_collection(source: str) -> None:
    """The files in a collection's folder are no documents, though those of any other folder are."""
    from ammi.collection import Collection
    from ammi.search.locations import is_url

    if is_url(source) or (Path(source).is_dir() and Collection.exists(source)):
        raise ValueError(
            f"{shown(source)} is a collection, not a source of documents: write them to a file with ammi index export, "
            "or encode them anew where they are with ammi index rebuild"
        )
