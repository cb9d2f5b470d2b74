"""How a training run is shown: bars on a terminal, a line every so often elsewhere, nothing with --quiet."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Self

from rich.console import RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.text import Text

from ammi.cli import screen

if TYPE_CHECKING:
    from ammi.training.progress import Progress as TrainingProgress


def training_progress(name: str) -> "TrainingProgress":
    """What shows the training of a method."""
    from ammi.training.progress import Lines, Silent

    if screen.notes.quiet:
        return Silent()
    if screen.notes.is_terminal:
        return TrainingBars(name)
    return Lines(name, seconds_between=screen.SECONDS_BETWEEN_LINES)


class TrainingBars:
    """A bar for each part of a run and one for its epochs; below them, what the last epoch measured."""

    def __init__(self, name: str):
        self._name = name
        self._bars = _Bars(
            TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn(),
            console=screen.notes,
        )  # fmt: skip
        self._bar_of_epochs: TaskID | None = None

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

        if self._bar_of_epochs is None:
            self._bar_of_epochs = self._bars.add_task(self._name, total=epochs)
        self._bars.figures = measured(row)
        self._bars.update(self._bar_of_epochs, completed=int(row["epoch"]), refresh=True)

    def say(self, text: str) -> None:
        screen.note(text)


class _Bars(Progress):
    """Bars with a line of figures below them, for which there is no room beside them in a terminal of 80 columns."""

    figures = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.figures:
            yield Text(self.figures, style="dim")
