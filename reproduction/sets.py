"""The paper's sets as tasks; article pairs are made from their corpus on first use."""

from collections.abc import Iterator
from functools import cache
from itertools import chain, islice
from pathlib import Path

from ammi.data import Document, corpus_path, read_documents
from ammi.data.docstrings import docstring_records
from ammi.data.pairs import Record, read_pairs
from ammi.tuning.display import Display
from ammi.tuning.locks import lock_for
from ammi.tuning.pair_sets import Kind, PairPlan, build_pairs
from ammi.tuning.tasks import LabelledTask, PairTask, Task, benchmark_task, documents_task
from reproduction.folder import PaperFolder
from reproduction.plan import ARTICLE_HALVES, TINY, TINY_PAIRS, WHO_DID_WHAT
from reproduction.unseen import LabelledTexts, read_set, split

CORPORA: dict[str, tuple[tuple[str, ...], Kind]] = {
    "reuters-pairs": (("reuters",), "articles"),
    "newsgroup-replies": (("newsgroups",), "replies"),
    ARTICLE_HALVES: (("reuters", "newsgroups"), "halves"),
}
SIZE = 500  # of the tiny set


class PaperSets:
    """The sets by name; each is read once."""

    def __init__(self, folder: PaperFolder, display: Display):
        self.folder, self.display = folder, display
        self._tasks: dict[str, Task] = {}

    def task(self, name: str) -> Task:
        if name not in self._tasks:
            self._tasks[name] = self._read_task(name)
        return self._tasks[name]

    def unseen(self, name: str) -> LabelledTexts:
        """Return a set on which nothing was chosen."""
        if name == TINY:
            records = _records()[::4]
            return split([record["text"] for record in records], [record["label"] for record in records])
        return read_set(name)

    def pairs(self, name: str) -> Path:
        """Return the location of a set of article pairs; make the set if it does not exist."""
        location = self.folder.pairs(name)
        if location.exists():
            return location
        if name == WHO_DID_WHAT:
            raise FileNotFoundError(f"{location} does not exist: name the published pairs with --pairs FILE")
        with lock_for(location):
            if not location.exists():  # another process may just have made it
                self._make_pairs(name, location)
        return location

    def _make_pairs(self, name: str, location: Path) -> None:
        if name == TINY_PAIRS:
            build_pairs(tiny_articles(), location, PairPlan(TINY, "halves", vocabulary_size=1000, held_out=0.35))
        else:
            corpora, kind = CORPORA[name]
            documents = chain.from_iterable(read_documents(corpus_path(corpus)) for corpus in corpora)
            build_pairs(documents, location, PairPlan(" and ".join(corpora), kind), self.display.bar)

    def _read_task(self, name: str) -> Task:
        if name in self.folder.scale.pair_sets:
            return PairTask(read_pairs(self.pairs(name)))
        return tiny_task() if name == TINY else benchmark_task(name)


@cache
def _records() -> list[Record]:
    """Read docstrings of scipy, once, since it takes seconds: both tiny sets are made of them."""
    return list(islice(docstring_records(("scipy",)), 4 * SIZE))


def tiny_task() -> LabelledTask:
    """Return docstrings of scipy, labelled by their subpackage."""
    records = _records()[::4]
    return documents_task([record["text"] for record in records], [record["label"] for record in records])


def tiny_articles() -> Iterator[Document]:
    """Yield docstrings of scipy with titles and labels, for pairs of their halves."""
    for record in _records():
        yield Document(record["id"], record["text"], {"labels": [record["label"]], "title": record["id"]})
