"""`ammi fit`: learn a model from documents, or from pairs of documents."""

import time
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, TypedDict

import typer

import ammi
from ammi.cli.command import STOPPED, if_stopped
from ammi.cli.options import DOCUMENTS, AsJson, Assignments, ReadOptions, argument, checked_seed, refuse
from ammi.cli.progress import training_progress
from ammi.cli.screen import facts, note, say_json
from ammi.cli.settings import make_features, make_hasher, read_config
from ammi.cli.sources import Contents, Documents, default_features, is_pipe
from ammi.files import check_not_read

if TYPE_CHECKING:
    import numpy as np

    from ammi.features import FeatureMaker
    from ammi.hashers import Hasher
    from ammi.training.loop import Callback
    from ammi.training.progress import Progress

Report = dict[str, object]  # names and values to print

BITS, BITS_BEFORE_AN_EMBEDDING, BITS_OF_VECTORS = 64, 128, 256


class FitArguments(TypedDict, total=False):
    """Keyword arguments of `fit` that only methods trained in epochs take."""

    progress: "Progress"
    callbacks: "list[Callback]"
    views: "list[np.ndarray]"


def fit(
    source: Annotated[str, argument("SOURCE", f"{DOCUMENTS} Or a folder of pairs ([bold]ammi data pairs[/]).")],
    out: Annotated[Path, typer.Option("--out", metavar="MODEL", show_default=False, help="Folder to write.")],
    method: Annotated[
        str | None,
        typer.Option(
            help="Method: ammi, bmmi, bmsh, bow, dvq, gmsh, itq, lsh, nash, sph, srbm, sth, vdsh, or one of another "
            "package. An unknown name lists all.",
            show_default="ammi for words and pieces, itq for embeddings and vectors",
            autocompletion=lambda: ammi.hashers.methods.names(),
        ),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Length of the codes.",
            show_default="64; 128 with --embedder; 256 of vectors, or of embeddings alone; 16 for bmmi",
        ),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Learn from a uniform sample of N documents, drawn in one pass, if not all of them fit into memory.",
            show_default="all documents",
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of labels. Hold out one document in ten, choose the epoch by their precision, and report it. "
            "Codes are still learned without labels.",
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="What to learn from: words; pieces (SentencePiece units, for any script and language); embeddings "
            "(by a sentence-transformers model); vectors; or a feature maker of another package. An unknown name lists "
            "all.",
            show_default="words; vectors for a matrix or with --vector",
            autocompletion=lambda: ammi.features.features.names(),
        ),
    ] = None,
    vocabulary: Annotated[
        int | None, typer.Option(min=1, help="Largest number of words or units.", show_default="20000")
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Model that makes embeddings: a folder, a name on the Hugging Face Hub, or a function as "
            "module:function. The model that is written refers to it and does not contain it. Unless --features "
            f"embeddings is named, {BITS_OF_VECTORS} bits of the embedding follow the bits of the words.",
            show_default="none; all-MiniLM-L6-v2 with --features embeddings",
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Folder that keeps embeddings for later runs and ammi index build."),
    ] = None,
    epochs: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Largest number of epochs.",
            show_default="the method's; for ammi it depends on the number of documents",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            callback=checked_seed,
            help="Seed of all random numbers: the same seed gives the same codes.",
            show_default="0",
        ),
    ] = None,
    assignments: Assignments = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='JSON file {"method": ..., "parameters": {...}}, such as hasher/config.json of a model. Options '
            "override it.",
        ),
    ] = None,
    view: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.npy",
            help="Another view of the same documents, such as their embeddings, one row each, used only to find "
            "neighbours. May be repeated.",
        ),
    ] = None,
    tensorboard: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder for the figures of each epoch, in TensorBoard format.")
    ] = None,
    *,
    options: ReadOptions,
    as_json: AsJson = False,
) -> None:
    """Learn a model from documents.

    The model is a folder: [bold]ammi index build[/] and [bold]ammi encode[/] read it.
    From pairs of related documents ([bold]ammi data pairs[/]), learn codes of one that predict the other.

    Which method? [bold]ammi[/] finds documents about the same subject.
    [bold]itq[/] finds what the cosine of vectors finds, and documents of the same kind, such as manuals.
    docs/hashers.md has figures, and shows how to give each half of the bits.

    A model learns from documents in memory.
    If a source is too large for that, --sample N draws N documents of it in one pass, also from a pipe.
    The model encodes the other documents nearly as well: learn from a million, then encode all.

    Ctrl-C ends the training early and keeps the best epoch so far.
    With --set checkpoint=FOLDER every epoch is written to a folder.
    The same command then goes on from there, also from a finished run if --epochs is larger.

    [bold]Examples[/]

    ammi fit articles.jsonl --out model
    ammi fit mails.csv.gz --text body --bits 128 --set neighbours=15 --out model
    zcat shards/*.jsonl.gz | ammi fit - --sample 1000000 --out model
    ammi fit articles.jsonl --view embeddings.npy --out model
    cat notes.txt | ammi fit - --features pieces --vocabulary 8000 --out model
    ammi fit embeddings.npy --bits 128 --out model
    ammi fit articles.jsonl --embedder all-MiniLM-L6-v2 --cache embeddings --out model
    ammi fit reuters-pairs --out model
    """
    start = time.perf_counter()
    parameters = {name: value for name, value in {"n_bits": bits, "epochs": epochs}.items() if value is not None}
    kind = features or default_features([source], options)
    if method is None and config is None:
        method, usual = _default_method(kind, source, embedder)
        parameters = {"n_bits": usual, **parameters}
    hasher = _hasher(method, parameters, assignments or [], config, seed)

    from ammi.data.pairs import holds_pairs
    from ammi.hashers.saving import check_model_folder, holds_model

    check_model_folder(out)
    check_not_read(out, source, cache, *(view or []))
    arguments = _arguments(hasher, tensorboard, view or [])
    with if_stopped(lambda: f"{out} is as it was" if holds_model(out) else f"{out} was not written"):
        if holds_pairs(source):
            unused: dict[str, object] = {"--labels": labels, "--features": features, "--embedder": embedder}
            unused |= {"--vocabulary": vocabulary, "--cache": cache, "--view": view, "--sample": sample}
            refuse("pairs have their texts and features already", {**unused, **options.given()})
            model, report = _fit_pairs(hasher, source, arguments)
        else:
            maker, beside = _features(kind, vocabulary, embedder, cache)
            if maker.reads != "vector":
                refuse(f"the features {maker.name!r} read texts", {"--vector": options.vector})
            documents = Documents(source, options, reads=maker.reads)
            if sample:
                refuse("a view has a row for each document, not for each of a sample", {"--view": view})
                documents.keep_sample(sample, getattr(hasher, "random_state", seed) or 0)
            model, report = _fit(ammi.DocumentHasher(hasher, maker, beside=beside), documents, labels, arguments)
        if holds_model(out):
            note(f"The model that {out} held is replaced. Collections keep theirs until ammi index rebuild.")
        model.save(out)
    _print_report(model, out, {**report, "seconds": round(time.perf_counter() - start, 1)}, as_json)
    if not as_json and not holds_pairs(source):
        note(f"Next: ammi index build COLLECTION {_to_index(source, options)} --model {quote(str(out))}")
    if getattr(model.hasher_, "interrupted_", False):
        raise typer.Exit(STOPPED)


