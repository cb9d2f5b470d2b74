"""How a training run is shown: by whoever called it, or else in plain lines on standard error."""

import sys
import time
from collections.abc import Callable, Mapping
from typing import Protocol, Self, TextIO

Advance = Callable[[int], None]

_SHORT = {"entropy": "H(Z)", "conditional_entropy": "H(Z|Y)", "information": "I", "score": "valid"}
_ELSEWHERE = {"epoch", "seconds", "documents_per_second"}


class Progress(Protocol):
    """What shows a run. A context manager around it."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *exception: object) -> None: ...

    def part(self, name: str, total: int) -> Advance:
        """A part of the run before its epochs has begun; the function is called with the steps that are done."""

    def epoch(self, row: Mapping[str, float], epochs: int) -> None:
        """An epoch is over, of at most so many; a row of the history says what it measured."""

    def say(self, text: str) -> None:
        """A sentence for the user."""


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
    """Shows a run that is part of another one: its epochs are the steps of a part."""

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
    """One line that is written over on a terminal; elsewhere a new line every so often, and one at the end."""

    def __init__(self, name: str, stream: TextIO | None = None, seconds_between: float = 10.0):
        self.name, self.seconds_between = name, seconds_between
        self._stream = sys.stderr if stream is None else stream
        self._terminal = self._stream.isatty()
        self._last_time = time.monotonic()
        self._pending = ""  # what was not written, because the last line is too young
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


def measured(row: Mapping[str, float]) -> str:
    """What an epoch measured, in short."""
    figures = [f"{_SHORT.get(name, name)} {value:.1f}" for name, value in row.items() if name not in _ELSEWHERE]
    return "  ".join([*figures, f"{row['documents_per_second']:,.0f} docs/s"])
