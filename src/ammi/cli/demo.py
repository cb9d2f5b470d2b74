"""`ammi demo`: everything in a minute or two, on documents that are on every machine."""

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.table import Table

from ammi.cli.command import if_stopped
from ammi.cli.drift import drift as show_drift
from ammi.cli.screen import beginning, counter, document_id, documents_table, results
from ammi.cli.serve import PORT
from ammi.cli.training import training_progress

if TYPE_CHECKING:
    from ammi.demo import Demo

QUESTIONS = ("inverse of a matrix", "date and time in another time zone", "fourier transform of a signal")
NUMBERS = {"documents", "subpackages", "bits", "precision"}
START = "scipy.linalg.inv"
NEXT = (
    'search {location} "read a file line by line"',
    'search {location} "sparse matrix" --where package=scipy',
    "search {location} --like json.dumps -k 5",
    "drift {location} statistics.median",
    "duplicates {location} --threshold 0.9",
    "evaluate {location} --labels label",
    "fit {folder}/docstrings.jsonl.gz --method itq --out {folder}/itq",
    "index rebuild {location} --model {folder}/itq",
    "index export {location} {folder}/export.jsonl.gz",
    "info {location}",
)
EXPLAINED = {
    "LSH": "random hyperplanes, nothing learned",
    "BOW": "a bit for every word: the whole document",
    "AMMI": "learned by maximising mutual information",
}


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to leave the model and the collection.")] = Path(
        "ammi-demo"
    ),
) -> None:
    """Learn codes of the docstrings of the installed Python libraries, compare them, and search with them.

    It takes a minute or two, and leaves a model and a collection for the commands that it prints at its end.

    [bold]Example[/]

    ammi demo
    """
    with if_stopped(f"what was finished is in {out}, and ammi demo starts anew"):
        with counter("starting"):
            from ammi.demo import Demo
        play(Demo(out))


def play(demo: "Demo") -> None:
    """Show the demo, step by step."""
    start = time.perf_counter()
    _read(demo)
    _learn(demo)
    _ask(demo)
    _section("Drift: documents farther and farther from one")
    ids = {record["id"] for record in demo.records}
    show_drift(str(demo.location), START if START in ids else demo.records[0]["id"])
    _section(f"Done in {time.perf_counter() - start:.0f} s. Try the collection yourself")
    for command in NEXT:
        line = command.format(folder=demo.folder, location=demo.location)
        results.print(f"  ammi {line}", markup=False, soft_wrap=True)
    results.print("\nTo explore it in a browser, run\n  pip install 'ammi[web]'", markup=False)
    results.print(f"  ammi serve {demo.location}", markup=False, soft_wrap=True)
    results.print(f"and open http://127.0.0.1:{PORT}/ in a browser.", markup=False)


def _read(demo: "Demo") -> None:
    _section("Documents: the docstrings of the libraries on this machine")
    with counter("reading their source"):
        records = demo.read()
    table = _table("package", "documents", "subpackages")
    for package, n in Counter(record["package"] for record in records).items():
        labels = {record["label"] for record in records if record["package"] == package}
        table.add_row(package, f"{n:,}", f"{len(labels):,}")
    table.add_section()
    table.add_row("", f"{len(records):,}", f"{len(set(demo.labels)):,}")
    results.print(table)


def _learn(demo: "Demo") -> None:
    n_bits = demo.hasher.n_bits
    _section(f"Codes: {n_bits} bits a document, learned without labels")
    model = demo.learn(progress=training_progress(type(demo.hasher).__name__))
    with counter("encoding all documents, three ways"):
        scores = demo.compare()
    results.print(f"{model.features_.n_features_:,} words, {n_bits // 8} bytes a document.")
    results.print("Of the 100 documents nearest to one that was held out, so many are from the same subpackage:\n")
    table = _table("method", "bits", "precision", "")
    for score in scores:
        table.add_row(score.method, f"{score.bits:,}", f"{score.precision:.1f} %", EXPLAINED[score.method])
    results.print(table)
    results.print(f"A perfect ranking would reach {demo.best_precision():.1f} %: many subpackages are small.")


def _ask(demo: "Demo") -> None:
    _section("Questions: the best answers, with their scores and how many bits away they are")
    with counter("building the collection"):
        collection = demo.build()
    results.print("Codes find what is about the same, words put the best answer first.\n")
    with collection:
        for question, hits in zip(QUESTIONS, collection.search_many(QUESTIONS, k=5), strict=True):
            table = documents_table(question, numbers=["score", "distance"])
            for hit in hits:
                table.add_row(f"{hit.score:.2f}", str(hit.distance), document_id(hit.id), beginning(hit.text))
            results.print(table)


def _section(title: str) -> None:
    results.print()
    results.rule(f"[bold]{title}", align="left", style="dim")


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, justify="right" if column in NUMBERS else "left")
    return table
