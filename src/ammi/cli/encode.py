"""`ammi encode`: the codes of documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ammi.cli.options import Broken, IdColumn, Model, OnError, Source, TextColumn
from ammi.cli.screen import counter, note, say_json
from ammi.cli.sources import Documents, blocks

if TYPE_CHECKING:
    from ammi.data.codes import Block


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
    on_error: Broken = OnError.refuse,
) -> None:
    """Write the codes of documents, with their ids and the fingerprint of the model.

    A line of JSON has id, code (in hexadecimal digits), bits, and model (the fingerprint).
    A file .npz has ids, codes (packed as numpy.packbits packs), n_bits and fingerprint.

    [bold]Examples[/]

    ammi encode model articles.jsonl --out codes.npz
    cat notes.txt | ammi encode model - | head
    """
    from ammi.data.codes import code_records, write_codes
    from ammi.hashers import DocumentHasher

    hasher = DocumentHasher.load(model)
    documents = Documents(source, text, id, on_error)

    with counter(f"encoding {documents.name}") as advance:

        def encoded() -> "Iterator[Block]":
            for block in blocks(documents):
                yield [document.id for document in block], hasher.encode([document.text for document in block])
                advance(len(block))

        if out:
            n = write_codes(out, encoded(), hasher.n_bits, hasher.fingerprint_)
            note(f"{n:,} codes of {hasher.n_bits} bits in {out}")
        else:
            for block in encoded():
                for record in code_records(block, hasher.n_bits, hasher.fingerprint_):
                    say_json(record)
