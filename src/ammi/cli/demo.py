"""`ammi demo`: learn, measure and search, on documents that exist on every machine."""

import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.drift import drift as show_drift
from ammi.cli.progress import counter, training_progress
from ammi.cli.screen import new_table, results
from ammi.cli.search import hits_table
from ammi.cli.serve import PORT

if TYPE_CHECKING:
    from ammi.demo import Demo

QUERIES = ("inverse of a matrix", "date and time in another time zone", "fourier transform of a signal")
FOLDER = Path("ammi-demo")
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
    "BOW": "a bit for every word",
    "AMMI": "learned by maximising mutual information",
}


def demo(
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder of the model and the collection.")] = FOLDER,
) -> None:
    """Learn codes of the docstrings of installed Python libraries, measure them, and search with them.

    It takes a minute or two, and ends with a list of commands to try on the model and the collection it has made.

    [bold]Example[/]

    ammi demo
    """
    with if_stopped(f"finished parts are in {out}; ammi demo starts again"):
        with counter("starting"):
            from ammi.demo import Demo
        play(Demo(out))


def play(demo: "Demo") -> None:
    """Run and show the demo, step by step."""
    start = time.perf_counter()
    _read(demo)
    _learn(demo)
    _ask(demo)
    _section("Drift: documents at growing distance from one document")
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
    _section("Documents: the docstrings of installed libraries")
    with counter("reading source files"):
        records = demo.read()
    table = new_table("package", "documents", "subpackages", numbers=["documents", "subpackages"])
    for package, n in Counter(record["package"] for record in records).items():
        labels = {record["label"] for record in records if record["package"] == package}
        table.add_row(package, f"{n:,}", f"{len(labels):,}")
    table.add_section()
    table.add_row("", f"{len(records):,}", f"{len(set(demo.labels)):,}")
    results.print(table)


def _learn(demo: "Demo") -> None:
    n_bits = demo.hasher.n_bits
    _section(f"Codes: {n_bits} bits per document, learned without labels")
    model = demo.learn(progress=training_progress(type(demo.hasher).__name__))
    with counter("encoding all documents with three methods"):
        scores = demo.compare()
    results.print(f"{model.features_.n_features_:,} words, {n_bits // 8} bytes per document.")
    results.print("Precision: of the 100 documents nearest to a held-out one, how many are of its subpackage.\n")
    table = new_table("method", "bits", "precision", "", numbers=["bits", "precision"])
    for score in scores:
        table.add_row(score.method, f"{score.bits:,}", f"{score.precision:.1f} %", EXPLAINED[score.method])
    results.print(table)
    results.print(f"A perfect ranking would reach {demo.best_precision():.1f} %: many subpackages are small.")


def _ask(demo: "Demo") -> None:
    _section("Search: the best hits, with their scores and their distances in bits")
    with counter("building the collection"):
        collection = demo.build()
    results.print("Codes find documents about the same subject, words put the best hit first.\n")
    with collection:
        for query, hits in zip(QUERIES, collection.search_many(QUERIES, k=5), strict=True):
            results.print(hits_table(query, hits))


def _section(title: str) -> None:
    results.print()
    results.rule(f"[bold]{title}", align="left", style="dim")
