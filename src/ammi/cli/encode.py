"""`ammi encode`: write the codes of documents."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ammi.cli.command import if_stopped
from ammi.cli.options import Model, RayOptions, ReadOptions, Sources
from ammi.cli.progress import counter
from ammi.cli.screen import note, say_json
from ammi.cli.settings import load_model
from ammi.cli.sources import Documents, content_for
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
            help="File to write: .npz, .parquet or .jsonl (also .gz, .zst); with --ray a folder of Parquet shards.",
            show_default="JSON lines on standard output",
        ),
    ] = None,
    *,
    options: ReadOptions,
    ray: RayOptions,
) -> None:
    """Write the codes of documents, with their ids and the model's fingerprint.

    .jsonl: a line has id, code (hexadecimal), bits, and model (the fingerprint).
    .npz: ids, codes (as numpy.packbits packs them), n_bits and fingerprint.
    .parquet: id and code (packed); bits and the fingerprint are in the footer.

    With --ray, SOURCE is shards (.parquet, .jsonl, also .gz or .zst), as files or folders.
    Each shard of documents becomes a shard of codes in the folder --out.
    After an interruption, run the same command again: it continues with the shards that are missing.

    [bold]Examples[/]

    ammi encode model articles.jsonl --out codes.npz
    ammi encode model embeddings.npy --out codes.npz
    cat notes.txt | ammi encode model - | head
    ammi encode model shards --ray --workers 8 --out codes
    ammi encode model part-*.parquet --ray --address 10.0.0.1:6379 --out codes
    """
    if ray.enabled:
        _encode_on_ray(model, sources, out, options, ray)
    else:
        _encode_here(model, sources, out, options)


def _encode_here(model: Path, sources: list[str], out: Path | None, options: ReadOptions) -> None:
    from ammi.data import write_codes
    from ammi.data.codes import code_records
    from ammi.ingest import blocks_of

    hasher = load_model(model)
    documents, fingerprint = Documents(sources, options, **content_for(hasher)), hasher.fingerprint_
    if out:
        check_not_read(out, *sources, model)

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


def _encode_on_ray(model: Path, sources: list[str], out: Path | None, options: ReadOptions, ray: RayOptions) -> None:
    from ammi.cli.shards import ShardJob, note_skipped
    from ammi.scale.cluster import on_ray
    from ammi.scale.encode import check_out, encode_shards

    job = ShardJob(model, sources, options)
    if out is None:
        raise typer.BadParameter("with --ray name a folder for the shards of codes.", param_hint="'--out'")
    check_not_read(out, *sources, model)
    check_out(out, job.shards, job.model.fingerprint)
    with (
        if_stopped(f"the finished shards stay in {out}; run the same command to continue"),
        on_ray(ray.address, ray.workers) as n,
        counter(f"encoding {len(job.shards):,} shards with {n} workers") as advance,
    ):
        done = encode_shards(job.shards, job.model.files, out, job.reading, n, advance)
    note_skipped([problem for encoded in done for problem in encoded.skipped])
    n_old = sum(not encoded.is_new for encoded in done)
    reused = f"; {n_old:,} of them were there already" if n_old else ""
    rows = sum(encoded.rows_out for encoded in done)
    note(f"{rows:,} codes of {job.model.n_bits} bits in {len(done):,} shards in {out}{reused}")
