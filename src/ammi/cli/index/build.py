"""`ammi index build`: a new collection of documents, or of codes."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.fit import fit_defaults
from ammi.cli.index.incoming import Incoming, codes_of
from ammi.cli.index.ray_build import build_on_ray
from ammi.cli.models import load_model
from ammi.cli.options import AsJson, Broken, Format, IdColumn, Location, OnError, Sources, TextColumn, VectorColumn
from ammi.cli.ray import Address, Ray, Workers, check_no_format, check_ray_options, single_source
from ammi.cli.screen import note
from ammi.cli.sources import Documents, default_features
from ammi.urls import shown

if TYPE_CHECKING:
    from ammi.collection import Collection
    from ammi.data import CodeFile
    from ammi.hashers import DocumentHasher


class KeptAs(StrEnum):
    """How vectors are kept."""

    float16 = "float16"
    int8 = "int8"


def build(
    location: Location,
    sources: Sources,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="The folder of a model. Files of codes need none.",
            show_default="one of 64 bits, learned from SOURCE",
        ),
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
    vector: VectorColumn = None,
    format: Format = None,
    on_error: Broken = OnError.refuse,
    ray: Ray = False,
    address: Address = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Build a collection of documents, or of the codes that [bold]ammi encode[/] wrote to a file.

    Without a model it learns one from the same documents: from words, or from vectors where these are what it finds.
    The model, the texts and all other columns are kept beside the codes, so that PLACE is all that a search needs.
    A thousand documents are written at a time.
    What interrupts the building leaves a collection of those before it, and ammi index add goes on.

    With --ray, SOURCE is shards of documents (.parquet, .jsonl, also .gz or .zst), in folders or one by one.
    Workers encode them with the model of --model; where PLACE is on a server they also write, else this process does.
    The same command goes on after what interrupts it, and adds no document twice.

    [bold]Examples[/]

    ammi index build index articles.jsonl
    ammi index build index embeddings.npy
    ammi index build index articles.jsonl --model model --key lang --key year
    ammi index build index codes.npz
    ammi index build index shards --model model --ray --workers 8
    """
    check_ray_options(ray, address, workers)
    if ray:
        from ammi.scale.cluster import on_ray

        check_no_format(format)
        if model is None:
            raise typer.BadParameter("with --ray name a model, made by ammi fit.", param_hint="'--model'")
        reading = {"text": text, "id": id, "vector": vector, "skip": on_error == OnError.skip}
        with on_ray(address, workers) as n:
            build_on_ray(location, sources, model, keys or [], keep_vectors, reading, n, as_json)
        return
    source = single_source(sources)
    codes = codes_of(source, format)
    if codes is not None and keep_vectors is not None:
        raise typer.BadParameter("a file of codes has no vectors to keep.", param_hint="'--keep-vectors'")
    if model is not None and codes is not None:
        _check_same_model(model, codes)
    _check_free(location)
    learn = model is None and codes is None
    features = default_features(source, vector, format) if learn else None
    loaded = None if model is None or codes is not None else load_model(model)
    reads = loaded.reads if loaded else "vector" if features == "vectors" else "text"
    width = loaded.n_features_in_ if loaded and reads == "vector" else None
    documents = Documents(source, text, id, on_error, format, vector, reads=reads, width=width)
    incoming = Incoming(documents, codes)
    learned = None
    if features:
        with if_stopped(f"{shown(location)} was not made"):
            learned = fit_defaults(features, documents)
        note(f"A model of {learned.n_bits} bits was learned from {documents.name}; ammi fit has more to choose from.")
    elif loaded:
        incoming.try_first(loaded)
    with _create(location, model or learned, codes, keys or [], keep_vectors) as created:
        incoming.add_to(created, as_json)


def _check_free(location: str) -> None:
    from ammi.collection import Collection, check_location

    if Collection.exists(location):
        raise FileExistsError(f"{shown(location)} holds a collection: use ammi index add, or name another location")
    check_location(location)


def _create(
    location: str,
    model: "Path | DocumentHasher | None",
    codes: "CodeFile | None",
    keys: list[str],
    keep_vectors: KeptAs | None,
) -> "Collection":
    from ammi.collection import Collection

    if model is not None:
        return Collection.create(location, model, keys=keys, vectors=keep_vectors)
    assert codes
    return Collection.create_for_codes(location, codes.n_bits, codes.fingerprint, keys=keys)


def _check_same_model(model: Path, codes: "CodeFile") -> None:
    fingerprint = load_model(model).fingerprint_
    if fingerprint != codes.fingerprint:
        raise ValueError(
            f"the codes are of model {codes.fingerprint}, and --model names {fingerprint}: name the model that made "
            "them, or none"
        )
