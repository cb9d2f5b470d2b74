"""Read the documents of a source, once or several times, and report the records that were skipped."""

import logging
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any, TypedDict, TypeVar
from weakref import finalize

import ammi
from ammi.cli.options import COLUMN_TYPES, OnError, ReadOptions, TypedOptions
from ammi.cli.progress import Advance, counter
from ammi.cli.screen import note
from ammi.hub import is_on_hub
from ammi.urls import shown

if TYPE_CHECKING:
    import numpy as np
    from scipy.sparse import csr_matrix

    from ammi.data import BadRecordError, Document, VectorMatrix

T = TypeVar("T")

SKIPPED_SHOWN = 5  # bad records, and files of a kind, that are named; all are counted


class Content(TypedDict):
    """The part of a document that a model reads: its "text" or its "vector", and the vector's width where known."""

    reads: str
    width: int | None


def content_for(model: "ammi.DocumentHasher | ammi.Collection") -> Content:
    """Return the part of a document that a model, or the model of a collection, reads."""
    if model.reads == "text":
        return {"reads": "text", "width": None}
    fitted = model if isinstance(model, ammi.DocumentHasher) else model.model
    return {"reads": "vector", "width": fitted.n_features_in_}


def keys_of_texts(collection: "ammi.Collection") -> list[str]:
    """Return the metadata keys of which a collection has texts alone."""
    return [key for key, kinds in collection.key_kinds().items() if kinds == ["text"]]


class Skipped(logging.Handler):
    """Reports each skipped record, counted by kind, and each thing that readers detect and log, once."""

    def __init__(self, name: str, refuses: bool):
        super().__init__()
        self.counts: Counter[str] = Counter()  # by kind
        self.is_silent = False
        self._name, self._refuses = name, refuses
        self._told: set[str] = set()
        logger = logging.getLogger("ammi.data")
        logger.handlers, logger.propagate = [self], False
        logger.setLevel(logging.INFO)

    def __call__(self, problem: "BadRecordError") -> None:
        """Note a bad record, or raise it; a file that cannot be read never ends the command."""
        from ammi.data.rows import UnreadFileError

        if self._refuses and not isinstance(problem, UnreadFileError):
            raise problem
        if self.is_silent:
            return
        self.counts[problem.kind] += 1
        of_kind = isinstance(problem, UnreadFileError)  # five pictures hide no broken file
        if (self.counts[problem.kind] if of_kind else self.n) <= SKIPPED_SHOWN:
            self.tell(f"skipped: {problem}")

    @property
    def n(self) -> int:
        """The number of bad records."""
        return self.counts.total()

    def emit(self, record: logging.LogRecord) -> None:
        self.tell(record.getMessage())

    def tell(self, sentence: str) -> None:
        """Print a sentence that was not printed before."""
        if sentence not in self._told:
            self._told.add(sentence)
            note(sentence)

    def end(self) -> None:
        """Tell how many records were skipped, and why; records that are read again are not reported again."""
        if self.counts and not self.is_silent:
            kinds = ", ".join(f"{n:,} {kind}" for kind, n in self.counts.most_common())
            note(f"{self.n:,} skipped in {self._name}: {kinds}")
        self.is_silent = True


