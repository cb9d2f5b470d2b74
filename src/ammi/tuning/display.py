"""What is shown of work under way. Those who do it tell a display, which shows it as it likes and decides nothing."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol

Advance = Callable[[float], None]
Bar = Callable[[str, float | None], AbstractContextManager[Advance]]  # of work, and how many steps it has if known


class SearchView(Protocol):
    """What is shown of a search."""

    def epoch(self, trial: int, epoch: int, score: float) -> None:
        """An epoch of a trial had this validation score."""

    def diverged(self, trial: int, why: str) -> None:
        """A trial left the finite numbers before it had a score."""

    def trial(self, finished: int, best: float) -> None:
        """A trial has ended: so many are finished now, and the best validation score of them is this."""


class Display(Protocol):
    """What is shown of the work of a command."""

    def bar(self, what: str, total: float | None = None) -> AbstractContextManager[Advance]:
        """Show a piece of work; the function says how many steps of it were done."""

    def search(self, title: str, trials: int, finished: int) -> AbstractContextManager[SearchView]:
        """Show a search that goes on from so many finished trials to so many."""


class Silent:
    """A display that shows nothing."""

    @contextmanager
    def bar(self, what: str, total: float | None = None) -> Iterator[Advance]:
        yield lambda steps: None

    @contextmanager
    def search(self, title: str, trials: int, finished: int) -> Iterator[SearchView]:
        yield _SilentSearch()


class _SilentSearch:
    def epoch(self, trial: int, epoch: int, score: float) -> None:
        pass

    def diverged(self, trial: int, why: str) -> None:
        pass

    def trial(self, finished: int, best: float) -> None:
        pass


SILENT = Silent()
