"""`ammi report`: the page of a collection in one file."""

from pathlib import Path
from typing import Annotated

import typer

import ammi
from ammi.cli.options import Location
from ammi.cli.progress import counter
from ammi.cli.screen import note
from ammi.cli.serve import needs
from ammi.files import check_not_read, replacing_file
from ammi.urls import shown


def report(
    location: Location,
    out: Annotated[Path, typer.Option(metavar="FILE", help="HTML file to write.", show_default=False)],
    documents: Annotated[
        int, typer.Option(min=1, max=20_000, help="Largest number of documents; of more, a sample is shown.")
    ] = 2000,
) -> None:
    """Write the page of a collection to one HTML file, which needs no server and no network.

    The file has the views of [bold]ammi serve[/] for a sample of the documents, with texts, metadata and codes.
    It has no model: a search in it uses words only, and from each document one can walk on by codes.

    [bold]Example[/]

    ammi report articles --out page.html
    """
    with needs("web"):
        from ammi.web.report import make_report
    check_not_read(out, location)
    with ammi.Collection.open(location) as collection, counter("making the report"):
        page = make_report(collection, documents)
        n = min(documents, len(collection))
    with replacing_file(out) as file:
        file.write(page.encode())
    note(f"{out} shows {n:,} documents of {shown(location)}, in {out.stat().st_size / 1e6:.1f} MB")
