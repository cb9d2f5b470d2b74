"""`ammi search`: the documents nearest to a text, or to a vector."""

import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ammi.cli.options import AsJson, Location
from ammi.cli.queries import query_lines, query_vectors, refuse_unread
from ammi.cli.screen import beginning, document_id, documents_table, note, results, say_json

if TYPE_CHECKING:
    from ammi.collection import Collection
    from ammi.search import Hits

QUERIES_AT_ONCE, ANSWERS_AT_ONCE = 1000, 250  # queries, and documents for each of so many


class Rank(StrEnum):
    """What puts the answers in order."""

    text = "text"
    asymmetric = "asymmetric"
    distance = "distance"
    vectors = "vectors"


def search(
    location: Location,
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT",
            show_default=False,
            help='What to look for. None: each line of a pipe; where vectors are looked for, {"vector": [...]}.',
        ),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="So many documents.")] = 10,
    radius: Annotated[
        int | None, typer.Option(min=0, help="All documents at most so many bits away, instead of the k nearest.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILTER",
            help="Only documents with such metadata: KEY=VALUE, KEY=A,B (either), KEY!=VALUE, KEY>=VALUE (also <, <=, "
            ">), KEY (has it), !KEY (has it not). All filters that are given must hold.",
        ),
    ] = None,
    rank: Annotated[
        Rank | None,
        typer.Option(
            help="What puts the answers in order: the words that they share with the text, the bits and how sure the "
            "text is of each, the number of different bits, or the cosine of vectors, where the collection keeps them.",
            show_default="text, where words are indexed; else vectors, where they are kept",
        ),
    ] = None,
    shortlist: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Choose the answers from so many documents that the codes find, and as many that the words find.",
            show_default="100; 1000 for vectors",
        ),
    ] = None,
    like: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Look for documents like this one of the collection.")
    ] = None,
    vector: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Look for the vectors of a file (.npy, .npz, .parquet, .jsonl, ...), one a row; an .npy may hold one.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the documents that answer a text or a vector, or that are like a document.

    Codes and words find candidates, and the score puts them in order: --rank says which.
    With --radius it is the distance, the number of bits that differ, and with --like that or the cosine of vectors.

    [bold]Examples[/]

    ammi search index "inverse of a matrix" "read a file line by line"
    ammi search index --like 1987-03-11 --radius 5 --json
    ammi search index --vector questions.npy -k 3
    ammi search index -k 3 --where lang=en --where 'year>=1987' < questions.txt
    """
    from ammi.collection import Collection

    if not texts and not like and not vector and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter("nothing to look for: give a text, --like ID, --vector FILE, or lines through a pipe.")
    condition = _condition(where or [])
    with Collection.open(location) as collection:
        for id in like or []:
            _show(f"like {id}", collection.like(id, k, condition, radius=radius), as_json)
        if texts or vector or not like:
            queries = _queries(collection, texts or [], vector)
            for name, hits in _found(collection, queries, k, radius, condition, rank, shortlist):
                _show(name, hits, as_json)


def _queries(collection: "Collection", texts: list[str], file: Path | None) -> "Iterator[tuple[str, Any]]":
    """What to look for, each with what it is called: texts, or the vectors of a file or of a pipe."""
    if file is not None or (not texts and collection.reads == "vector"):
        refuse_unread(collection, "vector")
        yield from query_vectors("-" if file is None else file)
        return
    for text in texts or query_lines():
        refuse_unread(collection, "text")
        if not collection.knows(text):
            note(f"the model knows no word of {text[:60]!r}: what follows is like an empty document")
        yield text, text


def _found(
    collection: "Collection",
    queries: "Iterable[tuple[str, Any]]",
    k: int,
    radius: int | None,
    condition: dict[str, Any] | None,
    rank: Rank | None,
    shortlist: int | None,
) -> "Iterator[tuple[str, Hits]]":
    rest = iter(queries)
    at_once = max(1, QUERIES_AT_ONCE // -(-k // ANSWERS_AT_ONCE))
    while block := list(islice(rest, at_once)):
        names, asked = zip(*block, strict=True)
        if radius is None:
            yield from zip(names, collection.search_many(asked, k, condition, rank, shortlist=shortlist), strict=True)
        else:
            yield from ((name, collection.within(query, radius, condition)) for name, query in block)


def _condition(where: list[str]) -> dict[str, Any] | None:
    from ammi.search.filter_text import from_text

    try:
        return from_text(where) or None
    except ValueError as error:
        raise typer.BadParameter(f"{error}.", param_hint="'--where'") from None


def _show(query: str, hits: "Hits", as_json: bool) -> None:
    if as_json:
        say_json({"query": query, "hits": [hit._asdict() for hit in hits]})
        return
    table = documents_table(query, numbers=["score", "distance"])
    for hit in hits:
        table.add_row(f"{hit.score:.2f}", str(hit.distance), document_id(hit.id), beginning(hit.text))
    results.print(table)
