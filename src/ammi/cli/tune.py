"""`ammi tune`: search for the hyperparameters of a method."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson, Assignments, RayOptions, ReadOptions, argument, checked_seed, refuse
from ammi.cli.progress import Screen
from ammi.cli.screen import new_table, note, plain, results, say_json
from ammi.cli.settings import checked_parameters
from ammi.cli.sources import Documents, default_features
from ammi.files import check_not_read

if TYPE_CHECKING:
    from ammi.tuning.search import Tuning
    from ammi.tuning.tasks import Task

SHOWN = 5


class Sampler(StrEnum):
    """How the next trial is chosen."""

    random = "random"
    tpe = "tpe"


def tune(
    method: Annotated[str, argument("METHOD", "Method to tune: ammi, bmsh, dvq, ...")],
    data: Annotated[
        str,
        argument(
            "DATA",
            "A benchmark set ([bold]ammi data list[/]: kind matrices) or its .mat file, a folder of pairs "
            "([bold]ammi data pairs[/]), or with --labels any source of documents.",
        ),
    ],
    bits: Annotated[int, typer.Option(min=1, help="Length of the codes.")] = 64,
    trials: Annotated[int, typer.Option(min=1, help="Total number of finished trials to reach.")] = 12,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder to write.", show_default="tuned/DATA-METHOD-BITS")
    ] = None,
    labels: Annotated[str | None, typer.Option(metavar="COLUMN", help="Column of labels, for documents.")] = None,
    sampler: Annotated[
        Sampler, typer.Option(help="Choose trials at random, or near good ones (TPE).")
    ] = Sampler.random,
    assignments: Assignments = None,
    storage: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Optuna storage, such as postgresql://..., which several machines can share.",
            show_default="study.db in FOLDER",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(callback=checked_seed, help="Seed of the choice of trials.")] = 0,
    *,
    options: ReadOptions,
    ray: RayOptions,
    as_json: AsJson = False,
) -> None:
    """Search for good hyperparameters of a method, by its score on validation documents.

    Each trial draws parameters from a grid (AMMI's is the paper's); the first one has the method's defaults.
    Parameters of --set are fixed.
    A trial is given up if its score stays below the median of the others, or if its training diverges.

    After Ctrl-C, run the same command to continue: only the trials under way are lost.
    A larger --trials adds to the trials that are there.

    With --ray, each worker runs a trial at the same time, and a trial whose worker is lost is tried again.

    FOLDER gets best.json, for [bold]ammi fit --config[/], trials.json, and two plots.

    [bold]Examples[/]

    ammi tune ammi reuters --bits 64 --trials 12
    ammi tune bmsh mails.jsonl --labels folder --sampler tpe --trials 40
    ammi tune ammi embeddings.parquet --vector embedding --labels topic
    ammi tune ammi reuters --trials 100 --ray --address 10.0.0.1:6379 --workers 16
    ammi fit mails.jsonl --config tuned/mails-bmsh-64/best.json --out model
    """
    from ammi.tuning.search import FILES, Search, Tuning
    from ammi.tuning.tasks import task_name

    method = method.lower()
    fixed = checked_parameters(method, {}, assignments or [])
    search = Search(task_name(data), method, bits, fixed, sampler.value, seed)
    search.check()
    out = out or Path("tuned", f"{search.task}-{method}-{bits}")
    for name in FILES:
        check_not_read(out / name, data)
    with Tuning(search, _task(data, labels, options), out, storage) as tuning:
        with if_stopped(
            lambda: f"{len(tuning.finished)} of {trials} trials are finished; run the same command to continue."
        ):
            if ray.enabled:
                from ammi.scale.cluster import on_ray
                from ammi.scale.tune import tune_on_ray

                with on_ray(ray.address, ray.workers) as n:
                    tune_on_ray(tuning, trials, n, Screen())
            else:
                tuning.run_until(trials, Screen())
        tuning.plot()
        _show(tuning, as_json)


def _task(data: str, labels: str | None, options: ReadOptions) -> "Task":
    from ammi.data import content_of, label_column
    from ammi.tuning.tasks import documents_task, named_task

    if labels is None:
        refuse("it is for documents, which need --labels", options.given())
        return named_task(data)
    reads = "vector" if default_features([data], options) == "vectors" else "text"
    documents = Documents(data, options, reads=reads)
    documents.keep()
    names = label_column(documents.metadata(), labels, documents.name)
    if reads == "vector":
        X = documents.vectors()
        documents.note_vectors(X.shape[1])
        return documents_task(X, names)
    return documents_task([content_of(document, "text") for document in documents], names)


def _show(tuning: "Tuning", as_json: bool) -> None:
    """Print the best trials, and how to use them."""
    from ammi.tuning.tasks import PairTask

    found = tuning.folder / "best.json"
    if as_json:
        say_json({"folder": str(tuning.folder), **json.loads(found.read_text())})
        return
    results.print(_best(tuning))
    if isinstance(tuning.task, PairTask):
        note(f"Next, in Python: by_name({tuning.search.method!r})(**parameters of {found}).fit(Y, related=X)")
    else:
        note(f"Next: ammi fit SOURCE --config {found} --out MODEL")


def _best(tuning: "Tuning") -> Table:
    """Return a table of the best trials, one per column, with their parameters."""
    rows, best = tuning.rows(), tuning.best_rows(SHOWN)
    given_up = sum(row["state"] != "complete" for row in rows)
    trials = [str(row["trial"]) for row in best]
    title = f"The best of {len(rows)} trials, {given_up} of them given up early"
    table = new_table("trial", *trials, numbers=trials, title=title)
    table.add_row("validation", *(f"{row['validation']:.2f}" for row in best), style="bold")
    for name in dict.fromkeys(name for row in best for name in row["parameters"]):
        table.add_row(name, *(plain(row["parameters"].get(name, "")) for row in best))
    table.add_row("epochs", *(str(len(row["scores"])) for row in best), style="dim")
    table.add_row("seconds", *(f"{row['seconds']:.0f}" for row in best), style="dim")
    return table
