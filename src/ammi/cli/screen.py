"""Print results to standard output; notes and errors to standard error."""

import csv
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from ammi.search.documents import Why

_BEFORE_MATCH = 24  # characters of a line before the first word of the query


@contextmanager
def _naming_output() -> Iterator[None]:
    """Turn an error of standard output, such as a full disk, into one that tells the change itself was made."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or error
        raise ValueError(f"the result could not be printed ({reason}), but the command did its work") from error


class _Results(Console):
    def print(self, *objects: Any, **options: Any) -> None:
        with _naming_output():
            super().print(*objects, **options)


results = _Results(highlight=False)
notes = Console(stderr=True, highlight=False)  # --quiet silences it
_errors = Console(stderr=True, highlight=False)


def say_json(value: Mapping[str, Any]) -> None:
    """Print an object as one line of JSON."""
    with _naming_output():
        print(json.dumps(value, ensure_ascii=False), flush=True)


def say_csv(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table as CSV."""
    with _naming_output():
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)
        sys.stdout.flush()


def say(sentence: str) -> None:
    """Print a result in words."""
    results.print(plain(sentence), soft_wrap=True)


def show(value: Mapping[str, Any], as_json: bool, sentence: str) -> None:
    """Print a result: as JSON, or in words."""
    if as_json:
        say_json(value)
    else:
        say(sentence)


def note(text: str) -> None:
    """Print a line to standard error, unless --quiet is set."""
    notes.print(Text(text), soft_wrap=True)


def say_error(sentence: str) -> None:
    """Print why the command failed."""
    _errors.print(Text.assemble(("ammi:", "bold red"), " ", sentence), soft_wrap=True)


def say_stopped(outcome: str) -> None:
    """Print what Ctrl-C left behind."""
    _errors.print(Text(f"Stopped: {outcome}"), soft_wrap=True)


def confirmed(question: str) -> bool:
    """Ask a question on standard error; return whether the answer is yes. The end of input is a no."""
    _errors.print(Text(f"{question} [y/N] "), end="", soft_wrap=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def facts(rows: Mapping[str, object]) -> None:
    """Print names and values, one per line."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows.items():
        table.add_row(name, plain(value))
    results.print(table)


def new_table(*columns: str, numbers: Sequence[str], title: str | None = None) -> Table:
    """Return an empty table; columns of numbers are aligned to the right."""
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in numbers else "left")
    return table


def documents_table(title: str = "", *, numbers: Sequence[str] = ("distance",), of: str | None = None) -> Table:
    """Return an empty table of documents: columns of numbers, the id, the beginning of the text.

    With `of`, a first column of that name is for the id of the document that each row belongs to.
    """
    shown = beginning(title)
    shown.truncate(results.width, overflow="ellipsis")
    table = Table(title=shown, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, expand=True)
    if of is not None:
        table.add_column(of, overflow="fold", max_width=44)
    for number in numbers:
        table.add_column(number, justify="right", style="cyan", no_wrap=True)
    table.add_column("id", overflow="fold", max_width=44)
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    return table


def plain(value: object) -> Text:
    """Return a value as a terminal can show it: no markup or control characters, thousands separated."""
    text = f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
    return Text("".join(character if character.isprintable() else " " for character in text))


def beginning(text: str | None) -> Text:
    """Return as much of a text as may fit on a line."""
    return plain(" ".join((text or "")[:2000].split())[:400])


def marked_passage(why: "Why") -> Text:
    """Return a passage on one line, from shortly before its first word of the query; these words are bold."""
    line = Text()
    for piece, is_match in why.marked():
        line.append(plain(re.sub(r"\s+", " ", piece)).plain, "bold" if is_match else None)
    first = line.spans[0].start if line.spans else 0
    at = min(line.plain.find(" ", first - _BEFORE_MATCH) + 1, first) if first > _BEFORE_MATCH else 0
    return Text("…" if why.start or at else "").append_text(line[at:])


def counted_documents(n: int, verb: str = "") -> str:
    """Return "1 document" or "2 documents", and with a verb "1 document is" or "2 documents are"."""
    are = {"are": "is", "were": "was"}
    noun, verb = ("document", are.get(verb, verb)) if n == 1 else ("documents", verb)
    return f"{n:,} {noun} {verb}".strip()


def document_id(id: str | int) -> Text:
    """Return an id as a terminal can show it, a number without separated thousands."""
    return plain(str(id))
