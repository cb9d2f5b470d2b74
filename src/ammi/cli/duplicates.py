"""`ammi duplicates`: documents whose codes are all but the same."""

from typing import TYPE_CHECKING, Annotated

import typer

from ammi.cli.options import AsJson, Place
from ammi.cli.screen import beginning, counter, document_id, documents_table, note, results, say_json

if TYPE_CHECKING:
    from ammi.collection import Collection, Duplicates


def duplicates(
    place: Place,
    radius: Annotated[int, typer.Option(min=0, help="A copy is at most so many bits from the one that is kept.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Find near-duplicates: documents whose codes are at most RADIUS bits from that of one before them.

    The first document of a group is the one to keep. Each copy is that near to it, and has its similarity beside it.
    Codes tell what a document is about: at a large radius, documents of one subject meet.

    With --json a line for each group: {"kept": ID, "copies": [{"id": ID, "similarity": 0 to 1}, ...]}.

    [bold]Examples[/]

    ammi duplicates index --radius 1
    ammi duplicates index --radius 0 --json > groups.jsonl
    """
    from ammi.collection import Collection

    with Collection.open(place) as collection:
        n = len(collection)
        with counter("comparing codes", collection.distinct_codes()) as advance:
            groups = collection.duplicates(radius, advance=advance)
        for group in groups if as_json else []:
            copies = [{"id": id, "similarity": round(similarity, 4)} for id, similarity in group.copies]
            say_json({"kept": group.kept, "copies": copies})
        if groups and not as_json:
            _show(collection, groups)
    n_copies = sum(len(group.copies) for group in groups)
    note(f"{n_copies:,} of {n:,} documents are near-copies of {len(groups):,} others")


def _show(collection: "Collection", groups: "list[Duplicates]") -> None:
    table = documents_table(numbers=["similarity"])
    for group in groups:
        kept, *copies = collection.get([group.kept, *(id for id, _ in group.copies)])
        table.add_row("kept", document_id(kept.id), beginning(kept.text))
        for (_, similarity), copy in zip(group.copies, copies, strict=True):
            table.add_row(f"{similarity:.3f}", document_id(copy.id), beginning(copy.text))
        table.add_section()
    results.print(table)
