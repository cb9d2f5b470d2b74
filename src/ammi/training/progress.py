"""The progress bar of a training run: what each epoch measured, and how fast."""

from collections.abc import Callable, Mapping

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

_SHORT = {"entropy": "H(Z)", "conditional_entropy": "H(Z|Y)", "information": "I", "score": "valid"}
_ELSEWHERE = {"epoch", "seconds", "documents_per_second"}


class TrainingProgress:
    """A bar of epochs on standard error, 80 columns wide, or nothing where it is not wanted. A context manager."""

    def __init__(self, name: str, epochs: int, shown: bool):
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=6),
            MofNCompleteColumn(),
            TextColumn("{task.fields[measured]}"),
            console=Console(stderr=True),
            disable=not shown,
        )
        self._task = self._bar.add_task(name, total=epochs, measured="")

    def __enter__(self) -> "TrainingProgress":
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def part(self, name: str, total: int) -> Callable[[int], None]:
        """A bar for a part of the run before its epochs, gone when it is done, and the function that moves it on."""
        task = self._bar.add_task(name, total=total, measured="")

        def advance(steps: int) -> None:
            self._bar.advance(task, steps)
            self._bar.update(task, visible=not self._bar.tasks[task].finished)

        return advance

    def show(self, row: Mapping[str, float]) -> None:
        """Move to the epoch of a row of the history and show what it measured."""
        measured = [f"{_SHORT.get(name, name)} {value:.1f}" for name, value in row.items() if name not in _ELSEWHERE]
        speed = f"{row['documents_per_second']:,.0f} docs/s"
        self._bar.update(self._task, completed=int(row["epoch"]), measured="  ".join([*measured, speed]))

    def say(self, text: str) -> None:
        if not self._bar.disable:
            self._bar.console.print(text)