class Documents:
    """The documents of sources, which are read again by each iteration.

    Args:
        source: what the user named, one or several.
        options: how to read it.
        reads: "text" or "vector", the part of a document that the model reads.
        width: dimension of the vectors, if known.
        texts: columns that hold no numbers and booleans, since the collection has texts there.
    """

    def __init__(
        self,
        source: str | Sequence[str],
        options: ReadOptions,
        *,
        reads: str = "text",
        width: int | None = None,
        texts: Iterable[str] = (),
    ):
        from ammi.data import holds_matrix, locate, read_documents, read_matrix
        from ammi.data.column_types import ColumnTypes
        from ammi.data.conversion import CONVERTED
        from ammi.data.reading import Needed

        sources = [source] if isinstance(source, str) else [*source]
        for one in sources:
            _refuse_collection(one)
        alone = sources[0] if len(sources) == 1 else None
        self.name = f"{len(sources)} sources" if alone is None else "standard input" if alone == "-" else alone
        self.is_pipe = any(map(is_pipe, sources))
        # One pass over them converts files, or uses up a pipe.
        self._keeps = (
            self.is_pipe or alone is None or not Path(alone).is_file() or Path(alone).suffix.lower() in CONVERTED
        )
        self.skipped = Skipped(self.name, options.on_error == OnError.refuse)
        self.n_seen: int | None = None  # documents from which a sample was drawn
        self.matrix: VectorMatrix | None = None  # set if the source is a matrix
        self._zeros, self._zeros_noted, self._reads = 0, False, reads
        text, id, vector, format = options.text, options.id, options.vector, options.format
        self.types = ColumnTypes(options.named_types() if isinstance(options, TypedOptions) else {}, frozenset(texts))
        if alone is not None and holds_matrix(alone, format):
            self.matrix = read_matrix(
                locate(alone), text=text, id=id, vector=vector, format=format, on_error=self.skipped
            )
            if self.types.chosen:
                raise ValueError(f"{self.name} is a matrix, whose columns have types: leave out --type")
        elif reads == "vector":
            vector = vector or "vector"  # so that a record without one is a bad record
        self._read: Callable[[], Iterable[Document]] = lambda: read_documents(
            [locate(one) for one in sources],
            text=text,
            id=id,
            vector=vector,
            format=format,
            needed=Needed(reads, width, self.types),
            on_error=self.skipped,
        )

    def __iter__(self) -> "Iterator[Document]":
        self._zeros = 0
        for document in self._read() if self.matrix is None else self.matrix:
            self._zeros += self._reads == "vector" and document.vector is not None and not document.vector.any()
            yield document
        self.end_of_reading()

    def keep(self) -> None:
        """Keep the documents of pipes, folders and converted files in a temporary file once they were read."""
        if self._keeps and self.n_seen is None and self.matrix is None:
            self._read, self._keeps = _Kept(self._read).read, False

    def keep_sample(self, n: int, seed: int) -> None:
        """Read the source once and keep a uniform sample of n documents, which then stand for the source."""
        with counter(f"drawing a sample of {self.name}") as advance:
            if self.matrix is not None:
                self.matrix, self.n_seen = self.matrix.sample(n, seed=seed)
            else:
                kept, self.n_seen = ammi.data.uniform_sample(counted(self, advance), n, seed=seed)
                self._read = lambda: iter(kept)
        self.end_of_reading()
        if self.n_seen <= n:
            note(f"{self.name} has {self.n_seen:,} documents, no more than the sample of {n:,}: all of them are used.")

    def note_types(self) -> None:
        """Tell which types were inferred for columns of texts."""
        told: dict[str, list[str]] = {}  # the tables with the same columns
        for name, types in (self.types.tables or {self.name: self.types}).items():
            found = types.found or {}
            by_type = {type: [key for key in found if found[key] == type] for type in COLUMN_TYPES}
            if sentence := "; ".join(f"{type}: {', '.join(keys)}" for type, keys in by_type.items() if keys):
                told.setdefault(sentence, []).append(name)
            for key, n in types.misfits.items():
                note(f"{n:,} values of {key} are no {found[key]}, unlike the first ones of {name}, and stay texts")
        for sentence, (name, *others) in told.items():
            also = f" and {len(others):,} more" if others else ""
            note(f"types of columns in {name}{also}: {sentence} (--type KEY=TYPE for another)")

    @contextmanager
    def silent(self) -> Iterator[None]:
        """Report no skipped records inside the block, because the documents will be read again after it."""
        before, self.skipped.is_silent = self.skipped.is_silent, True
        yield
        self.skipped.is_silent = before

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
        return self.skipped.n

    def end_of_reading(self) -> None:
        """Tell once how many records were skipped, and why; later iterations do not report them again."""
        self.skipped.end()


class _Kept:
    """Documents that are read once, and then again from a temporary file."""

    def __init__(self, read: "Callable[[], Iterable[Document]]"):
        self._read = read
        self._file: IO[bytes] | None = None
        self._count = 0

    def read(self) -> "Iterator[Document]":
        """Yield the documents; they are kept when all of them were read."""
        if self._file is not None:
            self._file.seek(0)
            for _ in range(self._count):
                yield pickle.load(self._file)
            return
        file, self._count = TemporaryFile(), 0  # noqa: SIM115
        finalize(self, file.close)
        for document in self._read():
            pickle.dump(document, file, pickle.HIGHEST_PROTOCOL)
            self._count += 1
            yield document
        self._file = file


class Contents:
    """The texts of documents, with progress while a model learns features and then makes rows of them.

    `learns` tells whether the features have to read the texts before they make rows, `embeds` whether embeddings are
    made before. Any further iteration is part of work that shows its own progress.
    """

    def __init__(self, documents: "Iterable[Document]", learns: bool, embeds: bool = False):
        self._documents = documents
        self._steps = ["embedding documents"] if embeds else []
        self._steps += ["reading documents", "making rows of them"] if learns else ["making rows of documents"]
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        texts: Iterator[str] = (ammi.data.content_of(document, "text") for document in self._documents)
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


def default_features(sources: Sequence[str], options: ReadOptions) -> str:
    """Choose the features if the user did not: vectors where the sources have them, else words."""
    are_matrices = all(ammi.data.holds_matrix(one, options.format) for one in sources)
    return "vectors" if options.vector or are_matrices else "words"


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
    from ammi.search.locations import is_url

    return is_url(source) or is_on_hub(source) or (Path(source).is_dir() and ammi.Collection.exists(source))


def _refuse_collection(source: str) -> None:
    if is_collection(source):
        raise ValueError(
            f"{shown(source)} is a collection, not a source of documents: write its documents to a file with "
            "ammi index export, or encode them again where they are with ammi index rebuild"
        )
