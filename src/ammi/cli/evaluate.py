"""`ammi evaluate`: how often the nearest documents have the label of the query."""

from typing import Annotated

import typer

import ammi
from ammi.cli.options import AsJson, Location, ReadOptions, argument, refuse
from ammi.cli.progress import counter
from ammi.cli.screen import facts, note, say_json
from ammi.cli.sources import Documents, content_for


def evaluate(
    location: Location,
    queries: Annotated[
        str | None,
        argument(
            "QUERIES",
            "Labelled documents, from any source. Without it, each document of the collection is a query among "
            "the others.",
        ),
    ] = None,
    labels: Annotated[
        str, typer.Option(metavar="COLUMN", help="Column of labels: one name or a list of names per document.")
    ] = "labels",
    k: Annotated[int, typer.Option("-k", min=1, help="Number of nearest documents to look at.")] = 100,
    *,
    options: ReadOptions,
    as_json: AsJson = False,
) -> None:
    """Measure the codes: the share of the k nearest documents that have a label in common with the query.

    Documents without a label are left out.

    [bold]Examples[/]

    ammi evaluate articles
    ammi evaluate articles test.jsonl --labels topic -k 10
    """
    if queries is None:
        refuse("it is for QUERIES", options.given())
    with ammi.Collection.open(location) as collection:
        documents = None if queries is None else Documents(queries, options, **content_for(collection))
        with counter("searching for each document" if documents is None else f"searching for {documents.name}"):
            measured = collection.evaluate(labels, queries=None if documents is None else documents.to_collect, k=k)
        if documents is not None:
            documents.end_of_reading()
        n, codes = len(collection), collection.distinct_codes()
    if measured.k < k:
        note(f"-k {k} is more than the {measured.k} labelled documents that can be found: all of them are looked at.")
    if as_json:
        say_json({**measured._asdict(), "precision": round(measured.precision, 2), "distinct_codes": codes})
    else:
        facts(
            {
                f"precision at {measured.k}": f"{measured.precision:.2f} %",
                "queries": measured.queries if queries else f"{measured.queries:,}, each among the others",
                "documents": f"{measured.documents:,} with labels, of {n:,}",
                "labels": measured.labels,
                "distinct codes": codes,
            }
        )
