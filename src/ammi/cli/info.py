"""`ammi info`: describe a model, a collection, pairs, a file of codes or a source of documents."""

from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import ammi
from ammi.cli.options import AsJson, Format, TextColumn, argument
from ammi.cli.progress import counter
from ammi.cli.screen import facts, note, plain, say_json
from ammi.hub import is_on_hub
from ammi.urls import shown

Description = dict[str, object]
_MONTHS = 12  # to show; --json has all


def info(
    path: Annotated[
        str,
        argument(
            "PATH",
            "A model, a collection or its URL, either also hf://OWNER/NAME; pairs, a file of codes, or a source.",
        ),
    ],
    text: TextColumn = None,
    format: Format = None,
    as_json: AsJson = False,
) -> None:
    """Describe a model, a collection, a folder of pairs, a file of codes or a source of documents.

    A source is read to its end: the number of documents and of records that cannot be read is exact.
    Of a collection, unknown words are those that its model has not learned, by the month in which they were added.
    If their share grows, search by codes gets worse: [bold]ammi index rebuild --learn[/] makes a model that knows them.

    [bold]Examples[/]

    ammi info model
    ammi info articles
    ammi info articles.csv --text body
    """
    about = _about(path, text, format)
    if as_json:
        say_json(about)
        return
    if "language" in about:
        about["language"] = about["language"] or "not detected"
    unknown = about.pop("unknown_words", None)
    shares = {"unknown words": _shares(unknown)} if isinstance(unknown, dict) else {}
    facts({**{name.replace("_", " "): _in_words(value) for name, value in about.items()}, **shares})
    if shares:
        note(
            "Unknown words are those in documents added in a month, or in a sample, that the model has not learned. "
            f"If their share grows by half, learn a new model: ammi index rebuild {shown(path)} --learn"
        )


def _shares(unknown: dict[str, dict[str, float]]) -> str:
    """Return the share of unknown words of the last months."""
    months = [f"{when} {counted['share']:.1%}" for when, counted in unknown.items()]
    return ", ".join(["…", *months[-_MONTHS:]] if len(months) > _MONTHS else months)


def _about(path: str, text: str | None, format: str | None) -> Description:
    from ammi.hashers.saving import describe_files, holds_model, read_model
    from ammi.search.locations import is_url

    if holds_model(path):
        return {"kind": "model", **describe_files(read_model(path), Path(path))}
    if is_on_hub(path):
        with suppress(FileNotFoundError):  # a collection
            return {"kind": "model", **describe_files(read_model(path), Path(path))}
    if path != "-" and (is_url(path) or ammi.Collection.exists(path)):
        with ammi.Collection.open(path) as collection:
            return collection.describe()
    from ammi.data import holds_codes  # imports SciPy, which the above does not need
    from ammi.data.pairs import describe_pairs, holds_pairs

    if holds_pairs(path):
        return describe_pairs(path)
    return _codes(path) if format is None and holds_codes(path) else _documents(path, text, format)


def _in_words(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{name.replace('_', ' ')} {plain(one)}" for name, one in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list) else value


def _codes(path: str) -> Description:
    file = ammi.data.read_codes(path)
    return {"kind": "codes", "documents": len(file.ids), "bits": file.n_bits, "fingerprint": file.fingerprint}


def _documents(source: str, text: str | None, format: str | None) -> Description:
    from ammi.data import holds_matrix, locate, read_documents, read_matrix

    broken: list[str] = []
    about: Description
    with counter(f"reading {source}") as advance:
        if holds_matrix(source, format):
            matrix = read_matrix(locate(source), format=format, on_error=lambda problem: broken.append(str(problem)))
            for rows in matrix.row_blocks():
                advance(rows.shape[0])
            about = {"kind": "vectors", "documents": len(matrix) - len(broken), "dimension": matrix.width}
            about |= {"type": str(matrix.dtype), "columns": ", ".join(matrix.keys), "zero": matrix.zeros}
        else:
            columns: Counter[str] = Counter()
            documents = characters = 0
            for document in read_documents(
                locate(source), text=text, format=format, on_error=lambda problem: broken.append(str(problem))
            ):
                documents += 1
                characters += len(document.text or "")
                columns.update(document.metadata.keys())
                advance(1)
            about = {"kind": "documents", "documents": documents, "characters": characters}
            about["columns"] = ", ".join(columns)
    return {**about, "broken": len(broken), **({"first_broken": broken[0]} if broken else {})}