def _to_index(source: str, options: ReadOptions) -> str:
    """Return the source, with the options that read it, as `ammi index build` takes them; a pipe is used up by now."""
    given = [f"{name} {quote(value)}" for name, value in options.given().items() if value is not None]
    return " ".join(["SOURCE" if is_pipe(source) else quote(source), *given])


def fit_defaults(
    kind: str, documents: Documents, source: str, embedder: str | None, cache: Path | None
) -> "ammi.DocumentHasher":
    """Learn a model by the default method and length from these features of documents, with progress."""
    method, bits = _default_method(kind, source, embedder)
    hasher = _hasher(method, {"n_bits": bits}, [], None, None)
    maker, beside = _features(kind, None, embedder, cache)
    model, _ = _fit(ammi.DocumentHasher(hasher, maker, beside=beside), documents, None, _arguments(hasher, None, []))
    if getattr(model.hasher_, "interrupted_", False):
        raise KeyboardInterrupt
    return model


def _default_method(kind: str, source: str, embedder: str | None) -> tuple[str, int]:
    """Return the method and the length of codes if the user names none: subjects by words, the cosine of vectors."""
    from ammi.data.matrix_files import holds_sparse

    if kind == "embeddings" or (kind == "vectors" and not holds_sparse(source)):
        return "itq", BITS_OF_VECTORS
    return "ammi", BITS_BEFORE_AN_EMBEDDING if embedder else BITS


