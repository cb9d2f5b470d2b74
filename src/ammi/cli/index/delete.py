"""`ammi index delete`: documents out of a collection."""

from typing import Annotated

import typer

from ammi.cli.options import AsJson, Location
from ammi.cli.queries import query_lines
from ammi.cli.screen import plain, results, say_json
from ammi.urls import shown


def delete(
    location: Location,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID", show_default=False, help="Ids, or [bold]-[/] for one a line from a pipe."),
    ],
    as_json: AsJson = False,
) -> None:
    """Delete documents from a collection: all of them, or none where one is not there.

    [bold]Examples[/]

    ammi index delete index 17 18
    cat old-ids.txt | ammi index delete index -
    """
    from ammi.collection import Collection

    if ids == ["-"]:
        ids = [line for line in query_lines() if line.strip()]
    with Collection.open(location) as collection:
        before = len(collection)
        collection.delete(ids)
        left = len(collection)
    if as_json:
        say_json({"location": shown(location), "deleted": before - left, "documents": left})
    else:
        results.print(
            plain(f"{before - left:,} deleted; {left:,} documents are left in {shown(location)}"), soft_wrap=True
        )
