"""`ammi tune`: search for the hyperparameters of a method."""

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich import box
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from ammi.cli import options
from ammi.cli.command import if_stopped
from ammi.cli.ray import Address, Ray, Workers, check_ray_options
from ammi.cli.screen import counter, note, notes, plain, results, say_json
from ammi.cli.settings import checked_parameters
from ammi.cli.sources import Documents, default_features
from ammi.files import check_not_read

if TYPE_CHECKING:
    from ammi.tuning.display import Advance, SearchView
    from ammi.tuning.search import Tuning
    from ammi.tuning.tasks import Task

SHOWN = 5


class Sampler(StrEnum):
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
    vector: options.VectorColumn = None,
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
    seed: Annotated[int, typer.Option(callback=options.checked_seed, help="The same seed draws the same trials.")] = 0,
    ray: Ray = False,
    address: Address = None,
    workers: Workers = None,
    as_json: options.AsJson = False,
) -> None:
    """Search for good hyperparameters on the validation part, as the paper does.

    It draws from a grid at random, AMMI's is the paper's; the first trial is the method's defaults,
    or the nearest that the grid has.
    A trial whose scores stay below the median of the others is given up, and so is one whose training leaves the
    finite numbers.

    Ctrl-C or a kill loses nothing but the trial under way: the same command goes on.
    A larger --trials adds to what there is.

    With --ray, as many trials as there are workers run at the same time, on a cluster.
    A trial whose worker is lost is tried again; with one worker the search is the same as without Ray.

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
    check_ray_options(ray, address, workers)
    with Tuning(search, _task(data, labels, text, vector), out, storage) as tuning:
        with if_stopped(lambda: f"{len(tuning.finished)} of {trials} trials are finished. The same command goes on."):
            if ray:
                from ammi.scale.cluster import on_ray
                from ammi.scale.tune import tune_on_ray

                with on_ray(address, workers) as n:
                    tune_on_ray(tuning, trials, n, Screen())
            else:
                tuning.run_until(trials, Screen())
        tuning.plot()
        _show(tuning, as_json)


class Screen:
    """A display on standard error: bars on a terminal, else lines."""

    def bar(self, what: str, total: float | None = None) -> "AbstractContextManager[Advance]":
        return counter(what, total)

    @contextmanager
    def search(self, title: str, trials: int, finished: int) -> "Iterator[SearchView]":
        if not notes.is_terminal:
            yield _SearchLines(title, trials)
            return
        columns = (TextColumn("{task.description}"), BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, TextColumn("{task.fields[now]}"), console=notes) as progress:
            yield _SearchBar(progress, progress.add_task(title, total=trials, completed=finished, now=""))


class _SearchBar:
    """A bar of trials, with the last epoch or the best score beside it."""

    def __init__(self, progress: Progress, bar: TaskID):
        self._progress, self._bar = progress, bar

    def epoch(self, trial: int, epoch: int, score: float) -> None:
        self._progress.update(self._bar, now=f"trial {trial} epoch {epoch}: {score:.2f}")

    def diverged(self, trial: int, why: str) -> None:
        note(f"Trial {trial} is given up: {why}")

    def trial(self, finished: int, best: float) -> None:
        self._progress.update(self._bar, completed=finished, now=f"best {best:.2f}")


class _SearchLines:
    """A line for each trial that has ended."""

    def __init__(self, title: str, trials: int):
        self._title, self._trials = title, trials

    def epoch(self, trial: int, epoch: int, score: float) -> None:
        pass

    def diverged(self, trial: int, why: str) -> None:
        note(f"{self._title}: trial {trial} is given up: {why}")

    def trial(self, finished: int, best: float) -> None:
        note(f"{self._title}: {finished} of {self._trials} trials, best {best:.2f}")


def _task(data: str, labels: str | None, text: str | None, vector: str | None) -> "Task":
    from ammi.data import content_of, label_column
    from ammi.tuning.tasks import documents_task, named_task

    if labels is None:
        return named_task(data)
    reads = "vector" if default_features(data, vector, None) == "vectors" else "text"
    documents = Documents(data, text, vector=vector, reads=reads)
    documents.keep()
    names = label_column(documents.metadata(), labels, documents.name)
    if reads == "vector":
        X = documents.vectors()
        documents.note_vectors(X.shape[1])
        return documents_task(X, names)
    return documents_task([content_of(document, "text") for document in documents], names)


def _show(tuning: "Tuning", as_json: bool) -> None:
    """What was found, and what to do with it."""
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
    """The best trials, a column each, with what they differ in."""
    rows, best = tuning.rows(), tuning.best_rows(SHOWN)
    given_up = sum(row["state"] != "complete" for row in rows)
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
