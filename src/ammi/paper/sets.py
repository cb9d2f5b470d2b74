"""The paper's sets as tasks; pairs of articles are made from their corpus the first time they are asked for."""

from itertools import chain
from pathlib import Path

from ammi.data import corpus_path, read_documents, read_pairs
from ammi.paper.folder import PaperFolder
from ammi.paper.pair_sets import Kind, build_pairs
from ammi.paper.plan import ARTICLE_HALVES, TINY, TINY_PAIRS, WHO_DID_WHAT
from ammi.paper.tiny import tiny_articles, tiny_task
from ammi.tuning.display import Display
from ammi.tuning.locks import lock_for
from ammi.tuning.tasks import PairTask, Task, benchmark_task

CORPORA: dict[str, tuple[tuple[str, ...], Kind]] = {
    "reuters-pairs": (("reuters",), "articles"),
    "newsgroup-replies": (("newsgroups",), "replies"),
    ARTICLE_HALVES: (("reuters", "newsgroups"), "halves"),
}


class PaperSets:
    """The sets by name, each read once."""

    def __init__(self, folder: PaperFolder, display: Display):
        self.folder, self.display = folder, display
        self._tasks: dict[str, Task] = {}

    def task(self, name: str) -> Task:
        if name not in self._tasks:
            self._tasks[name] = self._read_task(name)
        return self._tasks[name]

    def pairs(self, name: str) -> Path:
        """Where a set of article pairs is; it is made where it is not there."""
        place = self.folder.pairs(name)
        if place.exists():
            return place
        if name == WHO_DID_WHAT:
            raise FileNotFoundError(f"{place} is not there: give the file of the published pairs with --pairs FILE")
        with lock_for(place):
            if not place.exists():  # else another process has just made it
                self._make_pairs(name, place)
        return place

    def _make_pairs(self, name: str, place: Path) -> None:
        if name == TINY_PAIRS:
            build_pairs(tiny_articles(), place, source=TINY, kind="halves", vocabulary_size=1000, held_out=0.35)
        else:
            corpora, kind = CORPORA[name]
            documents = chain.from_iterable(read_documents(corpus_path(corpus)) for corpus in corpora)
            build_pairs(documents, place, source=" and ".join(corpora), kind=kind, progress=self.display.bar)

    def _read_task(self, name: str) -> Task:
        if name in self.folder.scale.pair_sets:
            return PairTask(read_pairs(self.pairs(name)))
        return tiny_task() if name == TINY else benchmark_task(name)
