"""`ammi index export`: the documents of a collection as a file."""

from pathlib import Path
from typing import Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson, Location
from ammi.cli.screen import counter, plain, results, say_json


def export(
    location: Location,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", show_default=False, help="What to write: .jsonl (also .jsonl.gz, .jsonl.zst) or .parquet."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Write the documents of a collection with their metadata and codes to a file.

    [bold]ammi index build[/] and [bold]add[/] take it back, and do not encode again what is of the same model.

    [bold]Examples[/]

    ammi index export index articles.jsonl.gz
    ammi index export index articles.parquet
    """
    from ammi.collection import Collection

    with (
        Collection.open(location) as collection,
        if_stopped(f"{file} was not written"),
        counter(f"writing {file}", len(collection)) as advance,
    ):
        n = collection.export(file, advance=advance)
    if as_json:
        say_json({"file": str(file), "documents": n})
    else:
        results.print(plain(f"{n:,} documents in {file}"))
