"""`ammi data`: list data sets, import them, and make pairs of related documents."""

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from ammi.cli.command import add_command, if_stopped
from ammi.cli.options import (
    AsJson,
    Format,
    IdColumn,
    OnError,
    ReadOptions,
    SkipBad,
    Sources,
    TextColumn,
    argument,
    checked_seed,
)
from ammi.cli.progress import counter
from ammi.cli.screen import counted_documents, facts, new_table, note, results, say_json, show
from ammi.cli.sources import Documents, counted
from ammi.files import check_not_read


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
    table = new_table("name", "kind", "file", "MB", numbers=["MB"], title=str(folder))
    for name, kind, path in rows:
        table.add_row(name, kind, str(path.relative_to(folder)), f"{path.stat().st_size / 1e6:.1f}")
    results.print(table)


def import_(
    name: Annotated[str, argument("reuters|newsgroups", "Which data set.")],
    path: Annotated[Path, argument("PATH", "Its folder or tar archive.")],
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="File to write.", show_default="NAME.jsonl.gz")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Convert Reuters-21578 or 20 Newsgroups, as distributed, to a file of documents.

    [bold]Example[/]

    ammi data import reuters reuters21578.tar.gz --out ~/corpora/reuters.jsonl.gz
    """
    from ammi.data import IMPORTERS, write_jsonl

    if name not in IMPORTERS:
        raise typer.BadParameter(f"{name!r} is not one of {', '.join(IMPORTERS)}.", param_hint="'reuters|newsgroups'")
    out = out or Path(f"{name}.jsonl.gz")
    check_not_read(out, path if path.is_file() else None)
    with if_stopped(f"{out} was not written"), counter(f"reading {path}") as advance:
        n = write_jsonl(out, counted(IMPORTERS[name](path), advance))
    show({"file": str(out), "documents": n}, as_json, f"{counted_documents(n)} in {out}")


def pairs(
    sources: Sources,
    out: Annotated[Path, typer.Option(metavar="FOLDER", show_default=False, help="Folder to write.")],
    replies: Annotated[
        bool, typer.Option("--replies", help="Pair messages with their replies, by message_id and references.")
    ] = False,
    halves: Annotated[bool, typer.Option("--halves", help="Pair the first half of each text with the second.")] = False,
    days: Annotated[
        float | None, typer.Option(min=0, help="Most days between two articles of a pair.", show_default="14")
    ] = None,
    date: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Column of the dates.", show_default="date")
    ] = None,
    vocabulary: Annotated[int, typer.Option(min=1, help="Largest number of SentencePiece units.")] = 20_000,
    held_out: Annotated[float, typer.Option(help="Share of pairs for validation, and again for the test.")] = 0.2,
    seed: Annotated[int, typer.Option(callback=checked_seed, help="Seed of the random choice of pairs.")] = 0,
    text: TextColumn = None,
    id: IdColumn = None,
    format: Format = None,
    on_error: SkipBad = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Make pairs of related documents, to learn codes of one document that predict the other.

    By default a pair is two news articles within two weeks that are no near-duplicates.
    The second one matches the first sentence of the first one best (BM25).
    With --replies it is a message and a reply to it, without what the reply quotes.
    With --halves it is the two halves of a text; near-duplicates are left out.
    No document is in two pairs.

    FOLDER gets the texts, the vocabulary, and tf-idf matrices for training, validation and test.
    [bold]ammi fit FOLDER[/] learns from it; in Python, ammi.data.pairs.read_pairs and read_pair_texts read it.

    [bold]Examples[/]

    ammi data pairs reuters --out reuters-pairs

    ammi data pairs newsgroups --replies --out newsgroup-replies

    ammi data pairs reuters newsgroups --halves --out article-halves

    ammi data pairs articles.csv --date published --days 3 --out pairs
    """
    from ammi.data.pairs import holds_pairs
    from ammi.tuning.pair_sets import PairPlan, build_pairs

    if replies and halves:
        raise typer.BadParameter("choose one of the two.", param_hint="'--replies' / '--halves'")
    if (replies or halves) and (days is not None or date):
        raise typer.BadParameter("replies and halves are found without dates.", param_hint="'--days' / '--date'")
    check_not_read(out, *sources)
    options = ReadOptions(text, id, None, format, on_error)
    read, replaces = [Documents(source, options) for source in sources], holds_pairs(out)
    plan = PairPlan(
        source=" and ".join(documents.name for documents in read),
        kind="replies" if replies else "halves" if halves else "articles",
        days=14 if days is None else days,
        date=date or "date",
        vocabulary_size=vocabulary,
        held_out=held_out,
        seed=seed,
    )
    with if_stopped(f"{out} is as it was" if replaces else f"{out} was not written"):
        made = build_pairs(chain.from_iterable(read), out, plan, progress=counter)
    if replaces:
        note(f"The pairs that {out} held are replaced.")
    if as_json:
        say_json({"folder": str(out), **made, "skipped": sum(documents.n_skipped for documents in read)})
        return
    sizes = {"training": made["pairs"]["train"], "validation": made["pairs"]["cv"], "test": made["pairs"]["test"]}
    facts({"folder": out, "documents": made["documents"], "words": made["words"], **sizes})
    note(f"Next: ammi fit {out} --out MODEL")


app = typer.Typer(no_args_is_help=True, help="List and import data sets, and make pairs of related documents.")
for _command in (list_, import_, pairs):
    add_command(app, _command)
