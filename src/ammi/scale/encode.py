"""Encode shards of documents into shards of codes.

A shard of codes is written whole or not at all, and its footer has the digests of its source and model. A shard with
the right footer is not encoded again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from ammi.collection import Advance
from ammi.data.codes import MANIFEST, CodeBlock, about_code_table, code_tables, write_code_table
from ammi.digests import joint_digest
from ammi.files import file_digest, write_json
from ammi.ingest import blocks_of
from ammi.scale.shards import Reading, Shard
from ammi.scale.workers import ModelFiles, Shared, Worker, pool, run_jobs
from ammi.stored_model import StoredModel


@dataclass(frozen=True)
class Encoded:
    """A finished shard of codes: rows read, codes written, and records that were skipped."""

    name: str
    rows_in: int
    rows_out: int
    skipped: list[str]
    is_new: bool


class Encoder(Worker):
    """A worker that encodes shards."""

    def encode(self, files: ModelFiles, shard: Shard, out: Path, reading: Reading) -> Encoded:
        """Write the codes of a shard, unless they are there."""
        self.know(files)
        path = out / f"{shard.name}.parquet"
        made_of = {"source": file_digest(shard.path), "reading": joint_digest(*map(repr, asdict(reading).items()))}
        wanted = {**made_of, "model": self.kept.fingerprint, "bits": self.kept.n_bits}
        there = about_code_table(path)
        if there is not None and all(there.get(name) == value for name, value in wanted.items()):
            return Encoded(path.name, there["rows_in"], there["rows"], there["skipped"], is_new=False)
        skipped: list[str] = []
        # write_code_table writes the footer last, so it has the final counts.
        footer = {**made_of, "rows_in": 0, "skipped": skipped}

        def encoded() -> Iterator[CodeBlock]:
            rows_in = 0
            for block in blocks_of(reading.documents(shard, skipped)):
                rows_in += len(block.documents)
                ids = [document.id for document in block.documents]
                yield ids, block.codes(self.model, self.kept.fingerprint)
            footer["rows_in"] = rows_in + len(skipped)

        rows_out = write_code_table(path, encoded(), self.kept.n_bits, self.kept.fingerprint, footer)
        return Encoded(path.name, rows_out + len(skipped), rows_out, skipped, is_new=True)


def encode_shards(
    shards: Sequence[Shard], files: Mapping[str, bytes], out: Path, reading: Reading, workers: int, advance: Advance
) -> list[Encoded]:
    """Encode shards into a folder, then write its manifest; return the shards of codes.

    Args:
        files: the files of the model.
        out: a folder that all nodes see.
        advance: called with the number of documents of each shard that is done.
    """
    check_out(out, shards, StoredModel(files).fingerprint)
    out.mkdir(parents=True, exist_ok=True)
    (out / MANIFEST).unlink(missing_ok=True)
    done: list[Encoded] = []
    shared = Shared(dict(files))
    with pool(Encoder, min(workers, len(shards))) as actors:
        for encoded in run_jobs(
            actors, shards, lambda actor, shard: actor.encode.remote(shared, shard, out.absolute(), reading)
        ):
            done.append(encoded)
            advance(encoded.rows_out)
    done.sort(key=lambda encoded: encoded.name)
    rows = {encoded.name: _checked_rows(out / encoded.name, encoded) for encoded in done}
    write_json(out / MANIFEST, {"model": StoredModel(files).fingerprint, "rows": sum(rows.values()), "shards": rows})
    return done


def check_out(out: Path, shards: Sequence[Shard], fingerprint: str) -> None:
    """Refuse a folder with codes of another model, or of other shards."""
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out} is a file: name a folder for the shards of codes")
    names = {f"{shard.name}.parquet" for shard in shards}
    for path in code_tables(out):
        about = about_code_table(path)
        if about is None or about.get("model") != fingerprint or path.name not in names:
            problem = "is no file of codes" if about is None else f"is of model {about.get('model')}"
            problem = f"{problem}, not of {fingerprint}" if path.name in names else "is of none of these shards"
            raise ValueError(f"{path} {problem}: name another folder, or delete it")


def _checked_rows(path: Path, encoded: Encoded) -> int:
    """Return the number of codes in a shard; refuse one that has not a code for each document that was read."""
    there = about_code_table(path)
    rows = -1 if there is None else there["rows"]
    if not rows == encoded.rows_out == encoded.rows_in - len(encoded.skipped):
        raise ValueError(
            f"{path} has {rows} codes of {encoded.rows_in} rows, {len(encoded.skipped)} of them skipped: delete it "
            "and run the same command again"
        )
    return rows
