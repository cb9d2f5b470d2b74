"""`ammi index rebuild`: new codes for the documents of a collection, by another model."""

from pathlib import Path
from typing import Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.options import AsJson, Location
from ammi.cli.screen import counter, note, plain, results, say_json
from ammi.urls import shown


def rebuild(
    location: Location,
    model: Annotated[Path, typer.Option(metavar="MODEL", show_default=False, help="The folder of the new model.")],
    as_json: AsJson = False,
) -> None:
    """Encode the stored texts of a collection, or the vectors that it keeps, with another model, in one step.

    Until then the collection is searched and changed as before, by its old model.
    What is added while it runs is encoded by the new one, too. What interrupts it leaves everything as it was.

    [bold]Example[/]

    ammi fit articles.jsonl --bits 128 --out better
    ammi index rebuild index --model better
    """
    from ammi.collection import Collection
    from ammi.hashers.saving import read_model_folder

    read_model_folder(model)  # refuse what is no model before saying anything
    with Collection.open(location) as collection:
        name, old, n = shown(location), collection.fingerprint, len(collection)
        note(f"{name} is of model {old} until all of its {n:,} documents are encoded by {model}.")
        with if_stopped(f"{name} is as it was, of model {old}"), counter(f"encoding {name}", n) as advance:
            collection.rebuild(model, advance=advance)
        report = {"documents": len(collection), "bits": collection.n_bits, "model": collection.fingerprint}
    if as_json:
        say_json({"location": name, "old model": old, **report})
    else:
        results.print(
            plain(f"{report['documents']:,} documents in {name} have codes of {report['bits']} bits now"),
            soft_wrap=True,
        )
        results.print(plain(f"model {old} has given way to {report['model']}"), soft_wrap=True)
