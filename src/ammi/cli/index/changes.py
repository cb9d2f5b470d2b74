"""`ammi index add`, `delete`, `set`, `keys` and `rebuild`: change a collection."""

import json
from pathlib import Path
from typing import Annotated

import typer

import ammi
from ammi.cli.command import if_stopped
from ammi.cli.index.incoming import Incoming, codes_of
from ammi.cli.index.learn import learned_anew
from ammi.cli.options import (
    AsJson,
    FilterOption,
    Location,
    Sources,
    TypedOptions,
    argument,
    check_can_ask,
    read_filter,
    refuse_types,
)
from ammi.cli.progress import counter
from ammi.cli.queries import query_lines
from ammi.cli.screen import (
    beginning,
    confirmed,
    counted_documents,
    document_id,
    documents_table,
    facts,
    new_table,
    note,
    notes,
    plain,
    results,
    say_json,
    show,
)
from ammi.cli.sources import Documents, content_for, keys_of_texts
from ammi.plain import from_json
from ammi.urls import shown

_SHOWN = 5  # documents, before they are deleted
_SAMPLED = 2000  # documents, whose unknown words are counted


def add(location: Location, sources: Sources, options: TypedOptions, as_json: AsJson = False) -> None:
    """Add documents to a collection: from a source, a file of codes, or an export.

    A document replaces the one with the same id.
    Documents without ids get the name of their file and their line as an id, and those that are there are left out:
    the same command goes on after an interruption. Those of a pipe get the next free numbers.
    Codes of another model are refused.
    Columns of CSV and TSV get types; a key of which the collection has texts alone stays one of texts.

    [bold]Examples[/]

    ammi index add articles more.jsonl
    ammi index add articles more-embeddings.npy
    zcat 2024-*.jsonl.gz | ammi index add articles - --text body
    """
    with ammi.Collection.open(location) as collection:
        codes = codes_of(sources, options.format)
        if codes:
            refuse_types(options)
            documents = Documents(sources, options)
        else:
            texts = keys_of_texts(collection)
            documents = Documents(sources, options, **content_for(collection), texts=texts)
        Incoming(documents, codes).add_to(collection, as_json)


def delete(
    location: Location,
    ids: Annotated[list[str] | None, argument("ID", "Ids, or [bold]-[/] for one per line of standard input.")] = None,
    where: FilterOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="With --where: delete without asking.")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete documents from a collection: those that are named, or those that pass a filter.

    If one of the ids does not exist, no document is deleted.
    With --where, the number of documents and the first of them are shown, and the command asks for confirmation.

    [bold]Examples[/]

    ammi index delete articles 17 18
    cat old-ids.txt | ammi index delete articles -
    ammi index delete articles --where 'year<1990' --where lang=en
    ammi index delete articles --where draft=true --yes
    """
    if bool(ids) == bool(where):
        raise typer.BadParameter("name ids or --where FILTER, one of the two.", param_hint="'ID'")
    if yes and not where:
        raise typer.BadParameter("it needs --where.", param_hint="'--yes'")
    if where and not yes:
        check_can_ask("--where")
    with ammi.Collection.open(location) as collection, if_stopped("no document was deleted."):
        if ids == ["-"]:
            ids = [line for line in query_lines() if line.strip()]
        if where and not yes:
            ids = list(map(str, collection.ids(read_filter(where))))
            if ids and not _confirmed(collection, ids):
                note("no document was deleted")
                return
        deleted = collection.delete(where=read_filter(where)) if ids is None else collection.delete(ids)
        left = len(collection)
    value = {"location": shown(location), "deleted": deleted, "documents": left}
    show(value, as_json, f"{deleted:,} deleted; {counted_documents(left, 'are')} left in {shown(location)}")


def _confirmed(collection: "ammi.Collection", ids: list[str]) -> bool:
    """Show the first of the documents to delete, and ask."""
    table = documents_table(numbers=())
    for entry in collection.get(ids[:_SHOWN]):
        table.add_row(document_id(entry.id), beginning(entry.text))
    notes.print(table)
    if len(ids) > _SHOWN:
        note(f"and {len(ids) - _SHOWN:,} more")
    return confirmed(f"Delete {counted_documents(len(ids))} from {collection.location}?")


def set_(
    location: Location,
    id: Annotated[str, argument("ID", "Id of a document.")],
    assignments: Annotated[
        list[str],
        argument("KEY=VALUE", "Metadata. A value is read as JSON if it is JSON, else as a text; null clears it."),
    ],
    as_json: AsJson = False,
) -> None:
    """Set metadata of a document; other keys stay.

    [bold]Examples[/]

    ammi index set articles 17 lang=en year=1987
    ammi index set articles 17 'labels=["oil", "trade"]' draft=null
    """
    values = dict(_assigned(assignment) for assignment in assignments)
    with ammi.Collection.open(location) as collection:
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
    names: Annotated[list[str] | None, argument("KEY", "Keys to index, so that filters on them are fast.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the metadata keys of a collection with their number of documents, or index keys for fast filters.

    [bold]Examples[/]

    ammi index keys articles
    ammi index keys articles lang year
    """
    with ammi.Collection.open(location) as collection:
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
    model: Annotated[
        Path | None, typer.Option(metavar="MODEL", show_default=False, help="Folder of the new model.")
    ] = None,
    learn: Annotated[
        bool,
        typer.Option(
            "--learn", help="Learn the new model from the stored documents, with the settings of the old one."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Encode all documents of a collection with another model, and switch to it in one step.

    The collection must keep the texts or vectors that the new model reads.
    Until the switch it is searched and changed as before.
    Documents that are added meanwhile are encoded by both models. An interruption leaves everything as it was.
    With --learn, the model is one of the documents as they are now: it knows the words that came since the last one.
    [bold]ammi info[/] shows how many words the model does not know.

    [bold]Examples[/]

    ammi index rebuild articles --learn
    ammi fit articles.jsonl --bits 128 --out better
    ammi index rebuild articles --model better
    """
    from ammi.hashers.saving import read_model

    if (model is None) != learn:
        raise typer.BadParameter("name the folder of a model, or --learn one, one of the two.", param_hint="'--model'")
    if model is not None:
        read_model(model)  # refuses a folder that is no model before anything is printed
    with ammi.Collection.open(location) as collection:
        name, old, n = shown(location), collection.fingerprint, len(collection)
        with if_stopped(f"{name} is as it was, of model {old}"):
            before = collection.unknown_words(_SAMPLED)
            new = learned_anew(collection) if model is None else model
            by = "the new model" if model is None else str(model)
            note(f"{name} keeps model {old} until all of its {n:,} documents are encoded by {by}.")
            with counter(f"encoding {name}", n) as advance:
                collection.rebuild(new, advance=advance)
        n, bits, fingerprint = len(collection), collection.n_bits, collection.fingerprint
        after = collection.unknown_words(_SAMPLED)
    shares = {"unknown_before": before and round(before.share, 4), "unknown_after": after and round(after.share, 4)}
    value = {"location": name, "old_model": old, "documents": n, "bits": bits, "model": fingerprint, **shares}
    known = f"; it does not know {after.share:.1%} of the words" if after else ""
    known += f", the old one {before.share:.1%}" if before and after else ""
    sentence = (
        f"{n:,} documents in {name} now have codes of {bits} bits, by model {fingerprint} instead of {old}{known}"
    )
    show(value, as_json, sentence)
