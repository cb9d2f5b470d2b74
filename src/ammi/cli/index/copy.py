"""`ammi index copy`: a whole collection from one place to another."""

from typing import Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson
from ammi.cli.screen import counter, plain, results, say_json
from ammi.urls import shown

_PLACE = "A folder, or a URL such as postgresql://HOST/DATABASE#COLLECTION."


def copy(
    source: Annotated[str, typer.Argument(metavar="FROM", show_default=False, help=f"The collection. {_PLACE}")],
    target: Annotated[str, typer.Argument(metavar="TO", show_default=False, help=f"Where to. {_PLACE}")],
    as_json: AsJson = False,
) -> None:
    """Copy a collection to another location, of the same store or another: documents, codes, vectors, model and all.

    The documents keep their ids and their order. At the end both places are compared by number and by a checksum.
    A copy that was interrupted goes on when the same command is given again, and brings nothing twice.
    A location that holds something else is refused.

    [bold]Examples[/]

    ammi index copy articles postgresql://reader@db.example.org/news#articles
    ammi index copy postgresql://db.example.org/news#articles backup
    """
    from ammi.collection import Collection

    from_, to = shown(source), shown(target)
    with (
        Collection.open(source) as collection,
        if_stopped(f"a part of {from_} may be in {to}; the same command goes on"),
        counter(f"copying {from_}", 2 * len(collection)) as advance,
    ):
        copied = collection.copy(target, advance=advance)
    if as_json:
        say_json({"from": from_, **copied._asdict()})
        return
    before = f", {copied.there:,} of them from before" if copied.there else ""
    results.print(
        plain(f"{copied.documents:,} documents are in {to}{before}; both places have the checksum {copied.checksum}"),
        soft_wrap=True,
    )
