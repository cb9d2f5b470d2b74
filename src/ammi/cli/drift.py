"""`ammi drift`: documents at growing distance from one (the paper's Table 3)."""

from typing import Annotated

import typer

from ammi.cli.options import AsJson, Location
from ammi.cli.queries import refuse_unread
from ammi.cli.screen import beginning, document_id, documents_table, results, say_json

DEFAULT = "0,1,5,10,20,50,90"


def drift(
    location: Location,
    id: Annotated[
        str | None, typer.Argument(metavar="ID", show_default=False, help="A document of the collection.")
    ] = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="Start from a text instead.")] = None,
    distances: Annotated[str, typer.Option(metavar="D,D,...", help="At least how many bits away.")] = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Show how meaning drifts with distance: for each distance, the nearest document that is at least so far away.

    Among equals it is the first one inserted. One that answers two distances is shown once.

    [bold]Examples[/]

    ammi drift index scipy.linalg.inv
    ammi drift index --text "oil prices rose" --distances 0,2,4,8,16,32
    """
    from ammi.collection import Collection

    if (id is None) == (text is None):
        raise typer.BadParameter("start from a document or from a text: give an ID, or --text TEXT.")
    wanted = _numbers(distances)
    with Collection.open(location) as collection:
        if text is not None:
            refuse_unread(collection, "text")
        start = text if id is None else collection.get(id).text
        steps = collection.drift(id, query=text, distances=wanted)
    if as_json:
        say_json({"start": text if id is None else id, "steps": [step._asdict() for step in steps]})
        return
    table = documents_table()
    table.add_row("from", document_id(id or ""), beginning(start))
    table.add_section()
    for step in steps:
        table.add_row(str(step.distance), document_id(step.id), beginning(step.text))
    results.print(table)


def _numbers(distances: str) -> list[int]:
    try:
        return [int(distance) for distance in distances.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{distances!r} is no list of whole numbers: write {DEFAULT}.", param_hint="'--distances'"
        ) from None
