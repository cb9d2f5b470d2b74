"""`ammi evaluate`: how often the nearest documents have the label of the query."""

from typing import Annotated

import typer

from ammi.cli.options import AsJson, Broken, Format, Location, OnError, TextColumn, VectorColumn
from ammi.cli.screen import counter, facts, note, say_json
from ammi.cli.sources import Documents


def evaluate(
    location: Location,
    queries: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERIES",
            show_default=False,
            help="Labelled documents, from any source. None: each of the collection among the others.",
        ),
    ] = None,
    labels: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column of labels: one name or a list of names a document.")
    ] = "labels",
    k: Annotated[int, typer.Option("-k", min=1, help="So many nearest documents.")] = 100,
    text: TextColumn = None,
    vector: VectorColumn = None,
    format: Format = None,
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Measure the codes: the share of the k nearest documents that have a label in common with the query.

    Documents without a label are left out.

    [bold]Examples[/]

    ammi evaluate index
    ammi evaluate index test.jsonl --labels topic -k 10
    """
    from ammi.collection import Collection

    with Collection.open(location) as collection:
        asked = None
        if queries is not None:
            width = collection.model.n_features_in_ if collection.reads == "vector" else None
            asked = Documents(queries, text, None, on_error, format, vector, reads=collection.reads, width=width)
        with counter("looking for each document" if asked is None else f"looking for {asked.name}"):
            measured = collection.evaluate(labels, queries=None if asked is None else asked.to_collect, k=k)
        if asked is not None:
            asked.end_of_reading()
        n, codes = len(collection), collection.distinct_codes()
    if measured.k < k:
        note(f"-k {k} is more than the {measured.k} labelled documents that can be found: all of them are looked at.")
    if as_json:
        say_json({**measured._asdict(), "precision": round(measured.precision, 2), "codes": codes})
    else:
        facts(
            {
                f"precision at {measured.k}": f"{measured.precision:.2f} %",
                "queries": measured.queries if queries else f"{measured.queries:,}, each among the others",
                "documents": f"{measured.documents:,} with labels, of {n:,}",
                "labels": measured.labels,
                "different codes": codes,
            }
        )
