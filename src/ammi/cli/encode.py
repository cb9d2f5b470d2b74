"""`ammi encode`: the codes of documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ammi.cli.command import if_stopped
from ammi.cli.models import load_model
from ammi.cli.options import Broken, Format, IdColumn, Model, OnError, Sources, TextColumn, VectorColumn
from ammi.cli.ray import Address, Ray, Workers, check_no_format, check_ray_options, note_skipped, single_source
from ammi.cli.screen import counter, note, say_json
from ammi.cli.sources import Documents
from ammi.files import check_not_read

if TYPE_CHECKING:
    from ammi.data.codes import CodeBlock


def encode(
    model: Model,
    sources: Sources,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write .npz, .parquet or .jsonl (also .gz, .zst); with --ray a folder of Parquet shards.",
            show_default="JSON lines on standard output",
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
) -> None:
    """Write the codes of documents, with their ids and the fingerprint of the model.

    A line of JSON has id, code (in hexadecimal digits), bits, and model (the fingerprint).
    A file .npz has ids, codes (packed as numpy.packbits packs), n_bits and fingerprint.
    A file .parquet has id and code (packed), and bits and the fingerprint in its footer.

    With --ray, SOURCE is shards of documents (.parquet, .jsonl, also .gz or .zst), in folders or one by one.
    Each becomes a shard of codes in the folder --out. What is finished stays, so that the same command goes on.

    [bold]Examples[/]

    ammi encode model articles.jsonl --out codes.npz
    ammi encode model embeddings.npy --out codes.npz
    cat notes.txt | ammi encode model - | head
    ammi encode model shards --ray --workers 8 --out codes
    ammi encode model part-*.parquet --ray --address 10.0.0.1:6379 --out codes
    """
    check_ray_options(ray, address, workers)
    if ray:
        check_no_format(format)
        reading = {"text": text, "id": id, "vector": vector, "skip": on_error == OnError.skip}
        _encode_on_ray(model, sources, out, reading, address, workers)
    else:
        _encode_here(model, single_source(sources), out, text, id, vector, format, on_error)


def _encode_here(
    model: Path,
    source: str,
    out: Path | None,
    text: str | None,
    id: str | None,
    vector: str | None,
    format: str | None,
    on_error: OnError,
) -> None:
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


def _encode_on_ray(
    model: Path, sources: list[str], out: Path | None, reading: dict[str, Any], address: str | None, workers: int | None
) -> None:
    from ammi.scale.cluster import on_ray
    from ammi.scale.encode import check_out, encode_shards
    from ammi.scale.shards import Reading, find_shards
    from ammi.stored_model import StoredModel

    if out is None:
        raise typer.BadParameter("with --ray name a folder for the shards of codes.", param_hint="'--out'")
    shards = find_shards(sources)
    check_not_read(out, *sources, model)
    kept = StoredModel.of(model)
    width = kept.whole.n_features_in_ if kept.reads == "vector" else None
    check_out(out, shards, kept.fingerprint)
    with (
        if_stopped(f"the shards that are finished stay in {out}, and the same command goes on"),
        on_ray(address, workers) as n,
        counter(f"encoding {len(shards):,} shards with {n} workers") as advance,
    ):
        how = Reading(**reading, reads=kept.reads, width=width)
        done = encode_shards(shards, kept.files, out, how, n, advance)
    note_skipped([problem for encoded in done for problem in encoded.skipped])
    n_old = sum(not encoded.is_new for encoded in done)
    stayed = f"; {n_old:,} of them were there already" if n_old else ""
    rows = sum(encoded.rows_out for encoded in done)
    note(f"{rows:,} codes of {kept.n_bits} bits in {len(done):,} shards in {out}{stayed}")
