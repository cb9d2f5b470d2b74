"""`ammi info`: what a folder or a file holds."""

from collections import Counter
from typing import Annotated, Any

import typer

from ammi.cli.options import AsJson, Format, TextColumn
from ammi.cli.screen import counter, facts, say_json


def info(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            show_default=False,
            help="A model, a collection or its URL, pairs, a file of codes, or a source of documents.",
        ),
    ],
    text: TextColumn = None,
    format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Say what a model, a collection, a folder of pairs, a file of codes or a source of documents holds.

    [bold]Examples[/]

    ammi info model
    ammi info articles.csv --text body
    """
    about = _about(path, text, format)
    if as_json:
        say_json(about)
    else:
        facts({name: _words(value) for name, value in about.items()})


def _about(path: str, text: str | None, format: str | None) -> dict[str, Any]:
    from ammi.collection import Collection
    from ammi.data import describe_pairs, holds_codes, holds_pairs
    from ammi.hashers.saving import holds_model
    from ammi.search.locations import is_url

    if holds_pairs(path):
        return describe_pairs(path)
    if holds_model(path):
        from ammi.hashers import load

        return {"kind": "model", **load(path).describe()}
    if path != "-" and (is_url(path) or Collection.exists(path)):
        with Collection.open(path) as collection:
            return collection.describe()
    return _codes(path) if format is None and holds_codes(path) else _documents(path, text, format)


def _words(value: Any) -> Any:
    if isinstance(value, dict):
        return ", ".join(f"{name} {count:,}" for name, count in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _codes(path: str) -> dict[str, Any]:
    from ammi.data import read_codes

    file = read_codes(path)
    return {"kind": "codes", "documents": len(file.ids), "bits": file.n_bits, "fingerprint": file.fingerprint}


def _matrix(source: str, format: str | None) -> dict[str, Any]:
    from ammi.data import locate, read_matrix

    broken: list[str] = []
    matrix = read_matrix(locate(source), format=format, on_error=lambda problem: broken.append(str(problem)))
    with counter(f"reading {source}", len(matrix)) as advance:
        for rows in matrix.row_blocks():
            advance(rows.shape[0])
    return {
        "kind": "vectors",
        "documents": len(matrix) - len(broken),
        "numbers each": matrix.width,
        "type": str(matrix.dtype),
        "columns": ", ".join(matrix.keys),
        "zero": matrix.zeros,
        "broken": len(broken),
        **({"first broken": broken[0]} if broken else {}),
    }


def _documents(source: str, text: str | None, format: str | None) -> dict[str, Any]:
    from ammi.data import holds_matrix, locate, read_documents

    if holds_matrix(source, format):
        return _matrix(source, format)
    columns: Counter[str] = Counter()
    broken: list[str] = []
    documents = characters = 0
    read = read_documents(
        locate(source), text=text, format=format, on_error=lambda problem: broken.append(str(problem))
    )
    with counter(f"reading {source}") as advance:
        for document in read:
            documents += 1
            characters += len(document.text or "")
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
