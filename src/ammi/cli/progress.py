"""Show progress on standard error: bars on a terminal, a line every few seconds elsewhere, nothing with --quiet."""

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

from rich.console import RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from ammi.cli import screen
from ammi.cli.screen import note
from ammi.tuning.display import Advance, Display, SearchView

if TYPE_CHECKING:
    from ammi.training.progress import Progress as TrainingProgress

SECONDS_BETWEEN_LINES = 10.0


@contextmanager
def counter(title: str, total: float | None = None) -> Iterator[Advance]:
    """Show a piece of work that counts its steps; the bar of a terminal disappears at the end."""
    if screen.notes.quiet:
        yield lambda steps: None
    elif screen.notes.is_terminal:
        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(20),
            _Count(),
            TimeElapsedColumn(),
            *([TimeRemainingColumn()] if total else []),
        )
        with Progress(*columns, console=screen.notes, transient=True) as bar:
            task = bar.add_task(title, total=total)
            yield lambda steps: bar.advance(task, steps)
    else:
        with _lines(title, total) as advance:
            yield advance


class _Count(ProgressColumn):
    """Steps done, their total, and steps per second."""

    def render(self, task: Task) -> Text:
        return Text(_counted(task.completed, task.total, task.speed))


def _counted(done: float, total: float | None, speed: float | None) -> str:
    if not done and not total:  # work that is not counted
        return ""
    of = f"/{total:,.0f}" if total else ""
    return f"{done:,.0f}{of}" + (f"  {speed:,.0f}/s" if speed and speed >= 1 else "")


@contextmanager
def _lines(title: str, total: float | None) -> Iterator[Advance]:
    """Print a line every few seconds, from a thread, since a step may take long; and one at the end."""
    done, start, over = 0.0, time.monotonic(), threading.Event()

    def advance(steps: float) -> None:
        nonlocal done
        done += steps

    def write() -> None:
        seconds = time.monotonic() - start
        left = f"about {_duration(seconds / done * (total - done))} left" if total and 0 < done < total else ""
        counted = _counted(done, total, done / seconds)
        note("  ".join(filter(None, (f"{title}:", counted, _duration(seconds), left))))

    def write_repeatedly() -> None:
        while not over.wait(SECONDS_BETWEEN_LINES):
            write()

    writer = threading.Thread(target=write_repeatedly, daemon=True)
    writer.start()
    try:
        yield advance
    finally:
        over.set()
        writer.join()
    if time.monotonic() - start > SECONDS_BETWEEN_LINES:
        write()


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 3600:.1f} h"


def training_progress(name: str) -> "TrainingProgress":
    """Return the display of a method's training."""
    from ammi.training.progress import Lines, Silent

    if screen.notes.quiet:
        return Silent()
    if screen.notes.is_terminal:
        return TrainingBars(name)
    return Lines(name, seconds_between=SECONDS_BETWEEN_LINES)


class TrainingBars:
    """A bar for each part of a run and one for its epochs, with the figures of the last epoch below."""

    def __init__(self, name: str):
        self._name = name
        self._bars = _BarsWithFigures(*_bar_columns(), console=screen.notes)
        self._epochs: TaskID | None = None

    def __enter__(self) -> Self:
        self._bars.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.stop()

    def part(self, name: str, total: int) -> Callable[[int], None]:
        bar = self._bars.add_task(name, total=total)
        return lambda steps: self._bars.advance(bar, steps)

    def epoch(self, row: Mapping[str, float], epochs: int) -> None:
        from ammi.training.progress import measured

        if self._epochs is None:
            self._epochs = self._bars.add_task(self._name, total=epochs)
        self._bars.figures = measured(row)
        self._bars.update(self._epochs, completed=int(row["epoch"]), refresh=True)

    def say(self, text: str) -> None:
        note(text)


class _BarsWithFigures(Progress):
    """Bars above a line of figures, which do not fit beside them in a terminal of 80 columns."""

    figures = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.figures:
            yield Text(self.figures, style="dim")


def _bar_columns() -> tuple[ProgressColumn, ...]:
    return TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn()


class Screen(Display):
    """The display of a search for hyperparameters and of the paper's experiments."""

    bar = staticmethod(counter)

    @contextmanager
    def search(self, title: str, trials: int, finished: int) -> Iterator[SearchView]:
        if not screen.notes.is_terminal:
            yield _SearchLines(title, trials)
            return
        with Progress(*_bar_columns(), TextColumn("{task.fields[now]}"), console=screen.notes) as progress:
            yield _SearchBar(progress, progress.add_task(title, total=trials, completed=finished, now=""))


class _SearchBar(SearchView):
    """A bar of trials, with the last epoch or the best score beside it."""

    def __init__(self, progress: Progress, bar: TaskID):
        self._progress, self._bar = progress, bar

    def epoch(self, trial: int, epoch: int, score: float) -> None:
        self._progress.update(self._bar, now=f"trial {trial} epoch {epoch}: {score:.2f}")

    def diverged(self, trial: int, reason: str) -> None:
        note(f"Trial {trial} is given up: {reason}")

    def trial(self, finished: int, best: float) -> None:
        self._progress.update(self._bar, completed=finished, now=f"best {best:.2f}")


class _SearchLines(SearchView):
    """A line for each trial that has ended."""

    def __init__(self, title: str, trials: int):
        self._title, self._trials = title, trials

    def diverged(self, trial: int, reason: str) -> None:
        note(f"{self._title}: trial {trial} is given up: {reason}")

    def trial(self, finished: int, best: float) -> None:
        note(f"{self._title}: {finished} of {self._trials} trials, best {best:.2f}")
