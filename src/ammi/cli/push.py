"""`ammi push`: put a model or a collection on the Hugging Face Hub."""

from pathlib import Path
from typing import Annotated, Any

import typer

import ammi
from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson, argument
from ammi.cli.progress import counter
from ammi.cli.screen import show
from ammi.urls import shown


def push(
    path: Annotated[str, argument("PATH", "Folder of a model, or folder or URL of a collection.")],
    name: Annotated[str, argument("OWNER/NAME", "Repository of the Hub; made if need be.")],
    private: Annotated[
        bool, typer.Option("--private", help="For you alone; a public repository that is there is refused.")
    ] = False,
    licence: Annotated[
        str | None, typer.Option(metavar="ID", help="Licence, as the Hub names it, such as mit.", show_default="none")
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="What was measured, for the card: the JSON of [bold]ammi evaluate[/], or names with numbers.",
            show_default="none",
        ),
    ] = None,
    datasets: Annotated[
        list[str] | None,
        typer.Option("--dataset", metavar="NAME", help="Data set of the Hub that was learned from. May be repeated."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Put a model or a collection on the Hugging Face Hub, where everybody can read it, or with --private only you.

    Other commands then take hf://OWNER/NAME, also with @REVISION, where they take a model or a collection.
    A collection from there can only be read; [bold]ammi index copy[/] makes a copy to change.
    A collection is pushed with all texts and metadata, such as the paths of files.
    The card, README.md, says what it is and what --figures has, and nothing that was not measured.
    Log in before with [bold]hf auth login[/], or set HF_TOKEN. It needs ammi\\[hub].

    [bold]Examples[/]

    ammi evaluate articles --labels topic --json > figures.json
    ammi push model me/articles-64 --licence mit --figures figures.json
    ammi push articles me/articles --private
    """
    from ammi.files import read_json
    from ammi.hashers.saving import holds_model

    measured = None if figures is None else read_json(figures)
    if measured is not None and not isinstance(measured, dict):
        raise ValueError(f'{figures} has no figures by name: write {{"precision": 37.5, …}}')
    about: dict[str, Any] = {"private": private, "licence": licence, "figures": measured, "datasets": datasets or []}
    outcome = f"{name} was not changed"
    if holds_model(path):
        kind = "model"
        with if_stopped(outcome):
            address = ammi.load(path).push_to_hub(name, **about)
    else:
        kind = "collection"
        with (
            ammi.Collection.open(path) as collection,
            if_stopped(outcome),
            counter(f"reading {shown(path)}") as advance,
        ):
            address = collection.push_to_hub(name, **about, advance=advance)
    value = {"location": f"hf://{name}", "kind": kind, "commit": address}
    show(value, as_json, f"{shown(path)} is the {kind} hf://{name}; the commit is {address}")
