"""`ammi fit`: learn a model from documents, or from pairs of them."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ammi.cli.command import STOPPED, if_stopped
from ammi.cli.options import AsJson, Broken, Format, OnError, TextColumn, VectorColumn, checked_seed
from ammi.cli.screen import facts, note, say_json
from ammi.cli.settings import make_features, make_hasher, read_config
from ammi.cli.sources import Contents, Documents, default_features
from ammi.cli.training import training_progress
from ammi.files import check_not_read

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher, Hasher


def _methods() -> list[str]:
    from ammi.hashers import methods

    return methods.names()


def _features() -> list[str]:
    from ammi.features import features

    return features.names()


def fit(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            show_default=False,
            help="Documents: a file (.jsonl, .csv, .tsv, .txt, each also .gz or .zst; .parquet, .arrow, .feather), a "
            "folder of text files, a matrix of vectors (.npy, .npz), [bold]-[/] for a pipe, or the name of a data set "
            "([bold]ammi data list[/]). Or the folder that [bold]ammi data pairs[/] wrote.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="MODEL", show_default=False, help="The folder to write.")],
    method: Annotated[
        str | None,
        typer.Option(
            help="How to learn: ammi, bmmi, bmsh, bow, dvq, gmsh, itq, lsh, nash, sph, srbm, sth, vdsh, or one of "
            "another package. A wrong name lists all.",
            show_default="ammi",
            autocompletion=_methods,
        ),
    ] = None,
    bits: Annotated[
        int | None, typer.Option(min=1, help="Length of the codes.", show_default="64; 16 for bmmi")
    ] = None,
    text: TextColumn = None,
    vector: VectorColumn = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of labels. One document in ten is then held out, to choose the epoch by precision and to "
            "report it; codes are learned without labels all the same.",
        ),
    ] = None,
    features: Annotated[
        str | None,
        typer.Option(
            help="What codes are learned from: words; pieces, which are SentencePiece units and suit any script and "
            "language; embeddings, made by a model of sentence-transformers; vectors, as they are. Or one of another "
            "package. A wrong name lists all.",
            show_default="words; embeddings with --embedder; vectors of a matrix, or with --vector",
            autocompletion=_features,
        ),
    ] = None,
    vocabulary: Annotated[
        int | None, typer.Option(min=1, help="At most so many words or units.", show_default="20000")
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="What makes embeddings: the folder of a sentence-transformers model, its name on the Hugging Face "
            "Hub, or a function as module:function. It is named in the model that is written, not copied into it.",
            show_default="all-MiniLM-L6-v2",
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Keep embeddings there, so that neither another run nor ammi index build makes them again.",
        ),
    ] = None,
    epochs: Annotated[int | None, typer.Option(min=1, help="At most so many epochs.", show_default="40")] = None,
    seed: Annotated[
        int | None, typer.Option(callback=checked_seed, help="The same seed gives the same codes.", show_default="0")
    ] = None,
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Any parameter of the method; may be given several times."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help='A JSON file {"method": ..., "parameters": {...}}, such as hasher/config.json of a model. Options '
            "come before it.",
        ),
    ] = None,
    view: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE.npy",
            help="Another view of the same documents, such as their embeddings, a row for each: its cosines help to "
            "find neighbours. Codes are made without it. May be given several times.",
        ),
    ] = None,
    tensorboard: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="Write the figures of each epoch there, as TensorBoard reads them."),
    ] = None,
    format: Format = None,
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Learn codes from documents, and write the model as a folder.

    From pairs of related documents ([bold]ammi data pairs[/]), it learns codes of one that tell about the other.

    Ctrl-C ends the training early, and the model of the best epoch so far is written.

    [bold]Examples[/]

    ammi fit articles.jsonl --out model
    ammi fit mails.csv.gz --text body --bits 128 --set neighbours=15 --out model
    ammi fit articles.jsonl --view embeddings.npy --out model
    cat notes.txt | ammi fit - --features pieces --vocabulary 8000 --out model
    ammi fit embeddings.npy --bits 128 --out model
    ammi fit articles.jsonl --embedder all-MiniLM-L6-v2 --cache embeddings --out model
    ammi fit reuters-pairs --out model
    """
    start = time.perf_counter()
    hasher = _hasher(method, bits, epochs, seed, assignments or [], config)

    from ammi.data import holds_pairs
    from ammi.hashers.saving import check_model_folder, holds_model

    check_model_folder(out)
    check_not_read(out, source, cache, *(view or []))
    more = _shown(hasher, tensorboard) | _views(hasher, view or [])
    with if_stopped(lambda: f"{out} is as it was" if holds_model(out) else f"{out} was not written"):
        if holds_pairs(source):
            unused: dict[str, Any] = {"--text": text, "--labels": labels, "--format": format, "--vector": vector}
            unused |= {"--features": features, "--vocabulary": vocabulary, "--embedder": embedder, "--cache": cache}
            unused["--view"] = view
            model, report = _fit_pairs(hasher, source, unused, more)
        else:
            kind = features or ("embeddings" if embedder else default_features(source, vector, format))
            maker = make_features(kind, vocabulary=vocabulary, embedder=embedder, cache=cache)
            if vector and maker.reads != "vector":
                raise typer.BadParameter(f"the features {maker.name!r} read texts.", param_hint="'--vector'")
            documents = Documents(source, text, None, on_error, format, vector, reads=maker.reads)
            model, report = _fit(hasher, maker, documents, labels, more)
        if holds_model(out):
            note(f"The model that {out} held is replaced. Collections keep theirs until ammi index rebuild.")
        model.save(out)
    _report(model, {"model": str(out), **report}, time.perf_counter() - start, as_json)
    if not as_json and not holds_pairs(source):
        note(f"Next: ammi index build INDEX {source} --model {out}")
    if getattr(model.hasher_, "interrupted_", False):
        raise typer.Exit(STOPPED)


