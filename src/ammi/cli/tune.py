"""`ammi tune`: search for the hyperparameters of a method."""

import json
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from ammi.cli import options
from ammi.cli.screen import note, notes, plain, results, say_json
from ammi.cli.settings import checked_parameters
from ammi.cli.sources import Documents, label_column

if TYPE_CHECKING:
    from ammi.experiments.tasks import Task
    from ammi.experiments.tuning import Tuning

SHOWN = 5


class Sampler(str, Enum):
    """How the next trial is chosen."""

    random = "random"
    tpe = "tpe"


def tune(
    method: Annotated[str, typer.Argument(metavar="METHOD", show_default=False, help="ammi, bmsh, dvq, ...")],
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            show_default=False,
            help="A benchmark set ([bold]ammi data list[/]: kind matrices) or its .mat file, article pairs "
            "([bold]ammi data pairs[/]), or with --labels any documents that [bold]ammi fit[/] takes.",
        ),
    ],
    bits: Annotated[int, typer.Option(min=1, help="Length of the codes.")] = 64,
    trials: Annotated[int, typer.Option(min=1, help="Go on until so many trials are finished.")] = 12,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where to write.", show_default="tuned/DATA-METHOD-BITS")
    ] = None,
    labels: Annotated[str | None, typer.Option(metavar="COLUMN", help="The column of labels, for documents.")] = None,
    text: options.TextColumn = None,
    sampler: Annotated[Sampler, typer.Option(help="Draw at random, or near what was good (TPE).")] = Sampler.random,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Fix a parameter of the method; may be given several times."),
    ] = None,
    storage: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Any storage of Optuna, such as postgresql://..., which several machines may share.",
            show_default="study.db in FOLDER",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed draws the same trials.")] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Search for good hyperparameters on the validation part, as the paper does.

    It draws from a grid at random, AMMI's is the paper's; the first trial is the method's defaults,
    or the nearest that the grid has.
    A trial whose scores stay below the median of the others is given up.

    Ctrl-C or a kill loses nothing but the trial under way: the same command goes on.
    A larger --trials adds to what there is.

    FOLDER gets best.json, for [bold]ammi fit --config[/], trials.json, and two plots.

    [bold]Examples[/]

    ammi tune ammi reuters --bits 64 --trials 12
    ammi tune bmsh mails.jsonl --labels folder --sampler tpe --trials 40
    ammi fit mails.jsonl --config tuned/mails-bmsh-64/best.json --out model
    """
    from ammi.experiments.tasks import PairTask
    from ammi.experiments.tuning import Search, Tuning

    method = method.lower()
    fixed = checked_parameters(method, {}, assignments or [])
    name = Path(data).name if Path(data).is_dir() else Path(data).name.split(".")[0]
    search = Search(name, method, bits, fixed, sampler.value, seed)
    search.check()
    out = out or Path("tuned", f"{name}-{method}-{bits}")
    tuning = Tuning(search, _task(data, labels, text), out, storage)
    search_on(tuning, trials)
    tuning.plot()
    if as_json:
        say_json({"folder": str(out), **json.loads((out / "best.json").read_text())})
        return
    results.print(_best(tuning))
    if isinstance(tuning.task, PairTask):
        note(f"Next, in Python: by_name({method!r})(**parameters of {out / 'best.json'}).fit(Y, related=X)")
    else:
        note(f"Next: ammi fit SOURCE --config {out / 'best.json'} --out MODEL")


def search_on(tuning: "Tuning", trials: int) -> None:
    """Search until so many trials are finished, with a bar of them."""
    columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
    bar = Progress(*columns, TextColumn("{task.fields[now]}"), console=notes, disable=not notes.is_terminal)
    title = f"{tuning.search.task} {tuning.search.method} {tuning.search.bits} bits"
    shown = bar.add_task(title, total=trials, completed=len(tuning.finished), now="")

    def watch(trial: int, epoch: int, score: float) -> None:
        bar.update(shown, now=f"trial {trial} epoch {epoch}: {score:.2f}")

    def done() -> None:
        bar.update(shown, completed=len(tuning.finished), now=f"best {tuning.study.best_value:.2f}")

    try:
        with bar:
            tuning.go_on(trials, watch, done)
    except KeyboardInterrupt:
        note(f"Stopped: {len(tuning.finished)} of {trials} trials are finished. The same command goes on.")
        raise


def _task(data: str, labels: str | None, text: str | None) -> "Task":
    from ammi.experiments.tasks import documents_task, named_task

    if labels is None:
        return named_task(data)
    documents = Documents(data, text)
    read = list(documents)
    names = label_column((document.metadata for document in read), labels, documents.name)
    return documents_task([document.text for document in read], names)


def _best(tuning: "Tuning") -> Table:
    """The best trials, a column each, with what they differ in."""
    rows = tuning.rows()
    best = sorted((row for row in rows if row["state"] == "complete"), key=lambda row: -row["validation"])[:SHOWN]
    given_up = sum(row["state"] == "pruned" for row in rows)
    title = f"The best of {len(rows)} trials, {given_up} of them given up early"
    table = Table("trial", title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for row in best:
        table.add_column(str(row["trial"]), justify="right")
    table.add_row("validation", *(f"{row['validation']:.2f}" for row in best), style="bold")
    for name in dict.fromkeys(name for row in best for name in row["parameters"]):
        table.add_row(name, *(plain(row["parameters"].get(name, "")) for row in best))
    table.add_row("epochs", *(str(len(row["scores"])) for row in best), style="dim")
    table.add_row("seconds", *(f"{row['seconds']:.0f}" for row in best), style="dim")
    return table
