"""`ammi encode`: the codes of documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.models import load_model
from ammi.cli.options import Broken, Format, IdColumn, Model, OnError, Source, TextColumn, VectorColumn
from ammi.cli.screen import counter, note, say_json
from ammi.cli.sources import Documents
from ammi.files import check_not_read

if TYPE_CHECKING:
    from ammi.data.codes import CodeBlock


def encode(
    model: Model,
    source: Source,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write .npz or .jsonl (also .gz, .zst).", show_default="JSON lines on standard output"
        ),
    ] = None,
    text: TextColumn = None,
    id: IdColumn = None,
    vector: VectorColumn = None,
    format: Format = None,
    on_error: Broken = OnError.refuse,
) -> None:
    """Write the codes of documents, with their ids and the fingerprint of the model.

    A line of JSON has id, code (in hexadecimal digits), bits, and model (the fingerprint).
    A file .npz has ids, codes (packed as numpy.packbits packs), n_bits and fingerprint.

    [bold]Examples[/]

    ammi encode model articles.jsonl --out codes.npz
    ammi encode model embeddings.npy --out codes.npz
    cat notes.txt | ammi encode model - | head
    """
    from ammi.data import write_codes
    from ammi.data.codes import code_records
    from ammi.ingest import blocks_of

    hasher = load_model(model)
    width = hasher.n_features_in_ if hasher.reads == "vector" else None
    documents = Documents(source, text, id, on_error, format, vector, reads=hasher.reads, width=width)
    fingerprint = hasher.fingerprint_
    if out:
        check_not_read(out, source, model)

    def encoded() -> "Iterator[CodeBlock]":
        with counter(f"encoding {documents.name}") as advance:
            for block in blocks_of(documents.to_collect):
                yield [document.id for document in block.documents], block.codes(hasher, fingerprint)
                advance(len(block.documents))
        documents.end_of_reading()
        documents.note_zeros()

    if out:
        with if_stopped(f"{out} was not written"):
            n = write_codes(out, encoded(), hasher.n_bits, fingerprint)
        note(f"{n:,} codes of {hasher.n_bits} bits in {out}")
    else:
        for block in encoded():
            for record in code_records(block, hasher.n_bits, fingerprint):
                say_json(record)
