"""Bars of progress in Jupyter: one output of a cell, updated in place, without a widget or a script."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from html import escape

_AFTER = 0.5  # seconds before the first bar is shown: shorter work shows none
_BETWEEN = 0.2  # seconds between two updates


def in_notebook() -> bool:
    """Return whether the program runs in a kernel of Jupyter."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


class Bar:
    """A piece of work, the steps that are done, and a total if it is known."""

    def __init__(self, bars: "Bars", title: str, total: float | None):
        self._bars, self.title, self.total = bars, title, total
        self.done, self.figures = 0.0, ""

    def advance(self, steps: float) -> None:
        """Count steps that are done."""
        self.update(self.done + steps)

    def update(self, done: float, figures: str = "") -> None:
        """Set the number of steps that are done, and a text beside them."""
        self.done, self.figures = done, figures
        self._bars.show()

    def counted(self) -> str:
        """Return how far the work is, in words."""
        of = f" of {self.total:,.0f}" if self.total else ""
        return "  ".join(filter(None, (self.title, f"{self.done:,.0f}{of}" if self.done or of else "", self.figures)))

    def html(self) -> str:
        """Return the bar as Jupyter shows it."""
        if self.total:
            length = f"value='{self.done:.0f}' max='{self.total:.0f}'"
        else:
            length = "value='1'" if self._bars.closed else ""  # without a value it moves
        bar = f"<progress {length} style='width:12em;vertical-align:middle'></progress>"
        return f"<div>{bar} {escape(self.counted())}</div>"


class Bars:
    """Bars below one another. It is a context manager around the work."""

    def __init__(self) -> None:
        self._bars: list[Bar] = []
        self._update: Callable[..., None] | None = None
        self._next = time.monotonic() + _AFTER
        self.closed = False

    def __enter__(self) -> "Bars":
        return self

    def __exit__(self, *exception: object) -> None:
        self.closed = True
        if self._update:
            self.show(now=True)

    def add(self, title: str, total: float | None = None) -> Bar:
        """Begin a piece of work."""
        self._bars.append(Bar(self, title, total))
        return self._bars[-1]

    def show(self, now: bool = False) -> None:
        """Show the bars as they are, if it is time for it."""
        if time.monotonic() < self._next and not now:
            return
        self._next = time.monotonic() + _BETWEEN
        content = {
            "text/html": "".join(bar.html() for bar in self._bars),
            "text/plain": "\n".join(bar.counted() for bar in self._bars),
        }
        if self._update:
            self._update(content, raw=True)
        else:
            from IPython.display import display

            self._update = display(content, raw=True, display_id=True).update


@contextmanager
def bar(title: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Show the steps of a piece of work in a notebook, and nothing elsewhere."""
    if not in_notebook():
        yield lambda steps: None
        return
    with Bars() as bars:
        yield bars.add(title, total).advance


@contextmanager
def busy(title: str) -> Iterator[None]:
    """Show in a notebook that a piece of work goes on, which counts no steps."""
    if not in_notebook():
        yield
        return
    with Bars() as bars:
        bars.add(title)
        bars.show(now=True)
        yield
