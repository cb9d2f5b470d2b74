"""`ammi data list`, `ammi data import` and `ammi data pairs`: data sets by name, and how to make them."""

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.table import Table

from ammi.cli.options import AsJson, Broken, IdColumn, OnError, Source, TextColumn
from ammi.cli.screen import counter, facts, plain, results, say_json
from ammi.cli.sources import Documents

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


@app.command()
def pairs(
    source: Source,
    out: Annotated[Path, typer.Option(metavar="FOLDER", show_default=False, help="The folder to write.")],
    replies: Annotated[
        bool, typer.Option("--replies", help="Pair messages with their answers, by message_id and references.")
    ] = False,
    days: Annotated[
        float | None, typer.Option(min=0, help="At most so many days between two articles.", show_default="14")
    ] = None,
    date: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of the dates.", show_default="date")
    ] = None,
    vocabulary: Annotated[int, typer.Option(min=1, help="At most so many SentencePiece units.")] = 20_000,
    held_out: Annotated[
        float, typer.Option(help="This share of the pairs is for validation, and as much for the test.")
    ] = 0.2,
    seed: Annotated[int, typer.Option(help="Another seed draws other pairs.")] = 0,
    text: TextColumn = None,
    id: IdColumn = None,
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Make pairs of related documents, to learn codes of one that tell about the other.

    An article is drawn at random, and its first sentence is looked for with BM25. The best
    article found within two weeks, if it is no copy, is the second. With --replies, the second
    is a message that answers the first; what it quotes is left out. No document is in two pairs.

    FOLDER gets the texts, the vocabulary, and tf-idf matrices for training, validation and test.
    In Python, ammi.data.read_pairs(FOLDER) has the matrices, ammi.data.read_pair_texts(FOLDER)
    the texts.

    [bold]Examples[/]

    ammi data pairs reuters --out reuters-pairs

    ammi data pairs newsgroups --replies --out newsgroup-replies

    ammi data pairs articles.csv --date published --days 3 --out pairs
    """
    from ammi.experiments.pairs import build_pairs

    if replies and (days is not None or date):
        raise typer.BadParameter("replies are found without dates.", param_hint="'--days' / '--date'")
    documents = Documents(source, text, id, on_error)
    made = build_pairs(
        documents,
        out,
        source=documents.name,
        replies=replies,
        days=14 if days is None else days,
        date=date or "date",
        vocabulary_size=vocabulary,
        held_out=held_out,
        seed=seed,
        progress=counter,
    )
    if as_json:
        say_json({"folder": str(out), **made, "skipped": documents.skipped})
        return
    sizes = {"training": made["pairs"]["train"], "validation": made["pairs"]["cv"], "test": made["pairs"]["test"]}
    facts({"folder": out, "documents": made["documents"], "words": made["words"], **sizes})
