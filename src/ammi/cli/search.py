"""`ammi search`: find the documents that are nearest to a text, a vector or a document."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

import ammi
from ammi.cli.options import AsJson, FilterOption, Location, argument, read_filter
from ammi.cli.queries import check_query_kind, query_lines, query_vectors
from ammi.cli.screen import beginning, document_id, documents_table, marked_passage, note, results, say, say_json

if TYPE_CHECKING:
    from ammi.any_collection import Query
    from ammi.search import Hits
    from ammi.search.filters import Where

QUERIES_AT_ONCE, HITS_AT_ONCE = 1000, 250  # queries answered in one call, if each has at most so many hits


class Rank(StrEnum):
    """The score that orders hits."""

    text = "text"
    asymmetric = "asymmetric"
    distance = "distance"
    vectors = "vectors"


@dataclass(frozen=True)
class SearchOptions:
    """How many documents to find, which ones, and in which order: a group of options."""

    k: Annotated[int, typer.Option("-k", min=1, help="Number of results to show.")] = 10
    radius: Annotated[
        int | None, typer.Option(min=0, metavar="BITS", help="Find all documents within this distance instead.")
    ] = None
    where: FilterOption = None
    rank: Annotated[
        Rank | None,
        typer.Option(
            help="Score that orders the hits: words shared with the query plus similar codes (text), bits weighted by "
            "how certain the query's are (asymmetric), the distance, or the cosine of kept vectors (vectors).",
            show_default="text for texts with a word index, else vectors if they are kept, else asymmetric if the "
            "model can",
        ),
    ] = None
    shortlist: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Number of candidates by codes, and again by words, from which the hits are chosen.",
            show_default="100; 1000 for vectors",
        ),
    ] = None

    def filter(self) -> "Where | None":
        """Return the filter that --where spells."""
        return read_filter(self.where)


def search(
    location: Location,
    texts: Annotated[
        list[str] | None,
        argument(
            "TEXT",
            'Queries. Without any, each line of standard input is one: a text, or {"vector": [...]} if the model '
            "reads vectors.",
        ),
    ] = None,
    *,
    options: SearchOptions,
    like: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Find documents like this one of the collection.")
    ] = None,
    distinct: Annotated[
        bool, typer.Option("--distinct", help="With --like, leave out near-duplicates of it, and of each other.")
    ] = False,
    vector: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File of query vectors (.npy, .npz, .parquet, .jsonl, ...), one per row."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the documents that match a text or a vector best, or that are like a document.

    Codes and words find candidates, and a score orders them (--rank). Words of the query are bold.
    A text may have "quoted phrases", -excluded words, alternatives (car OR bus), and a prefix at its end (invers*).
    With --radius the score is the distance; with --like it is the distance, of equals the words they share, or the
    cosine of kept vectors.

    [bold]Examples[/]

    ammi search articles "inverse of a matrix" "read a file line by line"
    ammi search articles --like 1987-03-11 --radius 5 --json
    ammi search articles --vector queries.npy -k 3
    ammi search articles -k 3 --where lang=en --where 'year>=1987' < queries.txt
    """
    if not texts and not like and not vector and (sys.stdin is None or sys.stdin.isatty()):
        raise typer.BadParameter("nothing to search for: give a text, --like ID, --vector FILE, or lines on a pipe.")
    if distinct and not like:
        raise typer.BadParameter("--distinct is for documents like one of the collection: give --like ID, too.")
    where = options.filter()
    with ammi.Collection.open(location) as collection:
        for id in like or []:
            found = collection.like(id, options.k, where, radius=options.radius, distinct=distinct)
            _show(f"like {id}", found, where, as_json)
        if texts or vector or not like:
            queries = _queries(collection, texts or [], vector, by_words=options.radius is None)
            for name, hits in _answers(collection, queries, options, where):
                _show(name, hits, where, as_json)


def _queries(
    collection: "ammi.Collection", texts: list[str], file: Path | None, by_words: bool
) -> "Iterator[tuple[str, Query]]":
    """Yield the name of each query, and the query: texts, or vectors of a file or of standard input."""
    if file is not None or (not texts and collection.reads == "vector"):
        check_query_kind(collection, "vector")
        yield from query_vectors("-" if file is None else file)
        return
    for text in texts or query_lines():
        check_query_kind(collection, "text")
        if collection.reads == "text" and not collection.knows(text):
            found = "only documents with its words are" if by_words else "nothing is"
            note(f"the model knows no word of {text[:60]!r}: {found} found")
        yield text, text


def _answers(
    collection: "ammi.Collection", queries: "Iterator[tuple[str, Query]]", options: SearchOptions, where: "Where | None"
) -> "Iterator[tuple[str, Hits]]":
    """Yield the name and the hits of each query; many queries are searched for in one call."""
    at_once = max(1, QUERIES_AT_ONCE // -(-options.k // HITS_AT_ONCE))
    while block := list(islice(queries, at_once)):
        names, asked = zip(*block, strict=True)
        if options.radius is None:
            found = collection.search_many(asked, options.k, where, options.rank, shortlist=options.shortlist)
            yield from zip(names, found, strict=True)
        else:
            radius = options.radius
            yield from ((name, collection.within(query, radius, where)) for name, query in block)


def _show(query: str, hits: "Hits", where: "Where | None", as_json: bool) -> None:
    if as_json:
        said = {"unknown": [*hits.unknown], "corrected": {**hits.corrected}}
        say_json({"query": query, **said, "hits": [hit.as_json() for hit in hits]})
    else:
        if hits.unknown:
            note(f"no document has {', '.join(hits.unknown)[:100]}")
        for word, right in hits.corrected.items():
            note(f"searched for {right} instead of {word}, which no document has")
        if hits:
            results.print(hits_table(query, hits))
        else:
            say(f"nothing found for {query[:60]!r}" + (": no such document passes the filter" if where else ""))


def hits_table(query: str, hits: "Hits") -> Table:
    """Return the table of a query's hits."""
    table = documents_table(query, numbers=["score", "distance"])
    for hit in hits:
        shown = marked_passage(hit.why) if hit.why else beginning(hit.text)
        table.add_row(f"{hit.score:.2f}", str(hit.distance), document_id(hit.id), shown)
    return table
