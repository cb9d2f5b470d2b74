"""`ammi match`: for each document of a source or a collection, what another collection has that is like it."""

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import islice
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.table import Table

import ammi
from ammi.cli.options import DOCUMENTS, Location, ReadOptions, TableOptions, argument, refuse
from ammi.cli.progress import counter
from ammi.cli.screen import beginning, document_id, documents_table, note, results, say_csv, say_json
from ammi.cli.sources import Documents, content_for, is_collection
from ammi.urls import shown

if TYPE_CHECKING:
    from ammi.any_collection import Match
    from ammi.plain import Id


class Row(NamedTuple):
    """A document, and one of the collection that is like it: a near-duplicate, or one of the nearest."""

    id: "Id"
    similarity: float | None
    score: float | None
    match: "Id | None"
    text: str | None


def match(
    source: Annotated[str, argument("SOURCE", f"{DOCUMENTS} Or another collection.")],
    location: Location,
    options: ReadOptions,
    k: Annotated[int, typer.Option("-k", min=1, help="Number of results to show for each document.")] = 1,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Smallest similarity of a near-duplicate: 0 to 1.",
            show_default="that of ammi duplicates",
        ),
    ] = None,
    *,
    output: TableOptions,
) -> None:
    """Look up documents in a collection: which of them are there already, and what is nearest to the others?

    For each document of the source, show its near-duplicate in the collection, then the nearest documents there.
    Near-duplicates have a similarity: the share of the shorter text that stands in the longer one.
    They are copies, edited, shortened or quoted texts, or texts that quote one of the collection.
    The nearest documents have a score: they are those that ammi search finds for the whole text, or for the vector.

    With --json, print one line per document: {"id": ID, "duplicate": {"id": ID, "similarity": 0 to 1} or null,
    "nearest": [{"id": ID, "distance": BITS, "score": SCORE, "text": TEXT, "metadata": {...}}, ...]}.

    [bold]Examples[/]

    ammi match new.jsonl articles
    ammi match new.csv articles --text body -k 3 --csv > matches.csv
    ammi match drafts articles --threshold 0.95 --json
    """
    of_collection = is_collection(source)
    if of_collection:
        refuse("a collection is read as it is", options.given())
    with (
        ammi.Collection.open(location) as collection,
        ammi.Collection.open(source) if of_collection else nullcontext() as other,
    ):
        documents = list(Documents(source, options, **content_for(collection))) if other is None else other
        n, n_duplicates = len(documents), 0
        lines: list[dict[str, object]] = []
        rows: list[Row] = []
        with counter("comparing documents", 2 * len(collection) + 3 * n) as advance:
            for found in collection.match(documents, k, threshold, advance=advance):
                n_duplicates += found.duplicate is not None
                if output.as_json:
                    lines.append(_as_json(found))
                else:
                    rows += islice(_rows(found, collection), k)
    if output.as_csv:
        say_csv(Row._fields[:-1], (row[:-1] for row in rows))
    elif output.as_json:
        for line in lines:
            say_json(line)
    else:
        results.print(_table(rows))
    note(f"{n_duplicates:,} of {n:,} documents have a near-duplicate in {shown(location)}")


def _as_json(found: "Match") -> dict[str, object]:
    duplicate = found.duplicate and {"id": found.duplicate[0], "similarity": round(found.duplicate[1], 4)}
    nearest = [{name: value for name, value in hit._asdict().items() if name != "why"} for hit in found.nearest]
    return {"id": found.id, "duplicate": duplicate, "nearest": nearest}


def _rows(found: "Match", collection: "ammi.Collection") -> Iterator[Row]:
    """Yield the near-duplicate, and then the nearest that are others; a row without a match if there is nothing."""
    duplicate, similarity = found.duplicate or (None, 0.0)
    if duplicate is not None:
        texts = [hit.text for hit in found.nearest if hit.id == duplicate] or [collection.get(duplicate).text]
        yield Row(found.id, round(similarity, 4), None, duplicate, texts[0])
    for hit in found.nearest:
        if hit.id != duplicate:
            yield Row(found.id, None, round(hit.score, 4), hit.id, hit.text)
    if duplicate is None and not found.nearest:
        yield Row(found.id, None, None, None, None)


def _table(rows: list[Row]) -> Table:
    table = documents_table(numbers=["similarity", "score"], of="document")
    last = None
    for id, similarity, score, match, text in rows:
        numbers = ("" if number is None else f"{number:.3f}" for number in (similarity, score))
        name, last = document_id("" if id == last else id), id
        table.add_row(name, *numbers, document_id("" if match is None else match), beginning(text))
    return table
