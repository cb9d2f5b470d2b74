"""`ammi index build`: make a collection of documents, or of codes."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

import ammi
from ammi.cli.command import if_stopped
from ammi.cli.fit import fit_defaults
from ammi.cli.index.incoming import Incoming, codes_of, say_added
from ammi.cli.options import AsJson, Location, RayOptions, ReadOptions, Sources, TypedOptions, refuse_types
from ammi.cli.progress import counter
from ammi.cli.screen import note
from ammi.cli.settings import load_model
from ammi.cli.sources import Documents, content_for, default_features
from ammi.urls import shown

if TYPE_CHECKING:
    from ammi.cli.shards import ShardJob
    from ammi.data import CodeFile


class VectorType(StrEnum):
    """How vectors are kept."""

    float16 = "float16"
    int8 = "int8"


@dataclass(frozen=True)
class StoreOptions:
    """What a new collection keeps and indexes: a group of options."""

    keys: Annotated[
        list[str] | None,
        typer.Option("--key", metavar="KEY", help="Index this metadata key, for fast filters. May be repeated."),
    ] = None
    keep_vectors: Annotated[
        VectorType | None,
        typer.Option(
            help="Keep the vectors that codes are made of, with 2 bytes or 1 byte per number: to rank by them and to "
            "find near-duplicates among them.",
            show_default="not kept",
        ),
    ] = None
    language: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Language of the texts, such as english or german, for the stems of words and for stop words; none "
            "compares words as they are.",
            show_default="detected",
        ),
    ] = None

    def create(self, location: str, model: "ammi.DocumentHasher | Path") -> "ammi.Collection":
        """Create an empty collection with these settings."""
        keys, vectors, language = self.keys or [], self.keep_vectors, self.language
        return ammi.Collection.create(location, model, keys=keys, vectors=vectors, language=language)


def build(
    location: Location,
    sources: Sources,
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="MODEL",
            help="Folder of the model. A file of codes needs none.",
            show_default="one that is learned from SOURCE",
        ),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Model that makes embeddings, as in [bold]ammi fit[/]: keep a code of each text's embedding beside "
            "that of its words.",
        ),
    ] = None,
    *,
    store: StoreOptions,
    options: TypedOptions,
    ray: RayOptions,
    as_json: AsJson = False,
) -> None:
    """Build a collection of documents, or of the codes that [bold]ammi encode[/] wrote.

    Without --model, learn one from the documents first: from vectors if the source is a matrix or --vector names
    their column, else from words.
    With --embedder, learn from words and from embeddings: texts are found by meaning, too, and no vector is kept.
    The collection contains the model, the texts and all other columns; a search needs nothing else.
    Columns of CSV and TSV get types, which are printed: numbers, dates and booleans, so that filters compare 9 and 10
    as numbers.
    Documents are written in blocks of a thousand.
    After an interruption the blocks before it stay, and [bold]ammi index add[/] adds the rest, none twice.

    With --ray, SOURCE is shards (.parquet, .jsonl, also .gz or .zst), as files or folders, and --model is required.
    Workers encode; they also write if COLLECTION is on a server.
    After an interruption, run the same command again: it continues, and adds no document twice.

    [bold]Examples[/]

    ammi index build articles articles.jsonl
    ammi index build articles articles.jsonl --embedder all-MiniLM-L6-v2
    ammi index build pictures embeddings.npy
    ammi index build articles articles.jsonl --model model --key lang --key year
    ammi index build articles articles.csv --type year=number --type isbn=text
    ammi index build articles codes.npz
    ammi index build articles shards --model model --ray --workers 8
    """
    if model is not None and embedder is not None:
        raise typer.BadParameter("--model has its own features.", param_hint="'--embedder'")
    if ray.enabled:
        if model is None:
            raise typer.BadParameter("with --ray name a model, made by ammi fit.", param_hint="'--model'")
        refuse_types(options)
        from ammi.cli.shards import ShardJob

        _build_on_ray(location, ShardJob(model, sources, options), model, store, ray, as_json)
        return
    codes = codes_of(sources, options.format)
    if codes is None:
        _check_free(location)
        build_of_documents(location, sources, model or embedder, store, options, as_json)
        return
    refuse_types(options)
    if store.keep_vectors is not None:
        raise typer.BadParameter("a file of codes has no vectors to keep.", param_hint="'--keep-vectors'")
    if model is not None:
        _check_same_model(model, codes)
    _check_free(location)
    incoming = Incoming(Documents(sources, options), codes)
    with _created(location, model, codes, store) as collection:
        incoming.add_to(collection, as_json)


def build_of_documents(
    location: str,
    sources: list[str],
    model: Path | str | None,
    store: StoreOptions,
    options: ReadOptions,
    as_json: bool,
) -> None:
    """Build a collection by a model in a folder, or by one that is learned: with an embedder, if one is named."""
    if isinstance(model, Path):
        fitted = load_model(model)
        incoming = Incoming(Documents(sources, options, **content_for(fitted)), None)
        incoming.try_first(fitted)
        with store.create(location, model) as collection:
            incoming.add_to(collection, as_json)
        return
    from ammi.search.languages import checked_language

    checked_language(store.language)  # before a model is learned, which takes long
    kind = default_features(sources, options)
    documents = Documents(sources, options, reads="vector" if kind == "vectors" else "text")
    with TemporaryDirectory() as cache:  # of the embeddings that are learned from: their codes are wanted next
        with if_stopped(f"{shown(location)} was not made"):
            learned = fit_defaults(kind, documents, sources[0], model, Path(cache) if model else None)
        note(f"A model of {learned.n_bits} bits was learned from {documents.name}; ammi fit has more options.")
        with store.create(location, learned) as collection:
            Incoming(documents, None).add_to(collection, as_json)


def _check_free(location: str) -> None:
    from ammi.collection import check_location

    check_location(location)
    if ammi.Collection.exists(location):
        raise FileExistsError(f"{shown(location)} holds a collection: use ammi index add, or name another location")


def _created(location: str, model: Path | None, codes: "CodeFile", store: StoreOptions) -> "ammi.Collection":
    """Create a collection for codes, with their model if it is known."""
    keys = store.keys or []
    if model is not None:
        return ammi.Collection.create(location, model, keys=keys)
    return ammi.Collection.create_for_codes(location, codes.n_bits, codes.fingerprint, keys=keys)


def _check_same_model(model: Path, codes: "CodeFile") -> None:
    fingerprint = load_model(model).fingerprint_
    if fingerprint != codes.fingerprint:
        raise ValueError(
            f"the codes are of model {codes.fingerprint}, but --model is {fingerprint}: name the model that made "
            "them, or none"
        )


def _build_on_ray(
    location: str, job: "ShardJob", model: Path, store: StoreOptions, ray: RayOptions, as_json: bool
) -> None:
    """Add the documents of shards to a new collection, or to the one that an interrupted build left."""
    from ammi.cli.shards import note_skipped
    from ammi.scale.cluster import on_ray
    from ammi.scale.load import load_shards

    with on_ray(ray.address, ray.workers) as workers, _opened(location, job, model, store) as collection:
        with (
            if_stopped(
                lambda: f"{len(collection):,} documents are in {collection.location}; run the same command to continue"
            ),
            counter(f"adding {len(job.shards):,} shards with {workers} workers") as advance,
        ):
            loaded = load_shards(collection, location, job.shards, job.model.files, job.reading, workers, advance)
        after = len(collection)
        replaced = loaded.there + loaded.added - after
        report = {"added": loaded.added - replaced, "replaced": replaced}
        report |= {"already_there": loaded.there, "skipped": len(loaded.skipped)}
        note_skipped(loaded.skipped)
        say_added(collection.location, report, after, as_json)


def _opened(location: str, job: "ShardJob", model: Path, store: StoreOptions) -> "ammi.Collection":
    """Create a collection once the first documents were encoded; or open the one of the same model that is there."""
    from ammi.collection import check_location
    from ammi.ingest import blocks_of

    check_location(location)
    if not ammi.Collection.exists(location):
        for block in blocks_of(job.reading.documents(job.shards[0], [])):
            block.codes(job.model.whole, job.model.fingerprint)
            break
        return store.create(location, model)
    collection = ammi.Collection.open(location)
    if collection.fingerprint != job.model.fingerprint:
        found = collection.fingerprint
        collection.close()
        raise FileExistsError(
            f"{collection.location} holds a collection of model {found}, not of {job.model.fingerprint}: name another "
            "location, or that model"
        )
    return collection
