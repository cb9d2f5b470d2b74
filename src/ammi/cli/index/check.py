"""`ammi index check`: what is damaged in a collection, and a repair that keeps the rest."""

from typing import TYPE_CHECKING, Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson, Location
from ammi.cli.screen import counter, plain, results, say_json
from ammi.urls import shown

if TYPE_CHECKING:
    from ammi.search import Repaired

DAMAGED = 3  # the exit code
_SHOWN = 20  # sentences and ids; --json has all


def check(
    location: Location,
    repair: Annotated[
        bool,
        typer.Option("--repair", help="Keep all documents that are whole, and say what was lost."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look for damage in a collection: compare all of it with its checksums, and with what it holds twice.

    It ends with exit code 3 where something is damaged, and with 0 once it is repaired.
    A repair puts all documents that are whole into a new file, which takes the place of the old one in one step.
    The old file is kept beside it. Those who have the collection open have to open it again.

    [bold]Examples[/]

    ammi index check index
    ammi index check index --repair
    """
    from ammi.collection import Collection

    looked, name = 0, shown(location)
    with if_stopped(f"{name} is as it was"), counter(f"checking {name}") as advance:

        def count(n_documents: int) -> None:
            nonlocal looked
            looked += n_documents
            advance(n_documents)

        repaired = Collection.repair(location, advance=count) if repair else None
        damage = repaired.damage if repaired else Collection.check(location, advance=count)
    if as_json:
        say_json({"location": name, "documents": looked, "damage": damage, **(_as_json(repaired) if repaired else {})})
    else:
        for sentence in _shortened(damage):
            results.print(plain(sentence), soft_wrap=True)
        results.print(plain(_outcome(name, looked, damage, repaired)), soft_wrap=True)
    if damage and not repaired:
        raise typer.Exit(DAMAGED)


def _as_json(repaired: "Repaired") -> dict[str, object]:
    return {
        "kept": repaired.kept,
        "lost": repaired.lost,
        "lost without a known id": repaired.unnamed,
        "old file": repaired.old,
    }


def _outcome(location: str, looked: int, damage: list[str], repaired: "Repaired | None") -> str:
    from ammi.search.locations import is_url

    if not damage:
        return f"{location} is whole: {looked:,} documents"
    if repaired is None and is_url(location):
        return f"{location} is damaged: restore a copy, by the means of its server"
    if repaired is None and not looked:
        return f"{location} is damaged, and no document of it can be read: restore a copy, or build it again"
    if repaired is None:
        return f"{location} is damaged; {looked:,} documents are whole: --repair keeps these"
    lost = len(repaired.lost) + repaired.unnamed
    names = ", ".join(_shortened(list(map(str, repaired.lost))))
    named = f" ({names})" if repaired.lost else ""
    return f"{repaired.kept:,} documents kept, {lost:,} lost{named}; the old file is {repaired.old}"


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return [*lines[:_SHOWN], f"and {more:,} more"] if more > 0 else lines
