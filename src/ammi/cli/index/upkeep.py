"""`ammi index check`, `compact`, `copy` and `export`: look after a collection."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import ammi
from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson, Location, argument
from ammi.cli.progress import counter
from ammi.cli.screen import counted_documents, say, say_json, show
from ammi.urls import shown

if TYPE_CHECKING:
    from ammi.search import Repaired

DAMAGED = 3  # the exit code
_SHOWN = 20  # sentences and ids to print; --json prints all
_LOCATION = "A folder, or a URL such as postgresql://HOST/DATABASE#NAME."


def check(
    location: Location,
    repair: Annotated[
        bool, typer.Option("--repair", help="Keep all intact documents, and report those that are lost.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Look for damage in a collection: verify every checksum, and that its parts agree.

    The exit code is 3 if something is damaged, and 0 once it is repaired.
    A repair copies all intact documents to a new file, which replaces the old one in one step.
    The old file is kept beside it. Programs that have the collection open must open it again.

    [bold]Examples[/]

    ammi index check articles
    ammi index check articles --repair
    """
    n_checked, name = 0, shown(location)
    with if_stopped(f"{name} is as it was"), counter(f"checking {name}") as advance:

        def count(n_documents: int) -> None:
            nonlocal n_checked
            n_checked += n_documents
            advance(n_documents)

        repaired = ammi.Collection.repair(location, advance=count) if repair else None
        damage = repaired.damage if repaired else ammi.Collection.check(location, advance=count)
    if as_json:
        found: dict[str, object] = {"location": name, "documents": n_checked, "damage": damage}
        if repaired:
            found |= {"kept": repaired.kept, "lost": repaired.lost, "lost_without_id": repaired.unnamed}
            found["old_file"] = repaired.old
        say_json(found)
    else:
        for sentence in _shortened(damage):
            say(sentence)
        say(_outcome(name, n_checked, damage, repaired))
    if damage and not repaired:
        raise typer.Exit(DAMAGED)


def _outcome(location: str, n_checked: int, damage: list[str], repaired: "Repaired | None") -> str:
    from ammi.search.locations import is_url

    if not damage:
        return f"{location} is whole: {n_checked:,} documents"
    if repaired is None and is_url(location):
        return f"{location} is damaged: restore it from a backup of its server"
    if repaired is None and not n_checked:
        return f"{location} is damaged, and none of its documents can be read: restore a backup, or build it again"
    if repaired is None:
        return f"{location} is damaged; {n_checked:,} documents are whole: --repair keeps these"
    lost = len(repaired.lost) + repaired.unnamed
    names = ", ".join(_shortened(list(map(str, repaired.lost))))
    named = f" ({names})" if repaired.lost else ""
    return f"{repaired.kept:,} documents kept, {lost:,} lost{named}; the old file is {repaired.old}"


def _shortened(lines: list[str]) -> list[str]:
    more = len(lines) - _SHOWN
    return [*lines[:_SHOWN], f"and {more:,} more"] if more > 0 else lines


def compact(location: Location, as_json: AsJson = False) -> None:
    """Free the disk space of deleted documents.

    Others can search meanwhile; their changes wait. It needs as much free space as the collection takes.
    If the URL of a PostgreSQL collection has ?approximate=hnsw, also create that index if it does not exist yet.

    [bold]Example[/]

    ammi index compact articles
    """
    name = shown(location)
    with ammi.Collection.open(location) as collection, counter(f"compacting {name}"):
        before, after = collection.compact()
    outcome = f"took {before:,} bytes, and takes {after:,} now" if before else "is as compact as its server makes it"
    show({"location": name, "bytes_before": before, "bytes_after": after}, as_json, f"{name} {outcome}")


def copy(
    source: Annotated[str, argument("FROM", f"Collection. {_LOCATION}")],
    target: Annotated[str, argument("TO", f"Location of the copy. {_LOCATION}")],
    as_json: AsJson = False,
) -> None:
    """Copy a collection to another location, of any store: documents, codes, vectors and model.

    Documents keep their ids and their order. At the end the copy is compared by number and checksum.
    After an interruption, run the same command again: it continues, and copies nothing twice.
    A location that holds another collection is refused.

    [bold]Examples[/]

    ammi index copy articles postgresql://reader@db.example.org/news#articles
    ammi index copy postgresql://db.example.org/news#articles backup
    """
    from_, to = shown(source), shown(target)
    with (
        ammi.Collection.open(source) as collection,
        if_stopped(f"part of {from_} may be in {to}; run the same command to continue"),
        counter(f"copying {from_}", 2 * len(collection)) as advance,
    ):
        copied = collection.copy(target, advance=advance)
    before = f", {copied.there:,} of them from before" if copied.there else ""
    outcome = f"{copied.documents:,} documents are in {to}{before}; both collections have the checksum"
    show({"from": from_, **copied._asdict()}, as_json, f"{outcome} {copied.checksum}")


def export(
    location: Location,
    file: Annotated[Path, argument("FILE", "File to write: .jsonl, .csv or .tsv (also .gz, .zst), or .parquet.")],
    columns: Annotated[
        bool, typer.Option("--columns", help="Write metadata as columns, without codes and vectors, as in CSV and TSV.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Write the documents of a collection, with their metadata and codes, to a file.

    [bold]ammi index build[/] and [bold]add[/] read the file, and reuse its codes if the model is the same.
    CSV and TSV, and with --columns JSONL and Parquet too, have a column for each metadata key and no codes.

    [bold]Examples[/]

    ammi index export articles articles.jsonl.gz
    ammi index export articles articles.parquet --columns
    ammi index export articles articles.csv
    """
    with (
        ammi.Collection.open(location) as collection,
        if_stopped(f"{file} was not written"),
        counter(f"writing {file}", len(collection)) as advance,
    ):
        n = collection.export(file, columns=columns, advance=advance)
    show({"file": str(file), "documents": n}, as_json, f"{counted_documents(n)} in {file}")
