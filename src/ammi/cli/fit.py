"""`ammi fit`: learn a model from documents."""

import time
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ammi.cli.options import AsJson, Broken, OnError, Source, TextColumn
from ammi.cli.screen import facts, note, say_json
from ammi.cli.settings import make_hasher, read_config
from ammi.cli.sources import Documents, Texts, label_column

if TYPE_CHECKING:
    from ammi.hashers import DocumentHasher


class Units(str, Enum):
    """What a text is made of."""

    words = "words"
    pieces = "pieces"


def fit(
    source: Source,
    out: Annotated[Path, typer.Option("--out", metavar="MODEL", show_default=False, help="The folder to write.")],
    method: Annotated[
        str, typer.Option(help="How to learn: ammi, bmsh, dvq, lsh, ... A wrong name lists all.", show_default="ammi")
    ] = "",
    bits: Annotated[int | None, typer.Option(min=1, help="Length of the codes.", show_default="64")] = None,
    text: TextColumn = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="The column of labels. One document in ten is then held out, to choose the epoch by precision and to "
            "report it; codes are learned without labels all the same.",
        ),
    ] = None,
    units: Annotated[
        Units, typer.Option(help="Count words, or SentencePiece units, which suit any script and language.")
    ] = Units.words,
    vocabulary: Annotated[int, typer.Option(min=1, help="At most so many words or units.")] = 20_000,
    epochs: Annotated[int | None, typer.Option(min=1, help="At most so many epochs.", show_default="40")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same codes.", show_default="0")] = None,
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
    on_error: Broken = OnError.refuse,
    as_json: AsJson = False,
) -> None:
    """Learn codes from documents, and write the model as a folder.

    Ctrl-C ends the training early and keeps the best epoch so far.

    [bold]Examples[/]

    ammi fit articles.jsonl --out model
    ammi fit mails.csv.gz --text body --bits 128 --set neighbours=15 --out model
    cat notes.txt | ammi fit - --units pieces --vocabulary 8000 --out model
    """
    start = time.perf_counter()
    chosen, wanted = read_config(config) if config else ("ammi", {})
    wanted |= {name: value for name, value in {"n_bits": bits, "epochs": epochs}.items() if value is not None}
    hasher = make_hasher(method or chosen, wanted, assignments or [])
    if hasattr(hasher, "random_state") and (seed is not None or hasher.random_state is None):
        hasher.random_state = seed or 0

    from ammi.hashers import DocumentHasher
    from ammi.hashers.saving import CONFIG, check_place
    from ammi.text import SentencePieceVectorizer, WordVectorizer

    check_place(out)
    vectorizer = {Units.words: WordVectorizer, Units.pieces: SentencePieceVectorizer}[units](vocabulary)
    model = DocumentHasher(hasher, vectorizer)
    documents = Documents(source, text, on_error=on_error)
    if units is Units.pieces:
        note("SentencePiece learns its units from a sample of the texts: this takes up to a minute.")
    report = _fit(model, documents, labels)
    if (out / CONFIG).exists():
        note(f"The model that {out} held is replaced: an index that was built with it must be built again.")
    model.save(out)
    report = {
        "model": str(out),
        "fingerprint": model.fingerprint_,
        "method": type(hasher).__name__,
        "bits": model.n_bits,
        units.value: len(model.vectorizer.vocabulary_),
        **report,
        "skipped": documents.skipped,
        "seconds": round(time.perf_counter() - start, 1),
    }
    if as_json:
        say_json(report)
    else:
        facts({name: value for name, value in report.items() if name != "skipped" or value})
        note(f"Next: ammi index build INDEX {source} --model {out}")


def _fit(model: "DocumentHasher", documents: Documents, labels: str | None) -> dict[str, Any]:
    """Fit the model and return what there is to report."""
    read = list(documents) if documents.is_pipe else documents
    texts = Texts(read)
    if labels is None:
        model.fit(texts)
        return {"documents": texts.count}

    from ammi.experiments.labelled import fit_held_out

    names = label_column((document.metadata for document in read), labels, documents.name)
    precision = fit_held_out(model, texts, names)
    return {"documents": len(names), "precision at 100": round(precision, 2)}
