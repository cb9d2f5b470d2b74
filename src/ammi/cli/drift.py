"""`ammi drift`: documents at growing distance from one (the paper's Table 3)."""

from typing import Annotated

import typer

from ammi.cli.index import known_id
from ammi.cli.options import AsJson, Index, OtherModel
from ammi.cli.screen import beginning, document_id, documents_table, results, say_json

DEFAULT = "0,1,5,10,20,50,90"


def drift(
    index: Index,
    id: Annotated[str | None, typer.Argument(metavar="ID", show_default=False, help="A document of the index.")] = None,
    text: Annotated[str | None, typer.Option(metavar="TEXT", help="Start from a text instead.")] = None,
    distances: Annotated[str, typer.Option(metavar="D,D,...", help="At least how many bits away.")] = DEFAULT,
    model: OtherModel = None,
    as_json: AsJson = False,
) -> None:
    """Show how meaning drifts with distance: for each distance, the nearest document that is at least so far away.

    Among equals it is the first one inserted. One that answers two distances is shown once.

    [bold]Examples[/]

    ammi drift index scipy.linalg.inv
    ammi drift index --text "oil prices rose" --distances 0,2,4,8,16,32
    """
    from ammi.evaluate import drift as walk
    from ammi.search import HammingIndex

    if (id is None) == (text is None):
        raise typer.BadParameter("start from a document or from a text: give an ID, or --text TEXT.")
    with HammingIndex.open(index) as opened:
        ids, codes = opened.export()
        if text is None:
            (start,) = opened.get([known_id(opened, id or "")])
            code, origin = start.code, (document_id(start.id), beginning(start.text))
            others = [position for position, other in enumerate(ids) if other != start.id]
            ids, codes = [ids[position] for position in others], codes[others]
        else:
            from ammi.hashers import model_of

            (code,), origin = model_of(opened, model).encode([text]), (document_id(""), beginning(text))
        steps = walk(code, codes, _numbers(distances))
        documents = opened.get([ids[step.position] for step in steps])
    if as_json:
        shown = [
            {"distance": step.distance, "id": document.id, "text": document.text, "metadata": document.metadata}
            for step, document in zip(steps, documents, strict=True)
        ]
        say_json({"start": id if text is None else text, "steps": shown})
        return
    table = documents_table()
    table.add_row("from", *origin)
    table.add_section()
    for step, document in zip(steps, documents, strict=True):
        table.add_row(str(step.distance), document_id(document.id), beginning(document.text))
    results.print(table)


def _numbers(distances: str) -> list[int]:
    try:
        return [int(distance) for distance in distances.split(",")]
    except ValueError:
        raise typer.BadParameter(
            f"{distances!r} is no list of whole numbers: write {DEFAULT}.", param_hint="'--distances'"
        ) from None
