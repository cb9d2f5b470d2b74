"""`ammi report`: the page of a collection in one file that can be mailed."""

from pathlib import Path
from typing import Annotated

import typer

from ammi.cli.options import Location
from ammi.cli.screen import counter, note
from ammi.cli.serve import needs_web
from ammi.files import check_not_read, replacing_file
from ammi.urls import shown

DOCUMENTS = 2000


def report(
    location: Location,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The HTML file to write.", show_default=False)],
    documents: Annotated[
        int, typer.Option(min=1, max=20_000, help="A sample of so many documents, where there are more.")
    ] = DOCUMENTS,
) -> None:
    """Write the page of a collection to one file that needs no server and no network, and can be mailed.

    It has the views of [bold]ammi serve[/] for a sample of the documents, with their texts, metadata and codes.
    It has no model: a text is looked for by its words, and from each document one can walk on by codes.

    [bold]Example[/]

    ammi report index --out page.html
    """
    from ammi.collection import Collection

    with needs_web():
        from ammi.web.report import make_report
    check_not_read(out, location)
    with Collection.open(location) as collection, counter("making the report"):
        page = make_report(collection, documents)
        n = min(documents, len(collection))
    with replacing_file(out) as file:
        file.write(page.encode())
    note(f"{out} shows {n:,} documents of {shown(location)}, in {out.stat().st_size / 1e6:.1f} MB")
