"""`ammi info`: what a folder or a file holds."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer

from ammi.cli.options import AsJson, TextColumn
from ammi.cli.screen import counter, facts, say_json


def info(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            show_default=False,
            help="A model, an index, a file of codes, or a source of documents.",
        ),
    ],
    text: TextColumn = None,
    as_json: AsJson = False,
) -> None:
    """Say what a model, an index, a file of codes or a source of documents holds.

    [bold]Examples[/]

    ammi info model
    ammi info articles.csv --text body
    """
    from ammi.data.codes import holds_codes

    if (Path(path) / "config.json").is_file():
        about = _model(Path(path))
    elif (Path(path) / "index.sqlite").is_file():
        about = _index(Path(path))
    elif holds_codes(path):
        about = _codes(path)
    else:
        about = _documents(path, text)
    if as_json:
        say_json(about)
    else:
        facts(about)


def _model(folder: Path) -> dict[str, Any]:
    import ammi

    model = ammi.load(folder)
    about = {"kind": "model", "fingerprint": model.fingerprint_, "bits": model.n_bits}
    hasher = getattr(model, "hasher", model)
    about["method"] = type(hasher).__name__
    if hasher is not model:
        about |= {"units": model.vectorizer.kind, "vocabulary": len(model.vectorizer.vocabulary_)}
    return about | {name: value for name, value in hasher.get_params().items() if name != "n_bits"}


def _index(folder: Path) -> dict[str, Any]:
    from ammi.evaluate import distinct_codes
    from ammi.search import HammingIndex

    with HammingIndex.open(folder) as index:
        _, codes = index.export()
        return {
            "kind": "index",
            "documents": len(codes),
            "bits": index.n_bits,
            "different codes": distinct_codes(codes) if len(codes) else 0,
            "fingerprint": index.fingerprint,
            "model": index.model,
        }


def _codes(path: str) -> dict[str, Any]:
    from ammi.data.codes import read_codes

    file = read_codes(path)
    return {"kind": "codes", "documents": len(file.ids), "bits": file.n_bits, "fingerprint": file.fingerprint}


def _documents(source: str, text: str | None) -> dict[str, Any]:
    from ammi.data import locate, read_documents

    columns: Counter[str] = Counter()
    broken: list[str] = []
    documents = characters = 0
    with counter(f"reading {source}") as advance:
        for document in read_documents(locate(source), text=text, on_error=lambda problem: broken.append(str(problem))):
            documents += 1
            characters += len(document.text)
            columns.update(document.metadata.keys())
            advance(1)
    return {
        "kind": "documents",
        "documents": documents,
        "characters": characters,
        "columns": ", ".join(columns),
        "broken": len(broken),
        **({"first broken": broken[0]} if broken else {}),
    }
