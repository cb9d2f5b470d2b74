"""`ammi data pairs`: pairs of related documents."""

from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson, Broken, Format, IdColumn, OnError, Sources, TextColumn, checked_seed
from ammi.cli.screen import counter, facts, note, say_json
from ammi.cli.sources import Documents
from ammi.files import check_not_read


def pairs(
    sources: Sources,
    out: Annotated[Path, typer.Option(metavar="FOLDER", show_default=False, help="The folder to write.")],
    replies: Annotated[
        bool, typer.Option("--replies", help="Pair messages with their answers, by message_id and references.")
    ] = False,
    halves: Annotated[bool, typer.Option("--halves", help="Pair the first half of each text with the second.")] = False,
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
    seed: Annotated[int, typer.Option(callback=checked_seed, help="Another seed draws other pairs.")] = 0,
    text: TextColumn = None,
    id: IdColumn = None,
    format: Format = None,
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Make pairs of related documents, to learn codes of one that tell about the other.

    An article is drawn at random, and its first sentence is looked for with BM25. The best
    article found within two weeks, if it is no copy, is the second. With --replies, the second
    is a message that answers the first; what it quotes is left out. With --halves, a text is cut
    in the middle, at the end of a sentence; near-duplicates are left out. No document is in two
    pairs.

    FOLDER gets the texts, the vocabulary, and tf-idf matrices for training, validation and test.
    [bold]ammi fit FOLDER[/] learns from it.
    In Python, ammi.data.read_pairs(FOLDER) has the matrices, ammi.data.read_pair_texts(FOLDER) the texts.

    [bold]Examples[/]

    ammi data pairs reuters --out reuters-pairs

    ammi data pairs newsgroups --replies --out newsgroup-replies

    ammi data pairs reuters newsgroups --halves --out article-halves

    ammi data pairs articles.csv --date published --days 3 --out pairs
    """
    from ammi.data import holds_pairs
    from ammi.paper.pair_sets import build_pairs

    if replies and halves:
        raise typer.BadParameter("choose one of the two.", param_hint="'--replies' / '--halves'")
    if (replies or halves) and (days is not None or date):
        raise typer.BadParameter("replies and halves are found without dates.", param_hint="'--days' / '--date'")
    check_not_read(out, *sources)
    read, replaces = [Documents(source, text, id, on_error, format) for source in sources], holds_pairs(out)
    with if_stopped(f"{out} is as it was" if replaces else f"{out} was not written"):
        made = build_pairs(
            chain.from_iterable(read),
            out,
            source=" and ".join(documents.name for documents in read),
            kind="replies" if replies else "halves" if halves else "articles",
            days=14 if days is None else days,
            date=date or "date",
            vocabulary_size=vocabulary,
            held_out=held_out,
            seed=seed,
            progress=counter,
        )
    if replaces:
        note(f"The pairs that {out} held are replaced.")
    if as_json:
        say_json({"folder": str(out), **made, "skipped": sum(documents.n_skipped for documents in read)})
        return
    sizes = {"training": made["pairs"]["train"], "validation": made["pairs"]["cv"], "test": made["pairs"]["test"]}
    facts({"folder": out, "documents": made["documents"], "words": made["words"], **sizes})
    note(f"Next: ammi fit {out} --out MODEL")
