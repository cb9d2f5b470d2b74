"""Shards of documents to shards of codes: a pool of actors, each of which encodes a shard at a time.

A shard of codes is written whole or not at all, and its footer says of what it was made: so a shard that is there and
was made of the same content by the same model is not made again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ammi.data.codes import MANIFEST, CodeBlock, about_code_table, code_tables, write_code_table
from ammi.digests import joint_digest
from ammi.files import write_json
from ammi.ingest import blocks_of
from ammi.scale.shards import Reading, Shard
from ammi.scale.workers import Kept, Worker, each_in_turn, pool
from ammi.stored_model import StoredModel


@dataclass(frozen=True)
class Encoded:
    """A shard of codes that is there: how many rows were read for it, and how many of these hold no document."""

    name: str
    rows_in: int
    rows_out: int
    skipped: list[str]
    is_new: bool


class Encoder(Worker):
    """Encodes shards."""

    def encode(self, files: Callable[[], Mapping[str, bytes]], shard: Shard, out: Path, reading: Reading) -> Encoded:
        """Write the codes of a shard by the model of these files, unless they are there."""
        self.know(files)
        path = out / f"{shard.name}.parquet"
        made_of = {"source": shard.digest(), "reading": joint_digest(*map(repr, asdict(reading).items()))}
        wanted = {**made_of, "model": self.kept.fingerprint, "bits": self.kept.n_bits}
        there = about_code_table(path)
        if there is not None and all(there.get(name) == value for name, value in wanted.items()):
            return Encoded(path.name, there["rows_in"], there["rows"], there["skipped"], is_new=False)
        skipped: list[str] = []
        footer: dict[str, Any] = {**made_of, "rows_in": 0, "skipped": skipped}

        def encoded() -> Iterator[CodeBlock]:
            for block in blocks_of(reading.documents(shard, skipped)):
                footer["rows_in"] += len(block.documents)
                ids = [document.id for document in block.documents]
                yield ids, block.codes(self.model, self.kept.fingerprint)
            footer["rows_in"] += len(skipped)

        rows_out = write_code_table(path, encoded(), self.kept.n_bits, self.kept.fingerprint, footer)
        return Encoded(path.name, footer["rows_in"], rows_out, skipped, is_new=True)


def encode_shards(
    shards: Sequence[Shard],
    files: Mapping[str, bytes],
    out: Path,
    reading: Reading,
    workers: int,
    advance: Callable[[int], None] = lambda n_documents: None,
) -> list[Encoded]:
    """Encode shards into a folder, and write its manifest when all are there; return what was made of each.

    Args:
        files: those of the model's folder.
        out: a folder that all nodes see.
        advance: is told how many documents of a shard were encoded.
    """
    check_out(out, shards, StoredModel(files).fingerprint)
    out.mkdir(parents=True, exist_ok=True)
    (out / MANIFEST).unlink(missing_ok=True)
    done: list[Encoded] = []
    kept = Kept(dict(files))
    with pool(Encoder, min(workers, len(shards))) as actors:
        for encoded in each_in_turn(
            actors, list(shards), lambda actor, shard: actor.encode.remote(kept, shard, out.absolute(), reading)
        ):
            done.append(encoded)
            advance(encoded.rows_out)
    done.sort(key=lambda encoded: encoded.name)
    rows = {encoded.name: _counted(out / encoded.name, encoded) for encoded in done}
    write_json(out / MANIFEST, {"model": StoredModel(files).fingerprint, "rows": sum(rows.values()), "shards": rows})
    return done


def check_out(out: Path, shards: Sequence[Shard], fingerprint: str) -> None:
    """Refuse a folder with shards that are of another model, or of no shard that is encoded now."""
    if out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out} is a file: name a folder for the shards of codes")
    names = {f"{shard.name}.parquet" for shard in shards}
    for path in code_tables(out):
        about = about_code_table(path)
        if about is None or about.get("model") != fingerprint or path.name not in names:
            what = "is no file of codes" if about is None else f"is of model {about.get('model')}"
            what = f"{what}, not of {fingerprint}" if path.name in names else "is of none of these shards"
            raise ValueError(f"{path} {what}: name another folder, or delete it")


def _counted(path: Path, encoded: Encoded) -> int:
    """How many codes a shard has, which is how many documents were read."""
    there = about_code_table(path)
    rows = -1 if there is None else there["rows"]
    if not rows == encoded.rows_out == encoded.rows_in - len(encoded.skipped):
        raise ValueError(
            f"{path} has {rows} codes of {encoded.rows_in} rows, {len(encoded.skipped)} of them skipped: delete it "
            "and run the same command again"
        )
    return rows
