"""`ammi index sync`: a collection that follows a folder."""

import time
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

import ammi
from ammi.cli.command import if_stopped
from ammi.cli.index.build import StoreOptions, build_of_documents
from ammi.cli.options import AsJson, IdColumn, Location, OnError, ReadOptions, SkipBad, Sources, TextColumn
from ammi.cli.progress import counter
from ammi.cli.screen import counted_documents, note, show
from ammi.cli.sources import Skipped
from ammi.urls import shown

SECONDS_BETWEEN_LOOKS = 2.0

Seen = dict[str, tuple[int, int, int]]  # when the files were changed last, and their sizes


def sync(
    location: Location,
    sources: Sources,
    watch: Annotated[bool, typer.Option("--watch", help="Go on: look for changes every two seconds.")] = False,
    text: TextColumn = None,
    id: IdColumn = None,
    on_error: SkipBad = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Make a collection follow files: add new ones, replace changed ones, delete those that are gone.

    A file is changed if its content is; its name and time do not count.
    Documents that came from elsewhere stay as they are.
    A table by itself (.csv, .jsonl, …) needs ids: its rows then are all documents that are of no file.
    Without a collection, build one, as [bold]ammi index build[/] does.
    After an interruption, run the same command again: it continues, and adds no document twice.

    [bold]Examples[/]

    ammi index sync notes ~/Documents
    ammi index sync notes ~/Documents ~/Mail --watch
    ammi index sync staff staff.csv --text description --id number
    """
    options = ReadOptions(text=text, id=id, on_error=on_error)
    seen = _look(sources) if watch else {}
    if ammi.Collection.exists(location):
        with ammi.Collection.open(location) as collection:
            _sync(collection, sources, options, Skipped(", ".join(sources), on_error == OnError.refuse), as_json)
    else:
        build_of_documents(location, sources, None, StoreOptions(), options, as_json)
    if watch:
        _watch(location, sources, options, seen, as_json)


def _watch(location: str, sources: list[str], options: ReadOptions, seen: Seen, as_json: bool) -> None:
    """Sync whenever files have changed and then stayed as they are for a moment."""
    note(f"Watching {', '.join(sources)}; stop with Ctrl-C.")
    skipped, last = Skipped(", ".join(sources), options.on_error == OnError.refuse), seen
    with if_stopped(f"{shown(location)} has what was there at the last sync"):
        while True:
            time.sleep(SECONDS_BETWEEN_LOOKS)
            now = _look(sources)
            if now == last and now != seen:
                with ammi.Collection.open(location) as collection:
                    _sync(collection, sources, options, skipped, as_json)
                seen = now
            last = now


def _look(sources: list[str]) -> Seen:
    """Return the state of all files; one that is deleted in this moment is not there."""
    from ammi.data.files import File, find_files, sources_of

    found: Seen = {}
    for one in find_files(sources_of(sources)):
        if isinstance(one, File):
            try:
                about = Path(one.path).stat()
            except OSError:
                continue
            found[str(one.path)] = (about.st_mtime_ns, about.st_size, about.st_ino)
    return found


def _sync(
    collection: "ammi.Collection", sources: list[str], options: ReadOptions, skipped: Skipped, as_json: bool
) -> None:
    counts: Counter[str] = Counter()
    name = collection.location

    def outcome() -> str:
        done = ", ".join(f"{n:,} {what}" for what, n in counts.items()) or "nothing was changed"
        return f"{done} in {name}; run the same command to continue"

    skipped.counts.clear()
    skipped.is_silent = False
    with if_stopped(outcome), counter("looking for changes") as advance:

        def report(what: str, of: str | int) -> None:
            counts[what] += 1
            note(f"{what} {of}")
            advance(1)

        synced = collection.sync(
            [*sources], text=options.text, id=options.id, vector=options.vector, on_error=skipped, report=report
        )
        n = len(collection)
    skipped.end()
    lists = {"added": synced.added, "replaced": synced.replaced, "deleted": synced.deleted}
    done = ", ".join(f"{len(names):,} {what}" for what, names in lists.items() if names or what == "added")
    unread = f", {synced.skipped:,} skipped" if synced.skipped else ""
    value = {"location": name, **lists, "unchanged": synced.unchanged, "skipped": synced.skipped, "documents": n}
    show(value, as_json, f"{done}, {synced.unchanged:,} unchanged{unread}; {counted_documents(n, 'are')} in {name}")
