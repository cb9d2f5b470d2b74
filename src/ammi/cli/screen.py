"""What commands show: results on standard output; progress and notes on standard error."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

results = Console(highlight=False)
notes = Console(stderr=True, highlight=False)


def say_json(value: Any) -> None:
    """One JSON value on a line of standard output."""
    print(json.dumps(value, ensure_ascii=False))


def note(text: str) -> None:
    """A line on standard error."""
    notes.print(Text(text), soft_wrap=True)


def facts(rows: dict[str, Any]) -> None:
    """Names and values, one a line."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, plain(value))
    results.print(table)


def documents_table(title: str = "", first: str = "distance") -> Table:
    """An empty table of documents: a number, the id, the beginning of the text."""
    shown = beginning(title)
    shown.truncate(results.width, overflow="ellipsis")
    table = Table(title=shown, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, expand=True)
    table.add_column(first, justify="right", style="cyan", no_wrap=True)
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


class _Count(ProgressColumn):
    """How many so far, of how many, and how many a second."""

    def render(self, task: Task) -> Text:
        of = f"/{task.total:,.0f}" if task.total else ""
        speed = f"  {task.speed:,.0f}/s" if task.speed and task.speed >= 1 else ""
        return Text(f"{task.completed:,.0f}{of}{speed}")


@contextmanager
def counter(what: str, total: float | None = None) -> Iterator[Callable[[float], None]]:
    """A progress bar that goes away when it is done, and the function that moves it on."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), _Count(), TimeElapsedColumn())
    with Progress(*columns, console=notes, transient=True, disable=not notes.is_terminal) as bar:
        task = bar.add_task(what, total=total)
        yield lambda steps: bar.advance(task, steps)