def fit_defaults(features: str, documents: Documents) -> "DocumentHasher":
    """A model of the default method and length, learned from these features of documents, with progress."""
    hasher = _hasher(None, None, None, None, [], None)
    model, _ = _fit(hasher, make_features(features), documents, None, _shown(hasher, None))
    if getattr(model.hasher_, "interrupted_", False):
        raise KeyboardInterrupt
    return model


def _hasher(
    method: str | None,
    bits: int | None,
    epochs: int | None,
    seed: int | None,
    assignments: list[str],
    config: Path | None,
) -> "Hasher":
    """The method with the parameters of a file, of options and of --set; the last of these has the last word."""
    chosen, wanted = read_config(config) if config else ("ammi", {})
    wanted |= {name: value for name, value in {"n_bits": bits, "epochs": epochs}.items() if value is not None}
    hasher = make_hasher(method or chosen, wanted, assignments)
    if hasattr(hasher, "random_state") and (seed is not None or hasher.random_state is None):
        hasher.random_state = seed or 0
    return hasher


def _shown(hasher: "Hasher", tensorboard: Path | None) -> dict[str, Any]:
    """What `fit` of a method that is trained in epochs takes to show and record them."""
    from ammi.hashers import TrainedHasher
    from ammi.training.callbacks import TensorBoard

    if not isinstance(hasher, TrainedHasher):
        if tensorboard:
            name = type(hasher).__name__
            raise typer.BadParameter(f"{name} is not trained in epochs.", param_hint="'--tensorboard'")
        return {}
    progress = training_progress(type(hasher).__name__)
    return {"progress": progress, "callbacks": [TensorBoard(tensorboard)] if tensorboard else []}


def _views(hasher: "Hasher", paths: list[Path]) -> dict[str, Any]:
    """What `fit` takes as other views of the documents: arrays that are read where they are needed."""
    if not paths:
        return {}
    import numpy as np

    from ammi.hashers import TrainedHasher

    if not isinstance(hasher, TrainedHasher):
        raise typer.BadParameter(f"{type(hasher).__name__} looks for no neighbours.", param_hint="'--view'")
    views = []
    for path in paths:
        try:
            views.append(np.lib.format.open_memmap(path, mode="r"))
        except (OSError, ValueError) as error:
            reason = "is not there" if not path.exists() else "is not an array that numpy.save wrote"
            raise typer.BadParameter(f"{path} {reason}.", param_hint="'--view'") from error
    return {"views": views}


def _fit(
    hasher: "Hasher", features: Any, documents: Documents, labels: str | None, more: dict[str, Any]
) -> "tuple[DocumentHasher, dict[str, Any]]":
    """Fit a model to documents, and say what there is to report."""
    from ammi.data import label_column
    from ammi.hashers import DocumentHasher

    model = DocumentHasher(hasher, features)
    documents.keep()
    reads_text = features.reads == "text"
    given: Any = Contents(documents, features.name != "embeddings") if reads_text else documents.vectors()
    if features.name == "pieces":
        note("SentencePiece learns its units from a sample of the texts: this takes up to a minute.")
    names = None if labels is None else label_column(documents.metadata(), labels, documents.name)
    if not reads_text:
        documents.note_vectors(given.shape[1])
    if names is None:
        model.fit(given, **more)
        n = given.count if reads_text else given.shape[0]
        return model, {"documents": n, "skipped": documents.n_skipped}
    from ammi.hashers.fitting import fit_held_out

    precision = fit_held_out(model, given, names, **more)
    return model, {
        "documents": len(names),
        "skipped": documents.n_skipped,
        "precision at 100": round(precision, 2),
    }


def _fit_pairs(
    hasher: "Hasher", folder: str, unused: dict[str, Any], more: dict[str, Any]
) -> "tuple[DocumentHasher, dict[str, Any]]":
    """Fit a model to pairs, and say what there is to report."""
    from ammi.data import describe_pairs
    from ammi.hashers.fitting import fit_pairs

    for option, value in unused.items():
        if value is not None:
            raise typer.BadParameter("pairs have their texts and features already.", param_hint=f"'{option}'")
    model, matching = fit_pairs(hasher, folder, **more)
    report = {"pairs": describe_pairs(folder)["pairs"]["train"]}
    return model, report if matching is None else {**report, "matching at 100": round(matching, 2)}


def _report(model: "DocumentHasher", report: dict[str, Any], seconds: float, as_json: bool) -> None:
    about = model.features_.describe() | {
        "fingerprint": model.fingerprint_,
        "method": type(model.hasher_).__name__,
        "bits": model.n_bits,
    }
    shown = {"model": report.pop("model"), **about, **report, "seconds": round(seconds, 1)}
    if as_json:
        say_json(shown)
    else:
        facts({name: value for name, value in shown.items() if name != "skipped" or value})
