"""`ammi data list` and `ammi data import`: data sets by name, and how to make them."""

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from ammi.cli.options import AsJson
from ammi.cli.screen import counter, plain, results, say_json

app = typer.Typer(no_args_is_help=True, help="Data sets: list those there are, make them from their distributions.")


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the data sets in the folder that the environment variable AMMI_DATA names.

    [bold]Example[/]

    AMMI_DATA=~/corpora ammi data list
    """
    from ammi.data import benchmark_names, corpus_names, corpus_path, data_folder

    folder = data_folder()
    rows = [(name, "documents", corpus_path(name)) for name in corpus_names()]
    rows += [(name, "matrices", folder / "bench" / f"{name}.tfidf.mat") for name in benchmark_names()]
    if as_json:
        for name, kind, path in rows:
            say_json({"name": name, "kind": kind, "path": str(path), "bytes": path.stat().st_size})
        return
    table = Table(title=str(folder), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "kind", "file", "MB"):
        table.add_column(column, justify="right" if column == "MB" else "left")
    for name, kind, path in rows:
        table.add_row(name, kind, str(path.relative_to(folder)), f"{path.stat().st_size / 1e6:.1f}")
    results.print(table)


@app.command("import")
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
    with counter(f"reading {path}") as advance:

        def counted():
            for record in IMPORTERS[name](path):
                yield record
                advance(1)

        n = write_jsonl(out, counted())
    if as_json:
        say_json({"file": str(out), "documents": n})
    else:
        results.print(plain(f"{n:,} documents in {out}"))
