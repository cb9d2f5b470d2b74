"""Documents as commands read them: from any source, once or again, with what was skipped reported."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ammi.cli.options import OnError
from ammi.cli.screen import counter, note

if TYPE_CHECKING:
    from ammi.data import BadRecordError, Document


class Documents:
    """The documents of a source, which is read anew each time they are gone through."""

    def __init__(
        self,
        source: str,
        text: str | None = None,
        id: str | None = None,
        on_error: OnError = OnError.refuse,
        format: str | None = None,
    ):
        from ammi.data import locate, read_documents

        _refuse_collection(source)
        self.name = "standard input" if source == "-" else source
        self.is_pipe = source == "-" or Path(source).is_fifo()
        self.skipped = 0
        self._complain: Callable[[BadRecordError], None] = self._skip if on_error == OnError.skip else _refuse
        self._read = lambda: read_documents(locate(source), text=text, id=id, format=format, on_error=self._complain)

    def __iter__(self) -> "Iterator[Document]":
        yield from self._read()
        self._complain = lambda problem: None  # it was reported the first time

    def _skip(self, problem: "BadRecordError") -> None:
        self.skipped += 1
        note(f"skipped: {problem}")


class Contents:
    """The texts or the vectors of documents, with progress while a model learns features and then makes rows of them.

    Features that learn nothing (`learns`) do not go through them before rows are made.

    Where they are gone through once more, it is as a part of something that shows its own progress.
    """

    def __init__(self, documents: "Iterable[Document]", reads: str, learns: bool = True):
        self._documents, self._reads = documents, reads
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

        return (content_of(document, self._reads) for document in self._documents)


def _refuse(problem: "BadRecordError") -> None:
    raise problem


def _refuse_collection(source: str) -> None:
    """The files in a collection's folder are no documents, though those of any other folder are."""
    from ammi.collection import Collection

    if Path(source).is_dir() and Collection.exists(source):
        raise ValueError(
            f"{source} is a collection, not a source of documents: write them to a file with ammi index export, or "
            "encode them anew where they are with ammi index rebuild"
        )
