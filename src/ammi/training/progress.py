"""The display of a training run: the caller's own, or bars in a notebook and lines on standard error elsewhere."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import Protocol, Self, TextIO

from ammi.notebook import Bar, Bars, in_notebook

Advance = Callable[[int], None]

_SHORT = {"entropy": "H(Z)", "conditional_entropy": "H(Z|Y)", "information": "I", "score": "valid"}
_NOT_FIGURES = {"epoch", "seconds", "documents_per_second"}


class Progress(Protocol):
    """Shows a run. It is a context manager around the run."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def part(self, name: str, total: int) -> Advance:
        """Begin a part of the run before its epochs; call the returned function with each number of finished steps."""

    def epoch(self, row: Mapping[str, float], epochs: int) -> None:
        """Show an epoch of at most `epochs`, given its row of the history."""

    def say(self, text: str) -> None:
        """Show a sentence."""


class Silent:
    """Shows nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        pass

    def part(self, name: str, total: int) -> Advance:
        return lambda steps: None

    def epoch(self, row: Mapping[str, float], epochs: int) -> None:
        pass

    def say(self, text: str) -> None:
        pass


class AsPart(Silent):
    """Shows a run that is part of another one: its epochs are the steps of that part."""

    def __init__(self, progress: Progress, name: str):
        self._progress, self._name = progress, name
        self._advance: Advance | None = None

    def part(self, name: str, total: int) -> Advance:
        return self._progress.part(name, total)

    def epoch(self, row: Mapping[str, float], epochs: int) -> None:
        if self._advance is None:
            self._advance = self._progress.part(self._name, epochs)
        self._advance(1)


class Lines:
    """One line that is overwritten on a terminal; otherwise a new line every ten seconds, and one at the end."""

    def __init__(self, name: str, stream: TextIO | None = None, seconds_between: float = 10.0):
        self.name, self.seconds_between = name, seconds_between
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty()
        self._last_time = time.monotonic()
        self._pending = ""  # a line not written yet, since the last one was written just before
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        if self._terminal and self._width:
            self._stream.write("\n")
        elif self._pending:
            self._write(self._pending)

    def part(self, name: str, total: int) -> Advance:
        done = 0

        def advance(steps: int) -> None:
            nonlocal done
            done += steps
            self._show(f"{self.name}: {name} {done:,} of {total:,}")

        return advance

    def epoch(self, row: Mapping[str, float], epochs: int) -> None:
        self._show(f"{self.name} {int(row['epoch'])}/{epochs}  {measured(row)}")

    def say(self, text: str) -> None:
        self._pending = ""
        self._write(text if not self._width else f"\n{text}")
        self._width = 0

    def _show(self, line: str) -> None:
        if self._terminal:
            self._stream.write(f"\r{line.ljust(self._width)}")
            self._stream.flush()
            self._width = len(line)
        elif time.monotonic() - self._last_time >= self.seconds_between:
            self._write(line)
        else:
            self._pending = line

    def _write(self, line: str) -> None:
        self._stream.write(f"{line}\n")
        self._stream.flush()
        self._last_time, self._pending = time.monotonic(), ""


class NotebookBars:
    """A bar in a notebook for each part of a run, and one for its epochs with the figures of the last one."""

    def __init__(self, name: str):
        self._name, self._bars = name, Bars()
        self._epochs: Bar | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.__exit__()

    def part(self, name: str, total: int) -> Advance:
        return self._bars.add(f"{self._name}: {name}", total).advance

    def epoch(self, row: Mapping[str, float], epochs: int) -> None:
        if self._epochs is None:
            self._epochs = self._bars.add(self._name, epochs)
        self._epochs.update(row["epoch"], measured(row))

    def say(self, text: str) -> None:
        print(text)


def shown(name: str) -> Progress:
    """Return the display of a method's training that fits where it is shown."""
    return NotebookBars(name) if in_notebook() else Lines(name)


def measured(row: Mapping[str, float]) -> str:
    """Return the figures of an epoch as a short text."""
    figures = [f"{_SHORT.get(name, name)} {value:.1f}" for name, value in row.items() if name not in _NOT_FIGURES]
    return "  ".join([*figures, f"{row['documents_per_second']:,.0f} docs/s"])
