"""`ammi evaluate`: how often the nearest documents have the label of the query."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ammi.cli.options import AsJson, Broken, Index, OnError, OtherModel, TextColumn
from ammi.cli.screen import facts, notes, say_json
from ammi.cli.sources import BLOCK_DOCUMENTS, Documents, label_column

if TYPE_CHECKING:
    from ammi.search import HammingIndex


def evaluate(
    index: Index,
    queries: Annotated[
        str | None,
        typer.Argument(
            metavar="QUERIES",
            show_default=False,
            help="Labelled documents. None: each of the index among the others.",
        ),
    ] = None,
    labels: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column of labels: one name or a list of names a document.")
    ] = "labels",
    k: Annotated[int, typer.Option("-k", min=1, help="So many nearest documents.")] = 100,
    text: TextColumn = None,
    model: OtherModel = None,
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Measure the codes: the share of the k nearest documents that have a label in common with the query.

    Documents without a label are left out.

    [bold]Examples[/]

    ammi evaluate index
    ammi evaluate index test.jsonl --labels topic -k 10
    """
    from ammi.evaluate import distinct_codes, labelled_precision
    from ammi.search import HammingIndex

    with HammingIndex.open(index) as opened:
        ids, codes = opened.export()
        with notes.status("reading labels"):
            names = label_column(_metadata(opened, ids), labels, str(index))
        if queries is None:
            measured = labelled_precision(codes, names, k)
        else:
            from ammi.hashers import model_of

            asked = list(Documents(queries, text, on_error=on_error))
            query_names = label_column((document.metadata for document in asked), labels, queries)
            query_codes = model_of(opened, model).encode(document.text for document in asked)
            measured = labelled_precision(codes, names, k, query_codes, query_names)
    report = {"k": k, **measured._asdict(), "precision": round(measured.precision, 2), "codes": distinct_codes(codes)}
    if as_json:
        say_json(report)
    else:
        facts(
            {
                f"precision at {k}": f"{measured.precision:.2f} %",
                "queries": measured.queries if queries else f"{measured.queries:,}, each among the others",
                "documents": f"{measured.documents:,} with labels, of {len(ids):,}",
                "labels": measured.labels,
                "different codes": report["codes"],
            }
        )


def _metadata(index: "HammingIndex", ids: list[Any]) -> Iterator[dict[str, Any]]:
    for start in range(0, len(ids), BLOCK_DOCUMENTS):
        yield from (document.metadata for document in index.get(ids[start : start + BLOCK_DOCUMENTS]))
