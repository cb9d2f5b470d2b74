"""`ammi demo`: everything in a minute or two, on documents that are on every machine."""

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from ammi.cli.drift import drift as show_drift
from ammi.cli.screen import beginning, document_id, documents_table, notes, results

if TYPE_CHECKING:
    from ammi.experiments.demo import Demo

QUESTIONS = ("inverse of a matrix", "date and time in another time zone", "fourier transform of a signal")
NUMBERS = {"documents", "subpackages", "bits", "precision"}
START = "scipy.linalg.inv"
NEXT = (
    'search {folder}/index "read a file line by line"',
    "search {folder}/index --like json.dumps --where package=python -k 5",
    "drift {folder}/index statistics.median",
    "duplicates {folder}/index --radius 1",
    "evaluate {folder}/index --labels label",
    "info {folder}/docstrings.jsonl.gz",
)
EXPLAINED = {
    "LSH": "random hyperplanes, nothing learned",
    "BOW": "a bit for every word: the whole document",
    "AMMI": "learned by maximising mutual information",
}


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to leave the model and the index.")] = Path(
        "ammi-demo"
    ),
) -> None:
    """Learn codes of the docstrings of the installed Python libraries, compare them, and search with them.

    It takes a minute or two, and leaves a model and an index for the commands that it prints at its end.

    [bold]Example[/]

    ammi demo
    """
    with notes.status("starting"):
        from ammi.experiments.demo import Demo
    play(Demo(out, verbose=notes.is_terminal))


def play(demo: "Demo") -> None:
    """Show the demo, step by step."""
    start = time.perf_counter()
    _section("Documents: the docstrings of the libraries on this machine")
    with notes.status("reading their source"):
        records = demo.read()
    table = _table("package", "documents", "subpackages")
    for package, n in Counter(record["package"] for record in records).items():
        labels = {record["label"] for record in records if record["package"] == package}
        table.add_row(package, f"{n:,}", f"{len(labels):,}")
    table.add_section()
    table.add_row("", f"{len(records):,}", f"{len(set(demo.labels)):,}")
    results.print(table)

    _section(f"Codes: {demo.model.n_bits} bits a document, learned without labels")
    model = demo.learn()
    with notes.status("encoding all documents, three ways"):
        scores = demo.compare()
    results.print(f"{len(model.vectorizer.vocabulary_):,} words, {demo.model.n_bits // 8} bytes a document.")
    results.print("Of the 100 documents nearest to one that was held out, so many are from the same subpackage:\n")
    table = _table("method", "bits", "precision", "")
    for score in scores:
        table.add_row(score.method, f"{score.bits:,}", f"{score.precision:.1f} %", EXPLAINED[score.method])
    results.print(table)
    results.print(f"A perfect ranking would reach {demo.best_precision():.1f} %: many subpackages are small.")

    _section("Questions: the nearest documents, and how many bits away they are")
    with notes.status("building the index"):
        index = demo.build()
    results.print("So few bits say what a document is about, not every word of it.\n")
    with index:
        for question, hits in zip(QUESTIONS, index.search(model.encode(QUESTIONS), k=5), strict=True):
            table = documents_table(question)
            for hit in hits:
                table.add_row(str(hit.distance), document_id(hit.id), beginning(hit.text))
            results.print(table)

    _section("Drift: documents farther and farther from one")
    show_drift(demo.folder / "index", START if START in {record["id"] for record in records} else records[0]["id"])

    _section(f"Done in {time.perf_counter() - start:.0f} s. Try the index yourself")
    for command in NEXT:
        results.print(f"  ammi {command.format(folder=demo.folder)}", soft_wrap=True)


def _section(title: str) -> None:
    results.print()
    results.rule(f"[bold]{title}", align="left", style="dim")


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in NUMBERS else "left")
    return table