def _features(
    kind: str, vocabulary: int | None, embedder: str | None, cache: Path | None
) -> "tuple[FeatureMaker, ammi.DocumentHasher | None]":
    """Return the feature maker of a model, and the model of embeddings beside it if an embedder is named."""
    if kind not in ("words", "pieces") or embedder is None:
        return make_features(kind, vocabulary=vocabulary, embedder=embedder, cache=cache), None
    of_embedding = make_features("embeddings", embedder=embedder, cache=cache)
    beside = ammi.DocumentHasher(ammi.ITQ(BITS_OF_VECTORS, random_state=0), of_embedding)
    return make_features(kind, vocabulary=vocabulary), beside


def _hasher(
    method: str | None, parameters: dict[str, int], assignments: list[str], config: Path | None, seed: int | None
) -> "Hasher":
    """Make the method; --set overrides options, which override the file."""
    chosen, wanted = read_config(config) if config else ("ammi", {})
    hasher = make_hasher(method or chosen, {**wanted, **parameters}, assignments)
    if hasattr(hasher, "random_state") and (seed is not None or hasher.random_state is None):
        hasher.random_state = seed or 0
    return hasher


def _arguments(hasher: "Hasher", tensorboard: Path | None, views: list[Path]) -> FitArguments:
    """Return the arguments of `fit` for a method that is trained in epochs; refuse their options for any other."""
    from ammi.hashers import TrainedHasher
    from ammi.training.callbacks import TensorBoard

    name = type(hasher).__name__
    if not isinstance(hasher, TrainedHasher):
        refuse(f"{name} is not trained in epochs", {"--tensorboard": tensorboard})
        refuse(f"{name} looks for no neighbours", {"--view": views or None})
        return {}
    callbacks: list[Callback] = [TensorBoard(tensorboard)] if tensorboard else []
    arguments: FitArguments = {"progress": training_progress(name), "callbacks": callbacks}
    if views:
        arguments["views"] = [_opened_view(path) for path in views]
    return arguments


def _opened_view(path: Path) -> "np.ndarray":
    """Map an array into memory, so that only the rows in use are read."""
    import numpy as np

    try:
        return np.lib.format.open_memmap(path, mode="r")
    except (OSError, ValueError) as error:
        reason = "does not exist" if not path.exists() else "is not an array that numpy.save wrote"
        raise typer.BadParameter(f"{path} {reason}.", param_hint="'--view'") from error


def _fit(
    model: "ammi.DocumentHasher", documents: Documents, labels: str | None, arguments: FitArguments
) -> "tuple[ammi.DocumentHasher, Report]":
    """Fit a model to documents; return it with what to report."""
    from ammi.data import label_column
    from ammi.hashers.fitting import fit_held_out

    documents.keep()
    features = model.features
    assert features is not None
    learns, embeds = features.name != "embeddings", model.beside is not None
    texts = Contents(documents, learns, embeds) if features.reads == "text" else None
    X = documents.vectors() if texts is None else None
    if features.name == "pieces":
        note("SentencePiece learns its units from a sample of the texts, which takes up to a minute.")
    names = None if labels is None else label_column(documents.metadata(), labels, documents.name)
    if X is not None:
        documents.note_vectors(X.shape[1])
    training = X if texts is None else texts
    report: Report = {}
    if names is None:
        model.fit(training, **arguments)
    else:
        report = {"precision_at_100": round(fit_held_out(model, training, names, **arguments), 2)}
    n = X.shape[0] if X is not None else len(names) if names is not None else texts.count if texts else 0
    drawn = {} if documents.n_seen is None else {"sampled_from": documents.n_seen}
    return model, {"documents": n, **drawn, "skipped": documents.n_skipped, **report}


def _fit_pairs(hasher: "Hasher", folder: str, arguments: FitArguments) -> "tuple[ammi.DocumentHasher, Report]":
    """Fit a model to pairs; return it with what to report."""
    from ammi.data.pairs import describe_pairs
    from ammi.hashers.fitting import fit_pairs

    model, matching = fit_pairs(hasher, folder, **arguments)
    report: Report = {"pairs": describe_pairs(folder)["pairs"]["train"]}
    return model, report if matching is None else {**report, "matching_at_100": round(matching, 2)}


def _print_report(model: "ammi.DocumentHasher", out: Path, report: Report, as_json: bool) -> None:
    rows: Report = {
        "model": str(out),
        **model.features_.describe(),
        "fingerprint": model.fingerprint_,
        "method": type(model.hasher_).__name__,
        "bits": model.n_bits,
        **report,
    }
    if as_json:
        say_json(rows)
    else:
        facts({name.replace("_", " "): value for name, value in rows.items() if name != "skipped" or value})
