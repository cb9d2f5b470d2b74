"""Displays of work in progress. The code that works calls a display, which never affects the work."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Advance = Callable[[float], None]  # called with the number of steps done
Bar = Callable[[str, float | None], AbstractContextManager[Advance]]  # title, and number of steps if known


class SearchView:
    """The display of one search; this one shows nothing."""

    def epoch(self, trial: int, epoch: int, score: float) -> None:
        """Show the validation score of an epoch of a trial."""

    def diverged(self, trial: int, reason: str) -> None:
        """Show that the training of a trial diverged before it had a score."""

    def trial(self, finished: int, best: float) -> None:
        """Show that a trial has ended: the number of finished trials, and their best validation score."""


class Display:
    """The display of a command; this one shows nothing."""

    @contextmanager
    def bar(self, title: str, total: float | None = None) -> Iterator[Advance]:
        """Show a piece of work; yield the function to call with the number of steps done."""
        yield lambda steps: None

    @contextmanager
    def search(self, title: str, trials: int, finished: int) -> Iterator[SearchView]:
        """Show a search for `trials` trials, `finished` of which are finished already."""
        yield SearchView()


SILENT = Display()
