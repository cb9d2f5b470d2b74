"""`ammi index set`: the metadata of a document."""

import json
from typing import Annotated, Any

import typer

from ammi.cli.options import AsJson, Location
from ammi.cli.screen import facts, say_json
from ammi.plain import from_json


def set_(
    location: Location,
    id: Annotated[str, typer.Argument(metavar="ID", show_default=False, help="A document of the collection.")],
    assignments: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE",
            show_default=False,
            help="Values are read as JSON where they are JSON, and else as texts; null takes a value away.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Set metadata of a document, and keep its other keys.

    [bold]Examples[/]

    ammi index set index 17 lang=en year=1987
    ammi index set index 17 'labels=["oil", "trade"]' draft=null
    """
    from ammi.collection import Collection

    values = dict(_assigned(assignment) for assignment in assignments)
    with Collection.open(location) as collection:
        collection.set_metadata(id, values)
        entry = collection.get(id)
    if as_json:
        say_json({"id": entry.id, "metadata": entry.metadata})
    else:
        values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in entry.metadata.items()}
        facts({"id": str(entry.id), **values})


def _assigned(assignment: str) -> tuple[str, Any]:
    key, equals, text = assignment.partition("=")
    if not key or not equals:
        raise typer.BadParameter(f"{assignment!r} sets nothing: write KEY=VALUE.", param_hint="'KEY=VALUE'")
    try:
        return key, from_json(text)
    except ValueError:
        return key, text
