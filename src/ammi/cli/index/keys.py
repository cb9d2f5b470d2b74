"""`ammi index keys`: what metadata there is, and which of it filters find fast."""

from typing import Annotated

import typer
from rich import box
from rich.table import Table

from ammi.cli.options import AsJson, Location
from ammi.cli.screen import counter, note, plain, results, say_json


def keys(
    location: Location,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY", show_default=False, help="Make filters on these keys fast, from now on."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the metadata keys of a collection, and how many documents have each; or make filters on some fast.

    [bold]Examples[/]

    ammi index keys index
    ammi index keys index lang year
    """
    from ammi.collection import Collection

    with Collection.open(location) as collection:
        documents = collection.keys()
        for name in names or []:
            if name not in documents:
                note(f"no document has the key {name!r} yet")
        if names:
            with counter("reading metadata"):
                collection.index_keys(names)
        fast = collection.fast_keys()
    if as_json:
        say_json({"keys": documents, "fast": fast})
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("key")
    table.add_column("documents", justify="right")
    table.add_column("filters")
    for name in {**documents, **dict.fromkeys(fast)}:
        table.add_row(plain(name), f"{documents.get(name, 0):,}", "fast" if name in fast else "")
    results.print(table)
