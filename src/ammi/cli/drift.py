"""`ammi drift`: documents at growing distance from a document (the paper's Table 3)."""

from typing import Annotated

import typer

import ammi
from ammi.cli.options import AsJson, Location, argument
from ammi.cli.queries import check_query_kind
from ammi.cli.screen import beginning, document_id, documents_table, results, say_json

DEFAULT = "0,1,5,10,20,50,90"


def drift(
    location: Location,
    id: Annotated[str | None, argument("ID", "Id of the document to start from.")] = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="Start from this text instead.")] = None,
    distances: Annotated[str, typer.Option(metavar="D,D,...", help="Smallest distance of each step.")] = DEFAULT,
    as_json: AsJson = False,
) -> None:
    """Show how the subject drifts with distance.

    For each of --distances, show the nearest document that is at least that far away, in bits.
    Of several, show the one that shares the most, and the rarest, words. A document is shown only once.

    [bold]Examples[/]

    ammi drift articles scipy.linalg.inv
    ammi drift articles --text "oil prices rose" --distances 0,2,4,8,16,32
    """
    if (id is None) == (text is None):
        raise typer.BadParameter("start from a document or from a text: give an ID, or --text TEXT.")
    steps_at = _numbers(distances)
    with ammi.Collection.open(location) as collection:
        if text is not None:
            check_query_kind(collection, "text")
        start = text if id is None else collection.get(id).text
        steps = collection.drift(id, query=text, distances=steps_at)
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
            f"{distances!r} is not a list of whole numbers such as {DEFAULT}.", param_hint="'--distances'"
        ) from None
