"""`ammi data import`: data sets from the files in which they are distributed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson
from ammi.cli.screen import counter, plain, results, say_json
from ammi.files import check_not_read


def import_(
    name: Annotated[str, typer.Argument(metavar="reuters|newsgroups", show_default=False, help="Which collection.")],
    path: Annotated[Path, typer.Argument(metavar="PATH", show_default=False, help="Its folder or its tar archive.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write.", show_default="NAME.jsonl.gz")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a data set from the files in which Reuters-21578 or 20 Newsgroups is distributed.

    [bold]Example[/]

    ammi data import reuters reuters21578.tar.gz --out ~/corpora/reuters.jsonl.gz
    """
    from ammi.data import IMPORTERS, write_jsonl

    if name not in IMPORTERS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(IMPORTERS)}.", param_hint="'reuters|newsgroups'")
    out = out or Path(f"{name}.jsonl.gz")
    check_not_read(out, path if path.is_file() else None)
    with if_stopped(f"{out} was not written"), counter(f"reading {path}") as advance:

        def counted() -> Iterator[dict[str, Any]]:
            for record in IMPORTERS[name](path):
                yield record
                advance(1)

        n = write_jsonl(out, counted())
    if as_json:
        say_json({"file": str(out), "documents": n})
    else:
        results.print(plain(f"{n:,} documents in {out}"))
