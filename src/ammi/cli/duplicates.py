"""`ammi duplicates`: which documents are copies, and which ones to keep."""

from typing import TYPE_CHECKING, Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson, Location
from ammi.cli.screen import beginning, counter, document_id, documents_table, note, results, say_json
from ammi.urls import shown

if TYPE_CHECKING:
    from ammi.collection import Collection, Duplicates


def duplicates(
    location: Location,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="At least this share of a copy is in the one that is kept, or this is the cosine of vectors, 0 to 1.",
            show_default="0.8, and 0.98 of vectors",
        ),
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Delete the copies, after they were shown.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find copies among documents, edited, cut short or quoted in a longer one, and say which one to keep.

    The similarity of a copy is the share of its words that stand in the same place in the text that is kept,
    the longest. Codes are not asked: they tell what a document is about, not what it says.
    Of documents without texts the vectors are compared, where the collection keeps them.

    With --json a line for each group: {"kept": ID, "copies": [{"id": ID, "similarity": 0 to 1}, ...]}.

    [bold]Examples[/]

    ammi duplicates index
    ammi duplicates index --threshold 0.95 --json > groups.jsonl
    ammi duplicates index --apply
    """
    from ammi.collection import Collection

    with Collection.open(location) as collection:
        n = len(collection)
        with counter("comparing documents", 2 * n) as advance:
            groups = collection.duplicates(threshold, advance=advance)
        for group in groups if as_json else []:
            copies = [{"id": id, "similarity": round(similarity, 4)} for id, similarity in group.copies]
            say_json({"kept": group.kept, "copies": copies})
        if groups and not as_json:
            _show(collection, groups)
        copies_found = [id for group in groups for id, _ in group.copies]
        note(f"{len(copies_found):,} of {n:,} documents are copies of {len(groups):,} others")
        if apply and copies_found:
            with if_stopped("no document was deleted."):
                collection.delete(copies_found)
            note(f"{len(copies_found):,} deleted; {len(collection):,} documents are left in {shown(location)}")


def _show(collection: "Collection", groups: "list[Duplicates]") -> None:
    table = documents_table(numbers=["similarity"])
    for group in groups:
        kept, *copies = collection.get([group.kept, *(id for id, _ in group.copies)])
        table.add_row("kept", document_id(kept.id), beginning(kept.text))
        for (_, similarity), copy in zip(group.copies, copies, strict=True):
            table.add_row(f"{similarity:.3f}", document_id(copy.id), beginning(copy.text))
        table.add_section()
    results.print(table)
