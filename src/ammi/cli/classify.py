"""`ammi classify`: the labels of all documents from those of a few, and which to label next."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import ammi
from ammi.cli.options import Location, TableOptions, argument
from ammi.cli.progress import counter
from ammi.cli.screen import (
    beginning,
    counted_documents,
    document_id,
    new_table,
    note,
    plain,
    results,
    say_csv,
    say_json,
)
from ammi.urls import shown

if TYPE_CHECKING:
    from ammi.explore.classify import Label, Prediction, Predictions

_SHOWN = 20  # documents, in a table
_COLUMNS = ("id", "label", "probability", "margin")


def classify(
    location: Location,
    labels: Annotated[
        Path | None, argument("LABELS", "Table with the columns id and label: .csv, .tsv, .jsonl, .parquet, ...")
    ] = None,
    key: Annotated[
        str | None,
        typer.Option("--key", metavar="KEY", help="Metadata key that holds the labels of some documents, instead."),
    ] = None,
    n: Annotated[
        int | None,
        typer.Option("-n", min=1, help="Number of documents to print.", show_default="20; all with --csv and --json"),
    ] = None,
    sure: Annotated[bool, typer.Option("--sure", help="Print the surest documents first.")] = False,
    *,
    output: TableOptions,
) -> None:
    """Label some documents, and get the labels of all others: those to label next come first.

    A linear model learns from the labelled documents: from their words and codes, or from codes alone.
    The unsure documents are printed first: those whose two most probable labels are about as probable.
    Look at them, add their labels to the table, and run the command again.
    5 to 20 documents of each label are a good start; probabilities are more careful than they need be.

    With --json, print one line per document: {"id": ID, "label": LABEL, "probability": 0 to 1, "margin": 0 to 1,
    "probabilities": {LABEL: 0 to 1, ...}}. The margin is the probability less that of the second label.

    [bold]Examples[/]

    ammi classify articles labels.csv
    ammi classify articles --key topic --csv > topics.csv
    ammi classify articles labels.jsonl --sure -n 100 --json
    """
    if (labels is None) == (key is None):
        raise typer.BadParameter("name a table of labels or --key KEY, one of the two.", param_hint="'LABELS'")
    given = key if labels is None else _read_labels(labels)
    with ammi.Collection.open(location) as collection:
        with counter("reading documents", 2 * len(collection)) as advance:
            found = collection.classify(given or {}, advance=advance)
        order = range(len(found) - 1, -1, -1) if sure else range(len(found))
        chosen = order[: n or (None if output.is_piped else _SHOWN)]
        if output.as_csv:
            say_csv(_COLUMNS, (_cells(found[row]) for row in chosen))
        elif output.as_json:
            for row in chosen:
                say_json(_as_json(found, row))
        elif found:
            _show(collection, [found[row] for row in chosen])
        n_labelled = len(collection) - len(found)
    note(
        f"{counted_documents(len(found))} of {shown(location)} got one of {len(found.labels):,} labels, "
        f"learned from {n_labelled:,}"
    )


def _read_labels(path: Path) -> "dict[str | int, list[Label]]":
    """Read the labels of documents from a table; a document may stand in several rows."""
    from ammi.data.formats import read_rows
    from ammi.data.rows import BadRecordError
    from ammi.plain import checked_id

    found: dict[str | int, list[Label]] = {}
    for row in read_rows(path, str(path), None, "label"):
        if isinstance(row, BadRecordError):
            raise row
        if missing := [name for name in ("id", "label") if name not in row.columns]:
            there = ", ".join(row.columns)
            raise ValueError(f"{row.place} has no column {missing[0]!r}: expected id and label, and found {there}")
        given = row.columns["label"]
        several: list[Any] = given if isinstance(given, list) else [given]
        id = checked_id(row.columns["id"], row.place)
        found.setdefault(id, []).extend(label for label in several if label not in (None, ""))
    return {id: labels for id, labels in found.items() if labels}


def _cells(prediction: "Prediction") -> list[object]:
    id, label, probability, margin = prediction
    return [id, label, round(probability, 4), round(margin, 4)]


def _as_json(found: "Predictions", row: int) -> dict[str, object]:
    probabilities = zip(map(str, found.labels), found.probabilities[row].tolist(), strict=True)
    rounded = {label: round(probability, 4) for label, probability in probabilities}
    return {**dict(zip(_COLUMNS, _cells(found[row]), strict=True)), "probabilities": rounded}


def _show(collection: "ammi.Collection", found: "list[Prediction]") -> None:
    table = new_table("label", "probability", "id", numbers=["probability"])
    table.expand = True
    table.add_column("text", no_wrap=True, overflow="ellipsis", ratio=1)
    for one, entry in zip(found, collection.get([one.id for one in found]), strict=True):
        table.add_row(plain(one.label), f"{one.probability:.2f}", document_id(one.id), beginning(entry.text))
    results.print(table)
