"""`ammi index build`: a new collection of documents, or of codes."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ammi.cli.index.incoming import Incoming
from ammi.cli.models import load_model
from ammi.cli.options import AsJson, Broken, Format, IdColumn, OnError, Place, Source, TextColumn

if TYPE_CHECKING:
    from ammi.collection import Collection
    from ammi.data import CodeFile


class KeptAs(StrEnum):
    """How vectors are kept."""

    float16 = "float16"
    int8 = "int8"


def build(
    place: Place,
    source: Source,
    model: Annotated[
        Path | None,
        typer.Option(metavar="MODEL", show_default=False, help="The folder of a model. Files of codes need none."),
    ] = None,
    keys: Annotated[
        list[str] | None,
        typer.Option(
            "--key", metavar="KEY", help="Make filters on this metadata key fast; may be given several times."
        ),
    ] = None,
    keep_vectors: Annotated[
        KeptAs | None,
        typer.Option(
            help="Keep the vectors that codes are made of, in 2 bytes a number or in 1: to rank by them and to find "
            "copies among them.",
            show_default="none are kept",
        ),
    ] = None,
    text: TextColumn = None,
    id: IdColumn = None,
    format: Format = None,
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Build a collection of documents, or of the codes that [bold]ammi encode[/] wrote to a file.

    The model, the texts and all other columns are kept beside the codes, so that PLACE is all that a search needs.
    A thousand documents are written at a time.
    What interrupts the building leaves a collection of those before it, and ammi index add goes on.

    [bold]Examples[/]

    ammi index build index articles.jsonl --model model
    ammi index build index articles.jsonl --model model --key lang --key year
    ammi index build index codes.npz
    """
    incoming = Incoming(source, text, id, format, on_error)
    incoming.read_first()
    with _create(place, model, incoming.codes, keys or [], keep_vectors) as created:
        incoming.add_to(created, as_json)


def _create(
    place: str, model: Path | None, codes: "CodeFile | None", keys: list[str], keep_vectors: KeptAs | None
) -> "Collection":
    from ammi.collection import Collection
    from ammi.hashers.config import holds_model

    if model is None and codes is None:
        raise typer.BadParameter("documents are encoded by a model: name its folder.", param_hint="'--model'")
    if model is not None and codes is not None:
        _check_same_model(model, codes)
    if Collection.exists(place):
        raise FileExistsError(f"{place} holds a collection: use ammi index add, or name another place")
    if holds_model(place):
        raise FileExistsError(f"{place} holds a model: name another place for the collection")
    if codes is not None and keep_vectors is not None:
        raise typer.BadParameter("a file of codes has no vectors to keep.", param_hint="'--keep-vectors'")
    if model is not None:
        return Collection.create(place, model, keys=keys, vectors=keep_vectors)
    assert codes
    return Collection.create_for_codes(place, codes.n_bits, codes.fingerprint, keys=keys)


def _check_same_model(model: Path, codes: "CodeFile") -> None:
    fingerprint = load_model(model).fingerprint_
    if fingerprint != codes.fingerprint:
        raise ValueError(
            f"the codes are of model {codes.fingerprint}, and --model names {fingerprint}: name the model that made "
            "them, or none"
        )
