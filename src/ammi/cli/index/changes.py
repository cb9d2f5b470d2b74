"""`ammi index add`, `delete`, `set`, `keys` and `rebuild`: change a collection."""

import json
from pathlib import Path
from typing import Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.index.incoming import Incoming, codes_of
from ammi.cli.options import AsJson, DocumentId, Location, ReadOptions, Source
from ammi.cli.progress import counter
from ammi.cli.queries import query_lines
from ammi.cli.screen import facts, new_table, note, plain, results, say_json, show
from ammi.cli.sources import Documents, content_for
from ammi.plain import from_json
from ammi.urls import shown


def add(location: Location, source: Source, options: ReadOptions, as_json: AsJson = False) -> None:
    """Add documents to a collection: from a source, a file of codes, or an export.

    A document replaces the one with the same id.
    Documents without ids get the name of their file and their line as an id, and those that are there are left out:
    the same command goes on after an interruption. Those of a pipe get the next free numbers.
    Codes of another model are refused.

    [bold]Examples[/]

    ammi index add articles more.jsonl
    ammi index add articles more-embeddings.npy
    zcat 2024-*.jsonl.gz | ammi index add articles - --text body
    """
    from ammi.collection import Collection

    with Collection.open(location) as collection:
        codes = codes_of(source, options.format)
        documents = Documents(source, options) if codes else Documents(source, options, **content_for(collection))
        Incoming(documents, codes).add_to(collection, as_json)


def delete(
    location: Location,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID", show_default=False, help="Ids, or [bold]-[/] for one per line of standard input."),
    ],
    as_json: AsJson = False,
) -> None:
    """Delete documents from a collection: all of them, or none if one does not exist.

    [bold]Examples[/]

    ammi index delete articles 17 18
    cat old-ids.txt | ammi index delete articles -
    """
    from ammi.collection import Collection

    if ids == ["-"]:
        ids = [line for line in query_lines() if line.strip()]
    with Collection.open(location) as collection:
        before = len(collection)
        collection.delete(ids)
        left = len(collection)
    value = {"location": shown(location), "deleted": before - left, "documents": left}
    show(value, as_json, f"{before - left:,} deleted; {left:,} documents are left in {shown(location)}")


def set_(
    location: Location,
    id: DocumentId,
    assignments: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE",
            show_default=False,
            help="Metadata. A value is read as JSON if it is JSON, else as a text; null clears it.",
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Set metadata of a document; other keys stay.

    [bold]Examples[/]

    ammi index set articles 17 lang=en year=1987
    ammi index set articles 17 'labels=["oil", "trade"]' draft=null
    """
    from ammi.collection import Collection

    values = dict(_assigned(assignment) for assignment in assignments)
    with Collection.open(location) as collection:
        collection.set_metadata(id, values)
        entry = collection.get(id)
    if as_json:
        say_json({"id": entry.id, "metadata": entry.metadata})
    else:
        values = {key: value if isinstance(value, str) else json.dumps(value) for key, value in entry.metadata.items()}
        facts({"id": str(entry.id), **values})


def _assigned(assignment: str) -> tuple[str, object]:
    key, equals, text = assignment.partition("=")
    if not key or not equals:
        raise typer.BadParameter(f"{assignment!r} has no key or no value: write KEY=VALUE.", param_hint="'KEY=VALUE'")
    try:
        return key, from_json(text)
    except ValueError:
        return key, text


def keys(
    location: Location,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY", show_default=False, help="Keys to index, so that filters on them are fast."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the metadata keys of a collection with their number of documents, or index keys for fast filters.

    [bold]Examples[/]

    ammi index keys articles
    ammi index keys articles lang year
    """
    from ammi.collection import Collection

    with Collection.open(location) as collection:
        documents = collection.keys()
        for name in names or []:
            if name not in documents:
                note(f"no document has the key {name!r} yet")
        if names:
            with counter("indexing metadata"):
                collection.index_keys(names)
        indexed = collection.indexed_keys()
    if as_json:
        say_json({"keys": documents, "indexed_keys": indexed})
        return
    table = new_table("key", "documents", "filters", numbers=["documents"])
    for name in {**documents, **dict.fromkeys(indexed)}:
        table.add_row(plain(name), f"{documents.get(name, 0):,}", "indexed" if name in indexed else "")
    results.print(table)


def rebuild(
    location: Location,
    model: Annotated[Path, typer.Option(metavar="MODEL", show_default=False, help="Folder of the new model.")],
    as_json: AsJson = False,
) -> None:
    """Encode all documents of a collection with another model, and switch to it in one step.

    The collection must keep the texts or vectors that the new model reads.
    Until the switch it is searched and changed as before.
    Documents that are added meanwhile are encoded by both models. An interruption leaves everything as it was.

    [bold]Example[/]

    ammi fit articles.jsonl --bits 128 --out better
    ammi index rebuild articles --model better
    """
    from ammi.collection import Collection
    from ammi.hashers.saving import read_model_folder

    read_model_folder(model)  # refuses a folder that is no model before anything is printed
    with Collection.open(location) as collection:
        name, old, n = shown(location), collection.fingerprint, len(collection)
        note(f"{name} keeps model {old} until all of its {n:,} documents are encoded by {model}.")
        with if_stopped(f"{name} is as it was, of model {old}"), counter(f"encoding {name}", n) as advance:
            collection.rebuild(model, advance=advance)
        n, bits, new = len(collection), collection.n_bits, collection.fingerprint
    value = {"location": name, "old_model": old, "documents": n, "bits": bits, "model": new}
    show(value, as_json, f"{n:,} documents in {name} now have codes of {bits} bits, by model {new} instead of {old}")
