"""`ammi index backup`, `restore` and `upgrade`: a collection as one file, and of this version's format."""

from pathlib import Path
from typing import Annotated

import ammi
from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson, Location, argument
from ammi.cli.progress import counter
from ammi.cli.screen import show
from ammi.urls import shown


def backup(
    location: Location, file: Annotated[Path, argument("FILE", "File to write.")], as_json: AsJson = False
) -> None:
    """Write a collection, as it is at one moment, to one file; others read and write it meanwhile.

    A file that is there is replaced, once the new one was read back whole.

    [bold]Examples[/]

    ammi index backup articles articles.backup
    ammi index backup postgresql://db.example.org/news#articles articles.backup
    """
    with (
        ammi.Collection.open(location) as collection,
        if_stopped(f"{file} was not written"),
        counter(f"writing {file}") as advance,
    ):
        n = collection.backup(file, advance=advance)
    show({"file": str(file), "documents": n}, as_json, f"{n:,} documents of {shown(location)} are in {file}")


def restore(
    file: Annotated[Path, argument("FILE", "File that [bold]ammi index backup[/] wrote.")],
    location: Location,
    as_json: AsJson = False,
) -> None:
    """Make a collection of a backup, at a new location or in place of the one in that folder.

    The collection that was in the folder, damaged or not, is replaced in one step.
    Its file is kept beside the new one. Programs that have it open must open it again.
    On a server the location must be empty.

    [bold]Example[/]

    ammi index restore articles.backup articles
    """
    name = shown(location)
    with if_stopped(f"{name} is as it was"), counter(f"restoring {name}") as advance:
        restored = ammi.Collection.restore(file, location, advance=advance)
    old = f"; the file before it is {restored.old}" if restored.old else ""
    show(restored._asdict(), as_json, f"{restored.documents:,} documents of {file} are in {name}{old}")


def upgrade(location: Location, as_json: AsJson = False) -> None:
    """Convert a collection that an earlier version of ammi wrote to the format of this one, in one step.

    In a folder the old file is kept beside the new one, which needs as much space again.

    [bold]Example[/]

    ammi index upgrade articles
    """
    name = shown(location)
    with if_stopped(f"{name} is as it was"), counter(f"converting {name}") as advance:
        upgraded = ammi.Collection.upgrade(location, advance=advance)
    outcome = "is of this format" if upgraded.format == upgraded.now else f"had format {upgraded.format}"
    outcome += f"; the old file is {upgraded.old}" if upgraded.old else ""
    show({"location": name, **upgraded._asdict()}, as_json, f"{name} {outcome}; {upgraded.documents:,} documents")
