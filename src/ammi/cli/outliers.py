"""`ammi outliers`: documents that no neighbour explains."""

from typing import Annotated

import typer

import ammi
from ammi.cli.options import Location, TableOptions
from ammi.cli.progress import counter
from ammi.cli.screen import beginning, counted_documents, document_id, documents_table, note, results, say_csv, say_json
from ammi.urls import shown


def outliers(
    location: Location,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of results to show.")] = 20,
    *,
    output: TableOptions,
) -> None:
    """Find the odd documents of a collection: those that no neighbour explains.

    The documents with the nearest codes are far from an odd one, and have few of its words.
    The score counts standard deviations: 0 is usual, 5 is rare. The distance is the mean to 50 neighbours, in bits.
    These are documents of another subject or language, and also tables, lists and texts without sense.
    To see the odd documents of each topic, use [bold]ammi topics[/].

    With --json, print one line per document: {"id": ID, "score": SCORE, "distance": BITS}.

    [bold]Examples[/]

    ammi outliers articles
    ammi outliers articles -k 100 --csv > odd.csv
    """
    with ammi.Collection.open(location) as collection:
        n_documents = len(collection)
        with counter("comparing documents", 2 * n_documents) as advance:
            found = collection.outliers(k, advance=advance)
        rows = [(one.id, round(one.score, 2), round(one.distance, 2)) for one in found]
        texts = [] if output.is_piped else [entry.text for entry in collection.get([one.id for one in found])]
    if output.as_csv:
        say_csv(["id", "score", "distance"], rows)
    elif output.as_json:
        for id, score, distance in rows:
            say_json({"id": id, "score": score, "distance": distance})
    elif rows:
        table = documents_table(numbers=["score", "distance"])
        for (id, score, distance), text in zip(rows, texts, strict=True):
            table.add_row(f"{score:.1f}", f"{distance:.1f}", document_id(id), beginning(text))
        results.print(table)
    note(f"the oddest of {counted_documents(n_documents)} of {shown(location)}")
