"""What commands show: results on standard output; progress, notes and errors on standard error."""

import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

SECONDS_BETWEEN_LINES = 10.0  # of progress, where standard error is no terminal


@contextmanager
def _showing() -> Iterator[None]:
    """Say that it is the result that could not be written, as where standard output is a full disk."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise ValueError(f"the result could not be shown ({reason}); what the command has done stays done") from error


class _Results(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        with _showing():
            super().print(*objects, **options)


results = _Results(highlight=False)
notes = Console(stderr=True, highlight=False)  # --quiet makes it quiet
_errors = Console(stderr=True, highlight=False)


def say_json(value: Any) -> None:
    """One JSON value on a line of standard output."""
    with _showing():
        print(json.dumps(value, ensure_ascii=False), flush=True)


def note(text: str) -> None:
    """A line on standard error."""
    notes.print(Text(text), soft_wrap=True)


def say_error(sentence: str) -> None:
    """What went wrong."""
    _errors.print(Text.assemble(("ammi:", "bold red"), " ", sentence), soft_wrap=True)


def say_stopped(what_is_kept: str) -> None:
    """What there is after Ctrl-C."""
    _errors.print(Text(f"Stopped: {what_is_kept}"), soft_wrap=True)


def facts(rows: dict[str, Any]) -> None:
    """Names and values, one a line."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, plain(value))
    results.print(table)


def documents_table(title: str = "", *, numbers: Sequence[str] = ("distance",)) -> Table:
    """An empty table of documents: some numbers, the id, the beginning of the text."""
    shown = beginning(title)
    shown.truncate(results.width, overflow="ellipsis")
    table = Table(title=shown, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, expand=True)
    for number in numbers:
        table.add_column(number, justify="right", style="cyan", no_wrap=True)
    table.add_column("id", overflow="fold", max_width=44)
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    return table


def plain(value: Any) -> Text:
    """A value as a terminal can show it: no markup, no control characters; numbers with their thousands apart."""
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return Text("".join(character if character.isprintable() else " " for character in text))


def beginning(text: str | None) -> Text:
    """As much of a text as fits on a line."""
    return plain(" ".join((text or "")[:2000].split())[:400])


def document_id(id: str | int) -> Text:
    return plain(str(id))


@contextmanager
def counter(what: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """Progress, and the function that moves it on: a bar on a terminal, which goes away; else a line every so often."""
    if notes.quiet:
        yield lambda steps: None
    elif notes.is_terminal:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), _Count(), TimeElapsedColumn())
        with Progress(*columns, console=notes, transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda steps: bar.advance(task, steps)
    else:
        with _lines(what, total) as advance:
            yield advance


class _Count(ProgressColumn):
    """How many so far, of how many, and how many a second."""

    def render(self, task: Task) -> Text:
        return Text(_counted(task.completed, task.total, task.speed))


def _counted(done: float, total: float | None, speed: float | None) -> str:
    if not done and not total:  # a step that is done in one
        return ""
    of = f"/{total:,.0f}" if total else ""
    return f"{done:,.0f}{of}" + (f"  {speed:,.0f}/s" if speed and speed >= 1 else "")


@contextmanager
def _lines(what: str, total: float | None) -> Iterator[Callable[[float], None]]:
    """A line every so often, written by a thread, since some steps take long without moving on; and one at the end."""
    done, start, over = 0.0, time.monotonic(), threading.Event()

    def advance(steps: float) -> None:
        nonlocal done
        done += steps

    def write() -> None:
        seconds = time.monotonic() - start
        note("  ".join(filter(None, (f"{what}:", _counted(done, total, done / seconds), f"{seconds:.0f} s"))))

    def write_every_so_often() -> None:
        while not over.wait(SECONDS_BETWEEN_LINES):
            write()

    writer = threading.Thread(target=write_every_so_often, daemon=True)
    writer.start()
    try:
        yield advance
    finally:
        over.set()
        writer.join()
    if time.monotonic() - start > SECONDS_BETWEEN_LINES:
        write()
