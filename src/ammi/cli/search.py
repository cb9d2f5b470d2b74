"""`ammi search`: the documents nearest to a text."""

import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ammi.cli.index import known_id
from ammi.cli.options import AsJson, Index, OtherModel
from ammi.cli.screen import beginning, document_id, documents_table, note, results, say_json

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher
    from ammi.search import Hit
    from ammi.search.hamming import Codes

QUERIES_AT_ONCE = 100


def search(
    index: Index,
    texts: Annotated[
        list[str] | None,
        typer.Argument(metavar="TEXT", show_default=False, help="What to look for. None: each line of a pipe."),
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="So many documents.")] = 10,
    radius: Annotated[
        int | None, typer.Option(min=0, help="All documents at most so many bits away, instead of the k nearest.")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KEY=VALUE",
            help="Only documents with this value in their metadata. A key given twice may have either value.",
        ),
    ] = None,
    like: Annotated[
        list[str] | None, typer.Option(metavar="ID", help="Look for documents like this one of the index.")
    ] = None,
    model: OtherModel = None,
    as_json: AsJson = False,
) -> None:
    """Find the documents whose codes are nearest to that of a text, or of a document.

    [bold]Examples[/]

    ammi search index "inverse of a matrix" "read a file line by line"
    ammi search index --like 1987-03-11 --radius 5 --json
    ammi search index -k 3 --where lang=en --where year=1987 --where year=1988 < questions.txt
    """
    from ammi.search import HammingIndex

    if not texts and not like and sys.stdin.isatty():
        raise typer.BadParameter("nothing to look for: give a text, --like ID, or lines through a pipe.")
    condition = _condition(where or [])
    with HammingIndex.open(index) as opened:

        def find(codes: "Codes", k: int) -> "list[list[Hit]]":
            if radius is None:
                return opened.search(codes, k, condition)
            return opened.within(codes, radius, condition)

        for id in [known_id(opened, text) for text in like or []]:
            (hits,) = find(opened.get([id])[0].code[None], k + 1)  # it finds itself, too
            others = [hit for hit in hits if hit.id != id]
            _show(f"like {id}", others[:k] if radius is None else others, as_json)
        if texts or not like:
            from ammi.hashers import model_of

            hasher = model_of(opened, model)
            lines = iter(texts) if texts else (line.rstrip("\r\n") for line in sys.stdin)
            while some := list(islice(lines, QUERIES_AT_ONCE)):
                _warn_of_unknown_words(hasher, some)
                for text, hits in zip(some, find(hasher.encode(some), k), strict=True):
                    _show(text, hits, as_json)


def _show(query: str, hits: "list[Hit]", as_json: bool) -> None:
    if as_json:
        say_json({"query": query, "hits": [hit._asdict() for hit in hits]})
        return
    table = documents_table(query)
    for hit in hits:
        table.add_row(str(hit.distance), document_id(hit.id), beginning(hit.text))
    results.print(table)


def _warn_of_unknown_words(hasher: "DocumentHasher", texts: list[str]) -> None:
    rows = hasher.vectorizer.transform(texts)
    for text, start, end in zip(texts, rows.indptr, rows.indptr[1:], strict=False):
        if start == end:
            note(f"the model knows no word of {text[:60]!r}: what follows is like an empty document")


def _condition(where: Iterable[str]) -> dict[str, Any]:
    """What HammingIndex takes: for each key, the values of which a document must have one."""
    condition: dict[str, list[Any]] = {}
    for pair in where:
        key, equals, text = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"{pair!r} has no '=': write KEY=VALUE.", param_hint="'--where'")
        condition.setdefault(key, []).append(text)
        with suppress(ValueError):
            condition[key].append(json.loads(text))  # in the metadata, 1987 may be a number
    return condition
