"""`ammi duplicates`: find near-duplicates, and which document of each group to keep."""

from typing import TYPE_CHECKING, Annotated

import typer

import ammi
from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson, Location, check_can_ask
from ammi.cli.progress import counter
from ammi.cli.screen import beginning, confirmed, document_id, documents_table, note, results, say_json
from ammi.urls import shown

if TYPE_CHECKING:
    from ammi.collection import Duplicates


def duplicates(
    location: Location,
    threshold: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Smallest share of a text that must stand in the kept one, or smallest cosine of vectors: 0 to 1.",
            show_default="0.9; 0.98 for vectors",
        ),
    ] = None,
    apply: Annotated[
        bool,
        typer.Option("--apply", help="Delete the near-duplicates, after showing them and asking for confirmation."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --apply: delete without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Find near-duplicates: texts that were edited, cut short, or quoted in a longer one.

    The longest text of a group is kept.
    The similarity of another text is the share of its words that stand in the kept one in the same order.
    Standard sentences count less, so that texts of one form with other names in it are not found.
    Codes are not used: they tell what a document is about, not what it says.
    For documents without texts the kept vectors are compared.

    With --json, print one line per group: {"kept": ID, "duplicates": [{"id": ID, "similarity": 0 to 1}, ...]}.

    [bold]Examples[/]

    ammi duplicates articles
    ammi duplicates articles --threshold 0.95 --json > groups.jsonl
    ammi duplicates articles --apply
    ammi duplicates articles --threshold 0.95 --apply --yes > deleted.txt
    """
    if yes and not apply:
        raise typer.BadParameter("it needs --apply.", param_hint="'--yes'")
    if apply and not yes:
        check_can_ask("--apply")
    with ammi.Collection.open(location) as collection:
        n = len(collection)
        with counter("comparing documents", 2 * n) as advance:
            groups = collection.duplicates(threshold, advance=advance)
        if as_json:
            for group in groups:
                duplicates = [{"id": id, "similarity": round(similarity, 4)} for id, similarity in group.duplicates]
                say_json({"kept": group.kept, "duplicates": duplicates})
        elif groups:
            _show(collection, groups)
        found = [id for group in groups for id, _ in group.duplicates]
        note(f"{len(found):,} of {n:,} documents are near-duplicates of {len(groups):,} others")
        if apply and found:
            with if_stopped("no document was deleted."):
                if not yes and not confirmed(f"Delete these {len(found):,} near-duplicates from {shown(location)}?"):
                    note("no document was deleted")
                    return
                collection.delete(found)
            note(f"{len(found):,} deleted; {len(collection):,} documents are left in {shown(location)}")


def _show(collection: "ammi.Collection", groups: "list[Duplicates]") -> None:
    table = documents_table(numbers=["similarity"])
    for group in groups:
        kept, *duplicates = collection.get([group.kept, *(id for id, _ in group.duplicates)])
        table.add_row("kept", document_id(kept.id), beginning(kept.text))
        for (_, similarity), copy in zip(group.duplicates, duplicates, strict=True):
            table.add_row(f"{similarity:.3f}", document_id(copy.id), beginning(copy.text))
        table.add_section()
    results.print(table)
